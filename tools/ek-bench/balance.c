/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rebalancers on the micro-benchmark of HPDC'12, table 3: how close they come
 * to the lower bound, with how many migrations and how much computing.
 */
#include "instances.h"

#include "cli/message.h"
#include "decide/decide.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct algorithm {
    const char *name;
    double eps; /* 0: as the library chooses */
    int32_t group;
    const struct eki_hpdc12 *printed;
    bool is_longest_first;
};

static const struct eki_hpdc12 algorithm_1 = {1.0003, 1.0003, 3, false};
static const struct eki_hpdc12 algorithm_2 = {1.003, 1.003, 3, true};

static const struct algorithm algorithms[] = {
    {"centralized-hpdc12", 0.0003, 0, &algorithm_1, false},
    {"hierarchical-hpdc12", 0.0003, 0, &algorithm_2, false},
    {"centralized 0.03 %", 0.0003, 0, NULL, false},
    {"hierarchical 0.03 %, 64", 0.0003, 64, NULL, false},
    {"hierarchical 0.03 %, 256", 0.0003, 256, NULL, false},
    {"centralized", 0, 0, NULL, false},
    {"hierarchical, 256", 0, 256, NULL, false},
    {"LPT, in place if it fits", 0, 0, NULL, true}};

static struct eki_totals totals_of(const struct instance *instance)
{
    struct eki_totals totals = {.workers = instance->workers,
                                .tasks = instance->tasks};
    struct eki_sizes *sizes = allocate(1, sizeof *sizes);
    memset(sizes, 0, sizeof *sizes);
    for (int64_t i = 0; i < instance->tasks; i++) {
        eki_ns ns = instance->ns[i];
        totals.total += ns;
        totals.largest_task =
            ns > totals.largest_task ? ns : totals.largest_task;
        eki_sizes_add(sizes, ns);
    }
    totals.crowd = eki_sizes_bound(sizes, totals.workers);
    free(sizes);
    return totals;
}

static double over(eki_ns load, const struct eki_totals *totals)
{
    return (double)load * (double)totals->workers / (double)totals->total - 1;
}

static void print_result(const struct bench *bench,
                         const struct instance *instance,
                         const struct algorithm *algorithm,
                         const struct eki_totals *totals,
                         const struct judgement *judgement,
                         const struct decision *decision, double cpu_ms)
{
    double ratio = judgement->fewest > 0
                       ? (double)judgement->moved / (double)judgement->fewest
                       : 0;
    const char *format =
        bench->json
            ? "{\"bench\": \"balance\", \"case\": \"%s %d %d/%d %s\", "
              "\"before\": %.6f, \"after\": %.6f, \"bound\": %.6f, "
              "\"moved\": %lld, \"moves_ratio\": %.4f, \"across\": %lld, "
              "\"across_fewest\": %lld, \"descriptors\": %lld, "
              "\"cpu_ms\": %.2f, \"critical_ms\": %.3f}\n"
            : "%-7s %7d %2d/%-2d  %-26s %8.2f %9.4f %8.4f %9lld %6.3f %9lld "
              "%9lld %9lld %8.1f %8.2f\n";
    double percent = bench->json ? 1 : 100;
    printf(format, instance->name, (int)instance->workers, instance->every,
           instance->more, algorithm->name,
           over(totals->largest_load, totals) * percent,
           over(judgement->largest, totals) * percent,
           over(eki_balance_bound(totals), totals) * percent,
           (long long)judgement->moved, ratio, (long long)judgement->across,
           (long long)judgement->fewest_across,
           (long long)decision->descriptors, cpu_ms,
           (double)decision->critical_ns * 1e-6);
    fflush(stdout);
}

static void decide(const struct instance *instance,
                   const struct algorithm *algorithm, double eps,
                   const int32_t *nodes, int32_t *to, struct decision *decision)
{
    struct decide_input input = {.workers = instance->workers,
                                 .first = instance->first,
                                 .ns = instance->ns,
                                 .eps = eps,
                                 .group = algorithm->group,
                                 .printed = algorithm->printed,
                                 .nodes = nodes,
                                 .node_count =
                                     (instance->workers - 1) / NODE + 1};
    if (!decide_arrays(&input, to, decision))
        bench_check(EK_ERR_NOMEM);
}

static void run_algorithm(const struct bench *bench,
                          const struct instance *instance,
                          const struct algorithm *algorithm,
                          struct eki_totals *totals, const int32_t *nodes,
                          int32_t *to)
{
    double eps =
        algorithm->eps > 0 ? algorithm->eps : eki_balance_tolerance(totals, 0);
    eki_ns target = eki_balance_target(totals, eps);
    struct decision decision = {.descriptors = instance->tasks};
    uint64_t start = bench_ticks();
    if (algorithm->is_longest_first)
        bench_longest_first(instance, target, to);
    else
        decide(instance, algorithm, eps, nodes, to, &decision);
    double cpu_ms = bench_ns(bench_ticks() - start) * 1e-6;
    struct judgement judgement = bench_judge(instance, to, target);
    print_result(bench, instance, algorithm, totals, &judgement, &decision,
                 cpu_ms);
}

/* Let all algorithms have an instance. */
static void run_algorithms(const struct bench *bench,
                           const struct instance *instance)
{
    int32_t *to = allocate(instance->tasks, sizeof *to);
    int32_t *nodes = allocate(instance->workers, sizeof *nodes);
    struct eki_totals totals = totals_of(instance);
    for (int32_t w = 0; w < instance->workers; w++) {
        nodes[w] = w / NODE;
        for (int64_t i = instance->first[w]; i < instance->first[w + 1]; i++)
            to[i] = w;
    }
    totals.largest_load = bench_judge(instance, to, INT64_MAX / NODE).largest;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        run_algorithm(bench, instance, &algorithms[i], &totals, nodes, to);
    free(nodes);
    free(to);
}

/* Fill an instance by FILL, and run it. */
static void run_instance(const struct bench *bench, struct instance *instance,
                         void (*fill)(struct instance *, const double *),
                         const double *s)
{
    instance->first = allocate(instance->workers + 1, sizeof(int64_t));
    instance->ns = allocate(instance->tasks, sizeof(eki_ns));
    fill(instance, s);
    run_algorithms(bench, instance);
    free(instance->ns);
    free(instance->first);
}

static void run_series(const struct bench *bench, const char *name,
                       int64_t tasks)
{
    static const int32_t workers[] = {2400, 4800, 9600, 19200, 38400};
    static const int every[] = {2, 4, 8, 16}, more[] = {4, 8, 16};
    double *s = bench_durations(tasks, TOTAL_S);
    for (int p = 0; p < 5; p++) {
        for (int i = 0; i < 12; i++) {
            struct instance instance = {.name = name,
                                        .workers = workers[p],
                                        .tasks = tasks,
                                        .every = every[i / 3],
                                        .more = more[i % 3]};
            run_instance(bench, &instance, bench_deal, s);
        }
    }
    free(s);
}

/* Equally many consecutive tasks for each worker, as a range is seeded. */
static void cut(struct instance *instance, const double *s)
{
    double *part = allocate(instance->tasks, sizeof *part);
    for (int32_t w = 0; w <= instance->workers; w++)
        instance->first[w] = instance->tasks * w / instance->workers;
    memcpy(part, s, (size_t)instance->tasks * sizeof *part);
    for (int32_t w = 0; w < instance->workers; w++)
        bench_sort(part + instance->first[w],
                   instance->first[w + 1] - instance->first[w]);
    for (int64_t i = 0; i < instance->tasks; i++)
        instance->ns[i] = (eki_ns)(part[i] * NS);
    free(part);
}

static int by_id(const void *a, const void *b)
{
    const struct eki_record_task *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The tasks of the first iteration of a record, on more and more workers. */
static bool run_record(const struct bench *bench)
{
    struct eki_record *record;
    struct eki_record_iteration iteration;
    if (eki_record_open(bench->record, &record) != EK_OK) {
        bench_note(bench, "%s", ek_error_message());
        return false;
    }
    if (record->iteration_count == 0 ||
        eki_record_load(record, 0, &iteration) != EK_OK) {
        bench_note(bench, "'%s' has no iteration to read", bench->record);
        eki_record_close(&record);
        return false;
    }
    int64_t n = iteration.task_count;
    if (n < 32)
        bench_note(bench, "'%s' has %lld tasks; needed: 32 or more",
                   bench->record, (long long)n);
    double *s = allocate(n, sizeof *s);
    qsort(iteration.tasks, (size_t)n, sizeof *iteration.tasks, by_id);
    for (int64_t i = 0; i < n; i++)
        s[i] = (double)iteration.tasks[i].duration_ns / NS;
    bool is_one = bench->workers > 0;
    for (int32_t workers = is_one ? bench->workers : 8;
         is_one ? workers == bench->workers
                : workers <= 2048 && workers * 4 <= n;
         workers *= 4) {
        struct instance instance = {
            .name = "record", .workers = workers, .tasks = n};
        run_instance(bench, &instance, cut, s);
    }
    free(s);
    eki_record_unload(&iteration);
    eki_record_close(&record);
    return n >= 32;
}

void bench_balance(const struct bench *bench)
{
    if (bench->rank != 0)
        return;
    if (!bench->json)
        printf("%-7s %7s %5s  %-26s %8s %9s %8s %9s %6s %9s %9s %9s %8s %8s\n",
               "tasks", "workers", "n/m", "algorithm", "before %", "after %",
               "bound %", "moved", "x min", "across", "min", "busiest", "ms",
               "critical");
    if (bench->record) {
        if (!run_record(bench))
            MPI_Abort(MPI_COMM_WORLD, 2);
        return;
    }
    run_series(bench, "coarse", 1000000);
    run_series(bench, "fine", 4000000);
    struct instance large = {.name = "large",
                             .workers = 163840,
                             .tasks = 4300000,
                             .every = 4,
                             .more = 4};
    double *s = bench_durations(large.tasks, 3.0 * large.workers);
    run_instance(bench, &large, bench_deal, s);
    free(s);
    bench_changes(bench);
}
