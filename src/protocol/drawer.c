/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States of a drawer, all FREE on entering.  On the node of rank 0 a worker
 * draws by itself: from FREE to what follows NUMBER.
 *
 *     FREE   -> ASK     worker  seeks, elsewhere
 *     ASK    -> ASKED   server  DRAW has left
 *     ASKED  -> NUMBER  server  NUMBER has come
 *     NUMBER -> NUMBER  worker  seeks, and numbers of the chunk are left
 *            -> FREE    worker  ... none are ...
 *            -> ASK     worker  ... and it asks ahead
 *            -> OVER    worker  ... the number is no seed's
 *            -> STUCK   worker  ... has no room, or not the seed when stopped
 *     STUCK  -> NUMBER  server  this rank is not out of memory
 *            -> FREE    server  it is: what was drawn has gone on
 *
 * and of its fetch:
 *
 *     FREE -> WANT  worker  seeks: the seed is elsewhere, or those behind it
 *     WANT -> SENT  server  FETCH has left
 *     SENT -> HERE  server  FETCHED has come
 *     HERE -> FREE  worker  seeks a seed that is not among its copies
 */
#include "engine/offers.h"
#include "protocol/copies.h"
#include "protocol/numbers.h"
#include "protocol/table.h"

/* So much work is drawn at once from another node, as far as what tasks took
 * lately tells.  In ek-sim (this, polling, 100 us) two nodes reach 93 % of
 * ideal so, 75 with a quarter of it; 16 cores on two nodes 85 and 92. */
#define DRAWN_NS 400000

static bool is_same_node(const struct eki_engine *engine)
{
    return engine->topology->node == engine->topology->node_of_rank[0];
}

/* What is drawn and finds no room can go on to another rank. */
static bool may_go_on(const struct eki_counter *counter)
{
    return counter->protocol.engine->topology->size > 1;
}

/* The server is to send something. */
static void count_want(struct eki_counter *counter)
{
    /* relaxed: see send_wants(). */
    atomic_fetch_add_explicit(&counter->wants, 1, memory_order_relaxed);
}

/* Let the server fetch WANTED seeds from NUMBER on, or more. */
static void want_seeds(struct eki_counter *counter, struct eki_drawer *drawer,
                       int64_t number, int64_t wanted)
{
    drawer->wanted_from = number;
    drawer->wanted = (int)wanted;
    eki_drawer_set_fetch(drawer, EKI_FETCH_WANT);
    count_want(counter);
}

void eki_drawer_fill(const struct eki_counter *counter,
                     struct eki_drawer *drawer, int entry, int64_t number,
                     struct eki_slot *slot)
{
    const struct eki_slot *copy = eki_copies_find(counter, drawer, number);
    int64_t j = eki_numbers_place(counter, entry, number);
    if (counter->table[entry].function >= 0)
        eki_numbers_make(counter, entry, j, slot);
    else if (copy)
        memcpy(slot, copy, counter->protocol.engine->slot_bytes);
    else
        eki_numbers_copy(counter, j, &drawer->cursor, slot);
}

/* How many of the numbers that were drawn, from NUMBER of ENTRY on, are here or
 * can be made; 0: the first must be fetched. */
static int64_t are_here(const struct eki_counter *counter,
                        const struct eki_drawer *drawer, int entry,
                        int64_t number)
{
    const struct eki_seeds *seeds = &counter->table[entry];
    int64_t end = drawer->end < seeds[1].first ? drawer->end : seeds[1].first;
    /* Where no other rank is, there is room for all (may_draw()). */
    if (end - number > EKI_BATCH_MAX && may_go_on(counter))
        end = number + EKI_BATCH_MAX;
    if (seeds->function >= 0 || eki_numbers_rank(counter, entry) ==
                                    counter->protocol.engine->topology->rank)
        return end - number;
    int64_t i = number;
    while (i < end && eki_copies_find(counter, drawer, i))
        i++;
    return i - number;
}

/* COUNT seeds of ENTRY, from NUMBER on, to the stack, the first one on top;
 * there is room. */
static void push_seeds(const struct eki_counter *counter,
                       struct ek_worker *worker, int entry, int64_t number,
                       int64_t count)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    struct eki_local *local = &worker->local;
    for (int64_t i = 0; i < count; i++)
        eki_drawer_fill(
            counter, drawer, entry, number + i,
            eki_slot_at(local->stack_top, count - 1 - i, local->slot_bytes));
    local->stack_top += count * local->slot_bytes;
}

int64_t eki_drawer_look(struct eki_counter *counter, struct eki_drawer *drawer,
                        int entry, int64_t number)
{
    int64_t count = are_here(counter, drawer, entry, number);
    if (count > 0)
        return count;
    /* acquire: pairs with the release in eki_drawer_set_fetch(): what came. */
    int fetch = atomic_load_explicit(&drawer->fetch, memory_order_acquire);
    if (fetch == EKI_FETCH_HERE) {
        eki_copies_turn(drawer);
        eki_drawer_set_fetch(drawer, EKI_FETCH_FREE);
        fetch = EKI_FETCH_FREE;
        count = are_here(counter, drawer, entry, number);
    }
    if (count == 0 && fetch == EKI_FETCH_FREE)
        want_seeds(counter, drawer, number, drawer->end - number);
    return count;
}

void eki_drawer_fetch_ahead(struct eki_counter *counter,
                            struct eki_drawer *drawer, int entry,
                            int64_t number, int64_t wanted)
{
    int64_t next = drawer->copied_from + drawer->copied;
    /* relaxed: nobody else leaves FREE. */
    if (drawer->copied > 1 && next < counter->table[entry + 1].first &&
        eki_copies_find(counter, drawer, number) &&
        atomic_load_explicit(&drawer->fetch, memory_order_relaxed) ==
            EKI_FETCH_FREE)
        want_seeds(counter, drawer, next, wanted);
}

void eki_drawer_ask(struct eki_counter *counter, struct ek_worker *worker,
                    struct eki_drawer *drawer, int64_t chunk)
{
    drawer->chunk = (int)chunk;
    worker->counts.tries++;
    worker->batch.wants_server = true;
    eki_drawer_set(drawer, EKI_DRAW_ASK);
    count_want(counter);
}

/* Let the server ask for the next numbers: of short tasks several, because the
 * answer takes as long as some of them. */
static void ask_numbers(struct eki_counter *counter, struct ek_worker *worker,
                        uint64_t now)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    drawer->asked_at = now;
    uint64_t ns = worker->batch.task_ns;
    int several = (int)(DRAWN_NS / (ns > 0 ? ns : 1));
    if (several > EKI_BATCH_MAX)
        several = EKI_BATCH_MAX;
    eki_drawer_ask(counter, worker, drawer,
                   several > counter->chunk ? several : counter->chunk);
}

/* Whether to ask while the numbers drawn last are run: where they are so short
 * that nobody misses those that come meanwhile. */
static bool asks_ahead(const struct eki_counter *counter,
                       const struct ek_worker *worker)
{
    return !is_same_node(worker->engine) &&
           worker->batch.task_ns * (uint64_t)counter->chunk < DRAWN_NS;
}

/* The server is to fetch something for the worker, maybe. */
static void note_fetch(struct ek_worker *worker,
                       const struct eki_drawer *drawer)
{
    /* relaxed: nobody else leaves FREE. */
    worker->batch.wants_server |=
        atomic_load_explicit(&drawer->fetch, memory_order_relaxed) ==
        EKI_FETCH_WANT;
}

/* The server is to see what becomes of NUMBER, which is drawn. */
static void get_stuck(struct eki_counter *counter, struct eki_drawer *drawer,
                      int64_t number)
{
    EKI_ASSERT(may_go_on(counter));
    eki_drawer_set_number(drawer, number, EKI_DRAW_STUCK);
    count_want(counter);
}

/* Whether a worker may draw: where what is drawn can go nowhere else, there
 * must be room for it first, else the phase ends in an error. */
static bool may_draw(const struct eki_counter *counter,
                     struct ek_worker *worker)
{
    const struct eki_local *local = &worker->local;
    int64_t n = eki_numbers_all(counter);
    n = n < counter->chunk ? n : counter->chunk;
    if (may_go_on(counter) || local->stack_limit - local->stack_top >=
                                  n * (ptrdiff_t)local->slot_bytes)
        return true;
    int64_t left = eki_numbers_all(counter) -
                   (int64_t)eki_glance(&worker->engine->node->draw);
    n = left < n ? left : n;
    if (n <= 0 || eki_local_reserve(&worker->local, n))
        return true;
    eki_worker_no_memory(worker, n, "drawn tasks");
    return false;
}

/* Bring seeds from NUMBER on to the stack, as many as were drawn with it and
 * are here; true: there are some. */
static bool take_numbers(struct eki_counter *counter, struct ek_worker *worker,
                         int64_t number, uint64_t now)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    int64_t all = eki_numbers_all(counter);
    if (number >= all) {
        eki_drawer_set(drawer, EKI_DRAW_OVER);
        return false;
    }
    if (drawer->end > all)
        drawer->end = all;
    int entry = eki_numbers_entry(counter, number);
    int64_t count = eki_drawer_look(counter, drawer, entry, number);
    note_fetch(worker, drawer);
    if (count == 0) {
        if (eki_is_stopped(worker->engine))
            get_stuck(counter, drawer, number);
        else
            eki_drawer_set_number(drawer, number, EKI_DRAW_NUMBER);
        return false;
    }
    if (may_go_on(counter) && !eki_local_reserve(&worker->local, count)) {
        eki_worker_no_memory(worker, count, "drawn tasks");
        get_stuck(counter, drawer, number);
        return false;
    }
    push_seeds(counter, worker, entry, number, count);
    eki_worker_steals(worker, drawer->asked_at);
    eki_drawer_fetch_ahead(counter, drawer, entry, number, 1);
    note_fetch(worker, drawer);
    if (number + count < drawer->end) {
        eki_drawer_set_number(drawer, number + count, EKI_DRAW_NUMBER);
        return true;
    }
    worker->counts.steals++;
    if (asks_ahead(counter, worker))
        ask_numbers(counter, worker, now);
    else
        eki_drawer_set(drawer, EKI_DRAW_FREE);
    return true;
}

/* A stopped phase calls this, too: numbers already drawn must be cancelled. */
enum eki_sought eki_drawer_seek(struct eki_counter *counter,
                                struct ek_worker *worker, uint64_t now)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    int64_t number;
    /* acquire: pairs with the releases in eki_drawer_set(). */
    int state = atomic_load_explicit(&drawer->state, memory_order_acquire);
    if (state != EKI_DRAW_NUMBER && state != EKI_DRAW_FREE)
        return EKI_SOUGHT_NOTHING;
    if (state == EKI_DRAW_FREE) {
        if (!is_same_node(worker->engine)) {
            ask_numbers(counter, worker, now);
            return EKI_SOUGHT_ASKED;
        }
        if (!may_draw(counter, worker))
            return EKI_SOUGHT_NOTHING;
        worker->counts.tries++;
        drawer->asked_at = now;
        int count;
        number = eki_numbers_draw(counter, counter->chunk, &count);
        drawer->end = number + count;
    } else {
        /* relaxed: ordered by the acquire above. */
        number = atomic_load_explicit(&drawer->number, memory_order_relaxed);
    }
    return take_numbers(counter, worker, number, now) ? EKI_SOUGHT_FOUND
                                                      : EKI_SOUGHT_NOTHING;
}

/* Of what was drawn N have gone on, from the next number on. */
static void note_passed(struct eki_counter *counter, struct eki_drawer *drawer,
                        int64_t n)
{
    /* relaxed: it is the server's turn. */
    int64_t number =
        atomic_load_explicit(&drawer->number, memory_order_relaxed) + n;
    if (counter->has_stock || number < drawer->end) {
        eki_drawer_set_number(drawer, number,
                              counter->has_stock ? EKI_DRAW_NUMBER
                                                 : EKI_DRAW_STUCK);
        return;
    }
    /* relaxed: a count only. */
    atomic_fetch_sub_explicit(&counter->wants, 1, memory_order_relaxed);
    eki_drawer_set(drawer, EKI_DRAW_FREE);
}

bool eki_drawer_pass(struct eki_counter *counter, struct eki_drawer *drawer)
{
    struct eki_engine *engine = counter->protocol.engine;
    /* relaxed: it is the server's turn. */
    int64_t number =
        atomic_load_explicit(&drawer->number, memory_order_relaxed);
    if (!engine->lack.is_out) {
        /* relaxed: a count only. */
        atomic_fetch_sub_explicit(&counter->wants, 1, memory_order_relaxed);
        eki_drawer_set_number(drawer, number, EKI_DRAW_NUMBER);
        return true;
    }
    int entry = eki_numbers_entry(counter, number);
    int64_t n = eki_drawer_look(counter, drawer, entry, number);
    int64_t most = eki_message_slots(engine);
    struct eki_message *message = n > 0 ? eki_pass_begin(engine) : NULL;
    if (!message)
        return n == 0;
    n = n < most ? n : most;
    for (int64_t i = 0; i < n; i++)
        eki_drawer_fill(counter, drawer, entry, number + i,
                        eki_slot_at(message->body, i, engine->slot_bytes));
    eki_pass_end(engine, message, NULL, n);
    note_passed(counter, drawer, n);
    return true;
}

bool eki_drawer_pass_fetched(struct eki_counter *counter,
                             struct eki_drawer *drawer,
                             const struct eki_message *message)
{
    int state = counter->has_stock ? EKI_DRAW_NUMBER : EKI_DRAW_STUCK;
    /* acquire: pairs with the release in get_stuck(): what was drawn. */
    if (atomic_load_explicit(&drawer->state, memory_order_acquire) != state)
        return false;
    int64_t rest = drawer->end - drawer->wanted_from;
    int64_t n = message->head.count < rest ? message->head.count : rest;
    if (!eki_pass_on(counter->protocol.engine, message->body, n))
        return false;
    note_passed(counter, drawer, n);
    return true;
}
