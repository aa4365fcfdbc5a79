/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An empty ek_process(): back to back, and after serial code, during which
 * the other threads of a team fall asleep.
 */
#include "bench.h"

#include <math.h>
#include <omp.h>

enum {
    CALLS = 200, /* back to back, per repetition */
    PAUSES = 3,
    PATIENCE = 10 /* repetitions of the longest pause, at most */
};

static const int pauses_ms[PAUSES] = {1, 10, 100};

enum place_kind {
    PLACE_THREADS,
    PLACE_PROCESSES,
    PLACE_NODES
};

struct place {
    enum place_kind kind;
    const char *name, *against;
    MPI_Comm comm;
    struct bench_pair pair;
    ek_collection *tasks;
    struct bench_row *back_to_back, *line, *after[PAUSES];
};

/* What a parallel loop of the program would cost at the least. */
static void region(void)
{
#pragma omp parallel num_threads(2)
    atomic_signal_fence(memory_order_seq_cst);
}

static double run_regions(void)
{
    uint64_t first = bench_ticks();
    for (int i = 0; i < CALLS; i++)
        region();
    return bench_ns(bench_ticks() - first) / CALLS;
}

static double run_region_after(int ms)
{
    bench_spin_ns(ms * 1e6);
    uint64_t first = bench_ticks();
    region();
    return bench_interval_ns(first, bench_ticks());
}

static double baseline(const struct place *place)
{
    if (place->kind == PLACE_THREADS)
        return run_regions();
    if (place->kind == PLACE_PROCESSES)
        return bench_line_round_trip(&place->pair);
    return bench_message_round_trip(place->comm, 8);
}

static double run_back_to_back(struct place *place)
{
    bench_check(ek_process(place->tasks, NULL));
    uint64_t first = bench_ticks();
    for (int i = 0; i < CALLS; i++)
        bench_check(ek_process(place->tasks, NULL));
    return bench_ns(bench_ticks() - first) / CALLS;
}

/* The stay of the rank that entered last: it waited for nobody. */
static double run_after(struct place *place, int ms)
{
    double shortest;
    MPI_Barrier(place->comm);
    bench_spin_ns(ms * 1e6);
    uint64_t first = bench_ticks();
    bench_check(ek_process(place->tasks, NULL));
    double ns = bench_interval_ns(first, bench_ticks());
    MPI_Allreduce(&ns, &shortest, 1, MPI_DOUBLE, MPI_MIN, place->comm);
    return shortest;
}

static void make_rows(struct place *place)
{
    place->back_to_back = bench_row_new("process", place->against,
                                        "%s: back to back", place->name);
    if (place->kind == PLACE_THREADS) {
        place->line = bench_row_new("process", "line round trip",
                                    "%s: back to back", place->name);
        place->back_to_back->target_ratio = 1.3;
    }
    if (place->kind == PLACE_PROCESSES)
        place->back_to_back->target_ratio = 1.5;
    for (int i = 0; i < PAUSES; i++)
        place->after[i] =
            bench_row_new("process", place->against, "%s: after %d ms serial",
                          place->name, pauses_ms[i]);
}

static void run_repetition(struct place *place, int r)
{
    double base = baseline(place);
    double ns = run_back_to_back(place);
    bench_row_add(place->back_to_back, ns, base);
    if (place->line)
        bench_row_add(place->line, ns, bench_line_round_trip(&place->pair));
    for (int i = 0; i < PAUSES; i++) {
        if (i == PAUSES - 1 && r >= PATIENCE)
            continue;
        base = place->kind == PLACE_THREADS ? run_region_after(pauses_ms[i])
                                            : baseline(place);
        bench_row_add(place->after[i], run_after(place, pauses_ms[i]), base);
    }
}

static void run_place(const struct bench *bench, struct place *place)
{
    ek_options options =
        bench_options(bench, place->kind == PLACE_THREADS ? 2 : 1);
    if (place->kind == PLACE_NODES && place->pair.arena)
        bench_set(&options, "ranks_per_node", 1);
    make_rows(place);
    bench_check(ek_create(place->comm, &options, &place->tasks));
    for (int r = 0; r < bench->repetitions; r++)
        run_repetition(place, r);
    ek_destroy(&place->tasks);
}

static void run_threads(const struct bench *bench)
{
    struct place place = {.kind = PLACE_THREADS,
                          .name = "threads",
                          .against = "empty OpenMP region",
                          .comm = MPI_COMM_SELF};
    if (!bench_pair_threads(bench, 4 * BENCH_LINE, &place.pair))
        return;
    run_place(bench, &place);
    bench_pair_free(&place.pair);
}

static void run_ranks(const struct bench *bench, MPI_Comm both)
{
    struct place place = {.kind = PLACE_PROCESSES,
                          .name = "processes",
                          .against = "line round trip",
                          .comm = both};
    if (bench_pair_processes(bench, both, 4 * BENCH_LINE, &place.pair))
        run_place(bench, &place);
    place.kind = PLACE_NODES;
    place.name = "nodes";
    place.against = "message round trip";
    run_place(bench, &place);
    bench_pair_free(&place.pair);
}

void bench_process(const struct bench *bench)
{
    if (bench->rank == 0)
        run_threads(bench);
    bench_barrier(MPI_COMM_WORLD);
    MPI_Comm both = bench_both(bench);
    if (both != MPI_COMM_NULL) {
        run_ranks(bench, both);
        MPI_Comm_free(&both);
    }
    bench_barrier(MPI_COMM_WORLD);
}
