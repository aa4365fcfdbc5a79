/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rebalancers over iterations in which durations change: what comes of a
 * placement that was chosen by the last ones.
 */
#include "instances.h"

#include "cli/message.h"
#include "decide/decide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int32_t group;
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
        double last = series->now[i], u = bench_uniform(state),
               v = bench_uniform(state);
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

static double noise_of(const struct series *series)
{
    static double variances[SERIES_WORKERS];
    struct eki_noise noise = {0};
    double total = 0;
    memset(variances, 0, sizeof variances);
    for (int64_t i = 0; i < series->count; i++) {
        double deviation = series->now[i] * series->deviation[i];
        variances[series->place[i]] += deviation * deviation;
        total += series->now[i];
    }
    for (int w = 0; w < SERIES_WORKERS; w++) {
        eki_ns deviation = (eki_ns)(1e9 * sqrt(variances[w]));
        noise.sum += deviation;
        noise.largest = deviation > noise.largest ? deviation : noise.largest;
    }
    const struct eki_totals totals = {.total = (eki_ns)(1e9 * total),
                                      .workers = SERIES_WORKERS};
    return eki_balance_noise(&noise, &totals);
}

/* Rebalance by what was measured last; returns the tasks that move. */
static int64_t rebalance(struct series *series, double eps, int32_t *to)
{
    struct eki_totals totals = {.workers = SERIES_WORKERS,
                                .tasks = series->count};
    struct decision decision;
    arrange(series);
    if (eps == 0)
        eps = eki_balance_tolerance(&totals, noise_of(series));
    struct decide_input input = {.workers = SERIES_WORKERS,
                                 .first = series->instance.first,
                                 .ns = series->instance.ns,
                                 .eps = eps,
                                 .group = series->group};
    if (!decide_arrays(&input, to, &decision))
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

void bench_changes(const struct bench *bench)
{
    static const struct {
        const char *name;
        double eps;
        int32_t group;
    } choices[] = {{"nothing", -1, 0},
                   {"centralized 0.03 %", 0.0003, 0},
                   {"centralized 1 %", 0.01, 0},
                   {"centralized", 0, 0},
                   {"hierarchical, 64", 0, 64}};
    double *s = bench_durations(SERIES_TASKS, TOTAL_S);
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
            series.group = choices[i].group;
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
