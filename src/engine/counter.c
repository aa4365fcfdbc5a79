/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared counter, the users' own baseline (nxtval): seeds are numbered over
 * the job, a worker draws the next number and fetches that seed from its
 * holder.
 *
 * Each rank tells rank 0 how many seeds it holds; rank 0 tells everybody where
 * each rank's numbers begin.  Numbers are drawn from a word of the node of rank
 * 0, from elsewhere by a message.  Seeds of a rank that are one run of indices
 * need not be fetched.  The seeds lie where they were added, and are not
 * written, until the phase ends.
 */
#include "engine/internal.h"

static bool is_same_node(const struct eki_engine *engine)
{
    return engine->topology->node == engine->topology->node_of_rank[0];
}

/* First of N indices that ek_add_range() gives to worker HERE of WORKERS. */
static int64_t part_first(int64_t n, int workers, int here)
{
    int64_t rest = n % workers;
    return here * (n / workers) + (here < rest ? here : rest);
}

static uint64_t number_of_id(uint64_t id)
{
    return id & (EKI_NUMBERS - 1);
}

/* Extend ALL by a slot of WORKER if both are one run of indices and ids. */
static void add_run(struct eki_seeds *all, const struct eki_slot *slot,
                    int worker)
{
    struct eki_range range;
    if (!(slot->flags & EKI_SLOT_RANGE) || eki_id_home(slot->id) != worker) {
        all->function = -1;
        return;
    }
    memcpy(&range, slot->payload, sizeof range);
    if (all->first == 0) {
        all->function = slot->function;
        all->index = range.first;
        all->number = number_of_id(slot->id);
    } else if (all->function != slot->function ||
               all->index + all->first != range.first ||
               all->number + (uint64_t)all->first != number_of_id(slot->id)) {
        all->function = -1;
    }
}

/* Hide the seeds of a worker from it; its slots stay for who draws them. */
static void hide_seeds(struct ek_worker *worker, struct eki_seeds *all)
{
    struct eki_local *local = &worker->local;
    worker->draw_first = local->seed_base;
    worker->draw_last = local->seed_top;
    worker->draw_ranges = false;
    for (unsigned char *at = local->seed_base; at != local->seed_top;
         at += local->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)at;
        if (all->function >= 0 || all->first == 0)
            add_run(all, slot, worker->id);
        all->first += eki_slot_tasks(slot);
        worker->draw_ranges |= (slot->flags & EKI_SLOT_RANGE) != 0;
    }
    /* Where nothing is to run, the slots above are those of what ran before, in
     * a phase that fails for it: they stay. */
    if (local->seed_top != local->seed_base)
        local->seed_base = local->seed_top = local->seed_end;
}

/* Whether the parts of a run are those of one ek_add_range(): then anybody can
 * tell the home of an index. */
static bool is_dealt(const struct eki_engine *engine, int64_t n)
{
    int workers = engine->topology->workers_here;
    for (int here = 0; here < workers; here++) {
        if (engine->counter.starts[here] != part_first(n, workers, here))
            return false;
    }
    return true;
}

/* Counts become first numbers; entry `size` is their sum. */
static void number_seeds(struct eki_engine *engine)
{
    struct eki_seeds *table = engine->counter.table;
    int64_t next = 0;
    for (int r = 0; r < engine->topology->size; r++) {
        int64_t count = table[r].first;
        table[r].first = next;
        next += count;
    }
    table[engine->topology->size] =
        (struct eki_seeds){.first = next, .function = -1};
}

static void set_ready(struct eki_engine *engine)
{
    /* release: pairs with the acquire in eki_counter_draw(): the table is
     * filled. */
    atomic_store_explicit(&engine->counter.is_ready, true,
                          memory_order_release);
}

static bool has_all_left(const struct eki_engine *engine)
{
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        /* acquire: pairs with the release in eki_engine_leave(): nobody draws
         * in the last phase any more. */
        if (atomic_load_explicit(&engine->rank_words[i].left,
                                 memory_order_acquire) < engine->phase - 1)
            return false;
    }
    return true;
}

static bool is_void(const struct eki_engine *engine)
{
    /* acquire: pairs with the release in set_void(): stopped. */
    return atomic_load_explicit(&engine->counter.is_void, memory_order_acquire);
}

/*
 * The counter does not open: ranks differ in their policy, or the phase was
 * stopped before.  Nobody has drawn or will; all cancel what they hold.
 */
static void set_void(struct eki_engine *engine)
{
    if (is_void(engine))
        return;
    engine->counter.tell = 1;
    engine->counter.tell_at = 0;
    eki_set_stop(engine);
    /* release: pairs with the acquire in is_void(). */
    atomic_store_explicit(&engine->counter.is_void, true, memory_order_release);
}

void eki_counter_unhide(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    if (!is_void(worker->engine) || worker->draw_first == worker->draw_last)
        return;
    local->seed_base -= worker->draw_last - worker->draw_first;
    worker->draw_first = worker->draw_last;
}

/* Rank 0: number the seeds once all ranks are known, and start the counter. */
static void open_counter(struct eki_engine *engine)
{
    struct eki_counter *counter = &engine->counter;
    /* relaxed: set by this very function. */
    if (atomic_load_explicit(&counter->is_ready, memory_order_relaxed))
        return;
    if (eki_is_stopped(engine)) {
        set_void(engine);
        return;
    }
    if (counter->known < engine->topology->size - 1 || !has_all_left(engine))
        return;
    number_seeds(engine);
    /* relaxed: ordered by the release that makes the table ready. */
    atomic_store_explicit(&engine->node->draw, 0, memory_order_relaxed);
    set_ready(engine);
}

bool eki_counter_init(struct eki_engine *engine)
{
    struct eki_counter *counter = &engine->counter;
    const struct eki_topology *topology = engine->topology;
    counter->table =
        eki_alloc((size_t)topology->size + 1, sizeof *counter->table);
    counter->starts =
        eki_alloc((size_t)topology->workers_here + 1, sizeof *counter->starts);
    return counter->table && counter->starts;
}

void eki_counter_free(struct eki_engine *engine)
{
    eki_free(engine->counter.table);
    eki_free(engine->counter.starts);
    eki_free(engine->counter.requests);
}

void eki_counter_enter(struct eki_engine *engine)
{
    struct eki_counter *counter = &engine->counter;
    int workers = engine->topology->workers_here;
    struct eki_seeds all = {.function = -1};
    for (int here = 0; here < workers; here++) {
        counter->starts[here] = all.first;
        hide_seeds(engine->workers[here], &all);
        engine->workers[here]->draw_cursor.at = NULL;
    }
    counter->starts[workers] = all.first;
    if (!is_dealt(engine, all.first))
        all.function = -1;
    counter->seeds_sent = false;
    counter->known = counter->tell_at = 0;
    counter->tell = 1;
    counter->request_count = 0;
    counter->cursor.at = NULL;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&counter->is_ready, false, memory_order_relaxed);
    counter->table[engine->topology->rank] = all;
    if (engine->topology->size == 1)
        open_counter(engine);
}

static int entries_per_message(const struct eki_engine *engine)
{
    size_t room = engine->fabric->message_bytes - sizeof(struct eki_message);
    return (int)(room / sizeof(struct eki_seeds));
}

/* Rank 0: the table to all other ranks, as far as there are buffers. */
static void tell_table(struct eki_engine *engine)
{
    struct eki_counter *counter = &engine->counter;
    int size = engine->topology->size, most = entries_per_message(engine);
    int entries = is_void(engine) ? 0 : size + 1;
    /* relaxed: set by this server. */
    if (entries != 0 &&
        !atomic_load_explicit(&counter->is_ready, memory_order_relaxed))
        return;
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

static void tell_seeds(struct eki_engine *engine)
{
    struct eki_counter *counter = &engine->counter;
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

static void slot_of_index(struct eki_slot *slot, int function, uint64_t id,
                          int64_t index)
{
    slot->function = (uint16_t)function;
    slot->bytes = sizeof index;
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = eki_hint_byte(1.0);
    slot->flags = EKI_SLOT_SEED;
    slot->id = id;
    memcpy(slot->payload, &index, sizeof index);
}

/* Move the cursor to the slot that holds seed J of this rank. */
static void seek_seed(const struct eki_engine *engine, int64_t j,
                      struct eki_cursor *cursor)
{
    const int64_t *starts = engine->counter.starts;
    if (!cursor->at || j < cursor->first || j >= starts[cursor->here + 1]) {
        cursor->here = 0;
        while (j >= starts[cursor->here + 1])
            cursor->here++;
        cursor->at = engine->workers[cursor->here]->draw_first;
        cursor->first = starts[cursor->here];
    }
    if (!engine->workers[cursor->here]->draw_ranges) {
        cursor->at += (j - cursor->first) * (int64_t)engine->slot_bytes;
        cursor->first = j;
        return;
    }
    for (;;) {
        int64_t tasks = eki_slot_tasks((const struct eki_slot *)cursor->at);
        if (j < cursor->first + tasks)
            return;
        cursor->first += tasks;
        cursor->at += engine->slot_bytes;
    }
}

/* Seed J of this rank to SLOT. */
static void copy_seed(const struct eki_engine *engine, int64_t j,
                      struct eki_cursor *cursor, struct eki_slot *slot)
{
    seek_seed(engine, j, cursor);
    const struct eki_slot *found = (const struct eki_slot *)cursor->at;
    j -= cursor->first;
    if (found->flags & EKI_SLOT_RANGE) {
        struct eki_range range;
        memcpy(&range, found->payload, sizeof range);
        slot_of_index(slot, found->function, found->id + (uint64_t)j,
                      range.first + j);
    } else {
        memcpy(slot, found, engine->slot_bytes);
    }
}

/* Index J of the run of RANK to SLOT. */
static void make_index(const struct eki_engine *engine, int rank, int64_t j,
                       struct eki_slot *slot)
{
    const struct eki_seeds *seeds = &engine->counter.table[rank];
    const int *first = &engine->topology->first_worker[rank];
    int workers = first[1] - first[0], here = 0;
    int64_t n = seeds[1].first - seeds[0].first;
    while (here + 1 < workers && j >= part_first(n, workers, here + 1))
        here++;
    slot_of_index(slot, seeds->function,
                  eki_id(first[0] + here, seeds->number + (uint64_t)j),
                  seeds->index + j);
}

static int holder_of(const struct eki_engine *engine, int64_t number)
{
    const struct eki_seeds *table = engine->counter.table;
    int low = 0, high = engine->topology->size - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (table[middle].first <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void set_draw(struct ek_worker *worker, enum eki_draw state)
{
    /* release: pairs with the acquires of worker and server: draw_number. */
    atomic_store_explicit(&worker->draw_state, (int)state,
                          memory_order_release);
}

/* No room for a seed that was drawn: it is taken when there is memory. */
static void keep_number(struct ek_worker *worker, int64_t number)
{
    /* relaxed: ordered by the release of draw_state. */
    atomic_store_explicit(&worker->draw_number, number, memory_order_relaxed);
    set_draw(worker, EKI_DRAW_NUMBER);
    eki_set_error(worker, EK_ERR_NOMEM, 0, "no memory for a task");
    eki_set_stop(worker->engine);
}

/* Bring seed NUMBER to the stack, or let the server fetch it. */
static bool take_number(struct ek_worker *worker, int64_t number)
{
    struct eki_engine *engine = worker->engine;
    const struct eki_seeds *table = engine->counter.table;
    if (number >= table[engine->topology->size].first) {
        set_draw(worker, EKI_DRAW_OVER);
        return false;
    }
    int rank = holder_of(engine, number);
    int64_t j = number - table[rank].first;
    if (table[rank].function < 0 && rank != engine->topology->rank) {
        /* relaxed: ordered by the release of draw_state. */
        atomic_store_explicit(&worker->draw_number, number,
                              memory_order_relaxed);
        worker->counts.successful++;
        set_draw(worker, EKI_DRAW_FETCH);
        return false;
    }
    struct eki_slot *slot = eki_local_push(&worker->local);
    if (!slot) {
        keep_number(worker, number);
        return false;
    }
    if (table[rank].function >= 0)
        make_index(engine, rank, j, slot);
    else
        copy_seed(engine, j, &worker->draw_cursor, slot);
    worker->counts.successful++;
    set_draw(worker, EKI_DRAW_FREE);
    return true;
}

bool eki_counter_draw(struct ek_worker *worker)
{
    struct eki_engine *engine = worker->engine;
    /* acquire: pairs with the release in set_ready(). */
    if (!atomic_load_explicit(&engine->counter.is_ready, memory_order_acquire))
        return false;
    /* acquire: pairs with the releases in set_draw(). */
    int state = atomic_load_explicit(&worker->draw_state, memory_order_acquire);
    if (state == EKI_DRAW_NUMBER)
        /* relaxed: ordered by the acquire above. */
        return take_number(worker, atomic_load_explicit(&worker->draw_number,
                                                        memory_order_relaxed));
    if (state != EKI_DRAW_FREE)
        return false;
    worker->counts.attempted++;
    if (!is_same_node(engine)) {
        set_draw(worker, EKI_DRAW_ASK);
        return false;
    }
    /* relaxed: only the number counts. */
    return take_number(
        worker, (int64_t)atomic_fetch_add_explicit(&engine->node->draw, 1,
                                                   memory_order_relaxed));
}

/* Send what a worker wants: a number, or a seed. */
static void send_wish(struct eki_engine *engine, struct ek_worker *worker)
{
    /* acquire: pairs with the releases in set_draw(). */
    int state = atomic_load_explicit(&worker->draw_state, memory_order_acquire);
    if (state != EKI_DRAW_ASK && state != EKI_DRAW_FETCH)
        return;
    bool is_draw = state == EKI_DRAW_ASK;
    struct eki_message *message =
        eki_server_reserve(engine, is_draw ? EKI_KIND_DRAW : EKI_KIND_FETCH);
    if (!message)
        return;
    /* relaxed: ordered by the acquire above. */
    int64_t number =
        atomic_load_explicit(&worker->draw_number, memory_order_relaxed);
    message->head.worker = worker->id;
    message->head.first = number;
    eki_fabric_post(engine->fabric, message,
                    is_draw ? 0 : holder_of(engine, number));
    set_draw(worker, is_draw ? EKI_DRAW_ASKED : EKI_DRAW_FETCHED);
}

static enum eki_taken keep_wish(struct eki_engine *engine,
                                const struct eki_message *message)
{
    struct eki_counter *counter = &engine->counter;
    if (counter->request_count == counter->request_room) {
        int room = counter->request_room ? 2 * counter->request_room : 64;
        struct eki_counter_request *grown =
            eki_realloc(counter->requests, (size_t)room, sizeof *grown);
        if (!grown)
            return EKI_NO_MEMORY;
        counter->requests = grown;
        counter->request_room = room;
    }
    bool is_draw = message->head.kind == EKI_KIND_DRAW;
    counter->requests[counter->request_count++] =
        (struct eki_counter_request){message->head.source, message->head.worker,
                                     is_draw ? -1 : message->head.first};
    return EKI_TAKEN;
}

/* Answer one wish of another rank; false: no buffer. */
static bool grant(struct eki_engine *engine,
                  const struct eki_counter_request *request)
{
    bool is_draw = request->number < 0;
    struct eki_message *message = eki_server_reserve(
        engine, is_draw ? EKI_KIND_NUMBER : EKI_KIND_FETCHED);
    if (!message)
        return false;
    message->head.worker = request->worker;
    if (is_draw) {
        /* relaxed: only the number counts. */
        message->head.first = (int64_t)atomic_fetch_add_explicit(
            &engine->node->draw, 1, memory_order_relaxed);
    } else {
        copy_seed(engine,
                  request->number -
                      engine->counter.table[engine->topology->rank].first,
                  &engine->counter.cursor, (struct eki_slot *)message->body);
        message->head.count = 1;
        message->head.bytes = engine->slot_bytes;
    }
    eki_fabric_post(engine->fabric, message, request->rank);
    return true;
}

static void grant_wishes(struct eki_engine *engine)
{
    struct eki_counter *counter = &engine->counter;
    int granted = 0;
    /* relaxed: set by this server. */
    if (!atomic_load_explicit(&counter->is_ready, memory_order_relaxed))
        return;
    while (granted < counter->request_count &&
           grant(engine, &counter->requests[granted]))
        granted++;
    if (granted == 0)
        return;
    counter->request_count -= granted;
    memmove(counter->requests, counter->requests + granted,
            (size_t)counter->request_count * sizeof *counter->requests);
}

void eki_counter_serve(struct eki_engine *engine)
{
    if (engine->steal != EK_STEAL_COUNTER) {
        if (is_void(engine))
            tell_table(engine);
        return;
    }
    if (engine->kind != EKI_PHASE_PROCESS)
        return;
    if (engine->topology->rank == 0) {
        open_counter(engine);
        tell_table(engine);
    } else {
        tell_seeds(engine);
    }
    grant_wishes(engine);
    for (int here = 0; here < engine->topology->workers_here; here++)
        send_wish(engine, engine->workers[here]);
}

static enum eki_taken take_seeds(struct eki_engine *engine,
                                 const struct eki_message *message)
{
    if (message->head.bytes != sizeof(struct eki_seeds) ||
        engine->topology->rank != 0)
        return EKI_REFUSED;
    if (engine->steal != EK_STEAL_COUNTER) {
        set_void(engine);
        return EKI_TAKEN;
    }
    memcpy(&engine->counter.table[message->head.source], message->body,
           sizeof(struct eki_seeds));
    engine->counter.known++;
    return EKI_TAKEN;
}

static enum eki_taken take_table(struct eki_engine *engine,
                                 const struct eki_message *message)
{
    struct eki_counter *counter = &engine->counter;
    int64_t first = message->head.first, count = message->head.count;
    int entries = engine->topology->size + 1;
    /* Told to all; who has another policy needs no table. */
    if (engine->steal != EK_STEAL_COUNTER)
        return EKI_TAKEN;
    if (count == 0) {
        set_void(engine);
        return EKI_TAKEN;
    }
    if (first < 0 || count < 1 || first + count > entries ||
        message->head.bytes != count * (int64_t)sizeof *counter->table)
        return EKI_REFUSED;
    memcpy(counter->table + first, message->body, (size_t)message->head.bytes);
    counter->known += (int)count;
    if (counter->known == entries)
        set_ready(engine);
    return EKI_TAKEN;
}

enum eki_taken eki_counter_take(struct eki_engine *engine,
                                const struct eki_message *message)
{
    const struct eki_topology *topology = engine->topology;
    int here = message->head.worker - topology->first_worker[topology->rank];
    struct ek_worker *worker = here >= 0 && here < topology->workers_here
                                   ? engine->workers[here]
                                   : NULL;
    switch (message->head.kind) {
    case EKI_KIND_SEEDS:
        return take_seeds(engine, message);
    case EKI_KIND_TABLE:
        return take_table(engine, message);
    case EKI_KIND_DRAW:
    case EKI_KIND_FETCH:
        return keep_wish(engine, message);
    case EKI_KIND_NUMBER:
        if (!worker)
            return EKI_REFUSED;
        /* relaxed: ordered by the release of draw_state. */
        atomic_store_explicit(&worker->draw_number, message->head.first,
                              memory_order_relaxed);
        set_draw(worker, EKI_DRAW_NUMBER);
        return EKI_TAKEN;
    case EKI_KIND_FETCHED:
        if (!worker || message->head.count != 1 ||
            message->head.bytes != engine->slot_bytes)
            return EKI_REFUSED;
        if (!eki_server_deliver(engine, worker, message))
            return EKI_NO_MEMORY;
        set_draw(worker, EKI_DRAW_FREE);
        return EKI_TAKEN;
    default:
        return EKI_REFUSED;
    }
}
