/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steals from memory that victims export: every task runs once, whatever the
 * manner, the ring and the iteration before; a victim that computes is stolen
 * from; where MPI has no such memory one line says so.  With ranks as nodes
 * thieves have to have worked on memory, or the test is skipped.
 *
 *     test_steal_memory RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_spawn.h>

enum {
    SEEDS = 300,
    NAPS_ONE_OF = 500, /* tasks: thieves need some time to come */
    NAP_US = 500,
    CHILDREN = 2,
    LONG_US = 300000,
    SHORT_US = 1000
};

static _Atomic int64_t ran;
static int64_t long_ended_us, first_away_us; /* of a clock of the host */
static bool is_apart, by_messages, windows_fail;
static int64_t taken; /* tasks of rank 0, here */
static char heard[4096];
static int lines, banners;

/* In place of MPI's, visible to the library. */
__attribute__((visibility("default"))) int
MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
                 void *memory, MPI_Win *window)
{
    return windows_fail
               ? MPI_ERR_OTHER
               : PMPI_Win_allocate(bytes, unit, info, comm, memory, window);
}

static void listen(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    banners += strstr(line, "steal=sws (program; sws and sdc") != NULL;
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
    if (atomic_fetch_add(&ran, 1) % NAPS_ONE_OF == 0)
        job_nap(NAP_US);
    for (int i = 0; depth > 0 && i < CHILDREN; i++) {
        int64_t next = depth - 1;
        if (ek_spawn(worker, *(const ek_function *)context, &next, sizeof next,
                     0) != EK_OK)
            return 1;
    }
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
    return is_apart && !windows_fail
               ? job_create_one_sided(&options, &by_messages)
               : job_create(&options);
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
            if (i % 2 == 0 && job_rank > 0) /* rank 0 had all seeds */
                taken += ran;
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

/* The only worker with tasks runs a long one first.  With a late MPI it may
 * have shown nothing before (docs/explain/stealing.md). */
static void who_computes_is_stolen_from(void)
{
    if (job_workers > 1 || !is_apart || getenv("SHIM_IS_LOADED"))
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
    CHECK(by_messages || -job_most(-first_away_us) < job_most(long_ended_us));
    ek_destroy(&tasks);
}

static int lines_of_rank_0(int before)
{
    if (job_rank > 0)
        CHECK_EQ_INT(lines, 0);
    return lines - before;
}

/* Whether ranks are of several nodes, apart or on hosts. */
static bool are_several_nodes(void)
{
    MPI_Comm host;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    return is_apart || size < job_size;
}

/* There are no windows, on hosts if MPI has none, with ranks as nodes because
 * the test refuses them; then an option comes too late. */
static void each_cause_is_told_once(void)
{
    bool are_nodes = are_several_nodes();
    setenv("EVENKEEL_LOG", "info", 1);
    ek_set_sink(listen, NULL, EK_LEVEL_INFO);
    windows_fail = is_apart;
    for (int i = 0; i < 2; i++) {
        ek_collection *tasks = make_of("sws", "epochs=2", 64);
        JOB_OK(ek_set_option(tasks, "steal", "sdc"));
        ek_destroy(&tasks);
    }
    windows_fail = false;
    int told = lines_of_rank_0(0);
    if (told > 0)
        CHECK_HAS_TEXT(heard, "--mca osc sm,");
    CHECK(told <= are_nodes && told >= (is_apart && job_rank == 0));
    CHECK_EQ_INT(banners, 2 * told);
    for (int i = 0; i < 2; i++) {
        ek_collection *tasks = job_create(NULL);
        JOB_OK(ek_set_option(tasks, "steal", i == 0 ? "sdc" : "sws"));
        ek_destroy(&tasks);
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    setenv("EVENKEEL_LOG", "warn", 1);
    CHECK_EQ_INT(lines_of_rank_0(told), are_nodes && job_rank == 0);
    if (lines > told)
        CHECK_HAS_TEXT(heard, "steal as random here, by messages: the "
                              "collection was made without memory");
}

/* An operation could not get half of it. */
static void a_ring_beyond_what_mpi_counts_is_refused(void)
{
    if (!is_apart)
        return;
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    options.payload_bytes = 65504;
    options.steal = EK_STEAL_SDC;
    job_set_number(&options, "buffer_slots", 131072);
    JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &tasks), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "option buffer_slots is 131072; allowed "
                                       "with steal=sws and sdc, and slots of ");
}

static void thieves_have_worked_on_memory(void)
{
    if (is_apart && !by_messages)
        CHECK(job_sum(taken) > 0);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    is_apart = job_size > 1 && getenv("EVENKEEL_RANKS_PER_NODE");
    JOB_RUN(each_cause_is_told_once);
    JOB_RUN(a_ring_beyond_what_mpi_counts_is_refused);
    JOB_RUN(every_task_runs_once);
    JOB_RUN(a_failure_loses_nothing);
    JOB_RUN(who_computes_is_stolen_from);
    JOB_RUN(thieves_have_worked_on_memory);
    return job_result_of_memory(by_messages);
}
