/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steals from memory that victims export: every task runs once, whatever the
 * manner, the ring and the iteration before; a victim that computes is stolen
 * from; where MPI has no such memory one line says so.
 *
 *     test_steal_memory RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_spawn.h>

enum {
    SEEDS = 300,
    CHILDREN = 2,
    LONG_US = 300000,
    SHORT_US = 1000
};

static _Atomic int64_t ran;
static int64_t long_ended_us, first_away_us; /* of a clock of the host */
static char heard[4096];
static int lines;

static void listen(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    if (!strstr(line, "by messages"))
        return;
    lines++;
    snprintf(heard, sizeof heard, "%s", line);
}

static int unfold(ek_worker *worker, const void *payload, size_t bytes,
                  void *context)
{
    int64_t depth;
    memcpy(&depth, payload, sizeof depth);
    for (int i = 0; depth > 0 && i < CHILDREN; i++) {
        int64_t next = depth - 1;
        if (ek_spawn(worker, *(const ek_function *)context, &next, sizeof next,
                     0) != EK_OK)
            return 1;
    }
    atomic_fetch_add(&ran, 1);
    (void)bytes;
    return depth == 99;
}

/* So many tasks on rank 0 that unfold. */
static void add_seeds(ek_collection *tasks, ek_function function, int count,
                      int64_t depth)
{
    for (int i = 0; job_rank == 0 && i < count; i++)
        CHECK_OK(ek_add_task(tasks, function, &depth, sizeof depth, NULL));
}

static ek_collection *make_of(const char *steal, const char *sws, int64_t slots)
{
    ek_options options = job_options();
    job_set(&options, "steal", steal);
    job_set(&options, "sws", sws);
    job_set_number(&options, "buffer_slots", slots);
    return job_create(&options);
}

/* Policies take turns; tasks are retained, or come back. */
static void every_task_runs_once(void)
{
    static const char *const turns[] = {"sws",    "sdc", "sdc",
                                        "random", "sws", "sws"};
    static const char *const manners[] = {"epochs=2", "epochs=1,damping=0",
                                          "damping=7"};
    static const int64_t slots[] = {3, 64, 256};
    for (int how = 0; how < 3; how++) {
        ek_function function;
        ek_collection *tasks = make_of("sws", manners[how], slots[how]);
        function = job_register(tasks, "unfold", unfold, &function);
        add_seeds(tasks, function, SEEDS, 3);
        for (int i = 0; i < 6; i++) {
            atomic_store(&ran, 0);
            JOB_OK(ek_set_option(tasks, "steal", turns[i]));
            JOB_OK(ek_process(tasks, NULL));
            CHECK_EQ_INT(job_sum(atomic_load(&ran)), SEEDS * 15);
            JOB_OK(ek_restore(
                tasks, i % 2 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN, NULL));
            CHECK_EQ_INT(job_held(tasks), SEEDS);
        }
        ek_destroy(&tasks);
    }
}

/* What was not started comes back. */
static void a_failure_loses_nothing(void)
{
    static const char *const steals[] = {"sws", "sdc"};
    for (int i = 0; i < 2; i++) {
        ek_function function;
        ek_collection *tasks = make_of(steals[i], "epochs=2", 16);
        function = job_register(tasks, "unfold", unfold, &function);
        add_seeds(tasks, function, SEEDS, 0);
        add_seeds(tasks, function, 1, 99);
        JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
        JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
        CHECK_EQ_INT(job_held(tasks), SEEDS + 1);
        ek_destroy(&tasks);
    }
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int nap(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    int64_t us;
    (void)worker, (void)bytes, (void)context;
    memcpy(&us, payload, sizeof us);
    job_nap(us);
    if (us == LONG_US)
        long_ended_us = now_us();
    else if (job_rank > 0 && first_away_us == INT64_MAX)
        first_away_us = now_us();
    return 0;
}

/* The only worker with tasks runs a long one first. */
static void who_computes_is_stolen_from(void)
{
    if (job_workers > 1 || job_size == 1 || !getenv("EVENKEEL_RANKS_PER_NODE"))
        return;
    ek_collection *tasks = make_of("sws", "epochs=2", 64);
    ek_function function = job_register(tasks, "nap", nap, NULL);
    for (int i = 0; job_rank == 0 && i < 9; i++) {
        int64_t us = i == 0 ? LONG_US : SHORT_US;
        ek_hint hint = EK_HINT_INIT;
        hint.cost = (double)us;
        CHECK_OK(ek_add_task(tasks, function, &us, sizeof us, &hint));
    }
    first_away_us = INT64_MAX;
    JOB_OK(ek_process(tasks, NULL));
    CHECK(-job_most(-first_away_us) < job_most(long_ended_us));
    ek_destroy(&tasks);
}

/* On hosts; not as an error, too.  Ranks of a host have no common memory with
 * components that sm is not among. */
static void mpi_without_memory_is_told_of_once(void)
{
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    ek_collection *tasks = make_of("sws", "epochs=2", 64);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_destroy(&tasks);
    CHECK(job_rank == 0 ? lines <= 1 : lines == 0);
    if (lines > 0)
        CHECK_HAS_TEXT(heard, "--mca osc sm,");
}

/* An option comes too late. */
static void memory_that_is_not_there_is_told_of(void)
{
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    ek_collection *tasks = job_create(NULL);
    ek_function function = job_register(tasks, "nothing", job_nothing, NULL);
    JOB_OK(ek_set_option(tasks, "steal", "sdc"));
    JOB_OK(ek_set_option(tasks, "steal", "sws"));
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, NULL));
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_destroy(&tasks);
    int expected = job_rank == 0 && job_size > 1 &&
                   getenv("EVENKEEL_RANKS_PER_NODE") != NULL;
    CHECK_EQ_INT(lines, expected);
    if (expected)
        CHECK_HAS_TEXT(heard, "steal as random here, by messages: the "
                              "collection was made without memory");
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    /* Both are said once by a process. */
    if (job_size == 1 || getenv("EVENKEEL_RANKS_PER_NODE"))
        JOB_RUN(memory_that_is_not_there_is_told_of);
    else
        JOB_RUN(mpi_without_memory_is_told_of_once);
    JOB_RUN(every_task_runs_once);
    JOB_RUN(a_failure_loses_nothing);
    JOB_RUN(who_computes_is_stolen_from);
    return job_result();
}
