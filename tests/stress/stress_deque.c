/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deque under plain threads: one owner and one to three thieves; every task
 * must run exactly once and no slot may change while it is copied.
 *
 *     stress_deque                                 all the cases below
 *     stress_deque atomic|locked THIEVES CAPACITY TASKS
 *
 * Slots are plain memory, so that a thread sanitizer sees each copy.  Before
 * any atomic access of the deque a thread may lose its core, so that others get
 * between two that must be one, on a busy machine as on an idle one.
 */
#define _POSIX_C_SOURCE 200809L

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static _Thread_local uint32_t dawdle_state;

/* Now and then: a linear congruence, cheap against the access it delays. */
static inline void dawdle(void)
{
    dawdle_state = dawdle_state * 1664525 + 1013904223;
    if (dawdle_state >> 24 == 0)
        sched_yield();
}

/* What the macros of stdatomic.h stand for, delayed. */
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#ifdef __clang__
#define atomic_load_explicit(p, order) (dawdle(), __c11_atomic_load(p, order))
#define atomic_store_explicit(p, value, order) \
    (dawdle(), __c11_atomic_store(p, value, order))
#define atomic_exchange_explicit(p, value, order) \
    (dawdle(), __c11_atomic_exchange(p, value, order))
#define atomic_fetch_add_explicit(p, value, order) \
    (dawdle(), __c11_atomic_fetch_add(p, value, order))
#else
#define atomic_load_explicit(p, order) (dawdle(), __atomic_load_n(p, order))
#define atomic_store_explicit(p, value, order) \
    (dawdle(), __atomic_store_n(p, value, order))
#define atomic_exchange_explicit(p, value, order) \
    (dawdle(), __atomic_exchange_n(p, value, order))
#define atomic_fetch_add_explicit(p, value, order) \
    (dawdle(), __atomic_fetch_add(p, value, order))
#endif

#define EKI_DEQUE_RELAX() sched_yield()
#include <deque/deque.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THIEVES_MAX = 3,
    SLOT_WORDS = 8,
    LOOKS_MAX = 8,      /* in vain, then a thief yields */
    DAWDLE = 64,        /* one in so many copies is slow */
    BURST = 3,          /* at most so many capacities of tasks at once */
    WORK_MAX = 256,     /* turns in a task, a few ns each: time to steal */
    TASKS_EACH = 400000 /* of the 24 default cases */
};

/* The number of the task, words made from it, and their sum. */
struct slot {
    uint64_t words[SLOT_WORDS];
};

struct stress {
    struct eki_deque_shared shared;
    enum eki_deque_kind kind;
    uint32_t capacity, tasks;
    struct slot *slots;
    _Atomic uint32_t has_ended;
};

/* One of the threads and the tasks it saw, in its own memory. */
struct runner {
    struct stress *stress;
    struct slot *copy;
    uint32_t *seen;
    uint32_t seen_count;
    uint64_t random;
    pthread_t thread;
};

/* The owner: its tasks are the numbers in tasks[base] .. tasks[top - 1]. */
struct owner {
    struct eki_deque_owner deque;
    struct runner runner;
    uint32_t *tasks;
    uint32_t base, top, made;
    uint32_t publications, takes;
};

static _Noreturn void fail(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "stress_deque: %s: %llu, expected %llu\n", what,
            (unsigned long long)a, (unsigned long long)b);
    exit(1);
}

static void *get_memory(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (memory == NULL)
        fail("no memory, bytes", count * bytes, 0);
    return memory;
}

/* xorshift64*: the test shall not depend on another module. */
static uint32_t runner_random(struct runner *r, uint32_t below)
{
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return (uint32_t)((r->random * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

static void slot_fill(struct slot *slot, uint32_t task)
{
    uint64_t sum = task;
    slot->words[0] = task;
    for (uint32_t i = 1; i < SLOT_WORDS - 1; i++) {
        slot->words[i] = (task + i) * UINT64_C(0x9E3779B97F4A7C15);
        sum += slot->words[i];
    }
    slot->words[SLOT_WORDS - 1] = sum;
}

static void runner_execute(struct runner *r, uint32_t task)
{
    if (r->seen_count == r->stress->tasks)
        fail("a thread saw more tasks than there are", r->seen_count + 1,
             r->stress->tasks);
    r->seen[r->seen_count++] = task;
    for (uint32_t n = runner_random(r, WORK_MAX); n > 0; n--)
        runner_random(r, WORK_MAX);
}

static void runner_execute_slot(struct runner *r, const struct slot *slot)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SLOT_WORDS - 1; i++)
        sum += slot->words[i];
    if (sum != slot->words[SLOT_WORDS - 1])
        fail("torn slot, sum", sum, slot->words[SLOT_WORDS - 1]);
    runner_execute(r, (uint32_t)slot->words[0]);
}

/* Claims, copies, finishes and executes one block, if there is one. */
static bool runner_steal(struct runner *r)
{
    struct stress *s = r->stress;
    struct eki_block block;

    if (!eki_deque_claim(s->kind, s->capacity, &s->shared, &block))
        return false;
    if (block.count == 0 || block.count > eki_deque_block_max(s->capacity))
        fail("block too large", block.count, eki_deque_block_max(s->capacity));
    if (runner_random(r, DAWDLE) == 0)
        sched_yield();
    for (uint32_t i = 0; i < block.count; i++) {
        r->copy[i] = s->slots[block.first + i];
        if (runner_random(r, DAWDLE) == 0)
            sched_yield();
    }
    eki_deque_finish(&s->shared, &block);
    for (uint32_t i = 0; i < block.count; i++)
        runner_execute_slot(r, &r->copy[i]);
    return true;
}

static void *thief_run(void *argument)
{
    struct runner *r = argument;
    uint32_t looks = 0;

    dawdle_state = (uint32_t)r->random;
    /* relaxed: the threads are joined before anything is read. */
    while (!atomic_load_explicit(&r->stress->has_ended, memory_order_relaxed)) {
        looks = runner_steal(r) ? 0 : looks + 1;
        if (looks == LOOKS_MAX) {
            looks = 0;
            sched_yield();
        }
    }
    return NULL;
}

static void runner_open(struct runner *r, struct stress *s, uint64_t seed)
{
    r->stress = s;
    r->copy = get_memory(eki_deque_block_max(s->capacity), sizeof *r->copy);
    r->seen = get_memory(s->tasks, sizeof *r->seen);
    r->random = seed;
}

static void runner_close(struct runner *r)
{
    free(r->copy);
    free(r->seen);
}

static void owner_publish(struct owner *o)
{
    struct stress *s = o->runner.stress;
    uint32_t first;
    uint32_t n = eki_deque_room(&o->deque, &s->shared, &first);
    uint32_t half = (o->top - o->base + 1) / 2;

    if (n > half)
        n = half;
    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        slot_fill(&s->slots[first + i], o->tasks[o->base + i]);
    o->base += n;
    eki_deque_publish(&o->deque, &s->shared, n);
    o->publications++;
}

static void owner_acquire(struct owner *o)
{
    uint32_t rest = eki_deque_acquire(&o->deque, &o->runner.stress->shared);
    if (rest > o->deque.capacity)
        fail("took back too many", rest, o->deque.capacity);
    o->base -= rest;
    o->takes += rest > 0;
}

static void owner_make(struct owner *o)
{
    uint32_t n = 1 + runner_random(&o->runner, BURST * o->deque.capacity);
    while (n > 0 && o->made < o->runner.stress->tasks) {
        o->tasks[o->top++] = o->made++;
        n--;
    }
}

/* What an owner does at the end of a task. */
static void owner_end_task(struct owner *o)
{
    struct stress *s = o->runner.stress;

    if (eki_deque_exhausted(&o->deque, &s->shared))
        owner_publish(o);
    switch (runner_random(&o->runner, 64)) {
    case 0: /* out of tasks, elsewhere; here at any time */
        owner_acquire(o);
        break;
    case 1: /* publish anew */
        if (eki_deque_other_room(&o->deque, &s->shared)) {
            owner_acquire(o);
            owner_publish(o);
        }
        break;
    case 2:
        if (!eki_deque_check(&o->deque, &s->shared))
            fail("an invariant is broken", 0, 1);
        break;
    default:
        break;
    }
}

static bool owner_has_work(const struct owner *o)
{
    return o->top > o->base || o->made < o->runner.stress->tasks ||
           !eki_deque_exhausted(&o->deque, &o->runner.stress->shared);
}

static void owner_run(struct owner *o)
{
    while (owner_has_work(o)) {
        if (o->top > o->base)
            runner_execute(&o->runner, o->tasks[--o->top]);
        else if (runner_random(&o->runner, 2) == 0)
            owner_acquire(o);
        else if (!runner_steal(&o->runner))
            owner_make(o);
        owner_end_task(o);
        if (runner_random(&o->runner, DAWDLE) == 0)
            sched_yield();
    }
}

/* Copies end in bounded time, then all the room must be there again. */
static void owner_check_end(struct owner *o)
{
    struct eki_deque_shared *shared = &o->runner.stress->shared;
    uint32_t first;

    for (uint32_t round = 0; round < 3; round++) {
        if (!eki_deque_check(&o->deque, shared))
            fail("an invariant is broken at the end", 0, 1);
        if (eki_deque_room(&o->deque, shared, &first) == 0)
            fail("room at the end", 0, o->deque.capacity);
    }
    /* relaxed: the thieves were joined. */
    uint64_t done =
        atomic_load_explicit(&shared->done[0], memory_order_relaxed) +
        atomic_load_explicit(&shared->done[1], memory_order_relaxed);
    if (done != o->deque.claimed[0] + o->deque.claimed[1])
        fail("slots finished", done, o->deque.claimed[0] + o->deque.claimed[1]);
}

static void check_seen(const struct owner *o, const struct runner *thieves,
                       uint32_t thief_count)
{
    uint32_t tasks = o->runner.stress->tasks;
    uint8_t *seen = get_memory(tasks, 1);

    for (uint32_t t = 0; t <= thief_count; t++) {
        const struct runner *r = t == 0 ? &o->runner : &thieves[t - 1];
        for (uint32_t i = 0; i < r->seen_count; i++) {
            if (r->seen[i] >= tasks || seen[r->seen[i]] != 0)
                fail("task unknown or twice", r->seen[i], tasks);
            seen[r->seen[i]] = 1;
        }
    }
    for (uint32_t i = 0; i < tasks; i++) {
        if (seen[i] == 0)
            fail("tasks lost, the first", i, tasks);
    }
    free(seen);
}

static void stress_open(struct stress *s, enum eki_deque_kind kind,
                        uint32_t capacity, uint32_t tasks)
{
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->capacity = capacity;
    s->tasks = tasks;
    s->slots = get_memory(2 * (size_t)capacity, sizeof *s->slots);
}

static void stress_run(enum eki_deque_kind kind, uint32_t thief_count,
                       uint32_t capacity, uint32_t tasks)
{
    struct stress s;
    struct owner o = {.publications = 0};
    struct runner thieves[THIEVES_MAX] = {{.seen_count = 0}};

    stress_open(&s, kind, capacity, tasks);
    if (!eki_deque_init(&o.deque, kind, capacity))
        fail("capacity", capacity, EKI_DEQUE_CAPACITY_MIN);
    runner_open(&o.runner, &s, 1);
    o.tasks = get_memory(tasks, sizeof *o.tasks);
    for (uint32_t t = 0; t < thief_count; t++) {
        runner_open(&thieves[t], &s, t + 2);
        if (pthread_create(&thieves[t].thread, NULL, thief_run, &thieves[t]))
            fail("threads", t, thief_count);
    }

    owner_run(&o);
    /* relaxed: the threads are joined before anything is read. */
    atomic_store_explicit(&s.has_ended, 1, memory_order_relaxed);
    for (uint32_t t = 0; t < thief_count; t++)
        pthread_join(thieves[t].thread, NULL);
    owner_check_end(&o);
    check_seen(&o, thieves, thief_count);
    printf("%s: %u thieves, capacity %u: %u tasks, %u publications, "
           "%u taken back, %u tasks run by thieves\n",
           kind == EKI_DEQUE_ATOMIC ? "atomic" : "locked", thief_count,
           capacity, tasks, o.publications, o.takes,
           tasks - o.runner.seen_count);

    for (uint32_t t = 0; t < thief_count; t++)
        runner_close(&thieves[t]);
    runner_close(&o.runner);
    free(o.tasks);
    free(s.slots);
}

static void stress_run_all(void)
{
    static const enum eki_deque_kind kinds[] = {EKI_DEQUE_ATOMIC,
                                                EKI_DEQUE_LOCKED};
    static const uint32_t capacities[] = {2, 3, 8, 64};

    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t thieves = 1; thieves <= THIEVES_MAX; thieves++) {
            for (uint32_t c = 0; c < 4; c++)
                stress_run(kinds[k], thieves, capacities[c], TASKS_EACH);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        stress_run_all();
        return 0;
    }
    unsigned long numbers[3] = {0};
    for (int i = 0; i < 3 && argc == 5; i++)
        numbers[i] = strtoul(argv[i + 2], NULL, 10);
    if (numbers[0] < 1 || numbers[0] > THIEVES_MAX || numbers[1] < 2 ||
        numbers[1] > EKI_DEQUE_CAPACITY_MAX || numbers[2] < 1 ||
        numbers[2] > UINT32_MAX) {
        fprintf(stderr, "usage: stress_deque [atomic|locked THIEVES(1-3) "
                        "CAPACITY TASKS]\n");
        return 2;
    }
    stress_run(
        strcmp(argv[1], "locked") == 0 ? EKI_DEQUE_LOCKED : EKI_DEQUE_ATOMIC,
        (uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2]);
    return 0;
}
