/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a steal request of another node waits while the victim runs long
 * tasks, for each way of letting messages through.
 *
 * Rank 0 holds tasks of 50 ms, rank 1, a node of its own, none; it comes when
 * the first task runs.  The value is the median time from a request to its
 * answer, as the report has it.
 */
#include "bench.h"

#include <stdio.h>

enum {
    TASK_MS = 50,
    TASKS = 12,
    LATE_MS = 10,
    REPETITIONS_MAX = 5
};

/* A way of letting messages through. */
struct way {
    const char *name;
    bool polls; /* the tasks call ek_poll() */
    ek_progress_policy progress;
};

static const struct way ways[] = {
    {"between tasks", false, EK_PROGRESS_POLLING},
    {"ek_poll in tasks", true, EK_PROGRESS_POLLING},
    {"server thread", false, EK_PROGRESS_SERVER}};

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct way *way = context;
    uint64_t start = bench_ticks();
    (void)payload;
    (void)bytes;
    while (bench_ns(bench_ticks() - start) < TASK_MS * 1e6) {
        if (way->polls)
            ek_poll(worker);
    }
    return 0;
}

/* Median service time of one iteration in nanoseconds. */
static double take_sample(ek_collection *tasks, ek_function function,
                          MPI_Comm both, int rank)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    double service_s;
    for (int i = 0; rank == 0 && i < TASKS; i++)
        bench_check(ek_add_task(tasks, function, NULL, 0, NULL));
    MPI_Barrier(both);
    if (rank == 1)
        bench_sleep_ms(LATE_MS);
    bench_check(ek_process(tasks, &report));
    bench_check(ek_report_get(tasks, "serve_p50_s", &service_s));
    bench_check(ek_clear(tasks));
    return service_s * 1e9;
}

static void run_way(const struct bench *bench, MPI_Comm both,
                    const struct way *way)
{
    struct bench_row *row =
        bench_row_new("service", "task of 50 ms", "%s", way->name);
    ek_options options = bench_options(bench, 1);
    ek_collection *tasks;
    ek_function function;
    bench_set(&options, "ranks_per_node", 1);
    options.progress = way->progress;
    bench_check(ek_create(both, &options, &tasks));
    bench_check(ek_register(tasks, "task", run_task, (void *)(uintptr_t)way,
                            &function));
    int repetitions = bench->repetitions < REPETITIONS_MAX ? bench->repetitions
                                                           : REPETITIONS_MAX;
    for (int i = 0; i < repetitions; i++)
        bench_row_add(row, take_sample(tasks, function, both, bench->rank),
                      TASK_MS * 1e6);
    ek_destroy(&tasks);
}

void bench_service(const struct bench *bench)
{
    MPI_Comm both = bench_both(bench);
    if (both == MPI_COMM_NULL)
        return;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        run_way(bench, both, &ways[i]);
    MPI_Comm_free(&both);
}
