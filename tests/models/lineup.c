/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lineup: a worker that takes tasks of its rank, the server that takes some for
 * another node, and a stop that cancels the others: eki_lineup_take() and
 * eki_lineup_share() against eki_lineup_cancel() (engine/lineup.c).
 *
 * Mutants: LOOKED_AT: the next one is taken by a load and a store; CANCEL_SEEN:
 * what is cancelled is only looked at.
 *
 * Checked: each task is taken once, or cancelled, and what is kept begins where
 * the cancelled ones do.
 */
#include "weak.h"

#include "engine/internal.h"

#include <assert.h>
#include <pthread.h>

/* relaxed, all: mutants of relaxed accesses. */
#ifdef LOOKED_AT
static int64_t look_and_add(_Atomic int64_t *word, int64_t n)
{
    int64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, seen + n, memory_order_relaxed);
    return seen;
}
#define atomic_fetch_add_explicit(word, n, order) look_and_add(word, n)
#endif
#ifdef CANCEL_SEEN
#define atomic_exchange_explicit(word, to, order) \
    ((void)(to), atomic_load_explicit(word, memory_order_relaxed))
#endif

#ifdef GENMC
/* The checker does not see into memcpy(), and has no library for the rest. */
static void copy_slot(void *to, const void *from, size_t bytes)
{
    (void)bytes;
    ((struct eki_slot *)to)->id = ((const struct eki_slot *)from)->id;
}
#define memcpy(to, from, bytes) copy_slot(to, from, bytes)

/* There is room. */
static bool has_room(struct eki_local *local, int64_t n)
{
    return local->stack_limit - local->stack_top >= n * local->slot_bytes;
}
#define eki_local_reserve has_room
#endif
#include "engine/lineup.c"

#ifndef REPEAT
#define REPEAT 1
#endif

enum {
    TASKS = 3,
    ROOM = 8,
    /* Tasks are long: they are taken one by one. */
    TASK_NS = 1000000
};

static struct eki_slot slots[TASKS], stack[ROOM], shared[ROOM];
static struct eki_lineup_item items[TASKS];
static struct ek_worker worker;
static struct eki_topology topology = {.workers_here = 1, .node_ranks = 1};
static struct eki_engine engine = {.topology = &topology,
                                   .slot_bytes = sizeof slots[0]};
static int taken, sent;
static int64_t cancelled;

static void *take_two(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        taken += eki_lineup_take(&worker);
    return NULL;
}

static void *share(void *unused)
{
    (void)unused;
    sent = (int)eki_lineup_share(&engine, (unsigned char *)shared, 1);
    return NULL;
}

static void *cancel(void *unused)
{
    (void)unused;
    cancelled = eki_lineup_cancel(&engine.lineup);
    return NULL;
}

static void prepare(void)
{
    struct eki_local *local = &worker.local;
    worker.engine = &engine;
    local->slot_bytes = sizeof slots[0];
    local->stack = local->stack_bottom = local->stack_top =
        (unsigned char *)stack;
    local->stack_limit = (unsigned char *)(stack + ROOM);
    for (uint64_t i = 0; i < TASKS; i++) {
        slots[i].id = i;
        slots[i].flags = 0;
        items[i].slot = &slots[i];
        items[i].left_ns = (TASKS - i) * TASK_NS;
    }
    engine.lineup.items = items;
    engine.lineup.count = engine.lineup.kept = TASKS;
    /* relaxed: before the threads. */
    atomic_store_explicit(&engine.lineup.next, 0, memory_order_relaxed);
    taken = sent = 0;
}

static void check(void)
{
    int times[TASKS] = {0};
    for (int i = 0; i < taken; i++)
        times[stack[i].id]++;
    for (int i = 0; i < sent; i++)
        times[shared[i].id]++;
    for (int i = 0; i < TASKS; i++) {
        bool is_cancelled = slots[i].flags & EKI_SLOT_CANCELLED;
        assert(times[i] + is_cancelled == 1);
        assert(is_cancelled == (i >= engine.lineup.kept));
        cancelled -= is_cancelled;
    }
    assert(cancelled == 0);
}

int main(void)
{
    for (int i = 0; i < REPEAT; i++) {
        void *(*const bodies[])(void *) = {take_two, share, cancel};
        pthread_t ids[3];
        int failed = 0;
        prepare();
        for (int t = 0; t < 3; t++)
            failed |= pthread_create(&ids[t], NULL, bodies[t], NULL);
        assert(!failed);
        for (int t = 0; t < 3; t++)
            pthread_join(ids[t], NULL);
        check();
    }
    return 0;
}
