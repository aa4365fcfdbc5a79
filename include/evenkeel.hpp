/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evenkeel for C++17: lambdas as tasks, failures as exceptions.
 *
 *     evenkeel::collection tasks(MPI_COMM_WORLD);
 *     auto sum = evenkeel::per_worker<double>(tasks, 0.0);
 *     auto half = tasks.add_function<double>(
 *         "half", [&](evenkeel::worker worker, const double &x) {
 *             sum[worker] += x / 2;
 *         });
 *     tasks.add(half, 3.0);
 *     tasks.process();
 *
 * or, where a loop is all there is:
 *
 *     auto roots = tasks.map(n, [&](std::int64_t i) { return solve(i); });
 *
 * evenkeel.h says what each call does and costs.  Calls throw an error if the
 * library returns a status other than EK_OK.
 *
 * Exceptions of tasks.  An exception that leaves a body fails its task.  By
 * default this ends the iteration, and process() throws on all ranks.  A rank
 * whose tasks threw throws the first of these exceptions.  Other ranks throw an
 * error that names task, worker, rank and what().  With EK_ON_FAILURE_CONTINUE
 * process() returns, and failures() has the exceptions of this rank.
 *
 * Unwinding.  ek_destroy() is collective.  An exception of all ranks, thrown by
 * process(), restore() or end(), destroys a collection as usual.  An exception
 * of one rank alone leaves the collection behind, because other ranks cannot
 * follow.  It reaches its handler.  If the program then ends or calls
 * MPI_Finalize(), the job is aborted with a sentence instead of a hang.
 *
 * An error of all ranks counts as handled when the error object is gone, an
 * exception of a task at the next call of the collection.
 */
#ifndef EVENKEEL_HPP
#define EVENKEEL_HPP

#if __cplusplus < 201703L
#error "evenkeel.hpp needs C++17: compile with -std=c++17 or later"
#endif

#include <evenkeel_data.h>
#include <evenkeel_inline.h>
#include <evenkeel_loop.h>
#include <evenkeel_pull.h>
#include <evenkeel_report.h>
#include <evenkeel_save.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace evenkeel
{

/** A failed call; what() is the library's sentence. */
class error : public std::runtime_error
{
  public:
    error(ek_status status, const std::string &message,
          std::shared_ptr<void> shared = nullptr)
        : std::runtime_error(message), status_(status),
          shared_(std::move(shared))
    {
    }

    ek_status status() const noexcept
    {
        return status_;
    }

  private:
    ek_status status_;
    std::shared_ptr<void> shared_; /* lives while an error of all ranks does */
};

/** Throw an error unless @p status is EK_OK. */
inline void check(ek_status status)
{
    if (status != EK_OK)
        throw error(status, ek_error_message());
}

/** Options with their defaults. */
struct options : ek_options {
    options() : ek_options(EK_OPTIONS_INIT)
    {
    }
};

/** A registered function; Payload is any trivially copyable type except
 * pointers. */
template <class Payload> class function
{
  public:
    /** Its number, for calls of evenkeel.h. */
    ek_function number() const noexcept
    {
        return number_;
    }

  private:
    friend class collection;
    explicit function(ek_function number) : number_(number)
    {
    }
    ek_function number_;
};

namespace detail
{

template <class Payload> constexpr void check_payload()
{
    static_assert(std::is_trivially_copyable_v<Payload>,
                  "a payload travels as bytes: trivially copyable types "
                  "only, a struct instead of std::pair or std::tuple");
    static_assert(!std::is_pointer_v<Payload>,
                  "a task may run on another rank, where a pointer is void");
    static_assert(alignof(Payload) <= 8, "payloads are aligned to 8 bytes");
}

/* A collection was left behind by an exception: nobody may wait for it. */
inline bool &is_left_behind()
{
    static bool is_left = false;
    return is_left;
}

inline void end_if_left_behind()
{
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over || !is_left_behind())
        return;
    std::fflush(stdout);
    std::fprintf(stderr, "evenkeel: an exception of this rank alone has left a "
                         "collection, which other ranks may wait in: the job "
                         "ends\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* MPI_Finalize() deletes the attributes of MPI_COMM_SELF first. */
inline int attribute_deleted(MPI_Comm, int, void *, void *)
{
    end_if_left_behind();
    return MPI_SUCCESS;
}

inline void leave_behind() noexcept
{
    int key, is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over || is_left_behind())
        return;
    is_left_behind() = true;
    std::atexit(end_if_left_behind);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_deleted, &key,
                           nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

/* Bytes of a result, and a result of bytes. */
template <class Result> struct bytes_of {
    static_assert(std::is_trivially_copyable_v<Result>,
                  "a result travels as bytes: trivially copyable types, "
                  "std::string, and std::vector of such types; a struct "
                  "instead of std::pair or std::tuple");
    static const void *data(const Result &result)
    {
        return &result;
    }
    static std::size_t size(const Result &)
    {
        return sizeof(Result);
    }
    static Result make(const unsigned char *bytes, std::size_t)
    {
        Result result;
        std::memcpy(&result, bytes, sizeof result);
        return result;
    }
};

/* The same of a string or vector. */
template <class Array> struct bytes_of_array {
    using element = typename Array::value_type;
    static_assert(std::is_trivially_copyable_v<element>,
                  "elements of a result travel as bytes: trivially copyable "
                  "types only, a struct instead of std::pair or std::tuple");
    static const void *data(const Array &result)
    {
        return result.data();
    }
    static std::size_t size(const Array &result)
    {
        return result.size() * sizeof(element);
    }
    static Array make(const unsigned char *bytes, std::size_t size)
    {
        Array result(size / sizeof(element), element());
        if (size > 0)
            std::memcpy(result.data(), bytes, size);
        return result;
    }
};

template <> struct bytes_of<std::string> : bytes_of_array<std::string> {
};
template <class Element>
struct bytes_of<std::vector<Element>> : bytes_of_array<std::vector<Element>> {
};

/* An operation of MPI that calls COMBINE; one at a time exists. */
template <class T, class Combine> class operation
{
  public:
    explicit operation(Combine &combine)
    {
        current() = &combine;
        MPI_Op_create(apply, 0, &op_);
        MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type_);
        MPI_Type_commit(&type_);
    }
    operation(const operation &) = delete;
    operation &operator=(const operation &) = delete;
    ~operation()
    {
        MPI_Type_free(&type_);
        MPI_Op_free(&op_);
    }
    MPI_Op op() const noexcept
    {
        return op_;
    }
    MPI_Datatype type() const noexcept
    {
        return type_;
    }

  private:
    static Combine *&current()
    {
        static Combine *combine;
        return combine;
    }
    /* The first operand is that of the lower rank. */
    static void apply(void *first, void *second, int *n,
                      MPI_Datatype *) noexcept
    {
        auto *a = static_cast<T *>(first), *b = static_cast<T *>(second);
        for (int i = 0; i < *n; i++)
            b[i] = (*current())(a[i], b[i]);
    }
    MPI_Op op_;
    MPI_Datatype type_;
};

} // namespace detail

class collection;
class task;
template <class T> class per_worker;

/** What load() has found: how names of the program's files begin, and how many
 * iterations were over. */
struct loaded_save {
    std::string prefix;
    std::int64_t iteration;
};

/** Runs a task; valid while the task runs. */
class worker
{
  public:
    explicit worker(ek_worker *handle) : handle_(handle)
    {
    }

    ek_worker *handle() const noexcept
    {
        return handle_;
    }
    int id() const
    {
        return ek_worker_id(handle_);
    }
    int here() const
    {
        return ek_worker_here(handle_);
    }
    void skip() const
    {
        ek_skip(handle_);
    }
    void discard() const
    {
        ek_discard(handle_);
    }
    void stop() const
    {
        ek_stop(handle_);
    }
    void poll() const
    {
        ek_poll(handle_);
    }
    void set_cost(double seconds) const
    {
        ek_set_cost(handle_, seconds);
    }

    /** The task's data (ek_task_data()), as values of type T. */
    template <class T> T *data() const
    {
        return static_cast<T *>(ek_task_data(handle_));
    }
    /** Bytes of data(); all of its values together. */
    std::size_t data_bytes() const
    {
        return ek_task_data_bytes(handle_);
    }

    /** Create a task; EK_SPAWN_KEEP: a seed of the next iteration, too. */
    template <class Payload>
    void spawn(function<Payload> which, const Payload &payload,
               int flags = 0) const
    {
        check(
            ek_spawn(handle_, which.number(), &payload, sizeof payload, flags));
    }

    /** Create a task, and return its payload without values.  The caller
     * writes it before its next call of the library (ek_spawn_at()). */
    template <class Payload>
    Payload &spawn_at(function<Payload> which, int flags = 0) const
    {
        static_assert(alignof(Payload) <= 8, "a slot is aligned to 8 bytes");
        void *slot =
            ek_spawn_at(handle_, which.number(), sizeof(Payload), flags);
        if (!slot)
            throw error(ek_error_status(), ek_error_message());
        return *new (slot) Payload;
    }

    /** Add a seed to another collection, which has the function @p which. */
    template <class Payload>
    void add_task_to(const collection &other, function<Payload> which,
                     const Payload &payload) const;

  private:
    ek_worker *handle_;
};

/** A collection of tasks (ek_create()). */
class collection
{
  public:
    explicit collection(MPI_Comm comm, const ek_options &given = options())
        : comm_(comm),
          payload_bytes_(given.payload_bytes != 0 ? given.payload_bytes : 48),
          exceptions_(std::uncaught_exceptions())
    {
        check(ek_create(comm, &given, &handle_));
    }

    collection(const collection &) = delete;
    collection &operator=(const collection &) = delete;

    /** Collective, unless an exception of this rank alone ends it. */
    ~collection()
    {
        if (std::uncaught_exceptions() > exceptions_ && !has_failed_together_ &&
            shared_.expired()) {
            detail::leave_behind();
            return;
        }
        for (auto &one : loops_)
            one.second->end_together();
        ek_destroy(&handle_);
    }

    /** For calls of evenkeel.h. */
    ek_collection *handle() const noexcept
    {
        return handle_;
    }
    int job_workers() const
    {
        return ek_job_workers(handle_);
    }
    int rank_workers() const
    {
        return ek_rank_workers(handle_);
    }

    /** Register a body, which lives as long as the collection.  Several threads
     * at once call body(worker, payload) or body(payload). */
    template <class Payload, class Body>
    function<Payload> add_function(const std::string &name, Body body)
    {
        detail::check_payload<Payload>();
        if (sizeof(Payload) > static_cast<std::size_t>(payload_bytes_))
            throw error(EK_ERR_ARG, "add_function: payload of " +
                                        std::to_string(sizeof(Payload)) +
                                        " bytes; raise option payload_bytes");
        auto made =
            std::make_unique<holder<Payload, Body>>(*this, std::move(body));
        ek_function number;
        alone(ek_register(handle_, name.c_str(), holder<Payload, Body>::run,
                          made.get(), &number));
        bodies_.push_back(std::move(made));
        return function<Payload>(number);
    }

    /** Register a function whose tasks iteration::next() hands out. */
    template <class Payload>
    function<Payload> add_function(const std::string &name)
    {
        ek_function number;
        detail::check_payload<Payload>();
        alone(ek_register(handle_, name.c_str(), nullptr, nullptr, &number));
        return function<Payload>(number);
    }

    template <class Payload>
    void add(function<Payload> which, const Payload &payload)
    {
        alone(ek_add_task(handle_, which.number(), &payload, sizeof payload,
                          nullptr));
    }

    template <class Payload>
    void add(function<Payload> which, const Payload &payload,
             const ek_hint &hint)
    {
        alone(ek_add_task(handle_, which.number(), &payload, sizeof payload,
                          &hint));
    }

    /** @p n seeds, all or none. */
    template <class Payload>
    void add(function<Payload> which, const Payload *payloads, std::int64_t n)
    {
        alone(ek_add_tasks(handle_, which.number(), n, payloads,
                           sizeof *payloads, sizeof *payloads));
    }

    /** Tasks with the payloads first ... last - 1. */
    void add_range(function<std::int64_t> which, std::int64_t first,
                   std::int64_t last)
    {
        alone(ek_add_range(handle_, which.number(), first, last));
    }

    /** Tasks with the payloads 0 ... n - 1, dealt over all ranks. */
    void set_range(function<std::int64_t> which, std::int64_t n)
    {
        alone(ek_set_range(handle_, which.number(), n));
    }

    void clear()
    {
        alone(ek_clear(handle_));
    }

    /**
     * Call body(i) or body(worker, i) for i = 0 ... n - 1, on the workers of
     * all ranks; tasks that were added do not run.
     *
     * Each type of body has a collection of its own (loop1, loop2, ...), with
     * the workers of this one and the options of the environment.  A later
     * call therefore starts each index where it ran.  The communicator must
     * still exist.  Collective, so never from a task; throws as process().
     *
     * After a stop on request the loop goes on by itself; checkpoints are of
     * process() alone.
     */
    template <class Body> void for_each(std::int64_t n, Body &&body)
    {
        loop_of<std::decay_t<Body>>().run(*this, n, body, [] {});
    }

    /** As for_each(), and return what body returned, by index: at rank root,
     * or everywhere.  Other ranks get an empty vector.  An index that did not
     * run, because it was discarded or cancelled, has the default value. */
    template <class Body>
    auto map(std::int64_t n, Body &&body, int root = EK_ALL_RANKS)
    {
        using loop_type = loop<std::decay_t<Body>>;
        using result = typename loop_type::result;
        loop_type &one = loop_of<std::decay_t<Body>>();
        std::vector<result> all;
        one.run(*this, n, body, [&] {
            ek_results got = EK_RESULTS_INIT;
            together(ek_gather(one.tasks->handle(), one.which, root, &got));
            bool is_here = got.start != nullptr;
            all.resize(is_here ? static_cast<std::size_t>(n) : 0);
            auto *bytes = static_cast<const unsigned char *>(got.bytes);
            for (std::int64_t i = 0; i < got.count; i++) {
                std::int64_t size = got.start[i + 1] - got.start[i];
                all[static_cast<std::size_t>(got.index[i])] =
                    detail::bytes_of<result>::make(
                        bytes + got.start[i], static_cast<std::size_t>(size));
            }
        });
        return all;
    }

    /** Combine the objects of all workers of all ranks, in their order; on
     * every rank.  They get their initial value.  Collective. */
    template <class T, class Combine = std::plus<T>>
    T reduce(per_worker<T> &parts, Combine combine = Combine());

    /** Let the data of a function's tasks travel (ek_set_data_ops()).  Both
     * callbacks run at home.  pack(payload, buffer) writes the input, and
     * returns its length of at most bytes_max.  unpack(payload, buffer, bytes)
     * takes the result.  A pack that throws fails the task; unpack must not. */
    template <class Payload, class Pack, class Unpack>
    void set_data(function<Payload> which, std::size_t bytes_max, Pack pack,
                  Unpack unpack)
    {
        using travel = traveling<Payload, Pack, Unpack>;
        auto made =
            std::make_unique<travel>(std::move(pack), std::move(unpack));
        ek_data_ops ops = EK_DATA_OPS_INIT;
        ops.bytes_max = bytes_max;
        ops.pack_input = travel::pack_input;
        ops.unpack_result = travel::unpack_result;
        ops.context = made.get();
        alone(ek_set_data_ops(handle_, which.number(), &ops));
        bodies_.push_back(std::move(made));
    }

    /** Each task has one block of data at its home (ek_set_data_blocks()). */
    void set_data_blocks(function<std::int64_t> which, std::size_t bytes_max)
    {
        alone(ek_set_data_blocks(handle_, which.number(), bytes_max));
    }
    /** This rank is the home of block @p index (ek_set_block()). */
    template <class T>
    void set_block(function<std::int64_t> which, std::int64_t index, T *values,
                   std::size_t count)
    {
        static_assert(
            std::is_trivially_copyable_v<T>,
            "a block travels as bytes: trivially copyable types only");
        alone(ek_set_block(handle_, which.number(), index, values,
                           count * sizeof(T)));
    }

    void set_option(const std::string &option, const std::string &value)
    {
        alone(ek_set_option(handle_, option.c_str(), value.c_str()));
    }

    /** Run every task; throws exceptions of tasks. */
    void process()
    {
        run(nullptr);
    }

    /** The same with a report, on all ranks or on none. */
    ek_process_report process_with_report()
    {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        run(&report);
        return report;
    }

    /** A figure of the last report, such as "search_s". */
    double figure(const std::string &name) const
    {
        double value = 0;
        check(ek_report_get(handle_, name.c_str(), &value));
        return value;
    }

    /** Choose where tasks start; process() does, too, by options.restore. */
    ek_restore_report restore(ek_restore_policy policy = EK_RESTORE_DEFAULT)
    {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        together(ek_restore(handle_, policy, &report));
        return report;
    }

    /** Let write(prefix) add files to each save (ek_set_save()).  If it throws,
     * the save fails: save() throws this here, and an error elsewhere.  A
     * checkpoint says what(), and the run goes on. */
    template <class Write> void set_save(Write write)
    {
        auto made = std::make_unique<writer<Write>>(*this, std::move(write));
        alone(ek_set_save(handle_, writer<Write>::run, made.get()));
        bodies_.push_back(std::move(made));
    }

    /** Save all tasks to a folder (ek_save()). */
    void save(const std::string &folder)
    {
        unsaved_ = nullptr;
        ek_status status = ek_save(handle_, folder.c_str());
        if (status == EK_OK || !unsaved_)
            return together(status);
        forget();
        has_failed_together_ = true;
        std::rethrow_exception(std::exchange(unsaved_, nullptr));
    }

    /** Say which rank owner(task) has the data of a task that is loaded on
     * another number of ranks (ek_set_owner()); task has is() and payload().
     * If it throws, load() fails. */
    template <class Owner> void set_owner(Owner owner)
    {
        auto made = std::make_unique<asked<Owner>>(std::move(owner));
        alone(ek_set_owner(handle_, asked<Owner>::run, made.get()));
        bodies_.push_back(std::move(made));
    }

    /** Load the newest save of a folder, instead of adding tasks; functions
     * were added before (ek_load()). */
    void load(const std::string &folder)
    {
        together(ek_load(handle_, folder.c_str()));
    }

    /** Nothing, if nothing was loaded. */
    std::optional<loaded_save> loaded() const
    {
        std::int64_t iteration;
        const char *prefix = ek_loaded(handle_, &iteration);
        if (!prefix)
            return std::nullopt;
        return loaded_save{prefix, iteration};
    }

    /** Whether process() goes on with an iteration of which some tasks have
     * run (ek_goes_on()). */
    bool goes_on() const
    {
        return ek_goes_on(handle_);
    }

    /** Stop the iteration that runs @p seconds from now (ek_stop_at()). */
    void stop_at(double seconds)
    {
        alone(ek_stop_at(handle_, seconds));
    }

    /** Exceptions of tasks on this rank in the last iteration, up to 64. */
    const std::vector<std::exception_ptr> &failures() const noexcept
    {
        return failures_;
    }

  private:
    friend class iteration;

    struct any_body {
        virtual ~any_body() = default;
        virtual void end_together()
        {
        }
    };

    template <class Body, class Given>
    static decltype(auto) call_body(Body &body, worker who, const Given &given)
    {
        if constexpr (std::is_invocable_v<Body &, worker, const Given &>)
            return body(who, given);
        else
            return body(given);
    }

    template <class Payload, class Body> struct holder : any_body {
        holder(collection &owner_, Body body_)
            : owner(owner_), body(std::move(body_))
        {
        }

        static int run(ek_worker *handle, const void *payload, std::size_t,
                       void *context) noexcept
        {
            auto *self = static_cast<holder *>(context);
            const auto &given = *static_cast<const Payload *>(payload);
            try {
                call_body(self->body, worker(handle), given);
            } catch (const std::exception &thrown) {
                self->owner.keep(handle, thrown.what());
            } catch (...) {
                self->owner.keep(handle, "an exception of unknown type");
            }
            return 0;
        }

        collection &owner;
        Body body;
    };

    /* What for_each() and map() keep of a type of body. */
    template <class Body> struct loop : any_body {
        explicit loop(std::size_t number_) : number(number_)
        {
        }

        using result = std::decay_t<decltype(call_body(
            std::declval<Body &>(), std::declval<worker>(), std::int64_t()))>;

        /* Makes its collection with the first call, which is collective; calls
         * after_part() after each part. */
        template <class AfterPart>
        void run(collection &parent, std::int64_t n, Body &given,
                 AfterPart after_part)
        {
            parent.forget();
            body = &given;
            if (!tasks) {
                options wanted;
                const std::string name = "loop" + std::to_string(number);
                wanted.name = name.c_str();
                wanted.workers = parent.rank_workers();
                try {
                    tasks = std::make_unique<collection>(parent.comm_, wanted);
                    /* Nobody could load its saves, or wants the rest. */
                    tasks->set_option("checkpoint", "0");
                    tasks->set_option("on_stop", "restart");
                } catch (const error &thrown) { /* of all ranks */
                    parent.together(thrown.status());
                }
                auto number = tasks->add_function<std::int64_t>(
                    "index", [this](worker who, const std::int64_t &i) {
                        run_index(who, i);
                    });
                which = number.number();
            }
            parent.failures_.clear();
            ek_status dealt = ek_set_range(tasks->handle_, which, n);
            /* Other ranks may wait, and hear from the iteration that this one
             * differs. */
            if (dealt != EK_OK)
                (void)ek_set_range(tasks->handle_, which, 0);
            do {
                ek_status ran = ek_process(tasks->handle_, nullptr);
                parent.failures_.swap(tasks->failures_);
                tasks->failures_.clear();
                parent.together(ran != EK_OK ? ran : dealt);
                after_part();
            } while (tasks->goes_on());
        }

        void end_together() override
        {
            if (tasks)
                tasks->has_failed_together_ = true;
        }

        void run_index(worker who, std::int64_t i)
        {
            if constexpr (std::is_void_v<result>) {
                call_body(*body, who, i);
            } else {
                const result made = call_body(*body, who, i);
                using bytes = detail::bytes_of<result>;
                check(ek_set_result(who.handle(), bytes::data(made),
                                    bytes::size(made)));
            }
        }

        std::size_t number; /* of this loop, from 1 */
        std::unique_ptr<collection> tasks;
        ek_function which = 0;
        Body *body = nullptr; /* of the present call */
    };

    template <class Body> loop<Body> &loop_of()
    {
        for (auto &one : loops_) {
            if (one.first == std::type_index(typeid(Body)))
                return static_cast<loop<Body> &>(*one.second);
        }
        loops_.emplace_back(std::type_index(typeid(Body)),
                            std::make_unique<loop<Body>>(loops_.size() + 1));
        return static_cast<loop<Body> &>(*loops_.back().second);
    }

    /* Callbacks of set_data(). */
    template <class Payload, class Pack, class Unpack>
    struct traveling : any_body {
        traveling(Pack pack_, Unpack unpack_)
            : pack(std::move(pack_)), unpack(std::move(unpack_))
        {
        }
        static const Payload &payload_of(const ek_task *task)
        {
            return *static_cast<const Payload *>(task->payload);
        }
        static std::size_t pack_input(const ek_task *task, void *buffer,
                                      void *context) noexcept
        {
            try {
                return static_cast<traveling *>(context)->pack(payload_of(task),
                                                               buffer);
            } catch (...) {
                return EK_DATA_FAILED;
            }
        }
        static void unpack_result(const ek_task *task, const void *buffer,
                                  std::size_t bytes, void *context) noexcept
        {
            static_cast<traveling *>(context)->unpack(payload_of(task), buffer,
                                                      bytes);
        }
        Pack pack;
        Unpack unpack;
    };

    /* Callbacks of set_save() and set_owner(). */
    template <class Write> struct writer : any_body {
        writer(collection &tasks_, Write write_)
            : tasks(tasks_), write(std::move(write_))
        {
        }
        static int run(const char *prefix, void *context) noexcept
        {
            auto *self = static_cast<writer *>(context);
            try {
                self->write(std::string(prefix));
                return 0;
            } catch (const std::exception &thrown) {
                std::fprintf(stderr, "evenkeel: set_save: %s\n", thrown.what());
                self->tasks.unsaved_ = std::current_exception();
            } catch (...) {
                self->tasks.unsaved_ = std::current_exception();
            }
            return 1;
        }
        collection &tasks;
        Write write;
    };

    template <class Owner> struct asked : any_body {
        explicit asked(Owner owner_) : owner(std::move(owner_))
        {
        }
        static int run(const ek_task *shown, void *context) noexcept;
        Owner owner;
    };

    /* The current exception fails the current task. */
    void keep(ek_worker *handle, const char *what) noexcept
    {
        ek_fail(handle, 1, what);
        try {
            std::lock_guard<std::mutex> lock(mutex_);
            if (failures_.size() < 64)
                failures_.push_back(std::current_exception());
        } catch (...) {
            /* No memory for it: the task has failed all the same. */
        }
    }

    void forget()
    {
        has_failed_together_ = false;
        shared_.reset();
    }

    /* After a call of this rank alone: no exception of all ranks is in flight
     * any more. */
    void alone(ek_status status)
    {
        forget();
        check(status);
    }

    /* After a call that all ranks make: if it failed, it did so on all. */
    void together(ek_status status)
    {
        forget();
        if (status == EK_OK)
            return;
        has_failed_together_ = status == EK_ERR_TASK && !failures_.empty();
        if (has_failed_together_)
            std::rethrow_exception(failures_.front());
        auto shared = std::make_shared<char>();
        shared_ = shared;
        throw error(status, ek_error_message(), std::move(shared));
    }

    void run(ek_process_report *report)
    {
        failures_.clear();
        together(ek_process(handle_, report));
    }

    ek_collection *handle_ = nullptr;
    MPI_Comm comm_; /* for loops */
    std::int64_t payload_bytes_;
    int exceptions_;                   /* in flight when it was made */
    bool has_failed_together_ = false; /* by what a task has thrown */
    std::weak_ptr<void> shared_;       /* the error of all ranks, while it is */
    std::exception_ptr unsaved_;       /* what has made a save fail */
    std::vector<std::unique_ptr<any_body>> bodies_;
    std::mutex mutex_;
    std::vector<std::exception_ptr> failures_; /* under the mutex in a phase */
    /* By type of body; destroyed by the ranks together if this one is. */
    std::vector<std::pair<std::type_index, std::unique_ptr<any_body>>> loops_;
};

template <class Payload>
void worker::add_task_to(const collection &other, function<Payload> which,
                         const Payload &payload) const
{
    check(ek_add_task_to(handle_, other.handle(), which.number(), &payload,
                         sizeof payload));
}

/** A task from iteration::next(), false if the iteration is over; or one that
 * set_owner() shows. */
class task
{
  public:
    explicit operator bool() const noexcept
    {
        return task_.worker != nullptr;
    }
    evenkeel::worker worker() const
    {
        return evenkeel::worker(task_.worker);
    }

    template <class Payload> bool is(function<Payload> which) const noexcept
    {
        return task_.function == which.number();
    }

    template <class Payload> Payload payload() const
    {
        detail::check_payload<Payload>();
        if (task_.bytes != sizeof(Payload))
            throw error(EK_ERR_ARG, "payload: another type was added");
        return *static_cast<const Payload *>(task_.payload);
    }

  private:
    friend class iteration;
    friend class collection;
    ek_task task_ = {};
};

template <class Owner>
int collection::asked<Owner>::run(const ek_task *shown, void *context) noexcept
{
    task one;
    one.task_ = *shown;
    try {
        return static_cast<asked *>(context)->owner(one);
    } catch (...) {
        return -1; /* no rank: load() fails */
    }
}

/**
 * An iteration whose tasks the program fetches (ek_begin()).
 *
 * Call end(), which throws.  If an exception of this rank destroys the object
 * before, the iteration ends on all ranks.  If this cancels tasks, end() throws
 * on the other ranks.
 */
class iteration
{
  public:
    explicit iteration(collection &tasks) : tasks_(tasks)
    {
        tasks.failures_.clear();
        tasks.alone(ek_begin(tasks.handle()));
    }

    iteration(const iteration &) = delete;
    iteration &operator=(const iteration &) = delete;

    ~iteration()
    {
        if (is_open_)
            tasks_.has_failed_together_ =
                ek_end(tasks_.handle(), nullptr) != EK_OK;
    }

    /** Fetch the next task of worker @p here of this rank; one thread each. */
    task next(int here = 0)
    {
        task made;
        check(ek_next(tasks_.handle(), here, &made.task_));
        return made;
    }

    void end()
    {
        is_open_ = false;
        tasks_.together(ek_end(tasks_.handle(), nullptr));
    }

  private:
    collection &tasks_;
    bool is_open_ = true;
};

/** An object for each worker of this rank, on cache lines of its own. */
template <class T> class per_worker
{
  public:
    per_worker(const collection &tasks, const T &initial)
        : initial_(initial),
          cells_(static_cast<std::size_t>(tasks.rank_workers()), {initial})
    {
    }

    T &operator[](const worker &who)
    {
        return cells_[static_cast<std::size_t>(who.here())].value;
    }

    /** Call use(T &) for each object, in worker order. */
    template <class Use> void each(Use use)
    {
        for (cell &one : cells_)
            use(one.value);
    }

  private:
    friend class collection;
    struct alignas(128) cell {
        T value;
    };
    T initial_;
    std::vector<cell> cells_;
};

template <class T, class Combine>
T collection::reduce(per_worker<T> &parts, Combine combine)
{
    static_assert(std::is_trivially_copyable_v<T>,
                  "values travel as bytes: trivially copyable types only");
    detail::operation<T, Combine> operation(combine);
    std::vector<T> values;
    for (auto &cell : parts.cells_)
        values.push_back(std::exchange(cell.value, parts.initial_));
    together(
        ek_reduce(handle_, values.data(), 1, operation.type(), operation.op()));
    return values.front();
}

} // namespace evenkeel

#endif
