/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evenkeel: keep iterative MPI codes balanced.
 *
 * A code cuts each iteration into many more tasks than cores, adds them to a
 * task collection and calls ek_process() once per iteration.  Evenkeel runs
 * every task exactly once, moves work from busy to idle workers meanwhile, logs
 * what ran where and for how long, and ek_restore() starts the next iteration
 * from there.
 *
 * Words.  A *collection* is the distributed set of tasks.  A *task* is a
 * registered function and a small payload, independent of every other task.
 * *Seeds* are added between iterations, *spawned* tasks by running tasks.  An
 * *iteration* is one ek_process().  A *worker* runs tasks: one OpenMP thread,
 * numbered over the whole collection; *here* is its number within the rank.  A
 * *null* task found that it had nothing to do.  A *node* is a set of ranks that
 * share memory.
 *
 * Errors.  Fallible calls return an ek_status.  A call that fails also writes a
 * sentence, what, which value, what is allowed, to the message sink: stderr,
 * unless ek_set_sink() or EVENKEEL_LOG=none say otherwise; of a failure that
 * all ranks share, by the rank that knew it first, before any rank returns.
 * ek_error_message() has the sentence, too.  options.on_error ends the job
 * instead of returning.  Collective calls return the same status on every rank,
 * unless their description says otherwise.
 * After ranks have differed (EK_ERR_ARG) no task is lost: once functions and
 * options are the same again, the collection is as good as before.  A rank
 * whose communication fails (EK_ERR_MPI) cannot tell the others.
 *
 * Threads.  MPI_Init() suffices for one worker per rank, MPI_THREAD_FUNNELED
 * for several.  Where MPI has MPI_THREAD_SERIALIZED, every worker may talk to
 * other nodes.
 */
#ifndef EVENKEEL_H
#define EVENKEEL_H

/* MPI's C++ bindings, which MPI 3 has dropped, would want a library of theirs.
 */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#define EKI_SKIPS_OMPI_MPICXX
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#define EKI_SKIPS_MPICH_MPICXX
#endif
#include <mpi.h>
#ifdef EKI_SKIPS_OMPI_MPICXX
#undef OMPI_SKIP_MPICXX
#undef EKI_SKIPS_OMPI_MPICXX
#endif
#ifdef EKI_SKIPS_MPICH_MPICXX
#undef MPICH_SKIP_MPICXX
#undef EKI_SKIPS_MPICH_MPICXX
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an EK_..._INIT is: a struct that knows its size; all else is 0. */
#ifdef __cplusplus
#define EK_INIT(type) eki_init<type>()
extern "C++" {
template <typename Type> constexpr Type eki_init()
{
    Type value{};
    value.struct_bytes = sizeof(Type);
    return value;
}
}
extern "C" {
#else
#define EK_INIT(type)                \
    {                                \
        .struct_bytes = sizeof(type) \
    }
#endif

#if defined(__GNUC__)
#define EK_API __attribute__((visibility("default")))
#else
#define EK_API
#endif

/* A status that nobody looks at is warned of where the language knows how:
 * (void) says that it is meant. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define EK_NODISCARD [[nodiscard]]
#else
#define EK_NODISCARD
#endif

/** Version of this header; compare with ek_version(). */
#define EK_VERSION_MAJOR 0
/** Its second number. */
#define EK_VERSION_MINOR 1
/** Its third number. */
#define EK_VERSION_PATCH 0

/** Version of the linked library, such as "0.1.0".  Static storage. */
EK_API const char *ek_version(void);

/** Outcome of a call: EK_OK or a negative code. */
typedef enum EK_NODISCARD ek_status {
    EK_OK = 0,
    EK_ERR_ARG = -1,   /**< An argument, option or variable is not allowed. */
    EK_ERR_STATE = -2, /**< The call is not legal now. */
    EK_ERR_NOMEM = -3, /**< Memory, or shared memory, is exhausted. */
    EK_ERR_MPI = -4,   /**< MPI failed; only ek_destroy() is legal now. */
    EK_ERR_THREAD =
        -5,           /**< The MPI thread level is too low for what is asked. */
    EK_ERR_TASK = -6, /**< A task failed. */
    EK_ERR_FILE = -7  /**< A file could not be written or read. */
} ek_status;

/** Name of a status code, such as "EK_ERR_ARG".  Static storage. */
EK_API const char *ek_status_string(ek_status status);

/**
 * The calling thread's last failure in words: what, which value, what is
 * allowed.  Never NULL; valid until the thread's next failing call.
 */
EK_API const char *ek_error_message(void);

/** The status of that failure, for calls that return none; EK_OK: there was
 * none yet. */
EK_API ek_status ek_error_status(void);

/** Importance of a line given to the message sink. */
typedef enum ek_level {
    EK_LEVEL_NONE = -1, /**< Of no line: a sink of this level hears nothing. */
    EK_LEVEL_ERROR = 0,
    EK_LEVEL_WARN = 1,
    EK_LEVEL_INFO = 2,
    EK_LEVEL_DEBUG = 3,
    EK_LEVEL_TRACE = 4
} ek_level;

/** Receives one line without newline, such as "evenkeel 3/16 team: ...". */
typedef void ek_sink_fn(ek_level level, const char *line, void *context);

/**
 * Replace the message sink of this process (default: stderr, up to INFO).
 *
 * @param[in] sink     Called for each line, from any thread; NULL restores the
 *                     default.
 * @param[in] context  Passed to @p sink; borrowed.
 * @param[in] level    Least important level that is still passed on.
 *
 * Call:    Local.
 * Threads: Not while a collection is inside a call, or an iteration is open.
 * Cost:    Lines of less importance are not formatted.
 */
EK_API void ek_set_sink(ek_sink_fn *sink, void *context, ek_level level);

/** The distributed set of tasks. */
typedef struct ek_collection ek_collection;

/** What runs tasks: passed to every task, valid while the task runs. */
typedef struct ek_worker ek_worker;

/** Number of a registered function in its collection. */
typedef int ek_function;

/**
 * Body of a task.
 *
 * @param[in] worker   The worker that runs it.
 * @param[in] payload  The bytes given when the task was added, aligned to 8
 *                     bytes; unchanged until the task returns.  Later it may
 *                     lie elsewhere: where MPI registers memory (InfiniBand),
 *                     pass a copy to sends of more than a few thousand bytes.
 * @param[in] bytes    Number of these bytes.
 * @param[in] context  This rank's pointer from ek_register().
 * @return 0, or a non-zero code, with which the task fails (like ek_fail()).
 *
 * It must return: an exception or longjmp() out of it ends the job, with a
 * sentence.  evenkeel.hpp hands exceptions on.
 */
typedef int ek_task_fn(ek_worker *worker, const void *payload, size_t bytes,
                       void *context);

/** Who gets which task in the next iteration. */
typedef enum ek_restore_policy {
    EK_RESTORE_DEFAULT = 0,  /**< What options.restore says. */
    EK_RESTORE_ORIGINAL,     /**< Every task back where it was seeded. */
    EK_RESTORE_RETAIN,       /**< Retentive: every task where it ran. */
    EK_RESTORE_CENTRALIZED,  /**< Retained, then rebalanced by rank 0. */
    EK_RESTORE_HIERARCHICAL, /**< ... by groups of workers, then rank 0. */
    EK_RESTORE_CENTRALIZED_HPDC12,  /**< Algorithm 1 of HPDC 2012 as printed. */
    EK_RESTORE_HIERARCHICAL_HPDC12, /**< Algorithm 2 of it, likewise. */
    EK_RESTORE_AUTO /**< Retained, rebalanced where that pays; stealing, too. */
} ek_restore_policy;

/** Whom a worker without work asks. */
typedef enum ek_steal_policy {
    EK_STEAL_RANDOM = 0, /**< A random worker. */
    EK_STEAL_NEAR,       /**< The own node first, then a random node. */
    EK_STEAL_NONE,       /**< Nobody: tasks run where they are. */
    EK_STEAL_COUNTER,    /**< No stealing: one shared counter hands out seeds.
                              "counter:16" as text: 16 consecutive ones at a time,
                              which a worker runs in order.  From another node
                              a worker draws 0.4 ms of short tasks at once. */
    EK_STEAL_NODE,       /**< A worker of the own node: tasks stay on it. */
    EK_STEAL_HPDC12,     /**< As printed in HPDC 2012: a random worker; half of
                              what each has is shown (docs/results/hpdc12.md). */
    EK_STEAL_HPDC12_ONE  /**< Likewise; who has one waiting task shows it. */
} ek_steal_policy;

/** Who sends and receives messages between nodes. */
typedef enum ek_progress_policy {
    EK_PROGRESS_AUTO = 0,
    EK_PROGRESS_POLLING, /**< The workers, between tasks. */
    EK_PROGRESS_SERVER   /**< A thread of its own, one more than workers; also
                              in pull loops. */
} ek_progress_policy;

/** What a call does that fails, after it has said why. */
typedef enum ek_on_error_policy {
    EK_ON_ERROR_RETURN = 0, /**< It returns its status. */
    EK_ON_ERROR_ABORT       /**< It ends all ranks by MPI_Abort(). */
} ek_on_error_policy;

/** What a failing task does to its iteration. */
typedef enum ek_on_failure_policy {
    EK_ON_FAILURE_STOP = 0, /**< No new task starts. */
    EK_ON_FAILURE_CONTINUE  /**< The rest runs; failures are counted. */
} ek_on_failure_policy;

/** What a program keeps for each worker, and does around iterations. */
typedef struct ek_worker_hooks {
    size_t struct_bytes; /**< Set by EK_WORKER_HOOKS_INIT. */

    /** ek_create() calls it for each worker of the rank, in order: makes what
     * ek_worker_data() returns.  NULL makes ek_create() fail.  What short
     * tasks write lies on cache lines of its own: aligned_alloc(128, ...). */
    void *(*create)(int here, void *context);
    /** Each worker calls it when the worker enters an iteration. */
    void (*begin)(void *data, int here, void *context);
    /** Called after the iteration: in worker order, one at a time. */
    void (*end)(void *data, int here, void *context);
    /** ek_destroy() calls it for each object of create. */
    void (*destroy)(void *data, void *context);
    void *context; /**< Passed to all four; borrowed. */
} ek_worker_hooks;

/** No hooks. */
#define EK_WORKER_HOOKS_INIT EK_INIT(ek_worker_hooks)

/**
 * Options of a collection; 0 or NULL means the default in every field.
 *
 * The environment (EVENKEEL_<FIELD>) wins over the program.
 * docs/reference/options.md lists these options and those that are text only,
 * which ek_options_set() sets.
 */
typedef struct ek_options {
    size_t struct_bytes;       /**< Set by EK_OPTIONS_INIT. */
    const char *name;          /**< Of the collection; default "tasks". */
    int64_t payload_bytes;     /**< Largest payload of a task; default 48. */
    int64_t workers;           /**< Workers of this rank; default automatic. */
    ek_restore_policy restore; /**< Default EK_RESTORE_RETAIN. */
    ek_steal_policy steal;     /**< Default EK_STEAL_RANDOM. */
    ek_progress_policy progress;     /**< Who talks to other nodes. */
    ek_on_failure_policy on_failure; /**< What a failing task does. */
    ek_on_error_policy on_error;     /**< What a failing call does. */
    int64_t iterations_expected; /**< In all, for EK_RESTORE_AUTO; default as
                                      many more as were done. */
    int64_t stall_ms;   /**< Say what a hang waits for; default 10,000, -1:
                             never. */
    const char *report; /**< "1", "2", "FILE.tsv" or a list; default none. */
    const char *record; /**< "FILE.ekr"; default none. */
    const ek_worker_hooks *hooks; /**< Copied by ek_create(). */
    bool ignore_environment;      /**< Do not look at EVENKEEL_*. */
    uint64_t text_only[24];       /**< What ek_options_set() keeps. */
} ek_options;

/** Defaults of ek_options. */
#define EK_OPTIONS_INIT EK_INIT(ek_options)

/**
 * Set options to their defaults where EK_OPTIONS_INIT cannot be had: from
 * another language, or with a library that is newer than the program.
 *
 * Any room that is large enough will do, 1,024 bytes for instance, aligned as a
 * pointer: who sets fields by ek_options_set() needs no declaration of them.
 *
 * @param[out] options       Options of the library, as far as they fit.
 * @param[in]  struct_bytes  Of the room at @p options.
 *
 * @retval EK_ERR_ARG  @p options is NULL, or there is no room for a name.
 *
 * Call:    Local.
 * Threads: Any.
 */
EK_API ek_status ek_options_init(ek_options *options, size_t struct_bytes);

/**
 * Set an option from text, before ek_create().
 *
 * @param[in,out] options  From EK_OPTIONS_INIT or ek_options_init().
 * @param[in]     option   Any field but the hooks, such as "payload_bytes".
 * @param[in]     value    As in the environment, but one policy, no list.
 *                         Borrowed until ek_create() has returned where the
 *                         field is text: "name", "report" and "record".
 *
 * @retval EK_ERR_ARG  Unknown option, or bad value; nothing has changed.
 *
 * Call:    Local.
 * Threads: One per @p options.
 */
EK_API ek_status ek_options_set(ek_options *options, const char *option,
                                const char *value);

/**
 * Make an empty collection over the ranks of a communicator.
 *
 * Options must agree on all ranks, except workers, poll_period_us, the hooks
 * and ignore_environment.
 *
 * Any number of collections may be open, and they may be used and destroyed in
 * any order.  Those over one communicator share a duplicate of it, and their
 * message buffers: where MPI fails, or a message arrives damaged, all that are
 * open then end in EK_ERR_MPI.
 *
 * @param[in]  comm     Duplicated for the first collection over it; may be
 *                      freed afterwards.
 * @param[in]  options  Read during the call, or NULL for EK_OPTIONS_INIT.
 * @param[out] tasks    The collection; NULL on failure.
 *
 * @retval EK_OK
 * @retval EK_ERR_ARG     An option or variable is out of range, or differs over
 *                        the ranks; the message names it.
 * @retval EK_ERR_STATE   MPI is not initialized or finalized, or a parallel
 *                        region is active.
 * @retval EK_ERR_THREAD  The MPI thread level is too low for what is asked.
 * @retval EK_ERR_FILE    The file of the report or the record cannot be
 *                        written.
 * @retval EK_ERR_NOMEM   Memory or the shared-memory mount is too small.
 * @retval EK_ERR_MPI     Communication failed.
 *
 * Call:    Collective over @p comm; synchronizing.
 * Threads: One per rank, outside parallel regions; one call over the
 *          collections of a communicator at a time.
 * Cost:    About 33 KiB of shared memory per worker with default options, and
 *          with several ranks as much per rank: at most 33 KiB per worker and
 *          64 KiB.  The first collection over @p comm, or with its
 *          ranks_per_node and message size, also makes communicators and 80
 *          buffers, of 4 KiB on one host, of 64 KiB over several: only what was
 *          in use of them takes memory.  A further one waits for the other
 *          ranks five times, and makes no communicator but for a window of
 *          shared memory now and then, each as large as all before it.
 */
EK_API ek_status ek_create(MPI_Comm comm, const ek_options *options,
                           ek_collection **tasks);

/** ek_create() from a communicator of Fortran, or of mpi4py's py2f(). */
EK_API ek_status ek_create_f(MPI_Fint comm, const ek_options *options,
                             ek_collection **tasks);

/**
 * Destroy a collection and all it holds.
 *
 * Called from a task of the collection it warns, and destroys nothing.
 *
 * @param[in,out] tasks  Set to NULL; NULL or a NULL collection is accepted.
 *
 * Call:    Collective; the last collection over a communicator waits for all
 *          ranks, others for none: so ranks may destroy them in any order.
 *          After MPI_Finalize() it only frees memory.
 * Threads: One per rank, no iteration of this collection open.
 * Cost:    Drops messages that are still on their way.  Shared memory is used
 *          again for further collections, and freed with the last one.
 */
EK_API void ek_destroy(ek_collection **tasks);

/**
 * Name a task function.
 *
 * All ranks register the same names in the same order; the next collective
 * call finds out if they did not.
 *
 * @param[in]  name      Copied; unique in the collection, up to 63 bytes
 *                       without control characters.
 * @param[in]  fn        Body; NULL where only ek_next() runs tasks.
 * @param[in]  context   Passed to @p fn on this rank; borrowed.
 * @param[out] function  What ek_add_task() takes.
 *
 * @retval EK_ERR_ARG    @p name is missing, not allowed, or that of another
 *                       function; or too many functions (at most 65,535).
 * @retval EK_ERR_STATE  An iteration is open.
 *
 * Call:    Local.
 * Threads: One at a time.
 * Cost:    O(functions registered so far).
 */
EK_API ek_status ek_register(ek_collection *tasks, const char *name,
                             ek_task_fn *fn, void *context,
                             ek_function *function);

/** What is known of a task before it ran. */
typedef struct ek_hint {
    size_t struct_bytes; /**< Set by EK_HINT_INIT. */
    double cost;         /**< Relative to other hints of the function; > 0. */
    int rank;            /**< Rank to start on; -1: this one. */
    bool pinned;         /**< Runs on this rank only, in every iteration. */
} ek_hint;

/** Defaults of ek_hint. */
#define EK_HINT_INIT                    \
    {                                   \
        sizeof(ek_hint), 1.0, -1, false \
    }

/**
 * Add a seed.
 *
 * Seeds are dealt round-robin over the workers of the rank.  The policy of
 * ek_restore() places those added before it; those added after it stay where
 * they were dealt.  A seed whose hint names another rank travels there at the
 * next ek_process(); its home stays this rank.
 *
 * A pinned seed stays on this rank, whatever the policies are: the workers of
 * the rank take what is pinned before all else, longest first, one by one.  It
 * is restored like others, and rebalances count it as load of the rank.
 *
 * @param[in] function  From ek_register().
 * @param[in] payload   Copied; may be NULL if @p bytes is 0.
 * @param[in] bytes     At most options.payload_bytes.
 * @param[in] hint      NULL: none.
 *
 * @retval EK_ERR_ARG    Unknown function, payload too large, or a bad hint.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_NOMEM
 *
 * Call:    Local.
 * Threads: Any, several at once.
 * Cost:    About 5 ns and one slot: payload_bytes + 16, + 24 where data
 *          follows, in multiples of 16.  A task that is stolen takes a second
 *          one until the next ek_restore().
 *          Arrays double, but only what was in use takes memory.
 */
EK_API ek_status ek_add_task(ek_collection *tasks, ek_function function,
                             const void *payload, size_t bytes,
                             const ek_hint *hint);

/**
 * Add many seeds of one function, all or none.
 *
 * As @p n calls of ek_add_task() without hint: dealt and numbered alike.
 *
 * @param[in] n         0 and more.
 * @param[in] payloads  Payload i begins i x @p stride bytes behind it; copied.
 *                      May be NULL if @p bytes is 0.
 * @param[in] bytes     Of each payload; at most options.payload_bytes.
 * @param[in] stride    At least @p bytes, forwards.
 *
 * @retval EK_ERR_ARG    Unknown function, payloads too large or NULL, a stride
 *                       or @p n out of range.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_NOMEM  None was added.
 *
 * Call:    Local.
 * Threads: Any, several at once.
 * Cost:    A copy for each task, and the slots of ek_add_task().
 */
EK_API ek_status ek_add_tasks(ek_collection *tasks, ek_function function,
                              int64_t n, const void *payloads, size_t bytes,
                              size_t stride);

/**
 * Add the tasks whose payload is an int64_t index, first ... last - 1.
 *
 * The range takes O(1) memory; the workers of the rank are dealt equal parts
 * of it.  Indices that are not discarded in an iteration become ordinary tasks
 * at the next ek_restore(): each takes a slot from when it has run, and starts
 * by its duration.  Indices come to a worker in any order.
 *
 * @param[in] first,last  0 <= first <= last.
 *
 * @retval EK_ERR_ARG    Unknown function, bad bounds, or payload_bytes is
 *                       below 16.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_NOMEM
 *
 * Call:    Local.
 * Threads: Any, several at once.
 * Cost:    One slot per worker of the rank; a discarded index takes a few ns.
 */
EK_API ek_status ek_add_range(ek_collection *tasks, ek_function function,
                              int64_t first, int64_t last);

/**
 * Forget all seeds of this rank.
 *
 * @retval EK_ERR_STATE  An iteration is open.
 *
 * Call:    Local.
 * Threads: One per rank.
 * Cost:    O(workers of the rank); the memory is kept for the next seeds.
 */
EK_API ek_status ek_clear(ek_collection *tasks);

/** A task, as ek_visit_tasks(), ek_next() (evenkeel_pull.h) and the callbacks
 * of evenkeel_data.h show it. */
typedef struct ek_task {
    ek_worker *worker; /**< From ek_next(): runs the task, for ek_skip() and the
                            like; NULL: all is done, and all fields are 0.
                            Elsewhere NULL. */
    void *payload;     /**< Aligned to 8 bytes; borrowed until the visitor or
                            callback returns, or until the worker's next
                            ek_next().  Only visitors may write to it. */
    size_t bytes;      /**< Of the payload. */
    uint64_t id;       /**< Home worker in the top 24 bits, then a number. */
    double duration_s; /**< Last one; NaN: never measured. */
    double deviation;  /**< How much durations varied, relative; 0: unknown,
                            and from ek_next(). */
    int64_t count;     /**< 1; of a range its indices. */
    ek_function function; /**< What the task runs. */
    int worker_id;        /**< Number of the worker that holds or runs the task;
                               -1 in callbacks. */
    int home;             /**< Rank that added the task, or to which its data
                               has moved; -1 from ek_next(). */
    bool is_range;  /**< Payload is int64_t {first, last}; only in visits. */
    bool is_pinned; /**< To its rank, see ek_hint. */
    bool is_new;    /**< In callbacks: its data moves to a new home. */
    bool has_run;   /**< In visits: in the last iteration, here; false after
                         ek_restore(). */
} ek_task;

/** Return false to remove the task from the collection. */
typedef bool ek_visit_fn(const ek_task *task, void *context);

/**
 * Look at every task that this rank holds.
 *
 * Between ek_process() and ek_restore() the call shows what ran (has_run) or
 * was cancelled here, but no tasks that were discarded, or spawned without
 * EK_SPAWN_KEEP.  After ek_restore() it shows the seeds of the next iteration.
 * A seed whose hint names another rank is shown here until it travels, with
 * that rank's first worker.  Pinned tasks come first, then the tasks of each
 * worker in starting order.
 *
 * The visitor may rewrite the payload, but not that of a range: the task goes
 * on with new input, and keeps its id, its place and its durations.
 *
 * @param[in,out] tasks    Collection with no iteration open.
 * @param[in]     visitor  Called for each task; must not call the library.
 * @param[in]     context  Passed to @p visitor; borrowed.
 *
 * @retval EK_OK         All tasks were shown.
 * @retval EK_ERR_ARG    A NULL.
 * @retval EK_ERR_STATE  An iteration is open.
 *
 * Call:    Local.
 * Threads: One per rank.
 * Cost:    O(tasks held by this rank).
 */
EK_API ek_status ek_visit_tasks(ek_collection *tasks, ek_visit_fn *visitor,
                                void *context);

/**
 * Change an option between iterations.
 *
 * @param[in] option  "steal", "restore", "order", "on_failure",
 *                    "poll_period_us", "stall_ms", "balance_group",
 *                    "balance_ppm", "balance_c", "balance_d",
 *                    "balance_branching", "balance_gather",
 *                    "iterations_expected" or "report".
 * @param[in] value   As in the environment, but one policy, no list.
 *
 * @retval EK_ERR_ARG    Unknown option, fixed option, or bad value.
 * @retval EK_ERR_STATE  An iteration is open.
 * @retval EK_ERR_FILE   Rank 0 only: the report's file cannot be written; the
 *                       old report stays.
 *
 * Call:    Collective, not synchronizing: a difference between ranks is found
 *          by the next ek_process().
 * Threads: One per rank.
 * Cost:    About 2 us.
 */
EK_API ek_status ek_set_option(ek_collection *tasks, const char *option,
                               const char *value);

/** Figures of an iteration (evenkeel_report.h). */
typedef struct ek_process_report ek_process_report;

/** What an ek_restore() has done (evenkeel_report.h). */
typedef struct ek_restore_report ek_restore_report;

/**
 * Run every task of the collection, spawned ones included.
 *
 * Where neither ek_restore() nor ek_clear() came since the last iteration,
 * tasks are restored first, by options.restore: as ek_restore() would, with its
 * statuses.
 *
 * @param[out] report  Figures of the whole job, on all ranks; NULL: none.  NULL
 *                     on all ranks or on none.
 *
 * @retval EK_OK         Every task has run exactly once; or a task called
 *                       ek_stop(), and the others are cancelled but stay, but
 *                       for spawned ones that are not kept.
 * @retval EK_ERR_TASK   A task failed.  The message names the lowest failing
 *                       worker, the function and the id.  Or tasks that nobody
 *                       asked to cancel were cancelled, because a worker
 *                       stopped fetching.  ek_restore() is legal, and the
 *                       report is filled.  Or tasks were restored first, and
 *                       data did not follow; nothing has run.
 * @retval EK_ERR_ARG    Ranks differ in registered functions, options or calls,
 *                       or a function has no body.
 * @retval EK_ERR_STATE  A parallel region is active, or another iteration is
 *                       open.
 * @retval EK_ERR_NOMEM  Memory ran out.  Tasks that did not run are cancelled
 *                       but stay.
 * @retval EK_ERR_MPI    Communication failed.  Only destroy @p tasks now.
 *
 * Call:    Collective; returns on a rank when the last task of the job has
 *          ended.  Ranks may enter at any time.
 * Threads: One per rank, outside parallel regions.
 * Cost:    On several nodes thieves send requests, and a few waves over a tree
 *          of nodes find the end.  Where tasks lie where they ran, and a worker
 *          had more than the mean, tasks longer than 2 % of that, and a
 *          millisecond, are handed over before workers begin, between ranks by
 *          messages, for which workers wait for a millisecond at most, and for
 *          no more than 1.6 % of what that worker had too much.
 * Paper:   Lifflander, Krishnamoorthy, Kale, HPDC 2012; Cartier, Dinan,
 *          Larkins, ICPP 2021, for the shared part of the deques.
 */
EK_API ek_status ek_process(ek_collection *tasks, ek_process_report *report);


/**
 * Choose where each task of the next iteration starts.
 *
 * Re-seeds every seed that was executed or cancelled and not discarded, and
 * every kept spawned task: where it ran (retain), or where it was added
 * (original).  Remaining indices of ranges become ordinary tasks.  Seeds added
 * since the last ek_process() stay where they were added.
 *
 * A rebalance starts from where tasks ran, and moves as few as it takes to
 * bring every worker down to a target: the mean load, the longest task, or what
 * a worker must have because there are few tasks for many (three equal tasks on
 * two workers), whichever is largest, and a tolerance of options.balance_ppm.
 * By default the tolerance of the mean load, and of what few tasks come to, is
 * a tenth of the mean task over the mean load, and at least 0.3 %; the longest
 * task has none.  The target is beyond all three by what durations vary by
 * themselves.  A task counts as its last duration.  A task that was never
 * measured counts as its hint times the mean duration of its function, or of
 * all functions where its own never ran.
 * Ranges that have not run stay where they are, and so does what is pinned: it
 * counts as load of the workers of its rank, in equal parts.
 *
 * EK_RESTORE_CENTRALIZED_HPDC12 and EK_RESTORE_HIERARCHICAL_HPDC12 are there to
 * compare with: workers above options.balance_c mean loads shed their shortest
 * tasks, and the longest of these goes to the least loaded worker.  The first
 * decides all of it on one rank, which options.balance_gather tells; the second
 * in a tree over the workers with options.balance_branching children to a
 * vertex: a vertex gives its children tasks while they have less than
 * options.balance_d mean loads, and passes on the rest.
 *
 * EK_RESTORE_AUTO chooses what the next iteration is run with.  It rebalances
 * if the gain over the iterations to come (options.iterations_expected), but
 * no longer than the last rebalance lasted, is more than that took; after the
 * first iteration, which warms up, if the largest load is 20 % above the mean;
 * and not for 2, 4, 8, ... iterations after rebalances that gained nothing.
 * It is centralized up to 1,024 workers and hierarchical beyond.  Where
 * options.steal lets workers steal, nobody does in an iteration that promises
 * to take 5 % less without; policies that do not steal stay.  With
 * EVENKEEL_REPORT=1 it says in a sentence what it chose and why.
 *
 * @param[in]  policy  The same on all ranks.
 * @param[out] report  What was done on this rank, or NULL.
 *
 * @retval EK_OK         Every task is on exactly one worker.
 * @retval EK_ERR_ARG    The policy is unknown, or not the same on all ranks,
 *                       which this call or the next ek_process() finds.  The
 *                       tasks are restored, as original where the policy is
 *                       unknown.  A rank whose policy synchronizes where
 *                       another's does not waits here for the next call of the
 *                       other.  If that is the next iteration, and fails for
 *                       this reason, the next iteration of this rank fails,
 *                       too, and at once: ranks stay in step.
 * @retval EK_ERR_STATE  An iteration is open, or a parallel region is active.
 *                       Retain has changed nothing, other policies have
 *                       restored the tasks.
 * @retval EK_ERR_TASK   Data could not be packed that follows its task
 *                       (evenkeel_data.h): it stays at its home until the next
 *                       restore.  The tasks are restored.
 * @retval EK_ERR_NOMEM  There is no room for the tasks; the call may be
 *                       repeated.  Retain returns it on this rank alone.
 * @retval EK_ERR_MPI    Communication failed.  Only destroy @p tasks now.
 *
 * Call:    Collective; retain does not synchronize, unless data follows, auto
 *          may not, the others do.
 * Threads: One per rank, outside parallel regions.
 * Cost:    Retain takes O(n) for n local tasks and sends nothing; original
 *          sends each task that ran on another rank than its home.  A rebalance
 *          sends 16 bytes per task that overloaded workers shed to rank 0
 *          (centralized) or to the rank of each group's first worker, as many
 *          bytes back, and tasks straight from donor to receiver.  Where one
 *          of them fits into no hole, all that are no longer are described;
 *          where even so the target is out of reach, all tasks.  Where groups
 *          end too far above the target, hierarchical does this once more,
 *          with rank 0 alone.  No rank talks to more than eight others at a
 *          time, over trees of ranks, but for leaders whose groups take tasks
 *          of others.
 * Paper:   Lifflander, Krishnamoorthy, Kale, HPDC 2012, sections 3 and 4.  We
 *          re-seed longest first, which the paper leaves open, shed the fewest
 *          tasks instead of the shortest, and where one fits into no hole it
 *          displaces shorter ones.
 */
EK_API ek_status ek_restore(ek_collection *tasks, ek_restore_policy policy,
                            ek_restore_report *report);


/** This task had nothing to do this time; it keeps its last duration. */
EK_API void ek_skip(ek_worker *worker);

/** This task has nothing to do for good: it is not restored. */
EK_API void ek_discard(ek_worker *worker);

/**
 * This task failed.
 *
 * @param[in] code     Any number but 0, for the message.
 * @param[in] message  Copied, at most 159 characters, of one line (what ends or
 *                     controls it becomes a blank); NULL: none.
 */
EK_API void ek_fail(ek_worker *worker, int code, const char *message);

/**
 * Finish the iteration early: a rank that has heard of it starts no task.
 *
 * What has not run is cancelled, under EK_OK of ek_process().  Seeds, and tasks
 * spawned with EK_SPAWN_KEEP, are restored with those that have run; tasks
 * spawned without it are gone, and their parents run again in full.
 */
EK_API void ek_stop(ek_worker *worker);

/** Use @p seconds (0 ... 1e9; others are ignored) as the duration of this task
 * instead of the clock.  A rebalance cuts durations at 2.4 hours. */
EK_API void ek_set_cost(ek_worker *worker, double seconds);

/** Let messages through and show work to thieves.  Long tasks call it some
 * times per millisecond; it takes about 15 ns where there is nothing to do, and
 * up to 1 ms, not counted as time of the task, where long tiles move. */
EK_API void ek_poll(ek_worker *worker);

/** Id of the task that runs, as ek_visit_tasks() shows it. */
EK_API uint64_t ek_task_id(const ek_worker *worker);

/** Number of the worker over the whole job. */
EK_API int ek_worker_id(const ek_worker *worker);

/** Number of the worker within its rank. */
EK_API int ek_worker_here(const ek_worker *worker);

/** What options.worker_create made for the worker; NULL: none. */
EK_API void *ek_worker_data(const ek_worker *worker);

/** Workers of the whole job. */
EK_API int ek_job_workers(const ek_collection *tasks);

/** Workers of this rank. */
EK_API int ek_rank_workers(const ek_collection *tasks);

/** What options.worker_create made for worker @p here; NULL: none. */
EK_API void *ek_rank_worker_data(const ek_collection *tasks, int here);

#ifdef __cplusplus
}
#endif
#endif
