/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/stock.h"

#include "engine/offers.h"
#include "protocol/numbers.h"
#include "protocol/table.h"

enum {
    /* Of shorter tasks so much is taken at once. */
    STOCK_TAKEN_NS = 20000,
    /* More is drawn before that is left for each worker; not where a task takes
     * longer, after which the server may look first. */
    STOCK_AHEAD_NS = 200000,
    /* Rank 0 answers a draw in so long, about: when all nodes draw in turn, it
     * must have enough until its next turn. */
    DRAW_NS = 2000
};

static int64_t room_of(const struct eki_counter *counter)
{
    return 2 * (int64_t)counter->protocol.engine->capacity;
}

static struct eki_slot *stock_slot(const struct eki_counter *counter,
                                   uint64_t at)
{
    const struct eki_engine *engine = counter->protocol.engine;
    return eki_slot_at(eki_slots_of(engine, engine->topology->node_workers),
                       (int64_t)(at % (uint64_t)room_of(counter)),
                       engine->slot_bytes);
}

bool eki_stock_calls(const struct eki_counter *counter, bool *awaits)
{
    const struct eki_engine *engine = counter->protocol.engine;
    bool calls = !eki_is_set(&engine->node->stock_drawn, engine->phase);
    if (awaits)
        *awaits = calls;
    return calls;
}

/* Copy N seeds, which the worker has taken from AT on, to its stack, the first
 * one on top. */
static void copy_taken(const struct eki_counter *counter,
                       struct ek_worker *worker, uint64_t at, int64_t n)
{
    struct eki_local *local = &worker->local;
    for (int64_t i = 0; i < n; i++)
        memcpy(eki_slot_at(local->stack_top, n - 1 - i, local->slot_bytes),
               stock_slot(counter, at + (uint64_t)i), local->slot_bytes);
    local->stack_top += n * local->slot_bytes;
    /* release: pairs with the acquire in count_free(): the slots are read. */
    atomic_fetch_add_explicit(&counter->protocol.engine->node->stock_copied,
                              (uint64_t)n, memory_order_release);
}

/* How many tasks, as they took lately, take NS: MOST at most, or one. */
static int64_t tasks_in(const struct ek_worker *worker, int64_t ns,
                        int64_t most)
{
    int64_t task_ns = (int64_t)worker->batch.task_ns;
    int64_t n = task_ns > 0 ? ns / task_ns : 1;
    if (n > most)
        n = most;
    return n > 0 ? n : 1;
}

/* How many of LEFT a worker takes at once. */
static int64_t count_taken(const struct ek_worker *worker, int64_t left)
{
    int64_t part = left / worker->engine->topology->node_workers;
    return tasks_in(worker, STOCK_TAKEN_NS,
                    part < EKI_BATCH_MAX ? part : EKI_BATCH_MAX);
}

/* How many seeds it has taken; *LEFT: how many are there then. */
static int64_t take_seeds_here(struct eki_counter *counter,
                               struct ek_worker *worker, int64_t *left)
{
    struct eki_node_words *node = worker->engine->node;
    /* relaxed: claimed below. */
    uint64_t at =
        atomic_load_explicit(&node->stock_taken, memory_order_relaxed);
    for (;;) {
        /* acquire: pairs with the release in fill_stock(): slots are filled. */
        uint64_t filled =
            atomic_load_explicit(&node->stock_filled, memory_order_acquire);
        *left = (int64_t)(filled - at);
        if (*left <= 0)
            return 0;
        int64_t n = count_taken(worker, *left);
        if (!eki_local_reserve(&worker->local, n)) {
            eki_worker_no_memory(worker, n, "drawn tasks");
            return 0;
        }
        /* relaxed, both: of those who take, each has other slots. */
        if (!atomic_compare_exchange_weak_explicit(
                &node->stock_taken, &at, at + (uint64_t)n, memory_order_relaxed,
                memory_order_relaxed))
            continue;
        copy_taken(counter, worker, at, n);
        *left -= n;
        return n;
    }
}

/* Numbers to draw at least. */
static int64_t least_draw(const struct ek_worker *worker)
{
    const struct eki_topology *topology = worker->engine->topology;
    return tasks_in(worker,
                    (int64_t)DRAW_NS * topology->nodes * topology->node_workers,
                    EKI_CHUNK_MOST);
}

/* Whether more is to be drawn though LEFT are there. */
static bool is_low(const struct ek_worker *worker, int64_t left)
{
    int64_t ns = (int64_t)worker->batch.task_ns;
    return ns > 0 && ns <= STOCK_AHEAD_NS &&
           left <= STOCK_AHEAD_NS / ns * worker->engine->topology->node_workers;
}

/* Let the server of this rank draw for the node, unless one does. */
static void draw_more(struct eki_counter *counter, struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    struct eki_node_words *node = engine->node;
    struct eki_drawer *drawer = &counter->drawers[0];
    /* relaxed: claimed below. */
    uint64_t drawing =
        atomic_load_explicit(&node->stock_drawing, memory_order_relaxed);
    if (eki_is_set(&node->stock_drawn, engine->phase))
        return;
    /* acquire: pairs with the release in end_draw(): what the server did that
     * drew last. */
    if (drawing != engine->phase &&
        atomic_compare_exchange_strong_explicit(
            &node->stock_drawing, &drawing, engine->phase, memory_order_acquire,
            memory_order_relaxed)) {
        eki_drawer_ask(counter, worker, drawer, least_draw(worker));
        return;
    }
    /* There may be room for more now.  relaxed: a hint. */
    worker->batch.wants_server |=
        atomic_load_explicit(&drawer->state, memory_order_relaxed) ==
        EKI_DRAW_NUMBER;
}

enum eki_sought eki_stock_take(struct eki_counter *counter,
                               struct ek_worker *worker)
{
    int64_t left;
    int64_t n = take_seeds_here(counter, worker, &left);
    if (n == 0 || is_low(worker, left))
        draw_more(counter, worker);
    if (n == 0)
        return EKI_SOUGHT_NOTHING;
    worker->counts.steals++;
    return EKI_SOUGHT_FOUND;
}

/* How many slots are free behind FILLED, as far as the server knows. */
static int64_t count_free(struct eki_counter *counter, uint64_t filled)
{
    const struct eki_node_words *node = counter->protocol.engine->node;
    /* acquire: pairs with the release in copy_taken(): the slots were read. */
    uint64_t copied =
        atomic_load_explicit(&node->stock_copied, memory_order_acquire);
    /* relaxed: no less than was copied, and no more if nobody copies. */
    if (atomic_load_explicit(&node->stock_taken, memory_order_relaxed) ==
        copied)
        counter->stock_free = copied;
    return room_of(counter) - (int64_t)(filled - counter->stock_free);
}

/* Put seeds from NUMBER on, MOST at most, into the stock; how many. */
static int64_t fill_stock(struct eki_counter *counter,
                          struct eki_drawer *drawer, int64_t number,
                          int64_t most)
{
    struct eki_node_words *node = counter->protocol.engine->node;
    int entry = eki_numbers_entry(counter, number);
    int64_t n = eki_drawer_look(counter, drawer, entry, number);
    /* relaxed: only who draws for the node writes it. */
    uint64_t at =
        atomic_load_explicit(&node->stock_filled, memory_order_relaxed);
    if (n > most)
        n = most;
    for (int64_t i = 0; i < n; i++)
        eki_drawer_fill(counter, drawer, entry, number + i,
                        stock_slot(counter, at + (uint64_t)i));
    if (n == 0)
        return 0;
    int64_t rest = drawer->end - drawer->copied_from - drawer->copied;
    if (rest > 0)
        eki_drawer_fetch_ahead(counter, drawer, entry, number, rest);
    /* release: pairs with the acquire in take_seeds_here(): the slots. */
    atomic_store_explicit(&node->stock_filled, at + (uint64_t)n,
                          memory_order_release);
    return n;
}

/* All numbers that were drawn are in the stock. */
static void end_draw(struct eki_counter *counter, struct eki_drawer *drawer)
{
    const struct eki_engine *engine = counter->protocol.engine;
    int64_t all = eki_numbers_all(counter);
    if (drawer->end >= all) {
        eki_drawer_set(drawer, EKI_DRAW_OVER);
        /* relaxed: who sees it draws no more. */
        atomic_store_explicit(&engine->node->stock_drawn, engine->phase,
                              memory_order_relaxed);
        return;
    }
    eki_drawer_set(drawer, EKI_DRAW_FREE);
    /* release: pairs with the acquire in draw_more(). */
    atomic_store_explicit(&engine->node->stock_drawing, 0,
                          memory_order_release);
}

/* Pass seeds for which no worker has room on to other ranks, one by one: who
 * has claimed one may have to wait for a buffer. */
static void pass_stock(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    struct eki_node_words *node = engine->node;
    for (;;) {
        /* relaxed: claimed below. */
        uint64_t at =
            atomic_load_explicit(&node->stock_taken, memory_order_relaxed);
        /* acquire: pairs with the release in fill_stock(): slots are filled.
         * relaxed: of those who take, each has other slots. */
        if (!counter->passed &&
            at != atomic_load_explicit(&node->stock_filled,
                                       memory_order_acquire) &&
            atomic_compare_exchange_strong_explicit(
                &node->stock_taken, &at, at + 1, memory_order_relaxed,
                memory_order_relaxed))
            counter->passed = stock_slot(counter, at);
        if (!counter->passed || !eki_pass_on(engine, counter->passed, 1))
            return;
        counter->passed = NULL;
        /* release: pairs with the acquire in count_free(): the slot is read. */
        atomic_fetch_add_explicit(&node->stock_copied, 1, memory_order_release);
    }
}

bool eki_stock_step(struct eki_counter *counter)
{
    const struct eki_engine *engine = counter->protocol.engine;
    struct eki_drawer *drawer = &counter->drawers[0];
    if (EKI_UNLIKELY(engine->lack.is_out) && counter->has_stock &&
        eki_table_is_ready(counter))
        pass_stock(counter);
    if (!eki_table_is_ready(counter) || !counter->has_stock ||
        /* relaxed: the server has set it. */
        atomic_load_explicit(&drawer->state, memory_order_relaxed) !=
            EKI_DRAW_NUMBER)
        return false;
    int64_t all = eki_numbers_all(counter);
    int64_t number =
        atomic_load_explicit(&drawer->number, memory_order_relaxed);
    int64_t n = 1;
    if (drawer->end > all)
        drawer->end = all;
    uint64_t filled = eki_glance(&engine->node->stock_filled);
    int64_t room = count_free(counter, filled);
    while (n > 0 && room > 0 && number < drawer->end) {
        n = fill_stock(counter, drawer, number, room);
        number += n;
        room -= n;
    }
    if (number < drawer->end)
        eki_drawer_set_number(drawer, number, EKI_DRAW_NUMBER);
    else
        end_draw(counter, drawer);
    return true;
}
