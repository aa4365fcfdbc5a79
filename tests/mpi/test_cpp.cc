// SPDX-License-Identifier: BSD-3-Clause
// evenkeel.hpp: bodies, exceptions of tasks on all ranks, unwinding.
//
//     test_cpp RANKS WORKERS
#include <evenkeel.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

static int rank, size, failed;

static void expect(bool holds, const char *what, int line)
{
    if (holds)
        return;
    failed++;
    std::fprintf(stderr, "test_cpp.cc:%d: rank %d: not so: %s\n", line, rank,
                 what);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

static std::int64_t sum_of(std::int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return value;
}

struct thrown_here {
    int number;
};

static void bodies_run()
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    evenkeel::per_worker<std::int64_t> sums(tasks, 0);
    auto leaf = tasks.add_function<int>(
        "leaf",
        [&](evenkeel::worker worker, const int &x) { sums[worker] += x; });
    std::atomic<int> ran{0};
    auto root =
        tasks.add_function<int>("root", [&](evenkeel::worker worker, int x) {
            if (x % 2)
                worker.spawn(leaf, x + 1);
            else
                worker.spawn_at(leaf) = x + 1;
            ran++;
        });
    auto index = tasks.add_function<std::int64_t>(
        "index", [&](const std::int64_t &) { ran++; });
    for (int i = 0; i < 100 && rank == 0; i++)
        tasks.add(root, i);
    tasks.add_range(index, 0, 50);
    for (int i = 1; i <= 3; i++) {
        auto report = tasks.process_with_report();
        EXPECT(report.tasks == 200 + 50 * size);
        std::int64_t here = 0;
        sums.each([&](std::int64_t &sum) { here += sum; });
        EXPECT(sum_of(here) == 5050 * i);
        EXPECT(sum_of(ran) == (100 + 50 * size) * i);
    }
    EXPECT(tasks.restore(EK_RESTORE_ORIGINAL).policy == EK_RESTORE_ORIGINAL);
}

static void slots_are_refused_by_exceptions()
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    auto leaf = tasks.add_function<int>("leaf", [](int) {});
    auto root =
        tasks.add_function<int>("root", [&](evenkeel::worker worker, int) {
            try {
                worker.spawn_at(leaf, 2) = 1;
                EXPECT(!"reached");
            } catch (const evenkeel::error &error) {
                EXPECT(error.status() == EK_ERR_ARG);
                EXPECT(std::strstr(error.what(), "ek_spawn_at: flags 2"));
            }
        });
    ek_set_sink(nullptr, nullptr, EK_LEVEL_NONE);
    tasks.add(root, 0);
    EXPECT(tasks.process_with_report().tasks == size);
    ek_set_sink(nullptr, nullptr, EK_LEVEL_INFO);
}

static void tasks_add_to_another_collection()
{
    evenkeel::collection first(MPI_COMM_WORLD), second(MPI_COMM_WORLD);
    std::atomic<int> sum{0};
    auto take = second.add_function<int>("take", [&](int x) { sum += x; });
    auto give =
        first.add_function<int>("give", [&](evenkeel::worker worker, int x) {
            worker.add_task_to(second, take, 2 * x);
            try {
                worker.add_task_to(first, take, x);
                EXPECT(!"reached");
            } catch (const evenkeel::error &error) {
                EXPECT(std::strstr(error.what(), "use ek_spawn"));
            }
        });
    ek_set_sink(nullptr, nullptr, EK_LEVEL_NONE);
    for (int i = 0; i < 10; i++)
        first.add(give, i);
    first.process();
    ek_set_sink(nullptr, nullptr, EK_LEVEL_INFO);
    EXPECT(second.process_with_report().tasks == 10 * size);
    EXPECT(sum_of(sum) == 90 * size);
}

static void statuses_are_exceptions()
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    tasks.add_function<int>("f", [](int) {});
    try {
        tasks.add_function<int>("f", [](int) {});
        EXPECT(!"reached");
    } catch (const evenkeel::error &error) {
        EXPECT(error.status() == EK_ERR_ARG);
        EXPECT(std::strstr(error.what(), "registered already"));
    }
}

template <int Bytes> struct payload_of {
    char bytes[Bytes];
};

static void default_payloads_have_48_bytes()
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    std::atomic<int> sum{0};
    auto add_last = [&](const auto &payload) { sum += payload.bytes[47]; };
    try {
        tasks.add_function<payload_of<49>>("49", add_last);
        EXPECT(!"reached");
    } catch (const evenkeel::error &error) {
        EXPECT(error.status() == EK_ERR_ARG);
        EXPECT(std::strstr(error.what(), "payload of 49 bytes"));
    }
    payload_of<48> payload{};
    payload.bytes[47] = 7;
    tasks.add(tasks.add_function<payload_of<48>>("48", add_last), payload);
    tasks.process();
    EXPECT(sum_of(sum) == 7 * size);
}

// One task of the job throws, somewhere: the collection is unwound on all
// ranks.
static void exceptions_reach_all_ranks()
{
    std::int64_t original = 0, told = 0;
    try {
        evenkeel::collection tasks(MPI_COMM_WORLD);
        auto body = tasks.add_function<int>("body", [](int number) {
            if (number == 40)
                throw thrown_here{number};
        });
        for (int i = 0; i < 100 && rank == size - 1; i++)
            tasks.add(body, i);
        tasks.process();
        EXPECT(!"reached");
    } catch (const thrown_here &thrown) {
        original = thrown.number == 40;
    } catch (const evenkeel::error &error) {
        told = error.status() == EK_ERR_TASK &&
               std::strstr(error.what(), "of function 'body' failed on worker");
    }
    EXPECT(sum_of(original) == 1);
    EXPECT(sum_of(told) == size - 1);
}

// After what it threw a collection is as good as before.
static void a_collection_outlives_its_failures()
{
    evenkeel::options given;
    given.on_failure = EK_ON_FAILURE_CONTINUE;
    evenkeel::collection tasks(MPI_COMM_WORLD, given);
    std::atomic<int> ran{0};
    auto body = tasks.add_function<int>("body", [&](int number) {
        ran++;
        if (number % 10 == 0)
            throw std::runtime_error("ten");
    });
    for (int i = 0; i < 100 && rank == 0; i++)
        tasks.add(body, i);
    for (int i = 1; i < 3; i++) {
        tasks.process();
        EXPECT(sum_of(ran) == 100 * i);
        EXPECT(sum_of(static_cast<std::int64_t>(tasks.failures().size())) ==
               10);
    }
    tasks.set_option("on_failure", "stop");
    try {
        tasks.process();
        EXPECT(!"reached");
    } catch (const std::runtime_error &error) {
        EXPECT(std::strstr(error.what(), "ten"));
    }
    tasks.set_option("on_failure", "continue");
    ran = 0;
    tasks.process();
    EXPECT(sum_of(ran) == 100);
}

// One rank leaves the loop by an exception; nobody hangs, all are unwound.
static void a_loop_is_left_by_one_rank()
{
    bool is_left = false;
    try {
        evenkeel::options given;
        given.workers = 1;
        given.steal = EK_STEAL_NONE;
        evenkeel::collection tasks(MPI_COMM_WORLD, given);
        auto number = tasks.add_function<int>("number");
        for (int i = 0; i < 1000; i++)
            tasks.add(number, i);
        evenkeel::iteration loop(tasks);
        while (auto task = loop.next()) {
            EXPECT(task.is(number));
            if (rank == size - 1 && task.payload<int>() >= 0)
                throw thrown_here{0};
        }
        loop.end();
    } catch (const thrown_here &) {
        is_left = true;
    } catch (const evenkeel::error &error) {
        is_left = error.status() == EK_ERR_TASK &&
                  std::strstr(error.what(), "stopped fetching");
    }
    EXPECT(is_left);
}

// An iteration does not throw what tasks of the one before have thrown.
static void failures_are_of_one_iteration()
{
    evenkeel::options given;
    given.on_failure = EK_ON_FAILURE_CONTINUE;
    evenkeel::collection tasks(MPI_COMM_WORLD, given);
    auto body =
        tasks.add_function<int>("body", [](int) { throw thrown_here{0}; });
    tasks.add(body, 0);
    tasks.process();
    EXPECT(sum_of(static_cast<std::int64_t>(tasks.failures().size())) == size);
    tasks.set_option("on_failure", "stop");
    try {
        evenkeel::iteration loop(tasks);
        EXPECT(tasks.failures().empty());
        while (auto task = loop.next())
            ek_fail(task.worker().handle(), 1, "by hand");
        loop.end();
        EXPECT(!"reached");
    } catch (const evenkeel::error &error) {
        EXPECT(error.status() == EK_ERR_TASK);
    }
}

struct longest {
    std::int64_t steps, number;
};

static void loops_run_and_are_reduced()
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    evenkeel::per_worker<std::int64_t> sums(tasks, 0);
    evenkeel::per_worker<longest> most(tasks, {-1, -1});
    auto add = [&](evenkeel::worker worker, std::int64_t i) {
        sums[worker] += i;
        std::int64_t steps = i * 7 % 101;
        if (steps > most[worker].steps)
            most[worker] = {steps, i};
    };
    for (std::int64_t n : {100, 300, 0, 50}) {
        tasks.for_each(n, add);
        EXPECT(tasks.reduce(sums) == n * (n - 1) / 2);
        auto best = tasks.reduce(most, [](longest a, longest b) {
            return a.steps >= b.steps ? a : b;
        });
        EXPECT(best.steps == (n == 0 ? -1 : n == 50 ? 99 : 100));
        EXPECT(n == 0 || best.number * 7 % 101 == best.steps);
    }
    tasks.for_each(3, [&](std::int64_t i) { EXPECT(i < 3); });
}

static void results_come_by_index()
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    auto squares = tasks.map(200, [](std::int64_t i) { return i * i; });
    EXPECT(squares.size() == 200 && squares[14] == 196 && squares[0] == 0);
    auto words = tasks.map(
        30, [](std::int64_t i) { return std::string(i % 4, 'x'); }, size - 1);
    EXPECT(words.size() == (rank == size - 1 ? 30U : 0U));
    for (std::size_t i = 0; i < words.size(); i++)
        EXPECT(words[i] == std::string(i % 4, 'x'));
    auto rows = tasks.map(10, [](evenkeel::worker worker, std::int64_t i) {
        if (i == 5)
            worker.skip();
        return std::vector<double>(3, 0.5 * static_cast<double>(i));
    });
    EXPECT(rows[9].size() == 3 && rows[9][2] == 4.5);
}

// A record and a report tell the loops of a collection apart.
static void loops_have_names()
{
    std::string lines;
    setenv("EVENKEEL_REPORT", "1", 1);
    ek_set_sink(
        [](ek_level, const char *line, void *context) {
            *static_cast<std::string *>(context) += line;
        },
        &lines, EK_LEVEL_INFO);
    {
        evenkeel::collection tasks(MPI_COMM_WORLD);
        tasks.for_each(3, [](std::int64_t) {});
        tasks.map(3, [](std::int64_t i) { return i; });
    }
    ek_set_sink(nullptr, nullptr, EK_LEVEL_INFO);
    unsetenv("EVENKEEL_REPORT");
    for (const char *name : {"loop1, iteration 0", "loop2, iteration 0"})
        EXPECT((lines.find(name) != std::string::npos) == (rank == 0));
}

// A loop that throws leaves its collection, and that of the loop, as usual.
static void loops_throw_on_all_ranks()
{
    std::int64_t original = 0, told = 0;
    try {
        evenkeel::collection tasks(MPI_COMM_WORLD);
        tasks.for_each(100, [](std::int64_t i) {
            if (i == 40)
                throw thrown_here{40};
        });
        EXPECT(!"reached");
    } catch (const thrown_here &) {
        original = 1;
    } catch (const evenkeel::error &error) {
        told = error.status() == EK_ERR_TASK;
    }
    EXPECT(sum_of(original) == 1);
    EXPECT(sum_of(told) == size - 1);
}

// What one rank alone gets wrong fails on all; no collection is left behind.
static void loops_fail_together()
{
    evenkeel::options given;
    given.ignore_environment = true;
    auto fails = [&](std::int64_t n, bool is_first) {
        std::int64_t failed = 0;
        auto body = [](std::int64_t) {};
        try {
            evenkeel::collection tasks(MPI_COMM_WORLD, given);
            if (!is_first)
                tasks.for_each(3, body);
            tasks.for_each(n, body);
        } catch (const evenkeel::error &error) {
            failed = error.status() == EK_ERR_ARG;
        }
        return sum_of(failed) == size;
    };
    for (bool is_first : {true, false}) {
        EXPECT(fails(-4, is_first));
        EXPECT(fails(rank == 0 ? -4 : 3, is_first));
    }
    setenv("EVENKEEL_STEAL", "bogus", 1); // for the loop, not its parent
    EXPECT(fails(3, true));
    unsetenv("EVENKEEL_STEAL");
}

static void data_travels()
{
    evenkeel::options given;
    given.restore = EK_RESTORE_CENTRALIZED;
    std::vector<std::int64_t> mine(20, 1), blocks(20, 1);
    evenkeel::collection tasks(MPI_COMM_WORLD, given);
    auto body = [&](std::vector<std::int64_t> &own) {
        return [&](evenkeel::worker worker, const std::int64_t &i) {
            auto *value = worker.data<std::int64_t>();
            worker.set_cost(i % 20 < 10 ? 1 : 1e-3);
            *(value ? value : &own[static_cast<std::size_t>(i % 20)]) += i;
        };
    };
    auto packed = tasks.add_function<std::int64_t>("packed", body(mine));
    auto block = tasks.add_function<std::int64_t>("block", body(blocks));
    tasks.set_data(
        packed, 8,
        [&](std::int64_t i, void *buffer) {
            std::memcpy(buffer, &mine[static_cast<std::size_t>(i % 20)], 8);
            return std::size_t{8};
        },
        [&](std::int64_t i, const void *buffer, std::size_t bytes) {
            std::memcpy(&mine[static_cast<std::size_t>(i % 20)], buffer, bytes);
        });
    tasks.set_data_blocks(block, 8);
    for (int i = 0; i < 20; i++) {
        tasks.add<std::int64_t>(packed, 20 * rank + i);
        tasks.add<std::int64_t>(block, 20 * rank + i);
        tasks.set_block(block, 20 * rank + i, &blocks[i], 1);
    }
    for (int i = 0; i < 3; i++)
        tasks.process();
    for (int i = 0; i < 20; i++)
        EXPECT(mine[i] == 1 + 3 * (20 * rank + i) && blocks[i] == mine[i]);
}

// A folder of this job.
static std::string make_folder()
{
    char name[] = "/tmp/evenkeel-cpp-XXXXXX";
    if (rank == 0)
        EXPECT(mkdtemp(name) != nullptr);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    return name;
}

// A collection over some ranks, whose tasks sum up numbers.
struct saved_job {
    explicit saved_job(MPI_Comm comm)
        : tasks(comm), add(tasks.add_function<std::int64_t>(
                           "add", [this](std::int64_t i) { sum += i; }))
    {
        auto none = [](std::int64_t, const void *, std::size_t) {};
        auto pack = [](std::int64_t, void *) { return std::size_t{8}; };
        tasks.set_data(add, 8, pack, none);
    }
    evenkeel::collection tasks;
    std::atomic<std::int64_t> sum{0};
    evenkeel::function<std::int64_t> add;
};

// What set_save() throws is thrown by save(), on this rank, or told.
static void saves_fail_by_exceptions(saved_job &job, const std::string &folder)
{
    std::int64_t original = 0, told = 0;
    job.tasks.set_save([](const std::string &) {
        if (rank == size - 1)
            throw thrown_here{7};
    });
    ek_set_sink(nullptr, nullptr, EK_LEVEL_NONE);
    try {
        job.tasks.save(folder);
        EXPECT(!"reached");
    } catch (const thrown_here &thrown) {
        original = thrown.number == 7;
    } catch (const evenkeel::error &error) {
        told = error.status() == EK_ERR_FILE;
    }
    ek_set_sink(nullptr, nullptr, EK_LEVEL_INFO);
    EXPECT(sum_of(original) == 1 && sum_of(told) == size - 1);
}

static void saves_are_loaded()
{
    const std::string folder = make_folder();
    const std::int64_t n = 40;
    {
        saved_job job(MPI_COMM_WORLD);
        EXPECT(!job.tasks.loaded() && !job.tasks.goes_on());
        for (std::int64_t i = rank; i < n; i += size)
            job.tasks.add(job.add, i);
        saves_fail_by_exceptions(job, folder);
        job.tasks.set_save([](const std::string &prefix) {
            std::FILE *file =
                rank == 0 ? std::fopen(prefix.c_str(), "w") : nullptr;
            if (rank == 0 && (!file || std::fclose(file) != 0))
                throw std::runtime_error(prefix);
        });
        job.tasks.process();
        job.tasks.stop_at(0);
        EXPECT(job.tasks.process_with_report().stopped == 1);
        job.tasks.save(folder);
        EXPECT(job.tasks.goes_on());
    }
    MPI_Comm first; // the lower half of the ranks loads
    bool is_in = rank < (size + 1) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_in, rank, &first);
    if (is_in) {
        saved_job job(first);
        int ranks;
        MPI_Comm_size(first, &ranks);
        job.tasks.set_owner([&](const evenkeel::task &task) {
            EXPECT(task.is(job.add));
            return static_cast<int>(task.payload<std::int64_t>() % ranks);
        });
        job.tasks.load(folder);
        auto loaded = job.tasks.loaded();
        EXPECT(loaded && loaded->iteration == 1 &&
               loaded->prefix == folder + "/save-1.program");
        EXPECT(job.tasks.goes_on());
        job.tasks.process();
        std::int64_t sum = job.sum;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, first);
        EXPECT(sum == n * (n - 1) / 2);
        evenkeel::check(ek_visit_tasks(
            job.tasks.handle(),
            [](const ek_task *task, void *size) {
                auto i = *static_cast<const std::int64_t *>(task->payload);
                EXPECT(task->home == i % *static_cast<int *>(size));
                return true;
            },
            &ranks));
    }
    MPI_Comm_free(&first);
    if (rank == 0)
        EXPECT(std::system(("rm -r " + folder).c_str()) == 0);
}

// An owner that throws is none, on all ranks.
static void owners_fail_by_exceptions()
{
    const std::string folder = make_folder();
    {
        saved_job job(MPI_COMM_WORLD);
        job.tasks.add(job.add, std::int64_t{1});
        job.tasks.save(folder);
    }
    if (rank == 0 && size > 1) {
        saved_job job(MPI_COMM_SELF);
        ek_set_sink(nullptr, nullptr, EK_LEVEL_NONE);
        job.tasks.set_owner(
            [](const evenkeel::task &) -> int { throw thrown_here{1}; });
        try {
            job.tasks.load(folder);
            EXPECT(!"reached");
        } catch (const evenkeel::error &error) {
            EXPECT(error.status() == EK_ERR_ARG);
            EXPECT(!job.tasks.loaded());
        }
        ek_set_sink(nullptr, nullptr, EK_LEVEL_INFO);
    }
    if (rank == 0)
        EXPECT(std::system(("rm -r " + folder).c_str()) == 0);
}

// Somebody who asks for a stop, or for checkpoints, means no loop.
static void loops_go_on_after_a_stop()
{
    const std::string folder = make_folder();
    setenv("EVENKEEL_TIME_LIMIT", "20ms", 1);
    setenv("EVENKEEL_CHECKPOINT", (folder + "/loops@every:1").c_str(), 1);
    setenv("EVENKEEL_ON_STOP", "continue", 1);
    {
        evenkeel::collection tasks(MPI_COMM_WORLD);
        const std::int64_t n = 30 * tasks.job_workers();
        auto naps = [](std::int64_t i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return i + 1;
        };
        for (int k = 0; k < 2; k++) {
            auto found = tasks.map(n, naps);
            std::int64_t good = 0;
            for (std::int64_t i = 0; i < n; i++)
                good += found[static_cast<std::size_t>(i)] == i + 1;
            EXPECT(good == n);
        }
        std::atomic<std::int64_t> ran{0}, last{0};
        auto stops = [&](evenkeel::worker worker, std::int64_t i) {
            if (i == last)
                worker.stop();
            ran++;
        };
        tasks.for_each(n, stops); // what it leaves is over
        ran = 0;
        last = -1;
        tasks.for_each(n, stops);
        EXPECT(sum_of(ran) == n);
    }
    for (const char *name : {"TIME_LIMIT", "CHECKPOINT", "ON_STOP"})
        unsetenv((std::string("EVENKEEL_") + name).c_str());
    if (rank == 0) // it is empty
        EXPECT(std::system(("rmdir " + folder).c_str()) == 0);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT(argc > 1 && std::atoi(argv[1]) == size);
    bodies_run();
    slots_are_refused_by_exceptions();
    tasks_add_to_another_collection();
    statuses_are_exceptions();
    default_payloads_have_48_bytes();
    exceptions_reach_all_ranks();
    a_collection_outlives_its_failures();
    a_loop_is_left_by_one_rank();
    failures_are_of_one_iteration();
    loops_run_and_are_reduced();
    results_come_by_index();
    loops_have_names();
    loops_throw_on_all_ranks();
    loops_fail_together();
    data_travels();
    saves_are_loaded();
    owners_fail_by_exceptions();
    loops_go_on_after_a_stop();
    bool is_bad = sum_of(failed) > 0;
    MPI_Finalize();
    return is_bad;
}
