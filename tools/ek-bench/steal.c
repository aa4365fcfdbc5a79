/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing from a deque, by itself: one side owns it, the other is the thief.
 *
 * A sample is a request and a reply: the thief stores a number in a line, the
 * owner, who waits for it, answers at once.  The answer is a number in another
 * line (a round trip), a number after which the thief copies K lines, or a
 * publication of 2 K tasks of which the thief claims and copies K.  Half a
 * round trip, the request, is taken off each.
 */
#include "bench.h"

#include "deque/deque.h"

#include <math.h>
#include <string.h>

enum {
    SIZES = 3,
    BLOCK_MAX = 64,
    CAPACITY = 2 * BLOCK_MAX,
    SAMPLES = 64,  /* of which a repetition is the median */
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
    struct eki_deque_shared deque;
    _Alignas(BENCH_LINE) unsigned char lines[BLOCK_MAX * BENCH_SLOT];
    _Alignas(BENCH_LINE) unsigned char slots[2 * CAPACITY * BENCH_SLOT];
};

enum method {
    METHOD_TRIP,  /* no more than the reply */
    METHOD_COPY,  /* then copy dirty lines */
    METHOD_STEAL, /* claim, copy */
    METHOD_WHOLE, /* claim, copy, finish */
    METHOD_LATER, /* published long before: claim, copy, finish */
    METHODS
};

struct rows {
    struct bench_row *trip, *one_way[METHODS][SIZES], *copy[METHODS][SIZES];
    struct bench_row *probe, *owner, *slower;
};

struct state {
    const struct bench *bench;
    struct rows rows;
    enum eki_deque_kind kind;
    uint64_t number; /* of the sample */
    struct eki_deque_owner owner;
    /* Medians of this repetition. */
    double ns[METHODS][SIZES];
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

/* --------------------------------------------------------------- one sample */

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
    if (method == METHOD_COPY) {
        fill(arena->lines, k, state->number);
    } else if (method != METHOD_TRIP) {
        int looks = 0;
        while (eki_deque_room(&state->owner, &arena->deque, &first) == 0)
            bench_wait(&looks);
        fill(arena->slots + first * BENCH_SLOT, 2 * k, state->number);
    }
    if (method == METHOD_LATER)
        publish(arena, state, k);
    tell(&arena->ready, state->number);
    wait_for(&arena->asked, state->number);
    if (method == METHOD_STEAL || method == METHOD_WHOLE)
        publish(arena, state, k);
    else
        tell(&arena->reply, state->number);
    wait_for(&arena->taken, state->number);
    eki_deque_acquire(&state->owner, &arena->deque);
}

/* Claim as soon as there is something, copy. */
static void steal(struct arena *arena, const struct state *state,
                  unsigned char *to, struct eki_block *block)
{
    int looks = 0;
    while (!eki_deque_claim(state->kind, CAPACITY, &arena->deque, block))
        bench_wait(&looks);
    memcpy(to, arena->slots + block->first * BENCH_SLOT,
           (size_t)block->count * BENCH_SLOT);
}

static double take_sample(struct arena *arena, const struct state *state,
                          enum method method, int k)
{
    static _Alignas(BENCH_LINE) unsigned char mine[BLOCK_MAX * BENCH_SLOT];
    struct eki_block block = {0};
    wait_for(&arena->ready, state->number);
    /* The owner waits for our request by now, and its line is in its cache. */
    bench_spin_ns(200);
    if (method == METHOD_LATER) {
        tell(&arena->asked, state->number);
        wait_for(&arena->reply, state->number);
        bench_spin_ns(500);
    }
    uint64_t first = bench_ticks();
    if (method != METHOD_LATER)
        tell(&arena->asked, state->number);
    if (method >= METHOD_STEAL)
        steal(arena, state, mine, &block);
    else
        wait_for(&arena->reply, state->number);
    if (method == METHOD_COPY)
        memcpy(mine, arena->lines, (size_t)k * BENCH_SLOT);
    if (method >= METHOD_WHOLE)
        eki_deque_finish(state->kind, &arena->deque, &block);
    /* What was copied is used. */
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t last = bench_ticks();
    if (method == METHOD_STEAL)
        eki_deque_finish(state->kind, &arena->deque, &block);
    tell(&arena->taken, state->number);
    return bench_interval_ns(first, last);
}

/* The median of many samples. */
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
    return bench_median(samples, SAMPLES);
}

/* ------------------------------------------------------------ idle thieves */

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
        eki_deque_finish(state->kind, &arena->deque, &block);
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
    double ns = 0;
    state->number++;
    if (side == 1) {
        wait_for(&arena->asked, state->number);
        bench_spin_ns(5000);
        ns = run_owner(arena, state);
        uint64_t bits;
        memcpy(&bits, &ns, sizeof bits);
        memcpy(arena->lines, &bits, sizeof bits);
        tell(&arena->reply, state->number);
        return ns;
    }
    tell(&arena->asked, state->number);
    while (atomic_load_explicit(&arena->reply, memory_order_acquire) !=
           state->number) {
        for (int i = 0; probes && i < IDLE_BLOCK / 64; i++)
            eki_deque_claim(state->kind, CAPACITY, &arena->deque, &block);
        for (int i = 0; !probes && i < IDLE_BLOCK; i++)
            bench_pause();
    }
    memcpy(&ns, arena->lines, sizeof ns);
    return ns;
}

/* --------------------------------------------------------------- repetitions
 */

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
        double copy = state->ns[METHOD_COPY][s] - half;
        for (int m = METHOD_STEAL; m < METHODS; m++) {
            double ns = state->ns[m][s] - (m == METHOD_LATER ? 0 : half);
            if (rows->one_way[m][s])
                bench_row_add(rows->one_way[m][s], ns, half);
            if (rows->copy[m][s])
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

/* -------------------------------------------------------------------- rows */

static const char *const labels[METHODS] = {[METHOD_STEAL] = "steal",
                                            [METHOD_WHOLE] = "steal, finish",
                                            [METHOD_LATER] =
                                                "steal, finish, at rest"};

static void make_rows(struct rows *rows, const char *pair)
{
    rows->trip = bench_row_new("steal", NULL, "%s: line round trip", pair);
    for (int m = METHOD_STEAL; m < METHODS; m++) {
        for (int s = 0; s < SIZES; s++) {
            if (m == METHOD_STEAL || s == 0)
                rows->one_way[m][s] =
                    bench_row_new("steal", "line one way", "%s: %s %d", pair,
                                  labels[m], sizes[s]);
            if (m == METHOD_STEAL || s > 0)
                rows->copy[m][s] =
                    bench_row_new("steal", "dirty lines", "%s: %s %d", pair,
                                  labels[m], sizes[s]);
        }
    }
    rows->one_way[METHOD_STEAL][0]->target_ratio = 1.2;
    rows->copy[METHOD_STEAL][SIZES - 1]->target_ratio = 1.2;
    rows->probe = bench_row_new("steal", NULL, "%s: failed probe", pair);
    rows->probe->target_ns = 10;
    rows->owner =
        bench_row_new("steal", "no thief", "%s: own task, idle thief", pair);
    rows->slower = bench_row_new("steal", NULL, "%s: the difference", pair);
    rows->slower->target_ns = 0.5;
}

static void run_pair(const struct bench *bench, struct bench_pair *pair)
{
    struct state state = {.bench = bench,
                          .kind = bench->deque == EK_DEQUE_LOCKED
                                      ? EKI_DEQUE_LOCKED
                                      : EKI_DEQUE_ATOMIC};
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
    if (both != MPI_COMM_NULL &&
        bench_pair_processes(bench, both, sizeof(struct arena), &pair))
        run_pair(bench, &pair);
    bench_barrier(MPI_COMM_WORLD);
    bench_whole(bench, both);
    if (both != MPI_COMM_NULL)
        MPI_Comm_free(&both);
}
