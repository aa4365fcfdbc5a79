/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing through the public API: from the end of a thief's last own task to
 * the start of the first one it has stolen.
 *
 * Worker 0, the victim, holds its first task for a while and polls; worker 1
 * has run its own tasks meanwhile, on another node one, and steals.  Buffers
 * make the first block one of K tasks: of 2 K slots, or of 4 K where the
 * victim's server claims the half of them for the ring of which the thief
 * claims the half.
 *
 * The thief comes at moments that are spread over a poll period, because both
 * sides begin together, and whoever polls now and then would be asked at the
 * same moment of its period each time.
 *
 * *Busy*: the victim polls for a moment only, and computes for long.
 *
 * All ways, sizes and payloads take turns.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>

enum {
    SIZES = 7, /* blocks of 1, 2, 4 ... 64 tasks */
    PAYLOADS = 2,
    WHOLES = SIZES * PAYLOADS,
    PAYLOAD_MOST = 192,
    SAMPLES = 8, /* of which a repetition is the median, and by messages the
                    longest */
    THIEF_NS = 60000,
    MOMENTS_NS = 20000, /* among which the samples' moments are spread */
    VICTIM_NS = 400000,
    POLLED_NS = 2000000, /* of a busy victim; the thief comes later ... */
    LATE_NS = 4000000,
    FEW = 10 /* ... as seldom: repetitions to one of it */
};

static const int payloads[PAYLOADS] = {24, PAYLOAD_MOST};

/* How the two workers are placed, and steal. */
static const struct way {
    const char *name;
    bool is_remote, has_ring;
    ek_steal_policy steal;
} ways[] = {{.name = "threads", .steal = EK_STEAL_RANDOM},
            {.name = "processes", .steal = EK_STEAL_RANDOM},
            {.name = "nodes", .is_remote = true, .steal = EK_STEAL_RANDOM},
            {"sws", true, true, EK_STEAL_SWS},
            {"sdc", true, true, EK_STEAL_SDC}};

enum {
    WAYS = sizeof ways / sizeof *ways,
    BY_THREADS = 0
};

/* What one worker notes. */
struct notes {
    _Alignas(BENCH_LINE) int64_t own; /* tasks run of its own */
    uint64_t own_ended, stolen_started;
};

struct whole {
    int k, bytes, slots;
    double busy_ns; /* 0: the victim polls */
    ek_collection *tasks;
    ek_function function;
    double spin_ns; /* of the thief's first task */
    struct notes notes[2];
    struct bench_row *row, *longest; /* NULL: not by messages */
};

struct place {
    const struct way *way;
    MPI_Comm comm;
    int rank;    /* in COMM */
    int workers; /* of this rank */
    int ranks_per_node;
    struct bench_pair pair;
    struct whole wholes[WHOLES], busy;
};

static void hold_first(ek_worker *worker, const struct whole *whole,
                       uint64_t start)
{
    double poll_ns = whole->busy_ns > 0 ? POLLED_NS : VICTIM_NS;
    while (bench_ns(bench_ticks() - start) < poll_ns)
        ek_poll(worker);
    while (bench_ns(bench_ticks() - start) < whole->busy_ns)
        bench_pause();
}

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
    if (notes->own++ == 0 && me == 0)
        hold_first(worker, whole, start);
    else if (notes->own == 1)
        bench_spin_ns(whole->spin_ns);
    notes->own_ended = bench_ticks();
    return 0;
}

static void open_whole(const struct bench *bench, const struct place *place,
                       struct whole *whole)
{
    ek_options options = bench_options(bench, place->workers);
    whole->slots = (place->way->has_ring ? 4 : 2) * whole->k;
    options.steal = place->way->steal;
    options.payload_bytes = (size_t)whole->bytes;
    bench_set(&options, "buffer_slots", whole->slots);
    bench_set(&options, "ranks_per_node", place->ranks_per_node);
    bench_check(ek_create(place->comm, &options, &whole->tasks));
    bench_check(
        ek_register(whole->tasks, "task", run_task, whole, &whole->function));
}

/* Nanoseconds, known where worker 1 is; NaN elsewhere. */
static double take_sample(const struct place *place, struct whole *whole)
{
    int here = place->workers;
    bool is_lone_thief = place->way->is_remote && place->rank == 1;
    int64_t payload[PAYLOAD_MOST / sizeof(int64_t)] = {0};
    whole->notes[0] = whole->notes[1] = (struct notes){0};
    int count = (2 * whole->slots + 2) * here;
    for (int i = 0; i < (is_lone_thief ? 1 : count); i++) {
        payload[0] = here == 1 ? place->rank : i % 2;
        bench_check(ek_add_task(whole->tasks, whole->function, payload,
                                (size_t)whole->bytes, NULL));
    }
    bench_check(ek_process(whole->tasks, NULL));
    bench_check(ek_clear(whole->tasks));
    const struct notes *thief = &whole->notes[1];
    return thief->stolen_started > thief->own_ended && thief->own > 0
               ? bench_interval_ns(thief->own_ended, thief->stolen_started)
               : NAN;
}

/* Add to rows NS and LONGEST from worker 1, which the last rank knows. */
static void add_rows(const struct place *place, const struct whole *whole,
                     double ns, double longest, double baseline)
{
    double both[] = {ns, longest};
    int size;
    MPI_Comm_size(place->comm, &size);
    MPI_Bcast(both, 2, MPI_DOUBLE, size - 1, place->comm);
    bench_row_add(whole->row, both[0], baseline);
    if (whole->longest)
        bench_row_add(whole->longest, both[1], baseline);
}

/* A repetition, whose base takes BASELINE. */
static void run_samples(struct whole *whole, const struct place *place,
                        double baseline)
{
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        whole->spin_ns = THIEF_NS + (double)i * MOMENTS_NS / SAMPLES;
        samples[i] = take_sample(place, whole);
    }
    double median = bench_median(samples, SAMPLES);
    add_rows(place, whole, median, bench_maximum(samples, SAMPLES), baseline);
}

static void open_rows(const struct place *place, struct whole *whole)
{
    const struct way *way = place->way;
    const char *base = way->is_remote ? "message one way" : "line one way";
    whole->row = bench_row_new("steal", base, "%s: task to task, %d of %d B",
                               way->name, whole->k, whole->bytes);
    if (way->is_remote && !way->has_ring && whole->bytes == payloads[0])
        whole->longest =
            bench_row_new("steal", base, "%s: longest of %d, %d of %d B",
                          way->name, SAMPLES, whole->k, whole->bytes);
}

static void open_place(const struct bench *bench, struct place *place)
{
    MPI_Comm_rank(place->comm, &place->rank);
    for (int i = 0; i < WHOLES; i++) {
        struct whole *whole = &place->wholes[i];
        *whole =
            (struct whole){.k = 1 << i % SIZES, .bytes = payloads[i / SIZES]};
        open_whole(bench, place, whole);
        open_rows(place, whole);
    }
    if (!place->way->is_remote)
        return;
    place->busy = (struct whole){.k = 1,
                                 .bytes = payloads[0],
                                 .busy_ns = 1e6 * bench->busy_ms,
                                 .spin_ns = LATE_NS};
    open_whole(bench, place, &place->busy);
    place->busy.row =
        bench_row_new("steal", NULL, "%s: task to task, victim busy %d ms",
                      place->way->name, bench->busy_ms);
}

static void close_place(struct place *place)
{
    for (int i = 0; i < WHOLES; i++)
        ek_destroy(&place->wholes[i].tasks);
    ek_destroy(&place->busy.tasks);
    if (!place->way->is_remote)
        bench_pair_free(&place->pair);
}

/* Repetition R, of all sizes. */
static void run_place(struct place *place, int r)
{
    for (int i = 0; i < WHOLES; i++) {
        struct whole *whole = &place->wholes[i];
        double baseline =
            place->way->is_remote
                ? bench_message_round_trip(place->comm, whole->bytes * whole->k)
                : bench_line_round_trip(&place->pair);
        run_samples(whole, place, baseline / 2);
    }
    if (place->busy.tasks && r % FEW == 0) {
        double ns = take_sample(place, &place->busy);
        add_rows(place, &place->busy, ns, NAN, NAN);
    }
}

/* Whether this rank is in a place that there is. */
static bool find_place(const struct bench *bench, MPI_Comm both, bool is_near,
                       struct place *place)
{
    const size_t bytes = 4 * BENCH_LINE;
    place->workers = 1;
    place->comm = both;
    place->ranks_per_node = is_near && place->way->is_remote ? 1 : 0;
    if (place->way == &ways[BY_THREADS]) {
        place->workers = 2;
        place->comm = MPI_COMM_SELF;
        return bench->rank == 0 &&
               bench_pair_threads(bench, bytes, &place->pair);
    }
    if (both == MPI_COMM_NULL)
        return false;
    return place->way->is_remote ||
           (is_near && bench_pair_processes(bench, both, bytes, &place->pair));
}

void bench_whole(const struct bench *bench, MPI_Comm both, bool is_near)
{
    static struct place places[WAYS];
    bool is_there[WAYS];
    for (int w = 0; w < WAYS; w++) {
        places[w].way = &ways[w];
        is_there[w] = find_place(bench, both, is_near, &places[w]);
        if (is_there[w])
            open_place(bench, &places[w]);
    }
    for (int i = 0; i < bench->repetitions * WAYS; i++) {
        if (is_there[i % WAYS])
            run_place(&places[i % WAYS], i / WAYS);
        bench_barrier(MPI_COMM_WORLD);
    }
    for (int w = 0; w < WAYS; w++) {
        if (is_there[w])
            close_place(&places[w]);
    }
}
