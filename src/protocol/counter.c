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
 *
 * and of its fetch:
 *
 *     FREE -> WANT  worker  seeks: the seed is elsewhere, or those behind it
 *     WANT -> SENT  server  FETCH has left
 *     SENT -> HERE  server  FETCHED has come
 *     HERE -> FREE  worker  seeks a seed that is not among its copies
 */
#include "protocol/counter.h"

#include "engine/decode.h"
#include "protocol/copies.h"
#include "protocol/numbers.h"
#include "protocol/table.h"

/* So much work is drawn at once from another node, as far as what tasks took
 * lately tells.  In ek-sim (this, polling, 100 us) two nodes reach 93 % of
 * ideal so, 75 with a quarter of it; 16 cores on two nodes 85 and 92. */
#define DRAWN_NS 400000

static struct eki_counter *of(struct eki_protocol *protocol)
{
    return (struct eki_counter *)protocol;
}

static bool is_same_node(const struct eki_engine *engine)
{
    return engine->topology->node == engine->topology->node_of_rank[0];
}

/* Give a worker its seeds back, once, if nobody can draw them. */
static void cancel(struct eki_protocol *protocol, struct ek_worker *worker)
{
    struct eki_drawer *drawer = &of(protocol)->drawers[worker->here];
    if (!eki_table_is_void(of(protocol)) || drawer->first == drawer->last)
        return;
    worker->local.seed_base -= drawer->last - drawer->first;
    drawer->first = drawer->last;
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_counter *counter = of(protocol);
    const struct eki_topology *topology = protocol->engine->topology;
    (void)now;
    counter->chunk = phase->chunk > 0 ? phase->chunk : 1;
    counter->is_used = protocol->engine->elsewhere == protocol;
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
    counter->cursor.at = NULL;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&counter->wants, 0, memory_order_relaxed);
    eki_table_enter(counter);
    return true;
}

static void set_state(struct eki_drawer *drawer, enum eki_draw state)
{
    /* release: pairs with the acquires of worker and server: `number`. */
    atomic_store_explicit(&drawer->state, (int)state, memory_order_release);
}

/* Leave NUMBER where the worker, or the server, finds it in STATE. */
static void set_number(struct eki_drawer *drawer, int64_t number,
                       enum eki_draw state)
{
    /* relaxed: ordered by the release of the state. */
    atomic_store_explicit(&drawer->number, number, memory_order_relaxed);
    set_state(drawer, state);
}

static void set_fetch(struct eki_drawer *drawer, enum eki_fetch fetch)
{
    /* release: pairs with the acquires of worker and server: what is wanted,
     * and what came. */
    atomic_store_explicit(&drawer->fetch, (int)fetch, memory_order_release);
}

/* The server is to send something for WORKER, who may run tasks meanwhile. */
static void count_want(struct eki_counter *counter, struct ek_worker *worker)
{
    worker->batch.wants_server = true;
    /* relaxed: see send_wants(). */
    atomic_fetch_add_explicit(&counter->wants, 1, memory_order_relaxed);
}

/* Let the server fetch WANTED seeds from NUMBER on, or more. */
static void want_seeds(struct eki_counter *counter, struct ek_worker *worker,
                       int64_t number, int64_t wanted)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    drawer->wanted_from = number;
    drawer->wanted = (int)wanted;
    set_fetch(drawer, EKI_FETCH_WANT);
    count_want(counter, worker);
}

/* Seed NUMBER, of RANK, which is here or has a COPY here, to SLOT. */
static void fill_slot(const struct eki_counter *counter,
                      struct eki_drawer *drawer, int rank, int64_t number,
                      const struct eki_slot *copy, struct eki_slot *slot)
{
    int64_t j = number - counter->table[rank].first;
    if (counter->table[rank].function >= 0)
        eki_numbers_make(counter, rank, j, slot);
    else if (copy)
        memcpy(slot, copy, counter->protocol.engine->slot_bytes);
    else
        eki_numbers_copy(counter, j, &drawer->cursor, slot);
}

/* How many of the numbers that were drawn, from NUMBER of RANK on, are here or
 * can be made; 0: the first must be fetched. */
static int64_t are_here(const struct eki_counter *counter,
                        const struct eki_drawer *drawer, int rank,
                        int64_t number)
{
    const struct eki_seeds *seeds = &counter->table[rank];
    int64_t end = drawer->end < seeds[1].first ? drawer->end : seeds[1].first;
    if (end - number > EKI_BATCH_MAX)
        end = number + EKI_BATCH_MAX;
    if (seeds->function >= 0 ||
        rank == counter->protocol.engine->topology->rank)
        return end - number;
    int64_t i = number;
    while (i < end && eki_copies_find(counter, drawer, i))
        i++;
    return i - number;
}

/* COUNT seeds of RANK, from NUMBER on, to the stack, the first one on top;
 * there is room. */
static void push_seeds(const struct eki_counter *counter,
                       struct ek_worker *worker, int rank, int64_t number,
                       int64_t count)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    struct eki_local *local = &worker->local;
    for (int64_t i = 0; i < count; i++)
        fill_slot(
            counter, drawer, rank, number + i,
            eki_copies_find(counter, drawer, number + i),
            eki_slot_at(local->stack_top, count - 1 - i, local->slot_bytes));
    local->stack_top += count * local->slot_bytes;
}

/* Whether seeds from NUMBER on, of RANK, are here by now: else they are
 * fetched.
 */
static int64_t look_for(struct eki_counter *counter, struct ek_worker *worker,
                        int rank, int64_t number)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    int64_t count = are_here(counter, drawer, rank, number);
    if (count > 0)
        return count;
    /* acquire: pairs with the release in set_fetch(): what came. */
    int fetch = atomic_load_explicit(&drawer->fetch, memory_order_acquire);
    if (fetch == EKI_FETCH_HERE) {
        eki_copies_turn(drawer);
        set_fetch(drawer, EKI_FETCH_FREE);
        fetch = EKI_FETCH_FREE;
        count = are_here(counter, drawer, rank, number);
    }
    if (count == 0 && fetch == EKI_FETCH_FREE)
        want_seeds(counter, worker, number, drawer->end - number);
    return count;
}

/* Who runs copies fetches those behind them, of the same RANK, unless each
 * number is fetched by itself. */
static void fetch_ahead(struct eki_counter *counter, struct ek_worker *worker,
                        int rank, int64_t number)
{
    const struct eki_drawer *drawer = &counter->drawers[worker->here];
    int64_t next = drawer->copied_from + drawer->copied;
    /* relaxed: nobody else leaves FREE. */
    if (drawer->copied > 1 && next < counter->table[rank + 1].first &&
        eki_copies_find(counter, drawer, number) &&
        atomic_load_explicit(&drawer->fetch, memory_order_relaxed) ==
            EKI_FETCH_FREE)
        want_seeds(counter, worker, next, 1);
}

/* Let the server ask for the next numbers: of short tasks several, because the
 * answer takes as long as some of them. */
static void ask(struct eki_counter *counter, struct ek_worker *worker,
                uint64_t now)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    drawer->asked_at = now;
    uint64_t ns = worker->batch.task_ns;
    int several = (int)(DRAWN_NS / (ns > 0 ? ns : 1));
    if (several > EKI_BATCH_MAX)
        several = EKI_BATCH_MAX;
    drawer->chunk = several > counter->chunk ? several : counter->chunk;
    worker->counts.attempted++;
    set_state(drawer, EKI_DRAW_ASK);
    count_want(counter, worker);
}

/* Whether to ask while the numbers drawn last are run: where they are so short
 * that nobody misses those that come meanwhile. */
static bool asks_ahead(const struct eki_counter *counter,
                       const struct ek_worker *worker)
{
    return !is_same_node(worker->engine) &&
           worker->batch.task_ns * (uint64_t)counter->chunk < DRAWN_NS;
}

/* Bring seeds from NUMBER on to the stack, as many as were drawn with it and
 * are here; true: there are some. */
static bool take_numbers(struct eki_counter *counter, struct ek_worker *worker,
                         int64_t number, uint64_t now)
{
    const struct eki_topology *topology = counter->protocol.engine->topology;
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    int64_t all = counter->table[topology->size].first;
    if (number >= all) {
        set_state(drawer, EKI_DRAW_OVER);
        return false;
    }
    if (drawer->end > all)
        drawer->end = all;
    int rank = eki_numbers_holder(counter, number);
    int64_t count = look_for(counter, worker, rank, number);
    if (count == 0) {
        set_number(drawer, number, EKI_DRAW_NUMBER);
        return false;
    }
    if (!eki_local_reserve(&worker->local, count)) {
        /* They were drawn: they are taken when there is memory. */
        set_number(drawer, number, EKI_DRAW_NUMBER);
        eki_worker_no_memory(worker, "a task");
        return false;
    }
    push_seeds(counter, worker, rank, number, count);
    eki_worker_steals(worker, drawer->asked_at);
    fetch_ahead(counter, worker, rank, number);
    if (number + count < drawer->end) {
        set_number(drawer, number + count, EKI_DRAW_NUMBER);
        return true;
    }
    worker->counts.successful++;
    if (asks_ahead(counter, worker))
        ask(counter, worker, now);
    else
        set_state(drawer, EKI_DRAW_FREE);
    return true;
}

/* Also where the phase was stopped: what was drawn must be cancelled. */
static enum eki_sought seek(struct eki_protocol *protocol,
                            struct ek_worker *worker, int node, uint64_t now)
{
    struct eki_counter *counter = of(protocol);
    struct eki_engine *engine = protocol->engine;
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    int64_t number;
    (void)node;
    if (!eki_table_is_ready(counter))
        return EKI_SOUGHT_NOTHING;
    /* acquire: pairs with the releases in set_state(). */
    int state = atomic_load_explicit(&drawer->state, memory_order_acquire);
    if (state != EKI_DRAW_NUMBER && state != EKI_DRAW_FREE)
        return EKI_SOUGHT_NOTHING;
    if (state == EKI_DRAW_FREE) {
        if (!is_same_node(engine)) {
            ask(counter, worker, now);
            return EKI_SOUGHT_ASKED;
        }
        worker->counts.attempted++;
        drawer->asked_at = now;
        /* relaxed: only the number counts. */
        number = (int64_t)atomic_fetch_add_explicit(&engine->node->draw,
                                                    (uint64_t)counter->chunk,
                                                    memory_order_relaxed);
        drawer->end = number + counter->chunk;
    } else {
        /* relaxed: ordered by the acquire above. */
        number = atomic_load_explicit(&drawer->number, memory_order_relaxed);
    }
    return take_numbers(counter, worker, number, now) ? EKI_SOUGHT_FOUND
                                                      : EKI_SOUGHT_NOTHING;
}

/* Not all seeds are drawn yet, as far as the worker knows: the server is to
 * ask, or to hear. */
static bool calls(const struct eki_protocol *protocol,
                  const struct ek_worker *worker, bool *awaits, uint64_t *due)
{
    const struct eki_counter *counter = (const struct eki_counter *)protocol;
    (void)awaits, (void)due;
    /* relaxed: a hint. */
    return atomic_load_explicit(&counter->drawers[worker->here].state,
                                memory_order_relaxed) != EKI_DRAW_OVER;
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

/* Ask for a number, if the worker wants one; false: no buffer. */
static bool send_draw(struct eki_counter *counter,
                      const struct ek_worker *worker)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    /* acquire: pairs with the release in set_state(). */
    if (atomic_load_explicit(&drawer->state, memory_order_acquire) !=
        EKI_DRAW_ASK)
        return true;
    struct eki_note note = {EKI_KIND_DRAW, 0, worker->id, drawer->chunk, 0};
    if (!send_want(counter, &note))
        return false;
    counter->protocol.engine->failed_across++; /* until a number is a seed's */
    set_state(drawer, EKI_DRAW_ASKED);
    return true;
}

/* Fetch seeds, if the worker wants some; false: no buffer. */
static bool send_fetch(struct eki_counter *counter,
                       const struct ek_worker *worker)
{
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    /* acquire: pairs with the release in set_fetch(): what is wanted. */
    if (atomic_load_explicit(&drawer->fetch, memory_order_acquire) !=
        EKI_FETCH_WANT)
        return true;
    int64_t from = drawer->wanted_from;
    struct eki_note note = {EKI_KIND_FETCH, eki_numbers_holder(counter, from),
                            worker->id, drawer->wanted, from};
    if (!send_want(counter, &note))
        return false;
    set_fetch(drawer, EKI_FETCH_SENT);
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
            !send_draw(counter, worker) || !send_fetch(counter, worker))
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
        /* relaxed: only the number counts. */
        note.first = (int64_t)atomic_fetch_add_explicit(
            &engine->node->draw, (uint64_t)wish->chunk, memory_order_relaxed);
    int64_t count = is_draw ? 0 : eki_copies_fill(counter, wish, message->body);
    eki_note_write(message, &note, NULL, count, engine->slot_bytes);
    eki_exchange_post(&engine->exchange, message, wish->rank);
    return true;
}

static void step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_counter *counter = of(protocol);
    (void)now;
    eki_table_step(counter);
    if (!counter->is_used)
        return;
    if (eki_table_is_ready(counter))
        eki_queue_serve(&counter->wishes, grant, counter);
    send_wants(counter);
}

/* NUMBER or FETCHED, to a worker that waits for just that, from whom it has
 * asked. */
static bool answer_fits(const struct eki_counter *counter,
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
                        INT64_MAX - EKI_CHUNK_MOST);
    /* relaxed: likewise. */
    return eki_fits_one(
               &decode, "state of the worker",
               atomic_load_explicit(&drawer->fetch, memory_order_relaxed),
               EKI_FETCH_SENT) &&
           eki_fits_one(&decode, "source", head->source,
                        eki_numbers_holder(counter, drawer->wanted_from)) &&
           eki_fits(&decode, "count", head->count, 1,
                    eki_copies_behind(counter, head->source,
                                      drawer->wanted_from, drawer->wanted));
}

/* The answer to the wish of a worker here. */
static enum eki_taken take_answer(struct eki_counter *counter,
                                  const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    if (!answer_fits(counter, message))
        return EKI_REFUSED;
    int here = message->head.worker - topology->first_worker[topology->rank];
    struct eki_drawer *drawer = &counter->drawers[here];
    if (message->head.kind == EKI_KIND_NUMBER) {
        engine->failed_across -=
            message->head.first < counter->table[topology->size].first;
        drawer->end = message->head.first + drawer->chunk;
        set_number(drawer, message->head.first, EKI_DRAW_NUMBER);
        return EKI_TAKEN;
    }
    if (!eki_copies_keep(counter, here, message))
        return EKI_NO_MEMORY;
    set_fetch(drawer, EKI_FETCH_HERE);
    return EKI_TAKEN;
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    (void)now;
    switch (message->head.kind) {
    case EKI_KIND_SEEDS:
    case EKI_KIND_TABLE:
        return eki_table_take(of(protocol), message);
    case EKI_KIND_DRAW:
    case EKI_KIND_FETCH:
        return keep_wish(of(protocol), &message->head);
    default:
        return take_answer(of(protocol), message);
    }
}

static void destroy(struct eki_protocol *protocol)
{
    struct eki_counter *counter = of(protocol);
    eki_free(counter->table);
    eki_free(counter->starts);
    eki_free(counter->copies);
    eki_free(counter->drawers);
    eki_free(counter->wishes.items);
    eki_free(counter);
}

static const struct eki_verb verbs[] = {
    {.name = "seeds",
     .concerns = EKI_CONCERNS_ALL,
     .body = EKI_BODY_ITEM,
     .item_bytes = sizeof(struct eki_seeds)},
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
                                                 .verbs = verbs,
                                                 .verb_count = sizeof verbs /
                                                               sizeof *verbs,
                                                 .destroy = destroy,
                                                 .enter = enter,
                                                 .take = take,
                                                 .step = step,
                                                 .seek = seek,
                                                 .cancel = cancel,
                                                 .calls = calls};

ek_status eki_counter_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_counter *counter = eki_alloc_lines(sizeof *counter);
    if (counter) {
        counter->protocol.ops = &eki_counter_ops;
        counter->wishes = EKI_QUEUE(struct eki_wish, 64);
        counter->table =
            eki_alloc((size_t)topology->size + 1, sizeof *counter->table);
        counter->starts = eki_alloc((size_t)topology->workers_here + 1,
                                    sizeof *counter->starts);
        counter->drawers = eki_alloc_lines((size_t)topology->workers_here *
                                           sizeof *counter->drawers);
        if (counter->table && counter->starts && counter->drawers) {
            eki_engine_add(engine, &counter->protocol);
            return EK_OK;
        }
        destroy(&counter->protocol);
    }
    return eki_error(EK_ERR_NOMEM, "no memory for a counter of %d ranks",
                     topology->size);
}
