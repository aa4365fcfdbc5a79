/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "common/unfold.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AT(field) offsetof(struct unfold_arguments, field)

static const struct option options[] = {
    {"--repeat", "N", AT(rounds), OPTION_INTEGER(1, 10000),
     .help = "rounds; the least and the median time are shown (1)"},
    {"--sequential", NULL, AT(has_sequential), OPTION_FLAG,
     .help = "also run without tasks, in turns, and print the efficiency"},
};

const struct command_line unfold_command_line = {OPTION_ROWS(options)};

enum {
    LINE_BYTES = 128 /* what processors fetch at once, and its neighbor */
};

static void *counts_create(int here, void *context)
{
    (void)here;
    (void)context;
    _Static_assert(sizeof(struct unfold_counts) <= LINE_BYTES, "one line");
    void *counts = aligned_alloc(LINE_BYTES, LINE_BYTES);
    if (counts)
        memset(counts, 0, LINE_BYTES);
    return counts;
}

static void counts_begin(void *counts, int here, void *context)
{
    (void)here;
    (void)context;
    memset(counts, 0, sizeof(struct unfold_counts));
}

static void counts_destroy(void *counts, void *context)
{
    (void)context;
    free(counts);
}

static void counts_add(struct unfold_counts *sum,
                       const struct unfold_counts *counts)
{
    sum->nodes += counts->nodes;
    sum->ends += counts->ends;
    if (counts->depth > sum->depth)
        sum->depth = counts->depth;
}

/* Of the workers of all ranks. */
static struct unfold_counts counts_sum(const ek_collection *tasks)
{
    struct unfold_counts sum = {0};
    for (int here = 0; here < ek_rank_workers(tasks); here++)
        counts_add(&sum, ek_rank_worker_data(tasks, here));
    int64_t both[2] = {sum.nodes, sum.ends};
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &sum.depth, 1, MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    return (struct unfold_counts){both[0], both[1], sum.depth};
}

static bool is_same(const struct unfold_counts *a,
                    const struct unfold_counts *b)
{
    return a->nodes == b->nodes && a->ends == b->ends && a->depth == b->depth;
}

static ek_status open_tasks(const struct unfold *unfold, ek_collection **tasks)
{
    ek_options collection = EK_OPTIONS_INIT;
    collection.name = unfold->name;
    if (collection.payload_bytes < (int64_t)unfold->payload_bytes)
        collection.payload_bytes = (int64_t)unfold->payload_bytes;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = counts_create;
    hooks.begin = counts_begin;
    hooks.destroy = counts_destroy;
    collection.hooks = &hooks;
    ek_status status = ek_create(MPI_COMM_WORLD, &collection, tasks);
    if (status != EK_OK)
        return status;
    return ek_register(*tasks, unfold->name, unfold->task, unfold->context,
                       unfold->function);
}

/* All of it from its seed, which is anew in each round. */
static ek_status run_tasks(const struct unfold *unfold, ek_collection *tasks,
                           int round, struct unfold_result *result)
{
    ek_status status = ek_clear(tasks);
    if (status == EK_OK && is_first_rank())
        status = ek_add_task(tasks, *unfold->function, unfold->root,
                             unfold->root_bytes, NULL);
    if (status != EK_OK)
        return status;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    status = figures_process(tasks, &result->figures);
    result->tasks_s[round] = MPI_Wtime() - start;
    return status;
}

/* Ranks that have nothing to do leave their cores to the one that has. */
static void wait_asleep(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int is_done = 0;
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            return;
        nanosleep(&pause, NULL);
    }
}

static bool run_sequential(const struct unfold *unfold, int round,
                           struct unfold_result *result,
                           struct message *message)
{
    int is_good = true;
    if (is_first_rank()) {
        struct unfold_counts counts = {0};
        double start = MPI_Wtime();
        is_good = unfold->visit(unfold->context, &counts);
        result->sequential_s[round] = MPI_Wtime() - start;
        result->counts = counts;
    }
    wait_asleep();
    MPI_Bcast(&is_good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&result->counts, sizeof result->counts, MPI_BYTE, 0,
              MPI_COMM_WORLD);
    return is_good || message_set(message, "no memory to visit the tree "
                                           "without tasks");
}

static bool check_counts(const struct unfold *unfold,
                         const struct unfold_counts *counts,
                         const struct unfold_counts *expected,
                         struct message *message)
{
    return is_same(counts, expected) ||
           message_set(message,
                       "tasks count %lld nodes, %lld %s, depth %lld; the run "
                       "before counted %lld, %lld, %lld",
                       (long long)counts->nodes, (long long)counts->ends,
                       unfold->ends, (long long)counts->depth,
                       (long long)expected->nodes, (long long)expected->ends,
                       (long long)expected->depth);
}

static bool run_round(const struct unfold *unfold, ek_collection *tasks,
                      int round, struct unfold_result *result,
                      struct message *message)
{
    if (result->sequential_s && !run_sequential(unfold, round, result, message))
        return false;
    if (run_tasks(unfold, tasks, round, result) != EK_OK)
        return message_leave(message);
    struct unfold_counts counts = counts_sum(tasks);
    bool has_expected = round > 0 || result->sequential_s;
    if (has_expected &&
        !check_counts(unfold, &counts, &result->counts, message))
        return false;
    result->counts = counts;
    return true;
}

static bool run_rounds(const struct unfold *unfold,
                       const struct unfold_arguments *arguments,
                       struct unfold_result *result, struct message *message)
{
    ek_collection *tasks = NULL;
    size_t rounds = (size_t)arguments->rounds;
    *result = (struct unfold_result){.rounds = arguments->rounds};
    result->tasks_s = allocate(rounds, sizeof(double));
    if (arguments->has_sequential && unfold->visit)
        result->sequential_s = allocate(rounds, sizeof(double));
    bool is_good =
        open_tasks(unfold, &tasks) == EK_OK || message_leave(message);
    if (is_good)
        result->workers = ek_job_workers(tasks);
    for (int round = 0; is_good && round < arguments->rounds; round++)
        is_good = run_round(unfold, tasks, round, result, message);
    ek_destroy(&tasks);
    return is_good;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at a part of all, in their order. */
static double quantile(const double *seconds, int count, double part)
{
    double *sorted = allocate((size_t)count, sizeof(double));
    memcpy(sorted, seconds, (size_t)count * sizeof(double));
    qsort(sorted, (size_t)count, sizeof(double), compare_seconds);
    double value = sorted[(int)(part * (count - 1))];
    free(sorted);
    return value;
}

double unfold_least(const double *seconds, int count)
{
    return quantile(seconds, count, 0);
}

double unfold_median(const double *seconds, int count)
{
    return quantile(seconds, count, 0.5);
}

static void print_times(const char *what, const double *seconds,
                        const struct unfold_result *result)
{
    double least = unfold_least(seconds, result->rounds);
    double median = unfold_median(seconds, result->rounds);
    printf("%-11s %10.4f %10.4f %10.4g\n", what, least, median,
           1e-6 * (double)result->counts.nodes / median);
}

/* What a worker does beside what the sequential program does on a core. */
static void print_efficiency(const struct unfold_result *result)
{
    int rounds = result->rounds;
    double workers = result->workers;
    printf("efficiency  %9.1f%% %9.1f%%\n",
           100 * unfold_least(result->sequential_s, rounds) / workers /
               unfold_least(result->tasks_s, rounds),
           100 * unfold_median(result->sequential_s, rounds) / workers /
               unfold_median(result->tasks_s, rounds));
}

static void print_steals(const struct unfold_result *result)
{
    const struct figures *figures = &result->figures;
    double workers = result->workers;
    printf("\n%lld tasks on %d workers, at most %lld on a stack\n"
           "%lld stolen in %.0f steals; %.0f tries, %lld of them in vain "
           "across nodes\n"
           "%lld messages; %.6f s of search, of which %.6f s in steals\n",
           (long long)figures->tasks, result->workers,
           (long long)figures->deepest, (long long)figures->stolen,
           figures->steals * workers, figures->tries * workers,
           (long long)figures->in_vain, (long long)figures->messages,
           figures->search_s, figures->stealing_s);
}

static void print_result(const struct unfold *unfold,
                         const struct unfold_result *result)
{
    const struct unfold_counts *counts = &result->counts;
    if (!is_first_rank())
        return;
    printf("%lld nodes, %lld %s", (long long)counts->nodes,
           (long long)counts->ends, unfold->ends);
    if (unfold->has_depth)
        printf(", depth %lld", (long long)counts->depth);
    printf("\n\n%-11s %10s %10s %10s\n", "", "least s", "median s", "Mnodes/s");
    if (result->sequential_s)
        print_times("sequential", result->sequential_s, result);
    print_times("tasks", result->tasks_s, result);
    if (result->sequential_s)
        print_efficiency(result);
    print_steals(result);
}

int unfold_run(const struct unfold *unfold,
               const struct unfold_arguments *arguments, unfold_check_fn *check,
               const void *context)
{
    struct unfold_result result;
    struct message message;
    bool is_good = run_rounds(unfold, arguments, &result, &message);
    if (is_good)
        print_result(unfold, &result);
    is_good = is_good && check(context, &result, &message);
    free(result.tasks_s);
    free(result.sequential_s);
    return is_good ? EXIT_GOOD : complain(&message, EXIT_FAILED);
}
