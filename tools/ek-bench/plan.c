/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_plan(): how long a decision over many items takes, on the slowest rank,
 * against a gather of all costs, and how close it comes to the bounds.
 */
#include "bench.h"

#include "cli/message.h"

#include <evenkeel_plan.h>

#include <math.h>
#include <stdlib.h>

enum {
    ITEMS_PER_TASK = 10 /* of options: a million where nobody says */
};

/* What this rank owns, in one of some ways. */
struct owned {
    int64_t n;
    double *seconds;
    size_t *bytes;
    int *new_rank;
};

struct way {
    const char *name;
    ek_restore_policy policy;
    bool has_bytes;
    bool has_one_owner; /* else ranks have 1, 2, 3, ... shares */
};

static const struct way ways[] = {
    {"centralized", EK_RESTORE_CENTRALIZED, false, false},
    {"centralized, bytes", EK_RESTORE_CENTRALIZED, true, false},
    {"centralized, one owner", EK_RESTORE_CENTRALIZED, false, true},
    {"hierarchical", EK_RESTORE_HIERARCHICAL, false, false}};

enum {
    WAYS = sizeof ways / sizeof *ways
};

/* The same on every machine: 48 bits of a linear congruence. */
static double draw(uint64_t *state)
{
    *state = *state * 0x5deece66du + 11;
    return (double)((*state & 0xffffffffffffu) >> 8) / 0x1p40;
}

static int64_t share_of(const struct bench *bench, const struct way *way)
{
    int64_t items = bench->tasks * ITEMS_PER_TASK;
    int64_t shares = (int64_t)bench->size * (bench->size + 1) / 2;
    if (way->has_one_owner)
        return bench->rank == 0 ? items : 0;
    return items * (bench->rank + 1) / shares;
}

/* Log-normal costs, as blocks of a refined mesh have them; bytes of their own.
 */
static void make(const struct bench *bench, const struct way *way,
                 struct owned *owned)
{
    uint64_t state = (uint64_t)bench->rank + 1;
    owned->n = share_of(bench, way);
    owned->seconds = allocate((size_t)owned->n + 1, sizeof *owned->seconds);
    owned->bytes = allocate((size_t)owned->n + 1, sizeof *owned->bytes);
    owned->new_rank = allocate((size_t)owned->n + 1, sizeof *owned->new_rank);
    for (int64_t i = 0; i < owned->n; i++) {
        double normal = -6;
        for (int j = 0; j < 12; j++)
            normal += draw(&state);
        owned->seconds[i] = 1e-3 * exp(normal);
        owned->bytes[i] = 1000 + (size_t)(1e5 * draw(&state));
    }
}

static void drop(struct owned *owned)
{
    free(owned->seconds);
    free(owned->bytes);
    free(owned->new_rank);
}

/* Nanoseconds since FIRST on the rank that took longest. */
static double longest_since(uint64_t first)
{
    double ns = bench_ns(bench_ticks() - first);
    MPI_Allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ns;
}

/* What any decision in one place needs: all costs on rank 0. */
static double run_gather(const struct bench *bench, const struct owned *owned)
{
    int n = (int)owned->n, all = 0;
    int *counts = allocate((size_t)bench->size, sizeof *counts);
    int *starts = allocate((size_t)bench->size, sizeof *starts);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t first = bench_ticks();
    MPI_Gather(&n, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < bench->size; r++) {
        starts[r] = all;
        all += counts[r];
    }
    double *seconds = allocate((size_t)all + 1, sizeof *seconds);
    MPI_Gatherv(owned->seconds, n, MPI_DOUBLE, seconds, counts, starts,
                MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double ns = longest_since(first);
    free(seconds);
    free(counts);
    free(starts);
    return ns;
}

static double run_plan(const struct bench *bench, const struct way *way,
                       struct owned *owned, ek_plan_report *report)
{
    ek_options options = bench_options(bench, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t first = bench_ticks();
    bench_check(ek_plan(MPI_COMM_WORLD,
                        &(ek_plan_items){sizeof(ek_plan_items), owned->n,
                                         owned->seconds,
                                         way->has_bytes ? owned->bytes : NULL},
                        way->policy, &options, owned->new_rank, report));
    return longest_since(first);
}

/* How far VALUE is beyond what it is at least. */
static double percent_beyond(int64_t value, int64_t least)
{
    return least > 0 ? 100 * ((double)value / (double)least - 1) : NAN;
}

static void add_percent(const struct way *way, const char *what, double percent)
{
    struct bench_row *row =
        bench_row_new("plan", NULL, "%s: %s", way->name, what);
    row->unit = "%";
    bench_row_add(row, percent, NAN);
}

static void add_quality(const struct way *way, const ek_plan_report *report)
{
    add_percent(way, "imbalance before", 100 * report->imbalance_before);
    add_percent(way, "imbalance after", 100 * report->imbalance_after);
    if (way->has_bytes)
        add_percent(way, "bytes beyond the fewest",
                    percent_beyond(report->bytes_moved, report->fewest_bytes));
    else
        add_percent(way, "moves beyond the fewest",
                    percent_beyond(report->moves, report->fewest));
}

void bench_plan(const struct bench *bench)
{
    for (int w = 0; w < WAYS; w++) {
        struct owned owned;
        ek_plan_report report = EK_PLAN_REPORT_INIT;
        struct bench_row *time = bench_row_new(
            "plan", "MPI_Gatherv of the costs", "%s: %lld items", ways[w].name,
            (long long)(bench->tasks * ITEMS_PER_TASK));
        time->target = 1e9;
        make(bench, &ways[w], &owned);
        for (int r = 0; r < bench->repetitions; r++) {
            double base = run_gather(bench, &owned);
            bench_row_add(time, run_plan(bench, &ways[w], &owned, &report),
                          base);
        }
        add_quality(&ways[w], &report);
        drop(&owned);
    }
}
