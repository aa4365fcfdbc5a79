/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pinned: two workers that take pinned tasks, and the end of a phase that was
 * stopped: eki_pinned_take() against eki_pinned_cancel() (engine/pinned.c).
 *
 * Mutants: LOOKED_AT: the next one is taken by a load and a store; CANCEL_SEEN:
 * what is cancelled is only looked at.
 *
 * Checked: each task is taken by one worker, or cancelled; a worker that finds
 * none does not look again.
 */
#include "weak.h"

#include "engine/internal.h"

#include <assert.h>
#include <pthread.h>

/* relaxed, all: mutants of relaxed accesses. */
#ifdef LOOKED_AT
static int64_t look_and_add(_Atomic int64_t *word)
{
    int64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, seen + 1, memory_order_relaxed);
    return seen;
}
#define atomic_fetch_add_explicit(word, n, order) look_and_add(word)
#endif
#ifdef CANCEL_SEEN
#define atomic_exchange_explicit(word, to, order) \
    ((void)(to), atomic_load_explicit(word, memory_order_relaxed))
#endif
#include "engine/pinned.c"

#ifndef REPEAT
#define REPEAT 1
#endif

enum {
    WORKERS = 2,
    TASKS = 3
};

static struct eki_slot slots[TASKS];
static int32_t ran_on[TASKS];
static struct ek_worker workers[WORKERS];
static struct ek_worker *pointers[WORKERS] = {&workers[0], &workers[1]};
static struct eki_topology topology = {.workers_here = WORKERS};
static struct eki_engine engine = {.topology = &topology, .workers = pointers};
static int runs[TASKS]; /* of each task; who has it writes it */
static int64_t cancelled;

static void *take_two(void *context)
{
    struct ek_worker *worker = context;
    for (int i = 0; i < 2 && worker->batch.duties; i++) {
        const struct eki_slot *slot = eki_pinned_take(worker);
        if (slot)
            runs[slot - slots]++;
    }
    return NULL;
}

static void *cancel(void *unused)
{
    (void)unused;
    cancelled = eki_pinned_cancel(&engine.pinned);
    return NULL;
}

static void prepare(void)
{
    struct eki_local *local = &engine.pinned.local;
    local->slot_bytes = sizeof slots[0];
    local->seeds = local->seed_base = (unsigned char *)slots;
    local->seed_top = local->seed_end = (unsigned char *)(slots + TASKS);
    engine.pinned.ran_on = ran_on;
    for (int i = 0; i < TASKS; i++) {
        ran_on[i] = -1;
        runs[i] = 0;
        slots[i].flags = 0;
    }
    for (int i = 0; i < WORKERS; i++) {
        workers[i].engine = &engine;
        workers[i].here = i;
        workers[i].batch.duties = EKI_DUTY_PINNED; /* as on arriving */
    }
    eki_pinned_enter(&engine.pinned);
}

static void check(void)
{
    int64_t left = cancelled;
    for (int i = 0; i < TASKS; i++) {
        bool is_cancelled = slots[i].flags & EKI_SLOT_CANCELLED;
        assert(runs[i] + is_cancelled == 1);
        assert((ran_on[i] >= 0) == (runs[i] == 1));
        left -= is_cancelled;
    }
    assert(left == 0);
}

int main(void)
{
    for (int i = 0; i < REPEAT; i++) {
        pthread_t ids[WORKERS + 1];
        int failed = 0;
        prepare();
        for (int w = 0; w < WORKERS; w++)
            failed |= pthread_create(&ids[w], NULL, take_two, &workers[w]);
        failed |= pthread_create(&ids[WORKERS], NULL, cancel, NULL);
        assert(!failed);
        for (int t = 0; t <= WORKERS; t++)
            pthread_join(ids[t], NULL);
        check();
    }
    return 0;
}
