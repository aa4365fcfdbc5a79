/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter: the words of the shared counter over two phases: two ranks of the
 * node of rank 0 draw its one seed, and rank 0 puts the counter back in
 * between: seek_counter() against open_counter() and eki_engine_leave().
 * Messages are words, which order what MPI orders.
 *
 * UNHEARD: rank 0 does not wait until it has heard of all seeds, but only until
 * all of the node have left the phase before.  EARLY: nor for that (a mutant).
 *
 * Checked: the seed runs once in each phase, and the table is told before a
 * worker reads it.
 */
#define RANKS 2
#define WORKERS 2
#define WORLD_PROTOCOL
#include "world.h"

#ifdef GENMC
#define eki_hint_byte(weight) 0
#endif
#ifdef EARLY
#define eki_node_all_left(engine) ((void)(engine), true)
#endif
#include "protocol/copies.c"
#include "protocol/counter.c"
#include "protocol/drawer.c"
#include "protocol/numbers.c"
#include "protocol/stock.c"
#include "protocol/table.c"

enum {
    PHASES = 2,
    SEEDS = 1 /* index of a range of rank 0, known to all */
};

static int nodes[RANKS];
static int first_worker[RANKS + 1] = {0, 1, 2};
static struct eki_seeds tables[RANKS][RANKS + 1];
static int64_t starts[RANKS][2];
static struct eki_drawer drawers[RANKS];
static struct eki_counter counters[RANKS];
static _Atomic int seeds_told, table_told; /* phase */
static int runs[PHASES + 1][RANKS];

static void prepare(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        struct eki_counter *counter = &counters[rank];
        world_topology[rank].node_of_rank = nodes;
        world_topology[rank].first_worker = first_worker;
        counter->protocol.ops = &eki_counter_ops;
        counter->protocol.engine = &world_engines[rank];
        counter->table = tables[rank];
        counter->starts = starts[rank];
        counter->drawers = &drawers[rank];
        for (int phase = 1; phase <= PHASES; phase++)
            runs[phase][rank] = 0;
    }
    /* relaxed, both: nobody is about. */
    atomic_store_explicit(&seeds_told, 0, memory_order_relaxed);
    atomic_store_explicit(&table_told, 0, memory_order_relaxed);
}

static void tell(_Atomic int *word, int phase)
{
    /* release: as a message is sent. */
    atomic_store_explicit(word, phase, memory_order_release);
}

static void hear(_Atomic int *word, int phase)
{
    /* acquire: as a message is received. */
    while (atomic_load_explicit(word, memory_order_acquire) != phase)
        model_wait();
}

/* Rank 0 opens the counter as soon as it may. */
static void open_first(struct eki_counter *counter, int phase)
{
    counter->table[0].first = SEEDS;
    counter->table[0].function = 0;
    counter->table[1].first = 0;
#ifndef UNHEARD
    hear(&seeds_told, phase);
#endif
    counter->known++;
    while (!eki_table_is_ready(counter)) {
        open_counter(counter);
        if (!eki_table_is_ready(counter))
            model_wait();
    }
    tell(&table_told, phase);
}

static void open_second(struct eki_counter *counter, int phase)
{
    tell(&seeds_told, phase);
    hear(&table_told, phase);
    counter->table[0].first = 0;
    counter->table[0].function = 0;
    for (int r = 1; r <= RANKS; r++)
        counter->table[r].first = SEEDS;
    set_ready(counter);
}

static void enter_rank(int rank)
{
    struct eki_counter *counter = &counters[rank];
    world_enter(&world_engines[rank], 1);
    world_engines[rank].elsewhere = &counter->protocol;
    enter_counter(&counter->protocol, &(struct eki_phase){.chunk = 1}, 0);
}

/* A worker draws until all are drawn. */
static void draw_all(int rank, int phase)
{
    struct ek_worker *worker = &world_workers[rank];
    while (calls_counter(&counters[rank].protocol, worker, NULL, NULL)) {
        if (seek_counter(&counters[rank].protocol, worker, NULL, 0) !=
            EKI_SOUGHT_FOUND)
            continue;
        worker->local.stack_top = worker->local.stack_bottom;
        runs[phase][rank]++;
    }
}

/* No phase ends before all have entered it. */
static void await_others(int rank, uint64_t phase)
{
    const struct eki_worker_words *words =
        eki_words_of(&world_engines[rank], 1 - rank);
    /* relaxed: less than the end of a phase orders. */
    while (atomic_load_explicit(&words->phase, memory_order_relaxed) < phase)
        model_wait();
}

static void live(int rank)
{
    struct eki_error error;
    for (int phase = 1; phase <= PHASES; phase++) {
        enter_rank(rank);
        (rank == 0 ? open_first : open_second)(&counters[rank], phase);
        draw_all(rank, phase);
        await_others(rank, (uint64_t)phase);
        eki_engine_leave(&world_engines[rank], &error);
    }
}

static void *first(void *unused)
{
    (void)unused;
    live(0);
    return NULL;
}

static void *second(void *unused)
{
    (void)unused;
    live(1);
    return NULL;
}

static void check(void)
{
    for (int phase = 1; phase <= PHASES; phase++)
        assert(runs[phase][0] + runs[phase][1] == SEEDS);
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {first, second}};
    return world_run_program(&program);
}
