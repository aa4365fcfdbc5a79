/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/numbers.h"

#include "engine/decode.h"

enum {
    /* Of the seeds that come at once: so many for each worker of the job. */
    DRAWN_MOST = 64
};

static struct eki_counter *of(struct eki_protocol *protocol)
{
    return (struct eki_counter *)protocol;
}

static bool is_same_node(const struct eki_engine *engine)
{
    return engine->topology->node == engine->topology->node_of_rank[0];
}

static bool is_ready(const struct eki_counter *counter)
{
    /* acquire: pairs with the release in set_ready(). */
    return atomic_load_explicit(&counter->is_ready, memory_order_acquire);
}

static void set_ready(struct eki_counter *counter)
{
    /* release: pairs with the acquire in is_ready(): the table is filled. */
    atomic_store_explicit(&counter->is_ready, true, memory_order_release);
}

static bool is_void(const struct eki_counter *counter)
{
    /* relaxed: a worker that sees it takes back what nobody else touches. */
    return atomic_load_explicit(&counter->is_void, memory_order_relaxed);
}

/*
 * The counter does not open: ranks differ in their policy, or the phase was
 * stopped before.  Nobody has drawn or will; all cancel what they hold.
 */
static void set_void(struct eki_counter *counter)
{
    if (is_void(counter))
        return;
    counter->tell = 1;
    counter->tell_at = 0;
    eki_set_stop(counter->protocol.engine);
    /* relaxed: see is_void(). */
    atomic_store_explicit(&counter->is_void, true, memory_order_relaxed);
}

/* Give a worker its seeds back, once, if nobody can draw them. */
static void cancel(struct eki_protocol *protocol, struct ek_worker *worker)
{
    struct eki_drawer *drawer = &of(protocol)->drawers[worker->here];
    if (!is_void(of(protocol)) || drawer->first == drawer->last)
        return;
    worker->local.seed_base -= drawer->last - drawer->first;
    drawer->first = drawer->last;
}

/* Rank 0: number the seeds once all ranks are known, and start the counter. */
static void open_counter(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    if (is_ready(counter))
        return;
    if (eki_is_stopped(engine)) {
        set_void(counter);
        return;
    }
    if (counter->known < engine->topology->size - 1 ||
        !eki_node_all_left(engine))
        return;
    eki_numbers_assign(counter);
    /* relaxed: ordered by the release that makes the table ready. */
    atomic_store_explicit(&engine->node->draw, 0, memory_order_relaxed);
    set_ready(counter);
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_counter *counter = of(protocol);
    const struct eki_topology *topology = protocol->engine->topology;
    (void)phase, (void)now;
    counter->is_used = protocol->engine->elsewhere == protocol;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&counter->is_void, false, memory_order_relaxed);
    if (!counter->is_used)
        return false;
    for (int here = 0; here < topology->workers_here; here++) {
        counter->drawers[here].copied = 0;
        /* relaxed: handed on by the start of the team. */
        atomic_store_explicit(&counter->drawers[here].state, EKI_DRAW_FREE,
                              memory_order_relaxed);
    }
    for (int r = 0; r <= topology->size; r++)
        counter->table[r].function = EKI_SEEDS_UNKNOWN;
    counter->table[topology->rank] = eki_numbers_gather(counter);
    counter->seeds_sent = counter->has_own = false;
    counter->known = counter->tell_at = 0;
    counter->tell = 1;
    counter->count = 0;
    counter->cursor.at = NULL;
    /* relaxed, both: handed on by the start of the team. */
    atomic_store_explicit(&counter->wants, 0, memory_order_relaxed);
    atomic_store_explicit(&counter->is_ready, false, memory_order_relaxed);
    if (topology->size == 1)
        open_counter(counter);
    return true;
}

/* Rank 0: the table to all other ranks, as far as there are buffers. */
static void tell_table(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    int size = engine->topology->size;
    int entries = is_void(counter) ? 0 : size + 1;
    if (size == 1 || (entries != 0 && !is_ready(counter)))
        return;
    int most = (int)(eki_message_room(engine->fabric) /
                     (int64_t)sizeof *counter->table);
    while (counter->tell < size) {
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_TABLE);
        if (!message)
            return;
        int left = entries - counter->tell_at;
        int count = left < most ? left : most;
        message->head.count = count;
        message->head.first = counter->tell_at;
        message->head.bytes = count * (int64_t)sizeof *counter->table;
        memcpy(message->body, counter->table + counter->tell_at,
               (size_t)message->head.bytes);
        eki_fabric_post(engine->fabric, message, counter->tell);
        counter->tell_at += count;
        if (counter->tell_at == entries) {
            counter->tell_at = 0;
            counter->tell++;
        }
    }
}

static void tell_seeds(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    if (counter->seeds_sent)
        return;
    struct eki_message *message = eki_server_reserve(engine, EKI_KIND_SEEDS);
    if (!message)
        return;
    message->head.count = 1;
    message->head.bytes = sizeof *counter->table;
    memcpy(message->body, &counter->table[engine->topology->rank],
           sizeof *counter->table);
    eki_fabric_post(engine->fabric, message, 0);
    counter->seeds_sent = true;
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

/* The worker wants the server to ask (EKI_DRAW_ASK), or to fetch `number`. */
static void want(struct eki_counter *counter, struct eki_drawer *drawer,
                 enum eki_draw state)
{
    set_state(drawer, state);
    /* relaxed: see send_wants(). */
    atomic_fetch_add_explicit(&counter->wants, 1, memory_order_relaxed);
}

static bool has_copy(const struct eki_drawer *drawer, int64_t number)
{
    return number >= drawer->copied_from &&
           number - drawer->copied_from < drawer->copied;
}

/* Seed NUMBER, of RANK, which is here, to SLOT. */
static void fill_slot(const struct eki_counter *counter,
                      struct eki_drawer *drawer, int rank, int64_t number,
                      struct eki_slot *slot)
{
    int64_t j = number - counter->table[rank].first;
    uint32_t slot_bytes = counter->protocol.engine->slot_bytes;
    if (counter->table[rank].function >= 0)
        eki_numbers_make(counter, rank, j, slot);
    else if (has_copy(drawer, number))
        memcpy(slot,
               eki_slot_at(drawer->copies, number - drawer->copied_from,
                           slot_bytes),
               slot_bytes);
    else
        eki_numbers_copy(counter, j, &drawer->cursor, slot);
}

/* Bring seed NUMBER to the stack, or let the server fetch it; true: it is
 * here. */
static bool take_number(struct eki_counter *counter, struct ek_worker *worker,
                        int64_t number)
{
    const struct eki_topology *topology = counter->protocol.engine->topology;
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    const struct eki_seeds *table = counter->table;
    if (number >= table[topology->size].first) {
        set_state(drawer, EKI_DRAW_OVER);
        return false;
    }
    int rank = eki_numbers_holder(counter, number);
    if (table[rank].function < 0 && rank != topology->rank &&
        !has_copy(drawer, number)) {
        /* relaxed: ordered by the release of the state. */
        atomic_store_explicit(&drawer->number, number, memory_order_relaxed);
        want(counter, drawer, EKI_DRAW_FETCH);
        return false;
    }
    struct eki_slot *slot = eki_local_push(&worker->local);
    if (!slot) {
        /* It was drawn: it is taken when there is memory. */
        set_number(drawer, number, EKI_DRAW_NUMBER);
        eki_worker_no_memory(worker, "a task");
        return false;
    }
    fill_slot(counter, drawer, rank, number, slot);
    worker->counts.successful++;
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
    (void)node, (void)now;
    if (!is_ready(counter))
        return EKI_SOUGHT_NOTHING;
    /* acquire: pairs with the releases in set_state(). */
    int state = atomic_load_explicit(&drawer->state, memory_order_acquire);
    if (state != EKI_DRAW_NUMBER && state != EKI_DRAW_FREE)
        return EKI_SOUGHT_NOTHING;
    if (state == EKI_DRAW_FREE) {
        worker->counts.attempted++;
        if (!is_same_node(engine)) {
            want(counter, drawer, EKI_DRAW_ASK);
            return EKI_SOUGHT_ASKED;
        }
        /* relaxed: only the number counts. */
        number = (int64_t)atomic_fetch_add_explicit(&engine->node->draw, 1,
                                                    memory_order_relaxed);
    } else {
        /* relaxed: ordered by the acquire above. */
        number = atomic_load_explicit(&drawer->number, memory_order_relaxed);
    }
    return take_number(counter, worker, number) ? EKI_SOUGHT_FOUND
                                                : EKI_SOUGHT_NOTHING;
}

/* Not all seeds are drawn yet, as far as the worker knows: the server is to
 * ask, or to hear. */
static bool calls(const struct eki_protocol *protocol,
                  const struct ek_worker *worker)
{
    const struct eki_counter *counter = (const struct eki_counter *)protocol;
    /* relaxed: a hint. */
    return atomic_load_explicit(&counter->drawers[worker->here].state,
                                memory_order_relaxed) != EKI_DRAW_OVER;
}

/* Send what a worker wants: a number, or a seed; false: no buffer. */
static bool send_want(struct eki_counter *counter,
                      const struct ek_worker *worker, int state)
{
    struct eki_engine *engine = counter->protocol.engine;
    struct eki_drawer *drawer = &counter->drawers[worker->here];
    bool is_draw = state == EKI_DRAW_ASK;
    struct eki_message *message =
        eki_server_reserve(engine, is_draw ? EKI_KIND_DRAW : EKI_KIND_FETCH);
    if (!message)
        return false;
    /* relaxed: ordered by the acquire of the state. */
    int64_t number =
        atomic_load_explicit(&drawer->number, memory_order_relaxed);
    message->head.worker = worker->id;
    message->head.first = number;
    eki_fabric_post(engine->fabric, message,
                    is_draw ? 0 : eki_numbers_holder(counter, number));
    /* relaxed: a count only. */
    atomic_fetch_sub_explicit(&counter->wants, 1, memory_order_relaxed);
    set_state(drawer, is_draw ? EKI_DRAW_ASKED : EKI_DRAW_FETCHED);
    return true;
}

/* One word for all workers, so that a step in which nobody wants anything looks
 * at one. */
static void send_wants(struct eki_counter *counter)
{
    struct eki_engine *engine = counter->protocol.engine;
    /* relaxed: a state that is not seen yet is found in a later step. */
    int wants = atomic_load_explicit(&counter->wants, memory_order_relaxed);
    for (int here = 0; wants > 0 && here < engine->topology->workers_here;
         here++) {
        /* acquire: pairs with the releases in set_state(): `number`. */
        int state = atomic_load_explicit(&counter->drawers[here].state,
                                         memory_order_acquire);
        if (state != EKI_DRAW_ASK && state != EKI_DRAW_FETCH)
            continue;
        if (!send_want(counter, engine->workers[here], state))
            return;
        wants--;
    }
}

/* Whether all numbers that others want are here: some may have heard the whole
 * table before this rank. */
static bool are_held(const struct eki_counter *counter)
{
    for (int i = 0; i < counter->count; i++) {
        if (counter->wishes[i].number >= 0 &&
            !eki_numbers_are_held(counter, counter->wishes[i].number))
            return false;
    }
    return true;
}

/* Rank 0 tells the table: nobody knows a number before. */
static bool may_fetch(const struct eki_counter *counter, int64_t number)
{
    if (is_ready(counter))
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
    return eki_fits_body(&decode, head, 0, 0) &&
           eki_fits_one(&decode, "counter in use", counter->is_used, true) &&
           eki_fits_worker(&decode, head->worker, head->source) &&
           (is_draw ? eki_fits_one(&decode, "rank", engine->topology->rank, 0)
                    : eki_fits_one(&decode, "held number",
                                   may_fetch(counter, head->first), true));
}

static enum eki_taken keep_wish(struct eki_counter *counter,
                                const struct eki_head *head)
{
    if (!wish_fits(counter, head))
        return EKI_REFUSED;
    if (counter->count == counter->room) {
        int room = counter->room ? 2 * counter->room : 64;
        struct eki_wish *grown =
            eki_realloc(counter->wishes, (size_t)room, sizeof *grown);
        if (!grown)
            return EKI_NO_MEMORY;
        counter->wishes = grown;
        counter->room = room;
    }
    counter->wishes[counter->count++] =
        (struct eki_wish){head->source, head->worker,
                          head->kind == EKI_KIND_DRAW ? -1 : head->first};
    return EKI_TAKEN;
}

/* How many seeds may answer a FETCH: so many that whoever asks draws several of
 * them.  Among many workers it would draw the first alone. */
static int64_t seeds_at_once(const struct eki_engine *engine)
{
    int64_t workers = engine->topology->workers;
    int64_t room = eki_message_slots(engine);
    if (room < 2 * workers)
        return 1;
    return room < DRAWN_MOST * workers ? room : DRAWN_MOST * workers;
}

/* How many do: NUMBER, which RANK holds, and those behind it. */
static int64_t seeds_behind(const struct eki_counter *counter, int rank,
                            int64_t number)
{
    int64_t most = seeds_at_once(counter->protocol.engine);
    int64_t rest = counter->table[rank + 1].first - number;
    return rest < most ? rest : most;
}

/* Seed NUMBER, of this rank, and copies of those behind it. */
static void fill_fetched(struct eki_counter *counter, int64_t number,
                         struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    int rank = engine->topology->rank;
    int64_t count = seeds_behind(counter, rank, number);
    int64_t first = number - counter->table[rank].first;
    for (int64_t i = 0; i < count; i++)
        eki_numbers_copy(counter, first + i, &counter->cursor,
                         eki_slot_at(message->body, i, engine->slot_bytes));
    message->head.count = count;
    message->head.bytes = count * (int64_t)engine->slot_bytes;
}

/* Answer one wish of another rank; false: no buffer. */
static bool grant(struct eki_counter *counter, const struct eki_wish *wish)
{
    struct eki_engine *engine = counter->protocol.engine;
    bool is_draw = wish->number < 0;
    struct eki_message *message = eki_server_reserve(
        engine, is_draw ? EKI_KIND_NUMBER : EKI_KIND_FETCHED);
    if (!message)
        return false;
    message->head.worker = wish->worker;
    if (is_draw)
        /* relaxed: only the number counts. */
        message->head.first = (int64_t)atomic_fetch_add_explicit(
            &engine->node->draw, 1, memory_order_relaxed);
    else
        fill_fetched(counter, wish->number, message);
    eki_fabric_post(engine->fabric, message, wish->rank);
    return true;
}

static void grant_wishes(struct eki_counter *counter)
{
    int granted = 0;
    if (!is_ready(counter))
        return;
    while (granted < counter->count &&
           grant(counter, &counter->wishes[granted]))
        granted++;
    if (granted == 0)
        return;
    counter->count -= granted;
    memmove(counter->wishes, counter->wishes + granted,
            (size_t)counter->count * sizeof *counter->wishes);
}

static void step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_counter *counter = of(protocol);
    struct eki_engine *engine = protocol->engine;
    (void)now;
    if (!counter->is_used) {
        if (is_void(counter))
            tell_table(counter);
        return;
    }
    if (engine->topology->rank == 0) {
        open_counter(counter);
        tell_table(counter);
    } else {
        tell_seeds(counter);
    }
    grant_wishes(counter);
    send_wants(counter);
}

/* What is told of a run of COUNT seeds, or of seeds that are none. */
static bool fits_run(const struct eki_decode *decode,
                     const struct eki_seeds *seeds, int64_t count)
{
    const struct eki_engine *engine = decode->engine;
    int64_t numbers = (int64_t)EKI_NUMBERS;
    return eki_fits(decode, "function", seeds->function, -1,
                    engine->function_count - 1) &&
           (seeds->function < 0 ||
            (eki_fits(decode, "first index", seeds->index, 0,
                      INT64_MAX - count) &&
             eki_fits(decode, "number of the first index",
                      (int64_t)seeds->number, 0, numbers - 1)));
}

/* On rank 0, which has not heard of the seeds of this rank yet. */
static bool seeds_fit(const struct eki_counter *counter,
                      const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    struct eki_seeds seeds;
    if (!eki_fits_one(&decode, "rank", engine->topology->rank, 0) ||
        !eki_fits(&decode, "source", head->source, 1,
                  engine->topology->size - 1) ||
        !eki_fits_body(&decode, head, 1, sizeof seeds))
        return false;
    memcpy(&seeds, message->body, sizeof seeds);
    return (!counter->is_used ||
            eki_fits_one(&decode, "what was told before",
                         counter->table[head->source].function,
                         EKI_SEEDS_UNKNOWN)) &&
           eki_fits(&decode, "seeds", seeds.first, 0,
                    INT64_MAX / engine->topology->size) &&
           (head->signature != engine->signature ||
            fits_run(&decode, &seeds, seeds.first));
}

static enum eki_taken take_seeds(struct eki_counter *counter,
                                 const struct eki_message *message)
{
    if (!seeds_fit(counter, message))
        return EKI_REFUSED;
    if (!counter->is_used) {
        set_void(counter);
        return EKI_TAKEN;
    }
    memcpy(&counter->table[message->head.source], message->body,
           sizeof(struct eki_seeds));
    counter->known++;
    return EKI_TAKEN;
}

/* A piece of the table, from rank 0, which tells every entry once. */
static bool table_fits(const struct eki_counter *counter,
                       const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(engine, head);
    int rank = engine->topology->rank, entries = engine->topology->size + 1;
    if (!eki_fits_one(&decode, "source", head->source, 0) ||
        !eki_fits(&decode, "rank", rank, 1, entries - 2) ||
        !eki_fits(&decode, "first", head->first, 0, entries) ||
        !eki_fits(&decode, "count", head->count, 0, entries - head->first) ||
        !eki_fits_body(&decode, head, head->count, sizeof *counter->table))
        return false;
    if (!counter->is_used)
        return true;
    if (head->count == 0)
        return eki_fits_one(&decode, "entries before it", counter->known, 0);
    for (int64_t i = 0; i < head->count; i++) {
        const struct eki_seeds *known = &counter->table[head->first + i];
        bool is_own = head->first + i == rank && !counter->has_own;
        if (!is_own && !eki_fits_one(&decode, "what was told before",
                                     known->function, EKI_SEEDS_UNKNOWN))
            return false;
    }
    return eki_fits_one(&decode, "seeds told", counter->seeds_sent, true);
}

/* Whether the table that rank 0 told, all of it, can be: numbers follow each
 * other, and those of this rank are as many as its seeds. */
static bool is_table_sound(const struct eki_counter *counter,
                           const struct eki_decode *decode)
{
    const struct eki_topology *topology = decode->engine->topology;
    const struct eki_seeds *table = counter->table;
    if (!eki_fits_one(decode, "first number", table[0].first, 0))
        return false;
    for (int r = 0; r < topology->size; r++) {
        int64_t next = table[r + 1].first;
        if (!eki_fits(decode, "next number", next, table[r].first, INT64_MAX) ||
            !fits_run(decode, &table[r], next - table[r].first))
            return false;
    }
    int rank = topology->rank;
    return eki_fits_one(decode, "seeds of this rank",
                        table[rank + 1].first - table[rank].first,
                        counter->starts[topology->workers_here]);
}

static enum eki_taken take_table(struct eki_counter *counter,
                                 const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    struct eki_decode decode = eki_decode_of(engine, &message->head);
    int64_t first = message->head.first, count = message->head.count;
    int rank = engine->topology->rank, entries = engine->topology->size + 1;
    if (!table_fits(counter, message))
        return EKI_REFUSED;
    /* Told to all; who has another policy needs no table. */
    if (!counter->is_used)
        return EKI_TAKEN;
    if (count == 0) {
        set_void(counter);
        return EKI_TAKEN;
    }
    counter->has_own |= first <= rank && rank < first + count;
    memcpy(counter->table + first, message->body, (size_t)message->head.bytes);
    counter->known += (int)count;
    if (counter->known < entries)
        return EKI_TAKEN;
    if (!is_table_sound(counter, &decode) ||
        !eki_fits_one(&decode, "held numbers", are_held(counter), true))
        return EKI_REFUSED;
    set_ready(counter);
    return EKI_TAKEN;
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
    if (!eki_fits_one(&decode, "counter in use", counter->is_used, true) ||
        !eki_fits_worker(&decode, head->worker, topology->rank))
        return false;
    const struct eki_drawer *drawer =
        &counter
             ->drawers[head->worker - topology->first_worker[topology->rank]];
    /* relaxed, both: written by this server where an answer is due. */
    int state = atomic_load_explicit(&drawer->state, memory_order_relaxed);
    int64_t number =
        atomic_load_explicit(&drawer->number, memory_order_relaxed);
    if (is_number)
        return eki_fits_body(&decode, head, 0, 0) &&
               eki_fits_one(&decode, "state of the worker", state,
                            EKI_DRAW_ASKED) &&
               eki_fits_one(&decode, "source", head->source, 0) &&
               eki_fits(&decode, "number", head->first, 0, INT64_MAX);
    return eki_fits_one(&decode, "state of the worker", state,
                        EKI_DRAW_FETCHED) &&
           eki_fits_one(&decode, "source", head->source,
                        eki_numbers_holder(counter, number)) &&
           eki_fits(&decode, "count", head->count, 1,
                    seeds_behind(counter, head->source, number)) &&
           eki_fits_slots(&decode, message);
}

/* The seed that worker HERE waits for, with those behind it; false: no memory.
 */
static bool keep_copies(struct eki_counter *counter, int here,
                        const struct eki_message *message)
{
    const struct eki_engine *engine = counter->protocol.engine;
    struct eki_drawer *drawer = &counter->drawers[here];
    size_t bytes = (size_t)seeds_at_once(engine) * engine->slot_bytes;
    if (!counter->copies)
        counter->copies =
            eki_alloc_untouched((size_t)engine->topology->workers_here * bytes);
    if (!counter->copies)
        return false;
    drawer->copies = counter->copies + (size_t)here * bytes;
    memcpy(drawer->copies, message->body, (size_t)message->head.bytes);
    /* relaxed: written by the worker, which waits for this server. */
    drawer->copied_from =
        atomic_load_explicit(&drawer->number, memory_order_relaxed);
    drawer->copied = message->head.count;
    set_state(drawer, EKI_DRAW_NUMBER);
    return true;
}

/* The answer to the wish of a worker here. */
static enum eki_taken take_answer(struct eki_counter *counter,
                                  const struct eki_message *message)
{
    struct eki_engine *engine = counter->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    int here = message->head.worker - topology->first_worker[topology->rank];
    if (!answer_fits(counter, message))
        return EKI_REFUSED;
    struct eki_drawer *drawer = &counter->drawers[here];
    if (message->head.kind == EKI_KIND_NUMBER) {
        set_number(drawer, message->head.first, EKI_DRAW_NUMBER);
        return EKI_TAKEN;
    }
    return keep_copies(counter, here, message) ? EKI_TAKEN : EKI_NO_MEMORY;
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    (void)now;
    switch (message->head.kind) {
    case EKI_KIND_SEEDS:
        return take_seeds(of(protocol), message);
    case EKI_KIND_TABLE:
        return take_table(of(protocol), message);
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
    eki_free(counter->wishes);
    eki_free(counter);
}

const struct eki_protocol_ops eki_counter_ops = {
    .name = "counter",
    .service = EKI_SERVE_COUNTER,
    .kinds = 1u << EKI_KIND_SEEDS | 1u << EKI_KIND_TABLE | 1u << EKI_KIND_DRAW |
             1u << EKI_KIND_NUMBER | 1u << EKI_KIND_FETCH |
             1u << EKI_KIND_FETCHED,
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
