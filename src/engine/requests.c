/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steal requests between nodes: what the workers of this rank ask, and what the
 * server answers, out of the node's shared parts like any claimant.
 *
 * A large block takes several messages; one is sent at a time, and its rest
 * waits in memory until there are buffers.
 */
#include "engine/internal.h"

enum eki_taken eki_server_take_request(struct eki_engine *engine,
                                       const struct eki_message *message)
{
    struct eki_server *server = &engine->server;
    if (server->request_count == server->request_room) {
        int room = server->request_room ? 2 * server->request_room : 64;
        struct eki_request *grown =
            eki_realloc(server->requests, (size_t)room, sizeof *grown);
        if (!grown)
            return EKI_NO_MEMORY;
        server->requests = grown;
        server->request_room = room;
    }
    server->requests[server->request_count++] = (struct eki_request){
        message->head.source, message->head.worker, message->head.signature};
    return EKI_TAKEN;
}

int eki_server_last_polled(const struct eki_engine *engine)
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
    message->head.detail = eki_server_last_polled(engine);
    memcpy(message->body, slots, (size_t)message->head.bytes);
    eki_fabric_post(engine->fabric, message, rank);
}

/* What did not fit the first message waits for further buffers. */
static void keep_rest(struct eki_engine *engine,
                      const struct eki_request *request, const void *slots,
                      int64_t count)
{
    struct eki_rest *rest = &engine->server.rest;
    memcpy(rest->slots, slots, (size_t)count * engine->slot_bytes);
    rest->count = count;
    rest->sent = 0;
    rest->rank = request->rank;
    rest->worker = request->worker;
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
        message->head.detail = eki_server_last_polled(engine);
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

/* False: there were not enough buffers. */
static bool send_rest(struct eki_engine *engine)
{
    struct eki_rest *rest = &engine->server.rest;
    while (rest->sent < rest->count) {
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_TASKS);
        if (!message)
            return false;
        int64_t most = slots_per_message(engine);
        int64_t left = rest->count - rest->sent;
        int64_t count = left < most ? left : most;
        post_slots(engine, message,
                   rest->slots + rest->sent * engine->slot_bytes, count,
                   left - count, rest->rank, rest->worker);
        rest->sent += count;
    }
    return true;
}

void eki_server_requests(struct eki_engine *engine)
{
    struct eki_server *server = &engine->server;
    int served = 0;
    for (; send_rest(engine) && served < server->request_count; served++) {
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

/* The rank of a node whose server was stepped last, as far as known. */
static int rank_to_ask(const struct eki_engine *engine, int node)
{
    return engine->server.contact ? engine->server.contact[node]
                                  : engine->topology->lowest_rank[node];
}

void eki_server_asks(struct eki_engine *engine, uint64_t now)
{
    /* acquire: pairs with the release in ask(): which node.  One word for all
     * workers, so that a step without asks looks at one. */
    int asks = atomic_load_explicit(&engine->asks, memory_order_acquire);
    for (int here = 0; asks > 0 && here < engine->topology->workers_here;
         here++) {
        struct ek_worker *worker = engine->workers[here];
        /* relaxed: ordered by the acquire above, or found in the next step. */
        int node = atomic_load_explicit(&worker->ask, memory_order_relaxed) - 1;
        if (node < 0)
            continue;
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_REQUEST);
        if (!message)
            return;
        message->head.worker = worker->id;
        eki_fabric_post(engine->fabric, message, rank_to_ask(engine, node));
        /* relaxed: the time counts from here; a hint. */
        atomic_store_explicit(&worker->asked_at, now, memory_order_relaxed);
        /* relaxed: a count only. */
        atomic_fetch_sub_explicit(&engine->asks, 1, memory_order_relaxed);
        /* relaxed: says that another may be asked. */
        atomic_store_explicit(&worker->ask, 0, memory_order_relaxed);
        asks--;
    }
}

void eki_server_answered(struct eki_engine *engine, struct ek_worker *worker,
                         const struct eki_head *head, int answer, uint64_t now)
{
    /* relaxed: hints. */
    uint64_t asked_at =
        atomic_load_explicit(&worker->asked_at, memory_order_relaxed);
    uint64_t took = now > asked_at ? now - asked_at : 0;
    atomic_store_explicit(&worker->round_trip_ns, took, memory_order_relaxed);
    eki_histogram_add(&engine->server.service, took);
    engine->server.has_served = true;
    int node = engine->topology->node_of_rank[head->source];
    if (engine->server.contact && head->detail >= 0 &&
        head->detail < engine->topology->size &&
        engine->topology->node_of_rank[head->detail] == node)
        engine->server.contact[node] = head->detail;
    /* release: pairs with the acquire in open_requests(): the tasks lie in the
     * inbox.  One server at a time adds. */
    atomic_fetch_add_explicit(&worker->answers[answer], 1,
                              memory_order_release);
}
