/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deque_end: the end of a phase in a node that is alone: the words of two
 * workers, and a steal.  For a stateless model checker, and REPEAT times as
 * plain threads.
 *
 * The orders are those of eki_engine_enter(), eki_worker_store(), publish(),
 * eki_worker_note_idle(), end_search(), first_pass() and check_next().  What
 * tasks write is plain memory, which everybody reads who has seen the end: an
 * end that is early or not ordered is a race or a failed assertion.  The second
 * worker is idle before it steals; the stolen task spawns one.
 *
 * Mutants: WEAK_EXECUTED, WEAK_EXECUTED_LOAD: relaxed; EXECUTED_EARLY, before
 * the work.  Others are hidden by `idle` as long as only two check each other:
 * node.pml has them.
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
#ifndef CHECKS
#define CHECKS 1 /* of each worker, in vain or not */
#endif

#ifdef WEAK_EXECUTED
#define EXECUTED_STORE memory_order_relaxed
#else
#define EXECUTED_STORE memory_order_release
#endif
#ifdef WEAK_EXECUTED_LOAD
#define EXECUTED_LOAD memory_order_relaxed
#else
#define EXECUTED_LOAD memory_order_acquire
#endif
/* Tasks: 0 and 1 are seeds, 2 is the child of 0. */
enum {
    TASKS = 3,
    WORKERS = 2
};

struct words {
    _Atomic uint64_t phase, created, executed, idle;
    struct eki_deque_shared deque;
};

struct worker {
    struct words words;
    struct eki_deque_owner deque;
    int slots[2 * EKI_DEQUE_CAPACITY];
    uint64_t created, executed;
    bool has_ended;
};

static struct worker workers[WORKERS];
static int result[TASKS];

/* The orders of each site are the engine's; see there for the partners. */
static void store_counts(struct worker *worker)
{
    atomic_store_explicit(&worker->words.created, worker->created,
                          memory_order_relaxed);
    atomic_store_explicit(&worker->words.executed, worker->executed,
                          EXECUTED_STORE);
}

static void enter(struct worker *worker, uint64_t seeds)
{
    worker->created += seeds;
    store_counts(worker);
    atomic_store_explicit(&worker->words.phase, 1, memory_order_release);
}

static void publish(struct worker *worker, int task)
{
    uint32_t first = 0;
    if (eki_deque_room(&worker->deque, &worker->words.deque, &first) == 0)
        assert(0);
    worker->slots[first] = task;
    atomic_store_explicit(&worker->words.created, worker->created,
                          memory_order_relaxed);
    eki_deque_publish(&worker->deque, &worker->words.deque, 1);
}

static void set_idle(struct worker *worker, uint64_t phase)
{
    if (phase == 0)
        atomic_store_explicit(&worker->words.idle, 0, memory_order_relaxed);
    else
        atomic_store_explicit(&worker->words.idle, phase, memory_order_release);
}

static void run(struct worker *worker, int task)
{
#ifdef EXECUTED_EARLY
    worker->executed++;
    store_counts(worker);
#endif
    if (task == 0) {
        worker->created++;
        publish(worker, 2);
    }
    result[task]++;
#ifndef EXECUTED_EARLY
    worker->executed++;
#endif
}

/* What is published and not stolen is the owner's again. */
static void take_own(struct worker *worker, int task)
{
    if (eki_deque_acquire(&worker->deque, &worker->words.deque) > 0)
        run(worker, task);
}

static void steal(struct worker *worker, struct worker *victim, int own)
{
    struct eki_block block;
    if (!eki_deque_claim(KIND, EKI_DEQUE_CAPACITY, &victim->words.deque,
                         &block))
        return;
    int task = victim->slots[block.first];
    eki_deque_finish(&victim->words.deque, &block);
    set_idle(worker, 0);
    run(worker, task);
    if (own >= 0 && task == 0)
        take_own(worker, own);
    store_counts(worker);
    set_idle(worker, 1);
}

static uint64_t sum_created(void)
{
    uint64_t created = 0;
    for (int i = 0; i < WORKERS; i++)
        created += atomic_load_explicit(&workers[i].words.created,
                                        memory_order_relaxed);
    return created;
}

/* `executed` of all, if they are in the phase and idle, then `created`. */
static bool is_over(void)
{
    uint64_t executed = 0;
    for (int i = 0; i < WORKERS; i++) {
        struct words *words = &workers[i].words;
        if (atomic_load_explicit(&words->phase, memory_order_acquire) != 1 ||
            atomic_load_explicit(&words->idle, memory_order_acquire) != 1)
            return false;
        executed += atomic_load_explicit(&words->executed, EXECUTED_LOAD);
    }
    return sum_created() == executed;
}

static void end(struct worker *worker)
{
    for (int i = 0; i < CHECKS && !worker->has_ended; i++)
        worker->has_ended = is_over();
    for (int i = 0; i < TASKS && worker->has_ended; i++)
        assert(result[i] == 1);
}

static void *work_with_seeds(void *argument)
{
    struct worker *worker = argument;
    enter(worker, 2);
    publish(worker, 0);
    run(worker, 1);
    if (eki_deque_acquire(&worker->deque, &worker->words.deque) > 0) {
        run(worker, 0);
        take_own(worker, 2);
    }
    store_counts(worker);
    set_idle(worker, 1);
    steal(worker, &workers[1], -1);
    end(worker);
    return NULL;
}

static void *work_without(void *argument)
{
    struct worker *worker = argument;
    enter(worker, 0);
    store_counts(worker);
    set_idle(worker, 1);
    steal(worker, &workers[0], 2);
    end(worker);
    return NULL;
}

/* relaxed, all: nobody else is about. */
static void reset(struct worker *worker)
{
    struct words *words = &worker->words;
    atomic_store_explicit(&words->phase, 0, memory_order_relaxed);
    atomic_store_explicit(&words->created, 0, memory_order_relaxed);
    atomic_store_explicit(&words->executed, 0, memory_order_relaxed);
    atomic_store_explicit(&words->idle, 0, memory_order_relaxed);
    atomic_store_explicit(&words->deque.word, 0, memory_order_relaxed);
    atomic_store_explicit(&words->deque.split, 0, memory_order_relaxed);
    atomic_store_explicit(&words->deque.done[0], 0, memory_order_relaxed);
    atomic_store_explicit(&words->deque.done[1], 0, memory_order_relaxed);
    worker->created = worker->executed = 0;
    worker->has_ended = false;
}

static void run_threads(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        eki_deque_init(&workers[i].deque, KIND, EKI_DEQUE_CAPACITY);
    int failed =
        pthread_create(&threads[0], NULL, work_with_seeds, &workers[0]) ||
        pthread_create(&threads[1], NULL, work_without, &workers[1]);
    assert(!failed);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);

    /* All is over, whoever has seen it. */
    for (int i = 0; i < TASKS; i++)
        assert(result[i] == 1);
    assert(is_over());
}

int main(void)
{
    for (int i = 0; i < REPEAT; i++) {
        for (int w = 0; i > 0 && w < WORKERS; w++)
            reset(&workers[w]);
        for (int t = 0; t < TASKS; t++)
            result[t] = 0;
        run_threads();
    }
    return 0;
}
