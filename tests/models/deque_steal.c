/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deque_steal: an owner that publishes, takes back and publishes anew, and
 * THIEVES.  For a stateless model checker, and REPEAT times as plain threads.
 *
 * Slots, and what a task writes, are plain memory: a copy that is not ordered,
 * or a task that runs twice, is a race.  KIND: EKI_DEQUE_ATOMIC or _LOCKED.
 *
 * Mutants: those of weak.h; NO_DONE_CHECK fills a buffer without asking
 * eki_deque_room(); NO_FINISH; FINISH_FIRST, before the copy; CLOSE_BY_STORE
 * takes back by a load and a store.
 */
#define EKI_DEQUE_CAPACITY 2
#define EKI_DEQUE_RELAX() model_wait()
#define EKI_DEQUE_SPINS 1
#include "weak.h"

#include "deque/deque.h"

#include <assert.h>
#include <pthread.h>

#ifndef KIND
#define KIND EKI_DEQUE_ATOMIC
#endif
#ifndef REPEAT
#define REPEAT 1
#endif
#ifndef TASKS
#define TASKS 4
#endif
#ifndef THIEVES
#define THIEVES 2
#endif

static struct eki_deque_shared shared;
static struct eki_deque_owner own;
static int slots[2 * EKI_DEQUE_CAPACITY];
static int runs[TASKS]; /* of each task; one thread writes it */

/* The owner's tasks base .. top - 1; it publishes at the base. */
static int base, top;

static void run(int task)
{
    runs[task]++;
}

static void run_block(const struct eki_block *block)
{
    int copy[EKI_DEQUE_CAPACITY];
#ifdef FINISH_FIRST
    eki_deque_finish(&shared, block);
#endif
    for (uint32_t i = 0; i < block->count; i++)
        copy[i] = slots[block->first + i];
#if !defined(FINISH_FIRST) && !defined(NO_FINISH)
    eki_deque_finish(&shared, block);
#endif
    for (uint32_t i = 0; i < block->count; i++)
        run(copy[i]);
}

static void *steal(void *unused)
{
    struct eki_block block;
    (void)unused;
    if (eki_deque_claim(KIND, EKI_DEQUE_CAPACITY, &shared, &block))
        run_block(&block);
    return NULL;
}

static uint32_t find_room(uint32_t *first)
{
#ifdef NO_DONE_CHECK
    if (!eki_deque_exhausted(&own, &shared))
        return 0;
    if (own.open != 0)
        eki_deque_settle(&own, 0);
    *first = own.buffer * EKI_DEQUE_CAPACITY;
    return EKI_DEQUE_CAPACITY;
#else
    return eki_deque_room(&own, &shared, first);
#endif
}

/* As publish() of the engine: N of the oldest tasks. */
static void publish(uint32_t n)
{
    uint32_t first = 0;
    uint32_t room = find_room(&first);
    if (n > room)
        n = room;
    if (n > (uint32_t)(top - base))
        n = (uint32_t)(top - base);
    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        slots[first + i] = base++;
    eki_deque_publish(&own, &shared, n);
}

static void take_back(void)
{
#ifdef CLOSE_BY_STORE
    if (own.open == 0)
        return;
    /* relaxed, both: as in eki_deque_acquire(). */
    uint64_t word = atomic_load_explicit(&shared.word, memory_order_relaxed);
    atomic_store_explicit(&shared.word, 0, memory_order_relaxed);
    uint32_t rest = eki_deque_word_remaining(word);
    eki_deque_settle(&own, rest);
    base -= (int)rest;
#else
    base -= (int)eki_deque_acquire(&own, &shared);
#endif
}

static void claim_own(void)
{
    struct eki_block block;
    if (eki_deque_claim(KIND, EKI_DEQUE_CAPACITY, &shared, &block))
        run_block(&block);
}

#ifdef RING
/* Far enough that a ring begins anew. */
static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < TASKS / 2; i++) {
        publish(2);
        claim_own();
        claim_own();
    }
    take_back();
    while (top > base)
        run(--top);
    return NULL;
}
#else
static void *work(void *unused)
{
    (void)unused;
    publish(2);
    run(--top);
    if (!eki_deque_exhausted(&own, &shared) &&
        eki_deque_other_room(&own, &shared))
        take_back();
    publish(2);
    /* As an owner that found no buffer free. */
    claim_own();
    publish(1);
    take_back();
    while (top > base)
        run(--top);
    return NULL;
}
#endif

/* relaxed, all: nobody else is about. */
static void reset(void)
{
    atomic_store_explicit(&shared.word, 0, memory_order_relaxed);
    atomic_store_explicit(&shared.split, 0, memory_order_relaxed);
    atomic_store_explicit(&shared.done[0], 0, memory_order_relaxed);
    atomic_store_explicit(&shared.done[1], 0, memory_order_relaxed);
    for (int i = 0; i < TASKS; i++)
        runs[i] = 0;
}

static void run_threads(void)
{
    pthread_t owner, thieves[THIEVES];
    base = 0;
    top = TASKS;
    eki_deque_init(&own, KIND, EKI_DEQUE_CAPACITY);
    int failed = pthread_create(&owner, NULL, work, NULL);
    for (int i = 0; i < THIEVES; i++)
        failed = failed || pthread_create(&thieves[i], NULL, steal, NULL);
    assert(!failed);
    pthread_join(owner, NULL);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thieves[i], NULL);

    for (int i = 0; i < TASKS; i++)
        assert(runs[i] == 1);
    assert(eki_deque_check(&own, &shared));
    /* All copies are done, so there is room again. */
    uint32_t first = 0;
    assert(eki_deque_room(&own, &shared, &first) > 0);
    assert(KIND == EKI_DEQUE_LOCKED || (eki_deque_is_free(&own, &shared, 0) &&
                                        eki_deque_is_free(&own, &shared, 1)));
}

int main(void)
{
    for (int i = 0; i < REPEAT; i++) {
        if (i > 0)
            reset();
        run_threads();
    }
    return 0;
}
