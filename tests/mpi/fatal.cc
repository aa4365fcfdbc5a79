// SPDX-License-Identifier: BSD-3-Clause
// Runs that must end with a sentence, at once, on all ranks; fatal.sh knows
// which.
#include <evenkeel.hpp>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <stdexcept>

static const char *what;
static std::jmp_buf back;

static bool is(const char *name)
{
    return std::strcmp(what, name) == 0;
}

static int leave(ek_worker *worker, const void *payload, std::size_t, void *)
{
    int number;
    std::memcpy(&number, payload, sizeof number);
    if (is("abort together"))
        return 0;
    if (is("thread") ? ek_worker_here(worker) != 1 : number != 3)
        return 0;
    if (std::strncmp(what, "longjmp", 7) == 0)
        std::longjmp(back, 1);
    throw std::runtime_error("thrown by a task");
}

static int run(ek_collection *tasks, int rank)
{
    int function, number;
    if (ek_register(tasks, "leave", leave, nullptr, &function) != EK_OK)
        return 2;
    for (number = 0; number < 400; number++) {
        if (rank == 0 && ek_add_task(tasks, function, &number, sizeof number,
                                     nullptr) != EK_OK)
            return 2;
    }
    if (is("abort"))
        return ek_set_option(tasks, "steal", "wrong") == EK_OK;
    if (is("abort together")) {
        ek_process_report bad = EK_PROCESS_REPORT_INIT;
        bad.struct_bytes = rank == 1 ? 1 : sizeof bad;
        return ek_process(tasks, &bad) == EK_OK;
    }
    if (is("caught")) {
        try {
            return ek_process(tasks, nullptr);
        } catch (const std::exception &) {
            return 0;
        }
    }
    if (setjmp(back) == 0)
        return ek_process(tasks, nullptr);
    if (is("longjmp destroy"))
        ek_destroy(&tasks);
    else
        return ek_process(tasks, nullptr);
    return 0;
}

// An exception of all ranks, handled by all.
static void fail_together(evenkeel::collection &tasks)
{
    auto fail = tasks.add_function<int>(
        "fail", [](int) { throw std::runtime_error("of all ranks"); });
    tasks.add(fail, 0);
    try {
        tasks.process();
    } catch (const std::exception &) {
        tasks.clear();
    }
}

// An error of all ranks that is handled, and nothing is called after it.
static void fail_by_hand(evenkeel::collection &tasks)
{
    auto fail =
        tasks.add_function<int>("fail", [](evenkeel::worker worker, int) {
            ek_fail(worker.handle(), 1, "by hand");
        });
    tasks.add(fail, 0);
    try {
        tasks.process();
    } catch (const evenkeel::error &) {
        return;
    }
}

// Rank 1 leaves a collection by itself, while the others wait for it.
static void unwind(int rank)
{
    try {
        evenkeel::collection tasks(MPI_COMM_WORLD);
        tasks.add_function<int>("nothing", [](int) {});
        if (is("unwind later"))
            fail_together(tasks);
        if (is("unwind next"))
            fail_by_hand(tasks);
        if (rank == 1)
            throw std::runtime_error("of rank 1 alone");
        tasks.process();
        std::puts("status 0");
    } catch (const std::exception &thrown) {
        std::printf("handled: %s\n", thrown.what());
    }
}

int main(int argc, char **argv)
{
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    what = argc > 1 ? argv[1] : "";
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks;
    if (std::strncmp(what, "abort", 5) == 0)
        options.on_error = EK_ON_ERROR_ABORT;
    options.steal = is("thread") ? EK_STEAL_RANDOM : EK_STEAL_NONE;
    options.workers = is("thread") ? 2 : 1;
    if (std::strncmp(what, "unwind", 6) == 0) {
        unwind(rank);
        MPI_Finalize();
        return 0;
    }
    if (ek_create(MPI_COMM_WORLD, &options, &tasks) != EK_OK)
        return 2;
    std::printf("status %d\n", run(tasks, rank));
    MPI_Finalize();
    return 0;
}
