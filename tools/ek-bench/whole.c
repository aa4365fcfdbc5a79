/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing through the public API: from the end of a thief's last own task to
 * the start of the first one it has stolen.
 *
 * Worker 0, the victim, holds its first task for a while and polls; worker 1
 * has run its own tasks meanwhile and steals.  Buffers of 2 K slots make the
 * first block one of K tasks.
 *
 * The thief comes at moments that are spread over a poll period, because both
 * sides begin together, and whoever polls now and then would be asked at the
 * same moment of its period each time.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>

enum {
    SIZES = 3,
    SAMPLES = 8, /* of which a repetition is the median or, by messages, the
                    mean and the longest */
    THIEF_NS = 60000,
    MOMENTS_NS = 20000, /* among which the samples' moments are spread */
    VICTIM_NS = 400000
};

static const int sizes[SIZES] = {1, 8, 64};

/* What one worker notes. */
struct notes {
    _Alignas(BENCH_LINE) int64_t own; /* tasks run of its own */
    uint64_t own_ended, stolen_started;
};

struct whole {
    int k;
    ek_collection *tasks;
    ek_function function;
    double spin_ns; /* of the thief's first task */
    struct notes notes[2];
    struct bench_row *row, *longest; /* NULL: not by messages */
};

/* How the two workers are placed. */
struct place {
    const char *name;
    MPI_Comm comm;
    int workers; /* of this rank */
    int ranks_per_node;
    bool is_remote; /* by messages */
    struct bench_pair pair;
};

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    struct whole *whole = context;
    int me = ek_worker_id(worker);
    struct notes *notes = &whole->notes[me];
    int64_t home = *(const int64_t *)payload;
    uint64_t start = bench_ticks();
    (void)bytes;
    if (home != me) {
        if (notes->stolen_started == 0)
            notes->stolen_started = start;
        return 0;
    }
    if (notes->own++ == 0 && me == 0) {
        while (bench_ns(bench_ticks() - start) < VICTIM_NS)
            ek_poll(worker);
    } else if (notes->own == 1) {
        bench_spin_ns(whole->spin_ns);
    }
    notes->own_ended = bench_ticks();
    return 0;
}

static void open_whole(const struct bench *bench, const struct place *place,
                       int k, struct whole *whole)
{
    ek_options options = bench_options(bench, place->workers);
    bench_set(&options, "buffer_slots", 2 * k);
    bench_set(&options, "ranks_per_node", place->ranks_per_node);
    whole->k = k;
    bench_check(ek_create(place->comm, &options, &whole->tasks));
    bench_check(
        ek_register(whole->tasks, "task", run_task, whole, &whole->function));
}

/* Nanoseconds, known where worker 1 is; NaN elsewhere. */
static double take_sample(struct whole *whole, int rank)
{
    int here = ek_rank_workers(whole->tasks);
    whole->notes[0] = whole->notes[1] = (struct notes){0};
    for (int i = 0; i < (4 * whole->k + 2) * here; i++) {
        int64_t home = here == 1 ? rank : i % 2;
        bench_check(ek_add_task(whole->tasks, whole->function, &home,
                                sizeof home, NULL));
    }
    bench_check(ek_process(whole->tasks, NULL));
    bench_check(ek_clear(whole->tasks));
    const struct notes *thief = &whole->notes[1];
    return thief->stolen_started > thief->own_ended && thief->own > 0
               ? bench_interval_ns(thief->own_ended, thief->stolen_started)
               : NAN;
}

static double mean_of(const double samples[SAMPLES])
{
    double sum = 0;
    for (int i = 0; i < SAMPLES; i++)
        sum += samples[i];
    return sum / SAMPLES;
}

/* Add rows of a repetition, whose base takes BASELINE. */
static void run_samples(struct whole *whole, const struct place *place,
                        double baseline)
{
    double samples[SAMPLES], ns[2];
    int rank, size;
    MPI_Comm_rank(place->comm, &rank);
    MPI_Comm_size(place->comm, &size);
    for (int i = 0; i < SAMPLES; i++) {
        whole->spin_ns = THIEF_NS + (double)i * MOMENTS_NS / SAMPLES;
        samples[i] = take_sample(whole, rank);
    }
    ns[0] =
        place->is_remote ? mean_of(samples) : bench_median(samples, SAMPLES);
    ns[1] = bench_maximum(samples, SAMPLES);
    /* From worker 1 to the rank that prints. */
    MPI_Bcast(ns, 2, MPI_DOUBLE, size - 1, place->comm);
    bench_row_add(whole->row, ns[0], baseline);
    if (whole->longest)
        bench_row_add(whole->longest, ns[1], baseline);
}

static void open_rows(const struct place *place, struct whole *whole)
{
    const char *base = place->is_remote ? "message one way" : "line one way";
    whole->row = bench_row_new("steal", base, "%s: task to task, %d",
                               place->name, whole->k);
    whole->longest = place->is_remote
                         ? bench_row_new("steal", base, "%s: longest of %d, %d",
                                         place->name, SAMPLES, whole->k)
                         : NULL;
}

static void run_place(const struct bench *bench, struct place *place)
{
    static struct whole wholes[SIZES];
    for (int s = 0; s < SIZES; s++) {
        open_whole(bench, place, sizes[s], &wholes[s]);
        open_rows(place, &wholes[s]);
    }
    for (int i = 0; i < bench->repetitions * SIZES; i++) {
        struct whole *whole = &wholes[i % SIZES];
        double baseline =
            place->is_remote
                ? bench_message_round_trip(place->comm, BENCH_SLOT * whole->k)
                : bench_line_round_trip(&place->pair);
        run_samples(whole, place, baseline / 2);
    }
    for (int s = 0; s < SIZES; s++)
        ek_destroy(&wholes[s].tasks);
}

static void run_threads(const struct bench *bench)
{
    struct place place = {
        .name = "threads", .comm = MPI_COMM_SELF, .workers = 2};
    if (!bench_pair_threads(bench, 4 * BENCH_LINE, &place.pair))
        return;
    run_place(bench, &place);
    bench_pair_free(&place.pair);
}

static void run_processes(const struct bench *bench, MPI_Comm both)
{
    struct place place = {.name = "processes", .comm = both, .workers = 1};
    bool is_near =
        bench_pair_processes(bench, both, 4 * BENCH_LINE, &place.pair);
    if (is_near) {
        run_place(bench, &place);
        bench_pair_free(&place.pair);
    }
    place.name = "nodes";
    place.ranks_per_node = is_near ? 1 : 0;
    place.is_remote = true;
    run_place(bench, &place);
}

void bench_whole(const struct bench *bench, MPI_Comm both)
{
    if (bench->rank == 0)
        run_threads(bench);
    bench_barrier(MPI_COMM_WORLD);
    if (both != MPI_COMM_NULL)
        run_processes(bench, both);
    bench_barrier(MPI_COMM_WORLD);
}
