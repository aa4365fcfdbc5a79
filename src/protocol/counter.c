/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/counter.h"

#include "engine/decode.h"
#include "protocol/copies.h"
#include "protocol/numbers.h"
#include "protocol/stock.h"
#include "protocol/table.h"

static struct eki_counter *counter_of(struct eki_protocol *protocol)
{
    return (struct eki_counter *)protocol;
}

/* Give a worker its seeds back, once, if nobody can draw them.  Where there is
 * no other rank, what nobody has drawn is cancelled without a copy. */
static int64_t cancel_counter(struct eki_protocol *protocol,
                              struct ek_worker *worker)
{
    struct eki_counter *counter = counter_of(protocol);
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    if (eki_table_is_void(counter)) {
        worker->local.seed_base -= drawer->last - drawer->first;
        drawer->first = drawer->last;
        return 0;
    }
    return eki_table_is_ready(counter) && protocol->engine->topology->size == 1
               ? eki_numbers_cancel(counter)
               : 0;
}

static void leave_counter(struct eki_protocol *protocol)
{
    if (counter_of(protocol)->kept >= 0)
        eki_numbers_give_back(counter_of(protocol));
}

static bool enter_counter(struct eki_protocol *protocol,
                          const struct eki_phase *phase, uint64_t now)
{
    struct eki_counter *counter = counter_of(protocol);
    const struct eki_topology *topology = protocol->engine->topology;
    (void)now;
    bool is_guided = phase->chunk == EKI_CHUNK_GUIDED;
    counter->chunk = phase->chunk > 0 && !is_guided ? phase->chunk : 1;
    /* On one node a draw costs no message. */
    counter->is_guided = is_guided && !protocol->engine->alone;
    counter->is_used = protocol->engine->elsewhere == protocol;
    counter->kept = -1;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&counter->is_void, false, memory_order_relaxed);
    if (!counter->is_used)
        return false;
    for (int here = 0; here < topology->workers_here; here++) {
        struct eki_drawer *drawer = &counter->drawers[here];
        drawer->copied = 0;
        /* relaxed, both: handed on by the start of the team. */
        atomic_store_explicit(&drawer->state, EKI_DRAW_FREE,
                              memory_order_relaxed);
        atomic_store_explicit(&drawer->fetch, EKI_FETCH_FREE,
                              memory_order_relaxed);
    }
    eki_queue_clear(&counter->wishes);
    counter->cursor.at = counter->passed = NULL;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&counter->wants, 0, memory_order_relaxed);
    eki_table_enter(counter, phase);
    return true;
}

/* Not all seeds are drawn yet, as far as the worker knows: the server is to
 * ask, or to hear. */
static bool calls_counter(const struct eki_protocol *protocol,
                          const struct ek_worker *worker, bool *awaits,
                          uint64_t *due)
{
    const struct eki_counter *counter = (const struct eki_counter *)protocol;
    (void)due;
    if (eki_table_is_ready(counter) && counter->has_stock)
        return eki_stock_calls(counter, awaits);
    /* relaxed: a hint. */
    return atomic_load_explicit(&counter->drawers[worker->here].state,
                                memory_order_relaxed) != EKI_DRAW_OVER;
}

static enum eki_sought seek_counter(struct eki_protocol *protocol,
                                    struct ek_worker *worker,
                                    const struct eki_victim *victim,
                                    uint64_t now)
{
    struct eki_counter *counter = counter_of(protocol);
    (void)victim;
    if (!eki_table_is_ready(counter))
        return EKI_SOUGHT_NOTHING;
    return counter->has_stock ? eki_stock_take(counter, worker)
                              : eki_drawer_seek(counter, worker, now);
}

/* Send what a worker wants; false: no buffer. */
static bool send_want(struct eki_counter *counter, const struct eki_note *note)
{
    if (!eki_exchange_send(&counter->protocol.engine->exchange, note, NULL, 0,
                           0))
        return false;
    /* relaxed: a count only. */
    atomic_fetch_sub_explicit(&counter->wants, 1, memory_order_relaxed);
    return true;
}

/* Rank 0 draws for its node. */
static void draw_own(struct eki_counter *counter, struct eki_drawer *drawer)
{
    int count;
    int64_t number = eki_numbers_draw(counter, drawer->chunk, &count);
    drawer->end = number + count;
    eki_drawer_set_number(drawer, number, EKI_DRAW_NUMBER);
    /* relaxed: a count only. */
    atomic_fetch_sub_explicit(&counter->wants, 1, memory_order_relaxed);
}

/* Ask for a number, if the worker wants one; false: no buffer. */
static bool send_draw(struct eki_counter *counter,
                      const struct ek_worker *worker)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    /* acquire: pairs with the release in eki_drawer_set(). */
    if (atomic_load_explicit(&drawer->state, memory_order_acquire) !=
        EKI_DRAW_ASK)
        return true;
    if (worker->engine->topology->rank == 0) {
        draw_own(counter, drawer);
        return true;
    }
    struct eki_note note = {EKI_KIND_DRAW, 0, worker->id, drawer->chunk, 0};
    if (!send_want(counter, &note))
        return false;
    counter->protocol.engine->in_vain++; /* until a number is a seed's */
    eki_drawer_set(drawer, EKI_DRAW_ASKED);
    return true;
}

/* See what becomes of what a worker has drawn and has no room for; false: no
 * buffer. */
static bool free_stuck(struct eki_counter *counter,
                       const struct ek_worker *worker)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    /* acquire: pairs with the release in eki_drawer_set(). */
    return EKI_LIKELY(
               atomic_load_explicit(&drawer->state, memory_order_acquire) !=
               EKI_DRAW_STUCK) ||
           eki_drawer_pass(counter, drawer);
}

/* Fetch seeds, if the worker wants some; false: no buffer. */
static bool send_fetch(struct eki_counter *counter,
                       const struct ek_worker *worker)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    /* acquire: pairs with the release in eki_drawer_set_fetch(): what is
     * wanted. */
    if (atomic_load_explicit(&drawer->fetch, memory_order_acquire) !=
        EKI_FETCH_WANT)
        return true;
    int64_t from = drawer->wanted_from;
    struct eki_note note = {EKI_KIND_FETCH, eki_numbers_holder(counter, from),
                            worker->id, drawer->wanted, from};
    if (!send_want(counter, &note))
        return false;
    eki_drawer_set_fetch(drawer, EKI_FETCH_SENT);
    return true;
}

/* One word for all workers, so that a step in which nobody wants anything looks
 * at one.  A state that is not seen yet is found in a later step. */
static void send_wants(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct ek_worker *worker = engine->workers[here];
        /* relaxed: see above. */
        if (atomic_load_explicit(&counter->wants, memory_order_relaxed) <= 0 ||
            !send_draw(counter, worker) || !free_stuck(counter, worker) ||
            !send_fetch(counter, worker))
            return;
    }
}

/* Rank 0 tells the table: nobody knows a number before. */
static bool may_fetch(const struct eki_counter *counter, int64_t number)
{
    if (eki_table_is_ready(counter))
        return eki_numbers_are_held(counter, number);
    return number >= 0 && counter->protocol.engine->topology->rank != 0;
}

/* DRAW, of rank 0, or FETCH, of whoever holds the number. */
static bool wish_fits(const struct eki_counter *counter,
                      const struct eki_head *head)
{
    struct eki_engine *engine = counter->protocol.engine;
    struct eki_decode decode = eki_decode_of(engine, head);
    bool is_draw = head->kind == EKI_KIND_DRAW;
    return eki_fits_one(&decode, "counter in use", counter->is_used, true) &&
           eki_fits(&decode, "chunk", head->detail, 1, EKI_CHUNK_MOST) &&
           (is_draw ? eki_fits_one(&decode, "rank", engine->topology->rank, 0)
                    : eki_fits_one(&decode, "held number",
                                   may_fetch(counter, head->first), true));
}

static enum eki_taken keep_wish(struct eki_counter *counter,
                                const struct eki_head *head)
{
    if (!wish_fits(counter, head))
        return EKI_REFUSED;
    const struct eki_wish wish = {
        .rank = head->source,
        .worker = head->worker,
        .number = head->kind == EKI_KIND_DRAW ? -1 : head->first,
        .chunk = head->detail};
    return eki_queue_add(&counter->wishes, &wish) ? EKI_TAKEN : EKI_NO_MEMORY;
}

/* Answer one wish of another rank; false: no buffer. */
static bool grant(void *context, void *item)
{
    struct eki_counter *counter = context;
    const struct eki_wish *wish = item;
    struct eki_engine *engine = counter->protocol.engine;
    bool is_draw = wish->number < 0;
    struct eki_message *message = eki_exchange_reserve(
        &engine->exchange, is_draw ? EKI_KIND_NUMBER : EKI_KIND_FETCHED);
    if (!message)
        return false;
    struct eki_note note = {message->head.kind, wish->rank, wish->worker, -1,
                            0};
    if (is_draw)
        note.first = eki_numbers_draw(counter, wish->chunk, &note.detail);
    int64_t count = is_draw ? 0 : eki_copies_fill(counter, wish, message->body);
    eki_note_write(message, &note, NULL, count, engine->slot_bytes);
    eki_exchange_post(&engine->exchange, message, wish->rank);
    return true;
}

static void step_counter(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_counter *counter = counter_of(protocol);
    (void)now;
    eki_table_step(counter);
    if (!counter->is_used)
        return;
    if (eki_table_is_ready(counter))
        eki_queue_serve(&counter->wishes, grant, counter);
    send_wants(counter);
    /* What is drawn may have to be fetched. */
    if (eki_stock_step(counter))
        send_wants(counter);
}

/* NUMBER or FETCHED, to a worker that waits for just that, from whom it has
 * asked. */
static bool number_fits(const struct eki_counter *counter,
                        const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    bool is_number = head->kind == EKI_KIND_NUMBER;
    if (!eki_fits_one(&decode, "counter in use", counter->is_used, true))
        return false;
    const struct eki_drawer *drawer =
        &counter
             ->drawers[head->worker - topology->first_worker[topology->rank]];
    if (is_number)
        /* relaxed: written by this server where an answer is due. */
        return eki_fits_one(
                   &decode, "state of the worker",
                   atomic_load_explicit(&drawer->state, memory_order_relaxed),
                   EKI_DRAW_ASKED) &&
               eki_fits_one(&decode, "source", head->source, 0) &&
               eki_fits(&decode, "number", head->first, 0,
                        INT64_MAX - EKI_CHUNK_MOST) &&
               eki_fits(&decode, "count", head->detail, drawer->chunk,
                        EKI_CHUNK_MOST);
    /* relaxed: written by this server. */
    return eki_fits_one(
               &decode, "state of the worker",
               atomic_load_explicit(&drawer->fetch, memory_order_relaxed),
               EKI_FETCH_SENT) &&
           eki_fits_one(&decode, "source", head->source,
                        eki_numbers_holder(counter, drawer->wanted_from)) &&
           eki_fits(
               &decode, "count", head->count, 1,
               eki_copies_behind(counter, drawer->wanted_from, drawer->wanted));
}

/* The answer to the wish of a worker here. */
static enum eki_taken take_answer(struct eki_counter *counter,
                                  const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    if (!number_fits(counter, message))
        return EKI_REFUSED;
    int here = message->head.worker - topology->first_worker[topology->rank];
    struct eki_drawer *drawer = &counter->drawers[here];
    if (message->head.kind == EKI_KIND_NUMBER) {
        engine->in_vain -= message->head.first < eki_numbers_all(counter);
        drawer->end = message->head.first + message->head.detail;
        eki_drawer_set_number(drawer, message->head.first, EKI_DRAW_NUMBER);
        return EKI_TAKEN;
    }
    bool is_kept = eki_copies_keep(counter, here, message);
    if (!is_kept && !eki_drawer_pass_fetched(counter, drawer, message))
        return EKI_NO_MEMORY;
    eki_drawer_set_fetch(drawer, is_kept ? EKI_FETCH_HERE : EKI_FETCH_FREE);
    return EKI_TAKEN;
}

static enum eki_taken take_counter(struct eki_protocol *protocol,
                                   const struct eki_message *message,
                                   uint64_t now)
{
    (void)now;
    switch (message->head.kind) {
    case EKI_KIND_SEEDS:
    case EKI_KIND_TABLE:
        return eki_table_take(counter_of(protocol), message);
    case EKI_KIND_DRAW:
    case EKI_KIND_FETCH:
        return keep_wish(counter_of(protocol), &message->head);
    default:
        return take_answer(counter_of(protocol), message);
    }
}

static void destroy_counter(struct eki_protocol *protocol)
{
    struct eki_counter *counter = counter_of(protocol);
    eki_free(counter->table);
    eki_free(counter->starts);
    eki_free(counter->copies);
    eki_free(counter->drawers);
    eki_free(counter->wishes.items);
    eki_free(counter);
}

static const struct eki_verb counter_verbs[] = {
    {.name = "seeds", .concerns = EKI_CONCERNS_ALL},
    {.name = "table", .concerns = EKI_CONCERNS_ALL},
    {.name = "draw", .party = EKI_PARTY_SENDER, .body = EKI_BODY_NONE},
    {.name = "number",
     .concerns = EKI_CONCERNS_WORKER,
     .party = EKI_PARTY_RECEIVER,
     .body = EKI_BODY_NONE},
    {.name = "fetch", .party = EKI_PARTY_SENDER, .body = EKI_BODY_NONE},
    {.name = "fetched",
     .concerns = EKI_CONCERNS_WORKER,
     .party = EKI_PARTY_RECEIVER,
     .body = EKI_BODY_SLOTS,
     .must_fit = true}};

const struct eki_protocol_ops eki_counter_ops = {.name = "counter",
                                                 .channel = EKI_CHANNEL_COUNTER,
                                                 EKI_VERBS(counter_verbs),
                                                 .destroy = destroy_counter,
                                                 .enter = enter_counter,
                                                 .take = take_counter,
                                                 .step = step_counter,
                                                 .seek = seek_counter,
                                                 .cancel = cancel_counter,
                                                 .leave = leave_counter,
                                                 .calls = calls_counter};

ek_status eki_counter_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_counter *counter = eki_alloc_lines(sizeof *counter);
    if (counter) {
        counter->protocol.ops = &eki_counter_ops;
        counter->wishes = EKI_QUEUE(struct eki_wish, 64);
        counter->table = eki_alloc_untouched(
            ((size_t)EKI_SEED_CLASSES * (size_t)topology->size + 1) *
            sizeof *counter->table);
        counter->starts = eki_alloc((size_t)topology->workers_here + 1,
                                    sizeof *counter->starts);
        counter->drawers = eki_alloc_lines((size_t)topology->workers_here *
                                           sizeof *counter->drawers);
        if (counter->table && counter->starts && counter->drawers &&
            eki_queue_has_room(&counter->wishes)) {
            eki_engine_add(engine, &counter->protocol);
            return EK_OK;
        }
        destroy_counter(&counter->protocol);
    }
    return eki_error(EK_ERR_NOMEM, "no memory for a counter of %d ranks",
                     topology->size);
}
