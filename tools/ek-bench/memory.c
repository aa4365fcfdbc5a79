/* SPDX-License-Identifier: BSD-3-Clause */
/* What two cores of a node have in common: a look, an atomic, a copy. */
#include "machine.h"

#include <math.h>
#include <string.h>

enum {
    LINES = 64,     /* that the other core has written */
    LINE_STEP = 37, /* between two looks: nothing to prefetch */
    BYTES = 4096,   /* a block of 64 tasks */
    SETTLE_NS = 500
};

struct line {
    _Alignas(BENCH_LINE) _Atomic uint64_t next;
};

struct arena {
    _Alignas(BENCH_LINE) _Atomic uint64_t ready; /* side 1 */
    _Alignas(BENCH_LINE) _Atomic uint64_t taken; /* side 0 */
    struct line looked_at[LINES], added_to[LINES];
    _Alignas(BENCH_LINE) unsigned char bytes[BYTES];
    _Alignas(BENCH_LINE) unsigned char copy[BYTES]; /* side 0 */
};

struct shared {
    int repetitions;
    double probe[BENCH_REPETITIONS_MAX];
    double atomic[BENCH_REPETITIONS_MAX];
    double copy_byte[BENCH_REPETITIONS_MAX];
};

/* The sides go on together. */
static void meet(struct arena *arena, int side, uint64_t number)
{
    int looks = 0;
    _Atomic uint64_t *mine = side == 0 ? &arena->taken : &arena->ready;
    _Atomic uint64_t *other = side == 0 ? &arena->ready : &arena->taken;
    /* release and acquire: what was written before is there. */
    atomic_store_explicit(mine, number, memory_order_release);
    while (atomic_load_explicit(other, memory_order_acquire) < number)
        bench_wait(&looks);
}

/* Two chains of lines and a block: dirty, and not where they are wanted. */
static void dirty(struct arena *arena, int r)
{
    for (uint64_t i = 0; i < LINES; i++) {
        uint64_t next = (i + LINE_STEP) % LINES;
        /* relaxed, both: handed over by meet(). */
        atomic_store_explicit(&arena->looked_at[i].next, next,
                              memory_order_relaxed);
        atomic_store_explicit(&arena->added_to[i].next, next,
                              memory_order_relaxed);
    }
    memset(arena->bytes, r & 255, BYTES);
}

/* Nanoseconds of each of COUNT, that began at FIRST; NaN: the core was away. */
static double per_one(uint64_t first, int count)
{
    double ns = bench_interval_ns(first, bench_ticks_after());
    return ns < BENCH_LOST ? ns / count : NAN;
}

/* Each look must wait for the one before; so must each atomic, below. */
static double run_looks(struct arena *arena)
{
    uint64_t at = 0, first = bench_ticks();
    for (int i = 0; i < LINES; i++)
        /* relaxed: handed over by meet(). */
        at = atomic_load_explicit(&arena->looked_at[at].next,
                                  memory_order_relaxed);
    double ns = per_one(first, LINES);
    return at == 0 ? ns : NAN;
}

static double run_atomics(struct arena *arena)
{
    uint64_t at = 0, first = bench_ticks();
    for (int i = 0; i < LINES; i++)
        /* relaxed: handed over by meet(). */
        at = atomic_fetch_add_explicit(&arena->added_to[at].next, LINES,
                                       memory_order_relaxed);
    double ns = per_one(first, LINES);
    return at == 0 ? ns : NAN;
}

static double run_copy(struct arena *arena)
{
    uint64_t first = bench_ticks();
    memcpy(arena->copy, arena->bytes, BYTES);
    return per_one(first, BYTES);
}

static void run_side(void *memory, int side, void *argument)
{
    struct arena *arena = memory;
    struct shared *shared = argument;
    for (int r = 0; r < shared->repetitions; r++) {
        if (side == 1)
            dirty(arena, r);
        meet(arena, side, 2 * (uint64_t)r + 1);
        if (side == 0) {
            bench_spin_ns(SETTLE_NS);
            shared->probe[r] = run_looks(arena);
            shared->atomic[r] = run_atomics(arena);
            shared->copy_byte[r] = run_copy(arena);
        }
        meet(arena, side, 2 * (uint64_t)r + 2);
    }
}

void bench_memory(const struct bench *bench, struct measured *measured)
{
    static struct shared shared;
    struct eki_machine *machine = &measured->machine;
    struct bench_pair pair;
    double probe = NAN, atomic = NAN, copy_byte = NAN;
    if (bench_pair_threads(bench, sizeof(struct arena), &pair)) {
        shared.repetitions = bench->repetitions;
        bench_pair_run(&pair, run_side, &shared);
        bench_pair_free(&pair);
        probe = bench_median(shared.probe, shared.repetitions);
        atomic = bench_median(shared.atomic, shared.repetitions);
        copy_byte = bench_median(shared.copy_byte, shared.repetitions);
    }
    bench_take(measured, &machine->probe, "probe", probe);
    bench_take(measured, &machine->atomic, "atomic", atomic);
    bench_take_rate(measured, &machine->copy_byte, "copy_bandwidth", copy_byte);
}
