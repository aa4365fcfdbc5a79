/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of a rank: drains arrivals, serves steal requests out of the
 * node's shared parts like any claimant, and sends what the workers ask for.
 *
 * Arriving tasks and termination messages are handled as they are drained;
 * steal requests wait until nothing else does, so that they starve nobody.
 * Messages of an older phase are dropped, of a newer one kept; old tasks are an
 * error.
 */
#include "engine/internal.h"

enum {
    DRAIN_MOST = 16
};

void eki_engine_break(struct eki_engine *engine, ek_status status)
{
    int expected = EK_OK;
    /* relaxed: the first failure stays; the phase ends whenever it is seen. */
    atomic_compare_exchange_strong_explicit(&engine->broken, &expected, status,
                                            memory_order_relaxed,
                                            memory_order_relaxed);
}

void eki_server_init(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    const struct eki_topology *topology = engine->topology;
    int node = topology->node;
    server->verdict_next = -1;
    server->is_lowest = topology->lowest_rank[node] == topology->rank;
    server->parent = node == 0 ? -1 : (node - 1) / 2;
    for (int i = 1; i <= 2; i++) {
        if (2 * node + i < topology->nodes)
            server->child[server->children++] = 2 * node + i;
    }
    for (int n = 0; n < topology->nodes; n++)
        server->contact[n] = topology->lowest_rank[n];
}

void eki_server_free(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    while (server->early) {
        struct eki_early *next = server->early->next;
        eki_free(server->early->message);
        eki_free(server->early);
        server->early = next;
    }
    while (server->rests) {
        struct eki_rest *next = server->rests->next;
        eki_free(server->rests);
        server->rests = next;
    }
    eki_free(server->requests);
    eki_free(server->contact);
}

struct eki_message *eki_server_reserve(struct eki_engine *engine,
                                       enum eki_kind kind)
{
    struct eki_message *message = eki_fabric_reserve(engine->fabric);
    if (!message)
        return NULL;
    message->head.kind = (uint16_t)kind;
    message->head.phase = engine->phase;
    message->head.signature = engine->signature;
    message->head.count = message->head.bytes = message->head.first = 0;
    message->head.worker = message->head.detail = -1;
    return message;
}

/* ----------------------------------------------------------- arriving tasks */

void eki_server_deliver(struct eki_engine *engine, struct ek_worker *worker,
                        const struct eki_message *message)
{
    size_t bytes = (size_t)message->head.count * engine->slot_bytes;
    struct eki_chunk *chunk = eki_alloc(1, sizeof *chunk + bytes);
    if (!chunk) {
        eki_engine_break(engine, EK_ERR_NOMEM);
        return;
    }
    memcpy(chunk->slots, message->body, bytes);
    chunk->count = message->head.count;
    chunk->is_stolen = message->head.kind == EKI_KIND_TASKS;
    chunk->is_whole = message->head.first == 0;
    /* Before the chunk can be taken: the worker, who says that it is idle when
     * all is done, must have the last word.  relaxed: the release below orders
     * it. */
    atomic_store_explicit(&worker->words->idle, 0, memory_order_relaxed);
    /* relaxed: the exchange below orders the chunk. */
    chunk->next = atomic_load_explicit(&worker->inbox, memory_order_relaxed);
    /* release: pairs with the acquire in take_inbox().  relaxed on failure: we
     * only take the new head. */
    while (!atomic_compare_exchange_weak_explicit(&worker->inbox, &chunk->next,
                                                  chunk, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

/* Whether the slots of a message are such as this collection has. */
static bool are_slots(const struct eki_engine *engine,
                      const struct eki_message *message)
{
    int64_t count = message->head.count;
    if (count < 1 || message->head.bytes != count * (int64_t)engine->slot_bytes)
        return false;
    for (int64_t i = 0; i < count; i++) {
        const struct eki_slot *slot =
            (const struct eki_slot *)(message->body +
                                      i * (int64_t)engine->slot_bytes);
        /* Where ranks differ nothing of it will run. */
        if ((slot->function >= engine->function_count &&
             message->head.signature == engine->signature) ||
            slot->bytes + EKI_SLOT_HEADER > (int)engine->slot_bytes)
            return false;
    }
    return true;
}

/* Worker here of a global number, or of nobody's: in turn. */
static struct ek_worker *worker_of(struct eki_engine *engine, int id)
{
    const struct eki_topology *topology = engine->topology;
    int here = id - topology->first_worker[topology->rank];
    if (here < 0 || here >= topology->workers_here)
        here = engine->server.next_worker++ % topology->workers_here;
    return engine->workers[here];
}

/* A request of WORKER was answered: 0 denied, 1 granted. */
static void answered(struct eki_engine *engine, struct ek_worker *worker,
                     const struct eki_head *head, int answer, uint64_t now)
{
    /* relaxed: hints. */
    uint64_t asked_at =
        atomic_load_explicit(&worker->asked_at, memory_order_relaxed);
    uint64_t took = now > asked_at ? now - asked_at : 0;
    atomic_store_explicit(&worker->round_trip_ns, took, memory_order_relaxed);
    eki_histogram_add(&engine->server.service, took);
    int node = engine->topology->node_of_rank[head->source];
    if (head->detail >= 0 && head->detail < engine->topology->size &&
        engine->topology->node_of_rank[head->detail] == node)
        engine->server.contact[node] = head->detail;
    /* release: pairs with the acquire in open_requests(): the tasks lie in the
     * inbox.  One server at a time adds. */
    atomic_fetch_add_explicit(&worker->answers[answer], 1,
                              memory_order_release);
}

static void refuse_slots(struct eki_engine *engine,
                         const struct eki_message *message)
{
    snprintf(engine->fabric->failure, sizeof engine->fabric->failure,
             "tasks from rank %d do not fit this collection",
             message->head.source);
    eki_engine_break(engine, EK_ERR_MPI);
}

static void take_tasks(struct eki_engine *engine,
                       const struct eki_message *message, uint64_t now)
{
    struct ek_worker *worker = worker_of(engine, message->head.worker);
    if (!are_slots(engine, message)) {
        refuse_slots(engine, message);
        return;
    }
    eki_server_deliver(engine, worker, message);
    if (message->head.kind == EKI_KIND_TASKS && message->head.first == 0)
        answered(engine, worker, &message->head, 1, now);
}

/* In a restore phase tasks go straight to their worker's log. */
static void take_home(struct eki_engine *engine,
                      const struct eki_message *message)
{
    if (!are_slots(engine, message)) {
        refuse_slots(engine, message);
        return;
    }
    for (int64_t i = 0; i < message->head.count; i++) {
        const struct eki_slot *slot =
            (const struct eki_slot *)(message->body +
                                      i * (int64_t)engine->slot_bytes);
        struct ek_worker *worker = worker_of(engine, eki_id_home(slot->id));
        if (!eki_local_log(&worker->local, slot))
            eki_engine_break(engine, EK_ERR_NOMEM);
        worker->executed++;
    }
    for (int here = 0; here < engine->topology->workers_here; here++)
        eki_worker_store(engine->workers[here]);
}

/* ----------------------------------------------------------- steal requests */

static void take_request(struct eki_engine *engine,
                         const struct eki_message *message)
{
    struct eki_server *server = &engine->server;
    if (server->request_count == server->request_room) {
        int room = server->request_room ? 2 * server->request_room : 64;
        struct eki_request *grown =
            eki_realloc(server->requests, (size_t)room, sizeof *grown);
        if (!grown) {
            eki_engine_break(engine, EK_ERR_NOMEM);
            return;
        }
        server->requests = grown;
        server->request_room = room;
    }
    server->requests[server->request_count++] = (struct eki_request){
        message->head.source, message->head.worker, message->head.signature};
}

/* The rank of this node whose server was stepped last. */
static int last_polled(const struct eki_engine *engine)
{
    /* relaxed: a hint for thieves elsewhere. */
    return atomic_load_explicit(&engine->node->polled, memory_order_relaxed);
}

/* Claim from the fullest deque of the node; local number or -1. */
static int claim_fullest(struct eki_engine *engine, struct eki_block *block)
{
    enum eki_deque_kind kind = engine->setup.deque;
    for (int tries = 0; tries < 3; tries++) {
        uint32_t most = 0;
        int fullest = -1;
        for (int i = 0; i < engine->topology->node_workers; i++) {
            uint32_t visible = eki_deque_visible(
                kind, engine->capacity, &eki_words_of(engine, i)->deque);
            if (visible > most &&
                eki_is_alike(engine, eki_words_of(engine, i))) {
                most = visible;
                fullest = i;
            }
        }
        if (fullest < 0)
            return -1;
        if (eki_deque_claim(kind, engine->capacity,
                            &eki_words_of(engine, fullest)->deque, block))
            return fullest;
    }
    return -1;
}

static int64_t slots_per_message(const struct eki_engine *engine)
{
    return (
        int64_t)((engine->fabric->message_bytes - sizeof(struct eki_message)) /
                 engine->slot_bytes);
}

/* Send COUNT slots, of which LEFT more follow. */
static void post_slots(struct eki_engine *engine, struct eki_message *message,
                       const void *slots, int64_t count, int64_t left, int rank,
                       int worker)
{
    message->head.count = count;
    message->head.bytes = count * (int64_t)engine->slot_bytes;
    message->head.first = left;
    message->head.worker = worker;
    message->head.detail = last_polled(engine);
    memcpy(message->body, slots, (size_t)message->head.bytes);
    eki_fabric_post(engine->fabric, message, rank);
}

/* What did not fit the first message waits for further buffers. */
static void keep_rest(struct eki_engine *engine,
                      const struct eki_request *request, const void *slots,
                      int64_t count)
{
    size_t bytes = (size_t)count * engine->slot_bytes;
    struct eki_rest *rest = eki_alloc(1, sizeof *rest + bytes);
    if (!rest) {
        eki_engine_break(engine, EK_ERR_NOMEM);
        return;
    }
    memcpy(rest->slots, slots, bytes);
    rest->count = count;
    rest->rank = request->rank;
    rest->worker = request->worker;
    rest->next = engine->server.rests;
    engine->server.rests = rest;
}

/* Answer a request with MESSAGE. */
static void serve(struct eki_engine *engine, struct eki_message *message,
                  const struct eki_request *request)
{
    struct eki_block block;
    int from = -1;
    if (request->signature == engine->signature && !eki_is_stopped(engine))
        from = claim_fullest(engine, &block);
    if (from < 0) {
        message->head.kind = EKI_KIND_NONE;
        message->head.worker = request->worker;
        message->head.detail = last_polled(engine);
        eki_fabric_post(engine->fabric, message, request->rank);
        return;
    }
    unsigned char *slots =
        eki_slots_of(engine, from) + (size_t)block.first * engine->slot_bytes;
    int64_t most = slots_per_message(engine);
    int64_t count = block.count < most ? block.count : most;
    int64_t left = block.count - count;
    message->head.kind = EKI_KIND_TASKS;
    post_slots(engine, message, slots, count, left, request->rank,
               request->worker);
    if (left > 0)
        keep_rest(engine, request, slots + count * engine->slot_bytes, left);
    eki_deque_finish(engine->setup.deque, &eki_words_of(engine, from)->deque,
                     &block);
}

static void send_rests(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    while (server->rests) {
        struct eki_rest *rest = server->rests;
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_TASKS);
        if (!message)
            return;
        int64_t most = slots_per_message(engine);
        int64_t left = rest->count - rest->sent;
        int64_t count = left < most ? left : most;
        post_slots(engine, message,
                   rest->slots + rest->sent * engine->slot_bytes, count,
                   left - count, rest->rank, rest->worker);
        rest->sent += count;
        if (rest->sent == rest->count) {
            server->rests = rest->next;
            eki_free(rest);
        }
    }
}

void eki_server_requests(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    send_rests(engine);
    int served = 0;
    for (; served < server->request_count && !server->rests; served++) {
        struct eki_message *message = eki_server_reserve(engine, EKI_KIND_NONE);
        if (!message)
            break;
        serve(engine, message, &server->requests[served]);
    }
    if (served == 0)
        return;
    server->request_count -= served;
    memmove(server->requests, server->requests + served,
            (size_t)server->request_count * sizeof *server->requests);
}

void eki_server_asks(struct eki_engine *engine, uint64_t now)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        /* acquire: pairs with the release in ask(). */
        int node = atomic_load_explicit(&worker->ask, memory_order_acquire) - 1;
        if (node < 0)
            continue;
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_REQUEST);
        if (!message)
            return;
        message->head.worker = worker->id;
        eki_fabric_post(engine->fabric, message, engine->server.contact[node]);
        /* relaxed: the time counts from here; a hint. */
        atomic_store_explicit(&worker->asked_at, now, memory_order_relaxed);
        /* relaxed: says that another may be asked. */
        atomic_store_explicit(&worker->ask, 0, memory_order_relaxed);
    }
}

/* ---------------------------------------------------------------- messages */

static void take_message(struct eki_engine *engine,
                         const struct eki_message *message, uint64_t now)
{
    switch (message->head.kind) {
    case EKI_KIND_REQUEST:
        take_request(engine, message);
        return;
    case EKI_KIND_TASKS:
        take_tasks(engine, message, now);
        return;
    case EKI_KIND_NONE:
        answered(engine, worker_of(engine, message->head.worker),
                 &message->head, 0, now);
        return;
    case EKI_KIND_VOTE:
        eki_server_take_vote(engine, message);
        return;
    case EKI_KIND_WAVE:
        eki_server_take_wave(engine, message);
        return;
    case EKI_KIND_STOP:
        eki_set_stop(engine);
        return;
    case EKI_KIND_MOVE:
        if (engine->kind == EKI_PHASE_RESTORE)
            take_home(engine, message);
        else
            take_tasks(engine, message, now);
        return;
    default:
        if (!eki_counter_take(engine, message))
            eki_engine_break(engine, EK_ERR_MPI);
    }
}

static void keep_early(struct eki_engine *engine,
                       const struct eki_message *message)
{
    size_t bytes = sizeof *message + (size_t)message->head.bytes;
    struct eki_early *early = eki_alloc(1, sizeof *early);
    struct eki_message *copy = eki_alloc(1, bytes);
    if (!early || !copy) {
        eki_free(early);
        eki_free(copy);
        eki_engine_break(engine, EK_ERR_NOMEM);
        return;
    }
    memcpy(copy, message, bytes);
    early->message = copy;
    early->next = NULL;
    struct eki_early **last = &engine->server.early;
    while (*last)
        last = &(*last)->next;
    *last = early;
}

static bool is_of_tasks(const struct eki_message *message)
{
    return message->head.kind == EKI_KIND_TASKS ||
           message->head.kind == EKI_KIND_MOVE ||
           message->head.kind == EKI_KIND_FETCHED;
}

static void receive(struct eki_engine *engine,
                    const struct eki_message *message, uint64_t now)
{
    engine->server.moved += message->head.kind != EKI_KIND_NONE;
    if (message->head.phase == engine->phase) {
        if (message->head.signature != engine->signature)
            eki_set_mismatch(engine);
        take_message(engine, message, now);
    } else if (message->head.phase > engine->phase) {
        keep_early(engine, message);
    } else if (is_of_tasks(message)) {
        snprintf(engine->fabric->failure, sizeof engine->fabric->failure,
                 "tasks of phase %llu arrived from rank %d in phase %llu",
                 (unsigned long long)message->head.phase, message->head.source,
                 (unsigned long long)engine->phase);
        eki_engine_break(engine, EK_ERR_MPI);
    }
}

static void take_early(struct eki_engine *engine, uint64_t now)
{
    struct eki_early *early = engine->server.early;
    engine->server.early = NULL;
    while (early) {
        struct eki_early *next = early->next;
        receive(engine, early->message, now);
        eki_free(early->message);
        eki_free(early);
        early = next;
    }
}

static void drain(struct eki_engine *engine, uint64_t now)
{
    for (int i = 0; i < DRAIN_MOST; i++) {
        struct eki_message *message = eki_fabric_poll(engine->fabric);
        if (!message)
            break;
        receive(engine, message, now);
        eki_fabric_release(engine->fabric, message);
    }
    if (engine->fabric->failed != EK_OK)
        eki_engine_break(engine, engine->fabric->failed);
}

static bool is_over(const struct eki_engine *engine)
{
    if (engine->alone)
        return true;
    if (engine->server.is_lowest)
        return engine->server.forwarded;
    /* acquire: pairs with the release of the announcement. */
    return atomic_load_explicit(&engine->node->announced,
                                memory_order_acquire) >= engine->phase;
}

bool eki_server_step(struct eki_engine *engine, uint64_t now)
{
    struct eki_server *server = &engine->server;
    if (!engine->fabric || eki_is_broken(engine))
        return true;
    /* relaxed, both: a hint; looked at first, to leave the line alone. */
    if (!engine->alone && last_polled(engine) != engine->topology->rank)
        atomic_store_explicit(&engine->node->polled, engine->topology->rank,
                              memory_order_relaxed);
    if (server->early)
        take_early(engine, now);
    drain(engine, now);
    eki_server_departing(engine);
    eki_counter_serve(engine);
    if (!engine->alone) {
        eki_server_waves(engine, now);
        eki_server_asks(engine, now);
        eki_server_requests(engine);
    }
    return eki_fabric_drain(engine->fabric) && is_over(engine);
}
