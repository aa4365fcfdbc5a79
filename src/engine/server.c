/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of a rank: drains what arrives and gives it to whom it concerns.
 *
 * Arriving tasks and termination messages are handled as they are drained;
 * steal requests wait until nothing else does, so that they starve nobody.
 * Messages of an older phase are dropped, of a newer one kept; old tasks are an
 * error.  A message for which there is no memory is held, and all behind it
 * with it, until there is; tasks and parcels that must wait so make the phase
 * an error.
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

bool eki_server_init(struct eki_engine *engine)
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
    server->rest.slots =
        eki_alloc(eki_deque_block_max(engine->capacity), engine->slot_bytes);
    if (!server->rest.slots || topology->nodes == topology->size)
        return server->rest.slots != NULL;
    server->contact =
        eki_alloc((size_t)topology->nodes, sizeof *server->contact);
    for (int n = 0; server->contact && n < topology->nodes; n++)
        server->contact[n] = topology->lowest_rank[n];
    return server->contact != NULL;
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
    if (server->held)
        eki_fabric_release(engine->fabric, server->held);
    eki_free(server->rest.slots);
    eki_free(server->requests);
    eki_free(server->contact);
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

static enum eki_taken take_tasks(struct eki_engine *engine,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    struct ek_worker *worker = eki_server_worker(engine, message->head.worker);
    if (!eki_server_deliver(engine, worker, message))
        return EKI_NO_MEMORY;
    if (message->head.kind == EKI_KIND_TASKS && message->head.first == 0)
        eki_server_answered(engine, worker, &message->head, 1, now);
    return EKI_TAKEN;
}

/* In a restore phase tasks go straight to their worker's log. */
static enum eki_taken take_home(struct eki_engine *engine,
                                const struct eki_message *message)
{
    int workers = engine->topology->workers_here;
    for (int here = 0; here < workers; here++) {
        if (!eki_local_log_reserve(&engine->workers[here]->local,
                                   message->head.count))
            return EKI_NO_MEMORY;
    }
    for (int64_t i = 0; i < message->head.count; i++) {
        const struct eki_slot *slot =
            (const struct eki_slot *)(message->body +
                                      i * (int64_t)engine->slot_bytes);
        int to = message->head.worker;
        struct ek_worker *worker =
            eki_server_worker(engine, to >= 0 ? to : eki_id_home(slot->id));
        eki_local_log(&worker->local, slot);
        worker->executed++;
    }
    for (int here = 0; here < workers; here++)
        eki_worker_store(engine->workers[here]);
    return EKI_TAKEN;
}

/* Tasks that were stolen, or moved to where they belong. */
static enum eki_taken take_slots(struct eki_engine *engine,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    if (!are_slots(engine, message)) {
        snprintf(engine->fabric->failure, sizeof engine->fabric->failure,
                 "tasks from rank %d do not fit this collection",
                 message->head.source);
        return EKI_REFUSED;
    }
    if (engine->kind == EKI_PHASE_RESTORE)
        return take_home(engine, message);
    return take_tasks(engine, message, now);
}

static enum eki_taken take_message(struct eki_engine *engine,
                                   const struct eki_message *message,
                                   uint64_t now)
{
    switch (message->head.kind) {
    case EKI_KIND_REQUEST:
        return eki_server_take_request(engine, message);
    case EKI_KIND_TASKS:
    case EKI_KIND_MOVE:
        return take_slots(engine, message, now);
    case EKI_KIND_NONE:
        eki_server_answered(engine,
                            eki_server_worker(engine, message->head.worker),
                            &message->head, 0, now);
        return EKI_TAKEN;
    case EKI_KIND_VOTE:
        eki_server_take_vote(engine, message);
        return EKI_TAKEN;
    case EKI_KIND_WAVE:
        eki_server_take_wave(engine, message);
        return EKI_TAKEN;
    case EKI_KIND_STOP:
        eki_set_stop(engine);
        return EKI_TAKEN;
    case EKI_KIND_PARCEL:
        return eki_balancer_take(engine, message);
    default:
        return eki_counter_take(engine, message);
    }
}

static enum eki_taken keep_early(struct eki_engine *engine,
                                 const struct eki_message *message)
{
    size_t bytes = sizeof *message + (size_t)message->head.bytes;
    struct eki_early *early = eki_alloc(1, sizeof *early);
    struct eki_message *copy = eki_alloc(1, bytes);
    if (!early || !copy) {
        eki_free(early);
        eki_free(copy);
        return EKI_NO_MEMORY;
    }
    memcpy(copy, message, bytes);
    early->message = copy;
    early->next = NULL;
    struct eki_early **last = &engine->server.early;
    while (*last)
        last = &(*last)->next;
    *last = early;
    return EKI_TAKEN;
}

static bool is_of_tasks(const struct eki_message *message)
{
    return message->head.kind == EKI_KIND_TASKS ||
           message->head.kind == EKI_KIND_MOVE ||
           message->head.kind == EKI_KIND_FETCHED;
}

/* False: there is no memory for it now. */
static bool receive(struct eki_engine *engine,
                    const struct eki_message *message, uint64_t now)
{
    enum eki_taken taken = EKI_TAKEN;
    engine->server.moved += message->head.kind != EKI_KIND_NONE;
    if (EKI_PLANTED(TASKS_LAST) && is_of_tasks(message) &&
        message == engine->server.held) {
        taken = keep_early(engine, message);
    } else if (message->head.phase == engine->phase ||
               (EKI_PLANTED(OLD_REQUESTS) &&
                message->head.kind == EKI_KIND_REQUEST &&
                message->head.phase < engine->phase)) {
        if (message->head.signature != engine->signature)
            eki_set_mismatch(engine);
        taken = take_message(engine, message, now);
    } else if (message->head.phase > engine->phase) {
        taken = keep_early(engine, message);
    } else if (is_of_tasks(message)) {
        snprintf(engine->fabric->failure, sizeof engine->fabric->failure,
                 "tasks of phase %llu arrived from rank %d in phase %llu",
                 (unsigned long long)message->head.phase, message->head.source,
                 (unsigned long long)engine->phase);
        taken = EKI_REFUSED;
    }
    if (taken == EKI_REFUSED)
        eki_engine_break(engine, EK_ERR_MPI);
    else if (taken == EKI_NO_MEMORY && message->head.phase == engine->phase &&
             (is_of_tasks(message) || message->head.kind == EKI_KIND_PARCEL))
        eki_set_rank_error(engine, EK_ERR_NOMEM,
                           "no memory for what has arrived");
    return taken != EKI_NO_MEMORY;
}

/* Messages of this phase that came before it; false: no memory. */
static bool take_early(struct eki_engine *engine, uint64_t now)
{
    struct eki_server *server = &engine->server;
    while (server->early &&
           server->early->message->head.phase <= engine->phase) {
        struct eki_early *early = server->early;
        if (!receive(engine, early->message, now))
            return false;
        server->early = early->next;
        eki_free(early->message);
        eki_free(early);
    }
    return true;
}

static void drain(struct eki_engine *engine, uint64_t now)
{
    struct eki_server *server = &engine->server;
    for (int i = 0; i < DRAIN_MOST; i++) {
        struct eki_message *message =
            server->held ? server->held : eki_fabric_poll(engine->fabric);
        if (!message)
            break;
        server->held = message;
        if (!receive(engine, message, now))
            break;
        server->held = NULL;
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
    if (eki_is_broken(engine))
        return true;
    if (!engine->fabric)
        return eki_balancer_step(engine);
    /* relaxed, both: a hint; looked at first, to leave the line alone. */
    if (!engine->alone &&
        eki_server_last_polled(engine) != engine->topology->rank)
        atomic_store_explicit(&engine->node->polled, engine->topology->rank,
                              memory_order_relaxed);
    uint64_t moved = engine->server.moved;
    if (EKI_PLANTED(TASKS_LAST) || take_early(engine, now))
        drain(engine, now);
    if (EKI_PLANTED(TASKS_LAST) && engine->server.moved == moved)
        take_early(engine, now);
    eki_balancer_step(engine);
    eki_server_departing(engine);
    eki_counter_serve(engine);
    if (!engine->alone) {
        eki_server_waves(engine, now);
        eki_server_asks(engine, now);
        eki_server_requests(engine);
    }
    return eki_fabric_drain(engine->fabric) && is_over(engine);
}
