/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rebalancers on the micro-benchmark of HPDC'12, table 3: how close they come
 * to the lower bound, with how many migrations and how much computing.
 *
 * Tasks with log-normal durations, sorted, are dealt round-robin, every n-th
 * worker getting m of them per round.
 */
#include "bench.h"

#include "balance/balance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA 0.75
#define LARGEST_S 3.174
#define TOTAL_S 115200.0 /* 48 s on 2,400 workers */
#define NS 1e9

struct instance {
    const char *name;
    int32_t workers;
    int64_t tasks;
    int every, more; /* n and m */
    int64_t *first;
    eki_ns *ns;
};

static void *allocate(int64_t count, size_t bytes)
{
    void *memory = malloc((size_t)count * bytes + 1);
    if (!memory)
        bench_check(EK_ERR_NOMEM);
    return memory;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Log-normal durations with this sum, none above the largest; longest first. */
static double *durations(int64_t count, double total_s)
{
    uint64_t state = 1;
    double *s = allocate(count, sizeof *s);
    for (int64_t i = 0; i < count; i++) {
        double u = uniform(&state), v = uniform(&state);
        s[i] = exp(SIGMA * sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
    }
    for (int pass = 0; pass < 60; pass++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += s[i];
        for (int64_t i = 0; i < count; i++)
            s[i] = fmin(s[i] * total_s / sum, LARGEST_S);
    }
    qsort(s, (size_t)count, sizeof *s, descending);
    s[0] = LARGEST_S;
    return s;
}

/* Tasks that WORKER gets per round. */
static int per_round(const struct instance *instance, int32_t worker)
{
    return worker % instance->every == 0 ? instance->more : 1;
}

/* Deal twice: how many tasks each worker gets, then which. */
static void deal(struct instance *instance, const double *s)
{
    int32_t workers = instance->workers;
    int64_t *at = allocate(workers, sizeof *at);
    memset(instance->first, 0, ((size_t)workers + 1) * sizeof *at);
    for (int pass = 0; pass < 2; pass++) {
        int64_t i = 0;
        for (int32_t w = 0; i < instance->tasks; w = (w + 1) % workers) {
            for (int k = per_round(instance, w); k > 0 && i < instance->tasks;
                 k--, i++) {
                if (pass == 0)
                    instance->first[w + 1]++;
                else
                    instance->ns[at[w]++] = (eki_ns)(s[i] * NS);
            }
        }
        for (int32_t w = 0; pass == 0 && w < workers; w++) {
            at[w] = instance->first[w];
            instance->first[w + 1] += instance->first[w];
        }
    }
    free(at);
}

struct algorithm {
    const char *name;
    double eps; /* 0: as the library chooses */
    int32_t group;
    const struct eki_hpdc12 *printed;
};

static const struct eki_hpdc12 algorithm_1 = {1.0003, 1.0003, 3, false};
static const struct eki_hpdc12 algorithm_2 = {1.003, 1.003, 3, true};

static const struct algorithm algorithms[] = {
    {"centralized-hpdc12", 0.0003, 0, &algorithm_1},
    {"hierarchical-hpdc12", 0.0003, 0, &algorithm_2},
    {"centralized 0.03 %", 0.0003, 0, NULL},
    {"hierarchical 0.03 %, 64", 0.0003, 64, NULL},
    {"hierarchical 0.03 %, 256", 0.0003, 256, NULL},
    {"centralized", 0, 0, NULL},
    {"hierarchical, 64", 0, 64, NULL}};

static double default_eps(const struct instance *instance)
{
    struct eki_totals totals = {.workers = instance->workers,
                                .tasks = instance->tasks};
    return eki_balance_tolerance(&totals, 0);
}

static void print_result(const struct bench *bench,
                         const struct instance *instance,
                         const struct algorithm *algorithm,
                         const struct eki_decision *decision, double cpu_ms)
{
    double mean = 0;
    for (int64_t i = 0; i < instance->tasks; i++)
        mean += (double)instance->ns[i];
    mean /= instance->workers;
    double bound = (double)decision->bound / mean - 1;
    double ratio = decision->fewest > 0
                       ? (double)decision->moved / (double)decision->fewest
                       : 0;
    const char *format =
        bench->json
            ? "{\"bench\": \"balance\", \"case\": \"%s %d %d/%d %s\", "
              "\"before\": %.6f, \"after\": %.6f, \"bound\": %.6f, "
              "\"moved\": %lld, \"moves_ratio\": %.4f, \"descriptors\": %lld, "
              "\"cpu_ms\": %.2f, \"critical_ms\": %.3f}\n"
            : "%-7s %7d %2d/%-2d  %-26s %8.2f %9.4f %8.4f %9lld %6.3f %9lld "
              "%8.1f %8.2f\n";
    double percent = bench->json ? 1 : 100;
    printf(format, instance->name, (int)instance->workers, instance->every,
           instance->more, algorithm->name, decision->before * percent,
           decision->after * percent, bound * percent,
           (long long)decision->moved, ratio, (long long)decision->descriptors,
           cpu_ms, (double)decision->critical_ns * 1e-6);
    fflush(stdout);
}

static void run_algorithm(const struct bench *bench,
                          const struct instance *instance,
                          const struct algorithm *algorithm, int32_t *to)
{
    double eps = algorithm->eps > 0 ? algorithm->eps : default_eps(instance);
    struct eki_balance_input input = {instance->workers, instance->first,
                                      instance->ns, eps, algorithm->group};
    struct eki_decision decision;
    uint64_t start = bench_ticks();
    bool done =
        algorithm->printed
            ? eki_balance_hpdc12(&input, algorithm->printed, to, &decision)
            : eki_balance_decide(&input, to, &decision);
    if (!done)
        bench_check(EK_ERR_NOMEM);
    print_result(bench, instance, algorithm, &decision,
                 bench_ns(bench_ticks() - start) * 1e-6);
}

static void run_instance(const struct bench *bench, struct instance *instance,
                         const double *s)
{
    instance->first = allocate(instance->workers + 1, sizeof(int64_t));
    instance->ns = allocate(instance->tasks, sizeof(eki_ns));
    int32_t *to = allocate(instance->tasks, sizeof *to);
    deal(instance, s);
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        run_algorithm(bench, instance, &algorithms[i], to);
    free(to);
    free(instance->ns);
    free(instance->first);
}

static void run_series(const struct bench *bench, const char *name,
                       int64_t tasks)
{
    static const int32_t workers[] = {2400, 4800, 9600, 19200, 38400};
    static const int every[] = {2, 4, 8, 16}, more[] = {4, 8, 16};
    double *s = durations(tasks, TOTAL_S);
    for (int p = 0; p < 5; p++) {
        for (int i = 0; i < 12; i++) {
            struct instance instance = {.name = name,
                                        .workers = workers[p],
                                        .tasks = tasks,
                                        .every = every[i / 3],
                                        .more = more[i % 3]};
            run_instance(bench, &instance, s);
        }
    }
    free(s);
}

/* A run of iterations in which durations change, coarse tasks on few workers.
 */
enum {
    SERIES_WORKERS = 2400,
    SERIES_TASKS = 1000000,
    SERIES_ITERATIONS = 8
};

enum change {
    CHANGE_DRIFT, /* each task by up to 10 % for good */
    CHANGE_SPOT,  /* an eighth of the first placement twice as long, in turn */
    CHANGE_NOISE, /* each measurement by 5 %, to and fro */
    CHANGES
};

static const char *const change_names[CHANGES] = {
    "10 % drift", "moving hot spot", "5 % noise"};

struct series {
    enum change change;
    double eps; /* 0: as the library chooses, < 0: nothing moves */
    int64_t count;
    double *steady;    /* [count], s */
    double *now;       /* of this iteration */
    double *deviation; /* running mean of relative changes */
    int32_t *home, *place;
    struct instance instance; /* by worker, longest first */
    int64_t *task;            /* which one that is */
};

struct placed {
    double s;
    int64_t task;
};

static int by_duration(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? 1 : -1;
    return (x->task > y->task) - (x->task < y->task);
}

/* Durations of the next iteration. */
static void change(struct series *series, int iteration, uint64_t *state)
{
    for (int64_t i = 0; i < series->count; i++) {
        double last = series->now[i], u = uniform(state), v = uniform(state);
        double normal = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        bool is_hot = series->home[i] * 8 / SERIES_WORKERS == iteration % 8;
        if (series->change == CHANGE_DRIFT)
            series->steady[i] *= 0.9 + 0.2 * u;
        series->now[i] = series->steady[i];
        if (series->change == CHANGE_SPOT && is_hot)
            series->now[i] *= 2;
        if (series->change == CHANGE_NOISE)
            series->now[i] *= fmax(0.5, 1 + 0.05 * normal);
        double step = fabs(series->now[i] / last - 1);
        series->deviation[i] = series->deviation[i] == 0
                                   ? step
                                   : 0.75 * series->deviation[i] + 0.25 * step;
    }
}

/* The tasks of each worker, longest first. */
static void arrange(struct series *series)
{
    struct instance *instance = &series->instance;
    struct placed *placed = allocate(series->count, sizeof *placed);
    int64_t *at = allocate(SERIES_WORKERS, sizeof *at);
    memset(instance->first, 0, (SERIES_WORKERS + 1) * sizeof *instance->first);
    for (int64_t i = 0; i < series->count; i++)
        instance->first[series->place[i] + 1]++;
    for (int w = 0; w < SERIES_WORKERS; w++) {
        at[w] = instance->first[w];
        instance->first[w + 1] += instance->first[w];
    }
    for (int64_t i = 0; i < series->count; i++)
        placed[at[series->place[i]]++] = (struct placed){series->now[i], i};
    for (int w = 0; w < SERIES_WORKERS; w++)
        qsort(placed + instance->first[w],
              (size_t)(instance->first[w + 1] - instance->first[w]),
              sizeof *placed, by_duration);
    for (int64_t k = 0; k < series->count; k++) {
        series->task[k] = placed[k].task;
        instance->ns[k] = (eki_ns)(placed[k].s * NS);
    }
    free(at);
    free(placed);
}

/* Largest load / mean load - 1 with the durations of now. */
static double realized(const struct series *series)
{
    static double loads[SERIES_WORKERS];
    double largest = 0, total = 0;
    memset(loads, 0, sizeof loads);
    for (int64_t i = 0; i < series->count; i++)
        loads[series->place[i]] += series->now[i];
    for (int w = 0; w < SERIES_WORKERS; w++) {
        total += loads[w];
        largest = fmax(largest, loads[w]);
    }
    return largest / (total / SERIES_WORKERS) - 1;
}

/* As the engine does: deviation of the noisiest load times sqrt(2 ln P). */
static double noise_of(const struct series *series)
{
    static double variances[SERIES_WORKERS];
    double largest = 0, total = 0;
    memset(variances, 0, sizeof variances);
    for (int64_t i = 0; i < series->count; i++) {
        double deviation = series->now[i] * series->deviation[i];
        variances[series->place[i]] += deviation * deviation;
        total += series->now[i];
    }
    for (int w = 0; w < SERIES_WORKERS; w++)
        largest = fmax(largest, variances[w]);
    return sqrt(largest) / (total / SERIES_WORKERS) *
           sqrt(2 * log(SERIES_WORKERS));
}

/* Rebalance by what was measured last; returns the tasks that move. */
static int64_t rebalance(struct series *series, double eps, int32_t *to)
{
    struct eki_totals totals = {.workers = SERIES_WORKERS,
                                .tasks = series->count};
    struct eki_decision decision;
    arrange(series);
    if (eps == 0)
        eps = eki_balance_tolerance(&totals, noise_of(series));
    struct eki_balance_input input = {SERIES_WORKERS, series->instance.first,
                                      series->instance.ns, eps, 0};
    if (!eki_balance_decide(&input, to, &decision))
        bench_check(EK_ERR_NOMEM);
    for (int64_t k = 0; k < series->count; k++)
        series->place[series->task[k]] = to[k];
    return decision.moved;
}

static void run_changes(const struct bench *bench, struct series *series,
                        const double *s, const char *name)
{
    int32_t *to = allocate(series->count, sizeof *to);
    uint64_t state = 7;
    double imbalance = 0, moved = 0;
    for (int64_t i = 0; i < series->count; i++) {
        series->steady[i] = series->now[i] = s[i];
        series->deviation[i] = 0;
        series->place[i] = (int32_t)(i % SERIES_WORKERS);
    }
    rebalance(series, 0.0003, to);
    memcpy(series->home, series->place,
           (size_t)series->count * sizeof *series->home);
    for (int iteration = 0; iteration < SERIES_ITERATIONS; iteration++) {
        change(series, iteration, &state);
        imbalance += realized(series) / SERIES_ITERATIONS;
        if (series->eps >= 0)
            moved += (double)rebalance(series, series->eps, to) /
                     (double)series->count / SERIES_ITERATIONS;
    }
    printf(bench->json
               ? "{\"bench\": \"balance\", \"case\": \"%s %s\", "
                 "\"imbalance\": %.6f, \"moved\": %.8f}\n"
               : "%-16s %-20s realized imbalance %7.3f %%, moved %8.4f %% of "
                 "the tasks per iteration\n",
           change_names[series->change], name,
           imbalance * (bench->json ? 1 : 100),
           moved * (bench->json ? 1 : 100));
    fflush(stdout);
    free(to);
}

static void run_all_changes(const struct bench *bench)
{
    static const struct {
        const char *name;
        double eps;
    } choices[] = {{"nothing", -1},
                   {"centralized 0.03 %", 0.0003},
                   {"centralized 1 %", 0.01},
                   {"as chosen", 0}};
    double *s = durations(SERIES_TASKS, TOTAL_S);
    struct series series = {
        .count = SERIES_TASKS,
        .steady = allocate(SERIES_TASKS, sizeof(double)),
        .now = allocate(SERIES_TASKS, sizeof(double)),
        .deviation = allocate(SERIES_TASKS, sizeof(double)),
        .home = allocate(SERIES_TASKS, sizeof(int32_t)),
        .place = allocate(SERIES_TASKS, sizeof(int32_t)),
        .task = allocate(SERIES_TASKS, sizeof(int64_t)),
        .instance = {.first = allocate(SERIES_WORKERS + 1, sizeof(int64_t)),
                     .ns = allocate(SERIES_TASKS, sizeof(eki_ns))}};
    for (int c = 0; c < CHANGES; c++) {
        for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
            series.change = (enum change)c;
            series.eps = choices[i].eps;
            run_changes(bench, &series, s, choices[i].name);
        }
    }
    free(s);
    free(series.steady);
    free(series.now);
    free(series.deviation);
    free(series.home);
    free(series.place);
    free(series.task);
    free(series.instance.first);
    free(series.instance.ns);
}

void bench_balance(const struct bench *bench)
{
    if (bench->rank != 0)
        return;
    if (!bench->json)
        printf("%-7s %7s %5s  %-26s %8s %9s %8s %9s %6s %9s %8s %8s\n", "tasks",
               "workers", "n/m", "algorithm", "before %", "after %", "bound %",
               "moved", "x min", "busiest", "ms", "critical");
    run_series(bench, "coarse", 1000000);
    run_series(bench, "fine", 4000000);
    struct instance large = {.name = "large",
                             .workers = 163840,
                             .tasks = 4300000,
                             .every = 4,
                             .more = 4};
    double *s = durations(large.tasks, 3.0 * large.workers);
    run_instance(bench, &large, s);
    free(s);
    run_all_changes(bench);
}
