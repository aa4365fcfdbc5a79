/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing from a deque, by itself: one side owns it, the other is the thief.
 *
 * A sample is a request and a reply: the thief stores a number in a line, the
 * owner, who waits for it, answers at once.  The answer is a number in another
 * line (a round trip), a number after which the thief copies K lines, or the
 * news of a publication of 2 K tasks of which the thief claims and copies K.
 * Half a round trip, the request, is taken off each.  What lies *at rest* was
 * written long before, and nobody is told.
 */
#include "bench.h"

#include "policies.h"

#include "deque/deque.h"

#include <math.h>
#include <string.h>

enum {
    SIZES = 3,
    BLOCK_MAX = 64,
    CAPACITY = 2 * BLOCK_MAX,
    SAMPLES = 64,  /* of which a repetition is the mean of the lower half */
    PROBES = 4096, /* failed ones per repetition */
    OWN_TASKS = 20000,
    IDLE_BLOCK = 1024 /* tasks between two looks at the other side */
};

static const int sizes[SIZES] = {1, 8, BLOCK_MAX};

struct arena {
    _Alignas(BENCH_LINE) _Atomic uint64_t ready; /* owner: go on */
    _Alignas(BENCH_LINE) _Atomic uint64_t asked; /* thief */
    _Alignas(BENCH_LINE) _Atomic uint64_t reply; /* owner */
    _Alignas(BENCH_LINE) _Atomic uint64_t taken; /* thief: has copied */
    _Alignas(BENCH_LINE) double own_ns;          /* owner, before reply */
    struct eki_deque_shared deque;
    _Alignas(BENCH_LINE) unsigned char lines[BLOCK_MAX * BENCH_SLOT];
    _Alignas(BENCH_LINE) unsigned char slots[2 * CAPACITY * BENCH_SLOT];
};

enum method {
    METHOD_TRIP,  /* no more than the reply */
    METHOD_COPY,  /* then copy dirty lines */
    METHOD_STEAL, /* claim, copy, finish as soon as there is something */
    METHOD_REST_COPY,
    METHOD_REST_STEAL,
    METHODS
};

static bool is_at_rest(enum method method)
{
    return method >= METHOD_REST_COPY;
}

static bool is_steal(enum method method)
{
    return method == METHOD_STEAL || method == METHOD_REST_STEAL;
}

struct rows {
    struct bench_row *trip, *probe, *owner, *slower;
    struct bench_row *one_way[METHODS][SIZES], *copy[METHODS][SIZES];
};

struct state {
    const struct bench *bench;
    struct rows rows;
    enum eki_deque_kind kind;
    uint64_t number; /* of the sample */
    struct eki_deque_owner owner;
    double ns[METHODS][SIZES]; /* of this repetition */
};

static void wait_for(const _Atomic uint64_t *word, uint64_t number)
{
    int looks = 0;
    /* acquire: pairs with the release in tell(). */
    while (atomic_load_explicit(word, memory_order_acquire) != number)
        bench_wait(&looks);
}

static void tell(_Atomic uint64_t *word, uint64_t number)
{
    /* release: pairs with the acquire in wait_for(). */
    atomic_store_explicit(word, number, memory_order_release);
}

/* Make K slots dirty. */
static void fill(unsigned char *slots, int k, uint64_t number)
{
    for (int i = 0; i < k * BENCH_SLOT / 8; i++)
        memcpy(slots + 8 * i, &number, sizeof number);
}

static void publish(struct arena *arena, struct state *state, int k)
{
    eki_deque_publish(&state->owner, &arena->deque, 2 * (uint32_t)k);
}

static void own_sample(struct arena *arena, struct state *state,
                       enum method method, int k)
{
    uint32_t first = 0;
    if (!is_steal(method)) {
        fill(arena->lines, k, state->number);
    } else {
        int looks = 0;
        while (eki_deque_room(&state->owner, &arena->deque, &first) == 0)
            bench_wait(&looks);
        fill(arena->slots + first * BENCH_SLOT, 2 * k, state->number);
    }
    if (method == METHOD_REST_STEAL)
        publish(arena, state, k);
    tell(&arena->ready, state->number);
    wait_for(&arena->asked, state->number);
    if (method == METHOD_STEAL)
        publish(arena, state, k);
    else
        tell(&arena->reply, state->number);
    wait_for(&arena->taken, state->number);
    eki_deque_acquire(&state->owner, &arena->deque);
}

/* Claim as soon as there is something, copy, finish. */
static void steal(struct arena *arena, const struct state *state,
                  unsigned char *to)
{
    struct eki_block block;
    int looks = 0;
    while (!eki_deque_claim(state->kind, CAPACITY, &arena->deque, &block))
        bench_wait(&looks);
    memcpy(to, arena->slots + block.first * BENCH_SLOT,
           (size_t)block.count * BENCH_SLOT);
    eki_deque_finish(&arena->deque, &block);
}

static double take_sample(struct arena *arena, const struct state *state,
                          enum method method, int k)
{
    static _Alignas(BENCH_LINE) unsigned char mine[BLOCK_MAX * BENCH_SLOT];
    wait_for(&arena->ready, state->number);
    /* The owner waits for our request by now, and its line is in its cache. */
    bench_spin_ns(200);
    if (is_at_rest(method)) {
        tell(&arena->asked, state->number);
        wait_for(&arena->reply, state->number);
        bench_spin_ns(500);
    }
    uint64_t first = bench_ticks();
    if (!is_at_rest(method))
        tell(&arena->asked, state->number);
    if (is_steal(method))
        steal(arena, state, mine);
    else if (!is_at_rest(method))
        wait_for(&arena->reply, state->number);
    if (method == METHOD_COPY || method == METHOD_REST_COPY)
        memcpy(mine, arena->lines, (size_t)k * BENCH_SLOT);
    uint64_t last = bench_ticks_after();
    /* What was copied is used. */
    atomic_signal_fence(memory_order_seq_cst);
    tell(&arena->taken, state->number);
    double ns = bench_interval_ns(first, last);
    return ns < BENCH_LOST ? ns : NAN;
}

static double run_samples(struct arena *arena, struct state *state, int side,
                          enum method method, int k)
{
    double samples[SAMPLES] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        state->number++;
        if (side == 0)
            samples[i] = take_sample(arena, state, method, k);
        else
            own_sample(arena, state, method, k);
    }
    return bench_low_mean(samples, SAMPLES);
}

/* The usual state of a deque without work: published, and all was taken. */
static void exhaust(struct arena *arena, struct state *state, int side)
{
    struct eki_block block;
    uint32_t first;
    state->number++;
    if (side == 1) {
        int looks = 0;
        while (eki_deque_room(&state->owner, &arena->deque, &first) == 0)
            bench_wait(&looks);
        publish(arena, state, CAPACITY / 2);
        tell(&arena->ready, state->number);
        wait_for(&arena->taken, state->number);
        return;
    }
    wait_for(&arena->ready, state->number);
    while (eki_deque_claim(state->kind, CAPACITY, &arena->deque, &block))
        eki_deque_finish(&arena->deque, &block);
    tell(&arena->taken, state->number);
}

/* A failed probe while the owner does nothing. */
static double run_probes(struct arena *arena, const struct state *state)
{
    struct eki_block block;
    int found = 0;
    uint64_t first = bench_ticks();
    for (int i = 0; i < PROBES; i++)
        found += eki_deque_claim(state->kind, CAPACITY, &arena->deque, &block);
    uint64_t last = bench_ticks();
    return found == 0 ? bench_interval_ns(first, last) / PROBES : NAN;
}

static int empty(void *slot)
{
    (void)slot;
    return 0;
}

/* Push, look at the shared word, pop and call: the owner's way, a task of its
 * own at a time.  Its publication is exhausted. */
static double run_owner(struct arena *arena, const struct state *state)
{
    static _Alignas(BENCH_LINE) unsigned char stack[BENCH_SLOT * 2];
    int (*volatile hidden)(void *) = empty;
    uint64_t published = 0;
    int failed = 0;
    uint64_t first = bench_ticks();
    for (uint64_t i = 0; i < OWN_TASKS; i++) {
        int (*fn)(void *) = hidden;
        fill(stack, 1, i);
        atomic_signal_fence(memory_order_seq_cst);
        published += eki_deque_exhausted(&state->owner, &arena->deque);
        failed |= fn(stack);
    }
    uint64_t last = bench_ticks();
    return failed == 0 && published == OWN_TASKS
               ? bench_interval_ns(first, last) / OWN_TASKS
               : NAN;
}

/* The owner's time per task while the thief sleeps, or probes. */
static double run_idle(struct arena *arena, struct state *state, int side,
                       bool probes)
{
    struct eki_block block;
    state->number++;
    if (side == 1) {
        wait_for(&arena->asked, state->number);
        bench_spin_ns(5000);
        arena->own_ns = run_owner(arena, state);
        tell(&arena->reply, state->number);
        return 0;
    }
    tell(&arena->asked, state->number);
    while (atomic_load_explicit(&arena->reply, memory_order_acquire) !=
           state->number) {
        for (int i = 0; probes && i < IDLE_BLOCK / 64; i++)
            eki_deque_claim(state->kind, CAPACITY, &arena->deque, &block);
        for (int i = 0; !probes && i < IDLE_BLOCK; i++)
            bench_pause();
    }
    return arena->own_ns;
}

static void add_idle(struct arena *arena, struct state *state, int side)
{
    exhaust(arena, state, side);
    double alone = run_idle(arena, state, side, false);
    double watched = run_idle(arena, state, side, true);
    double probe = side == 0 ? run_probes(arena, state) : 0;
    if (side != 0)
        return;
    bench_row_add(state->rows.probe, probe, NAN);
    bench_row_add(state->rows.owner, watched, alone);
    bench_row_add(state->rows.slower, watched - alone, NAN);
}

static void add_steals(const struct state *state)
{
    const struct rows *rows = &state->rows;
    double half = state->ns[METHOD_TRIP][0] / 2;
    bench_row_add(rows->trip, 2 * half, NAN);
    for (int s = 0; s < SIZES; s++) {
        for (int m = 0; m < METHODS; m++) {
            if (!is_steal((enum method)m))
                continue;
            double request = is_at_rest((enum method)m) ? 0 : half;
            double ns = state->ns[m][s] - request;
            double copy = state->ns[m - 1][s] - request;
            bench_row_add(rows->one_way[m][s], ns, half);
            bench_row_add(rows->copy[m][s], ns, copy);
        }
    }
}

static void run_side(void *memory, int side, void *argument)
{
    struct arena *arena = memory;
    /* Both sides of threads get the same argument. */
    struct state state = *(const struct state *)argument;
    eki_deque_init(&state.owner, state.kind, CAPACITY);
    for (int r = 0; r < state.bench->repetitions; r++) {
        for (int s = 0; s < SIZES; s++) {
            for (int m = s == 0 ? METHOD_TRIP : METHOD_COPY; m < METHODS; m++)
                state.ns[m][s] =
                    run_samples(arena, &state, side, (enum method)m, sizes[s]);
        }
        if (side == 0)
            add_steals(&state);
        add_idle(arena, &state, side);
    }
}

static void make_rows(struct rows *rows, const char *pair)
{
    rows->trip = bench_row_new("steal", NULL, "%s: line round trip", pair);
    for (int i = 0; i < METHODS * SIZES; i++) {
        int m = i / SIZES, s = i % SIZES;
        if (!is_steal((enum method)m))
            continue;
        const char *label = is_at_rest((enum method)m) ? ", at rest" : "";
        rows->one_way[m][s] = bench_row_new(
            "steal", "line one way", "%s: steal %d%s", pair, sizes[s], label);
        rows->copy[m][s] =
            bench_row_new("steal", "so many dirty lines", "%s: steal %d%s",
                          pair, sizes[s], label);
    }
    rows->one_way[METHOD_STEAL][0]->target_ratio = 1.2;
    rows->copy[METHOD_STEAL][SIZES - 1]->target_ratio = 1.2;
    rows->probe = bench_row_new("steal", NULL, "%s: failed probe", pair);
    rows->probe->target = 10;
    rows->owner =
        bench_row_new("steal", "no thief", "%s: own task, idle thief", pair);
    rows->slower = bench_row_new("steal", NULL, "%s: the difference", pair);
    rows->slower->target = 0.5;
}

static void run_pair(const struct bench *bench, struct bench_pair *pair)
{
    struct state state = {
        .bench = bench,
        .kind = (enum eki_deque_kind)word_value("deque", bench->deque)};
    make_rows(&state.rows, pair->name);
    bench_pair_run(pair, run_side, &state);
    bench_pair_free(pair);
}

void bench_steal(const struct bench *bench)
{
    struct bench_pair pair;
    if (bench->rank == 0 &&
        bench_pair_threads(bench, sizeof(struct arena), &pair))
        run_pair(bench, &pair);
    bench_barrier(MPI_COMM_WORLD);
    MPI_Comm both = bench_both(bench);
    bool is_near =
        both != MPI_COMM_NULL &&
        bench_pair_processes(bench, both, sizeof(struct arena), &pair);
    if (is_near)
        run_pair(bench, &pair);
    bench_barrier(MPI_COMM_WORLD);
    if (both != MPI_COMM_NULL)
        bench_operations(bench, both);
    bench_barrier(MPI_COMM_WORLD);
    bench_whole(bench, both, is_near);
    if (both != MPI_COMM_NULL)
        MPI_Comm_free(&both);
}
