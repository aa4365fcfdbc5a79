/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/requests.h"

#include "engine/offers.h"

enum {
    ASK_MOST = 4, /* requests of one worker that may be open at a time */
    /* Round trips, but not less than EKI_ASK_MOST_NS, after which a worker
     * asks one more node. */
    PATIENCE_TRIPS = 20
};

static struct eki_requests *of(struct eki_protocol *protocol)
{
    return (struct eki_requests *)protocol;
}

static const struct eki_requests *of_const(const struct eki_protocol *protocol)
{
    return (const struct eki_requests *)protocol;
}

static enum eki_taken take_request(struct eki_requests *requests,
                                   const struct eki_head *head)
{
    if (requests->count == requests->room) {
        int room = requests->room ? 2 * requests->room : 64;
        struct eki_request *grown =
            eki_realloc(requests->waiting, (size_t)room, sizeof *grown);
        if (!grown)
            return EKI_NO_MEMORY;
        requests->waiting = grown;
        requests->room = room;
    }
    requests->waiting[requests->count++] =
        (struct eki_request){head->source, head->worker, head->signature};
    return EKI_TAKEN;
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

/* Send COUNT slots to whom REST answers, of which LEFT more follow. */
static void post_slots(struct eki_engine *engine, struct eki_message *message,
                       const struct eki_rest *to, const void *slots,
                       int64_t count, int64_t left)
{
    message->head.count = count;
    message->head.bytes = count * (int64_t)engine->slot_bytes;
    message->head.first = left;
    message->head.worker = to->worker;
    message->head.detail = eki_server_last_polled(engine);
    memcpy(message->body, slots, (size_t)message->head.bytes);
    eki_fabric_post(engine->fabric, message, to->rank);
}

static void deny(struct eki_engine *engine, struct eki_message *message,
                 const struct eki_request *request)
{
    message->head.kind = EKI_KIND_NONE;
    message->head.worker = request->worker;
    message->head.detail = eki_server_last_polled(engine);
    eki_fabric_post(engine->fabric, message, request->rank);
}

/* Send a claimed block; what does not fit MESSAGE waits for further buffers. */
static void grant(struct eki_requests *requests, struct eki_message *message,
                  const unsigned char *slots, int64_t whole)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_rest *rest = &requests->rest;
    int64_t most = eki_message_slots(engine);
    int64_t count = whole < most ? whole : most;
    message->head.kind = EKI_KIND_TASKS;
    post_slots(engine, message, rest, slots, count, whole - count);
    rest->sent = 0;
    rest->count = whole - count;
    if (rest->count > 0)
        memcpy(rest->slots, slots + count * engine->slot_bytes,
               (size_t)rest->count * engine->slot_bytes);
}

/* Answer a request with MESSAGE. */
static void serve(struct eki_requests *requests, struct eki_message *message,
                  const struct eki_request *request)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_block block;
    int from = -1;
    if (request->signature == engine->signature && !eki_is_stopped(engine))
        from = claim_fullest(engine, &block);
    if (from < 0) {
        deny(engine, message, request);
        return;
    }
    requests->rest.rank = request->rank;
    requests->rest.worker = request->worker;
    grant(requests, message,
          eki_slots_of(engine, from) + (size_t)block.first * engine->slot_bytes,
          block.count);
    eki_deque_finish(engine->setup.deque, &eki_words_of(engine, from)->deque,
                     &block);
}

/* False: there were not enough buffers. */
static bool send_rest(struct eki_requests *requests)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_rest *rest = &requests->rest;
    while (rest->sent < rest->count) {
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_TASKS);
        if (!message)
            return false;
        int64_t most = eki_message_slots(engine);
        int64_t left = rest->count - rest->sent;
        int64_t count = left < most ? left : most;
        post_slots(engine, message, rest,
                   rest->slots + rest->sent * engine->slot_bytes, count,
                   left - count);
        rest->sent += count;
    }
    return true;
}

static void answer_requests(struct eki_requests *requests)
{
    int served = 0;
    for (; send_rest(requests) && served < requests->count; served++) {
        struct eki_message *message =
            eki_server_reserve(requests->protocol.engine, EKI_KIND_NONE);
        if (!message)
            break;
        serve(requests, message, &requests->waiting[served]);
    }
    if (served == 0)
        return;
    requests->count -= served;
    memmove(requests->waiting, requests->waiting + served,
            (size_t)requests->count * sizeof *requests->waiting);
}

/* The rank of a node whose server was stepped last, as far as known. */
static int rank_to_ask(const struct eki_requests *requests, int node)
{
    return requests->contact
               ? requests->contact[node]
               : requests->protocol.engine->topology->lowest_rank[node];
}

/* Send what the workers of this rank ask. */
static void send_asks(struct eki_requests *requests, uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    /* acquire: pairs with the release in ask(): which node.  One word for all
     * workers, so that a step without asks looks at one. */
    int asks = atomic_load_explicit(&requests->asks, memory_order_acquire);
    for (int here = 0; asks > 0 && here < engine->topology->workers_here;
         here++) {
        struct eki_asker *asker = &requests->askers[here];
        /* relaxed: ordered by the acquire above, or found in the next step. */
        int node = atomic_load_explicit(&asker->ask, memory_order_relaxed) - 1;
        if (node < 0)
            continue;
        struct eki_message *message =
            eki_server_reserve(engine, EKI_KIND_REQUEST);
        if (!message)
            return;
        message->head.worker = engine->workers[here]->id;
        eki_fabric_post(engine->fabric, message, rank_to_ask(requests, node));
        /* relaxed: the time counts from here; a hint. */
        atomic_store_explicit(&asker->asked_at, now, memory_order_relaxed);
        /* relaxed: a count only. */
        atomic_fetch_sub_explicit(&requests->asks, 1, memory_order_relaxed);
        /* relaxed: says that another may be asked. */
        atomic_store_explicit(&asker->ask, 0, memory_order_relaxed);
        asks--;
    }
}

/* Who answers names the rank of its node to ask next. */
static void note_contact(struct eki_requests *requests,
                         const struct eki_head *head)
{
    const struct eki_topology *topology = requests->protocol.engine->topology;
    int node = topology->node_of_rank[head->source];
    if (requests->contact && head->detail >= 0 &&
        head->detail < topology->size &&
        topology->node_of_rank[head->detail] == node)
        requests->contact[node] = head->detail;
}

/* A request of WORKER was answered: 0 denied, 1 granted. */
static void note_answer(struct eki_requests *requests,
                        const struct ek_worker *worker,
                        const struct eki_head *head, int answer, uint64_t now)
{
    struct eki_asker *asker = &requests->askers[worker->here];
    /* relaxed: hints. */
    uint64_t asked_at =
        atomic_load_explicit(&asker->asked_at, memory_order_relaxed);
    uint64_t took = now > asked_at ? now - asked_at : 0;
    atomic_store_explicit(&asker->round_trip_ns, took, memory_order_relaxed);
    eki_server_answered(requests->protocol.engine, took);
    note_contact(requests, head);
    /* release: pairs with the acquire in note_answers(): the tasks lie in the
     * inbox.  One server at a time adds. */
    atomic_fetch_add_explicit(&asker->answers[answer], 1, memory_order_release);
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    const struct eki_head *head = &message->head;
    if (head->kind == EKI_KIND_REQUEST)
        return take_request(of(protocol), head);
    struct ek_worker *worker = eki_server_worker(engine, head->worker);
    if (head->kind == EKI_KIND_NONE) {
        note_answer(of(protocol), worker, head, 0, now);
        return EKI_TAKEN;
    }
    if (!eki_server_deliver(engine, worker, message))
        return EKI_NO_MEMORY;
    if (head->first == 0)
        note_answer(of(protocol), worker, head, 1, now);
    return EKI_TAKEN;
}

static void step(struct eki_protocol *protocol, uint64_t now)
{
    send_asks(of(protocol), now);
    answer_requests(of(protocol));
}

static bool may_vote(const struct eki_protocol *protocol)
{
    const struct eki_rest *rest = &of_const(protocol)->rest;
    return rest->sent == rest->count;
}

/* Requests that are not answered, whether the worker has seen that or not. */
static int open_requests(const struct eki_asker *asker)
{
    /* relaxed, both: who sees an answer for its tasks acquires it. */
    uint64_t denied =
        atomic_load_explicit(&asker->answers[0], memory_order_relaxed);
    uint64_t granted =
        atomic_load_explicit(&asker->answers[1], memory_order_relaxed);
    return (int)(asker->asked - denied - granted);
}

/* See what has become of the requests; who was denied waits longer each time.
 */
static void note_answers(struct eki_asker *asker, uint64_t now)
{
    /* acquire, both: pair with the releases in note_answer(). */
    uint64_t denied =
        atomic_load_explicit(&asker->answers[0], memory_order_acquire);
    uint64_t granted =
        atomic_load_explicit(&asker->answers[1], memory_order_acquire);
    if (denied != asker->denied_seen) {
        asker->backoff =
            asker->backoff == 0 ? EKI_ASK_FIRST_NS : 2 * asker->backoff;
        if (asker->backoff > EKI_ASK_MOST_NS)
            asker->backoff = EKI_ASK_MOST_NS;
        asker->ask_after = now + asker->backoff;
    }
    asker->denied_seen = denied;
    asker->granted_seen = granted;
}

/* When a worker with open requests may ask one more node. */
static uint64_t patience_ends(const struct eki_asker *asker)
{
    /* relaxed, both: written by this worker and by the server as hints. */
    uint64_t last =
        atomic_load_explicit(&asker->asked_at, memory_order_relaxed);
    uint64_t patience =
        PATIENCE_TRIPS *
        atomic_load_explicit(&asker->round_trip_ns, memory_order_relaxed);
    return last + (patience > EKI_ASK_MOST_NS ? patience : EKI_ASK_MOST_NS);
}

/* Ask another node; false: enough requests are open, or it is too early. */
static bool ask(struct eki_requests *requests, struct ek_worker *worker,
                int node, uint64_t now)
{
    struct eki_asker *asker = &requests->askers[worker->here];
    /* A search begins with the shortest back-off; one that runs from the search
     * before goes on. */
    if (asker->search != worker->search.number)
        asker->backoff = 0;
    asker->search = worker->search.number;
    note_answers(asker, now);
    int open = (int)(asker->asked - asker->denied_seen - asker->granted_seen);
    if (open >= ASK_MOST || (open == 0 && now < asker->ask_after) ||
        (open > 0 && now < patience_ends(asker)))
        return false;
    asker->asked++;
    worker->counts.attempted++;
    worker->search.thief.failures++;
    /* relaxed: a hint. */
    atomic_store_explicit(&asker->asked_at, now, memory_order_relaxed);
    /* relaxed: ordered by the release below. */
    atomic_store_explicit(&asker->ask, node + 1, memory_order_relaxed);
    /* release: pairs with the acquire in send_asks(). */
    atomic_fetch_add_explicit(&requests->asks, 1, memory_order_release);
    return true;
}

static enum eki_sought seek(struct eki_protocol *protocol,
                            struct ek_worker *worker, int node, uint64_t now)
{
    struct eki_requests *requests = of(protocol);
    const struct eki_asker *asker = &requests->askers[worker->here];
    /* relaxed: only this worker sets it; a request not yet fetched waits. */
    if (atomic_load_explicit(&asker->ask, memory_order_relaxed) != 0 ||
        !ask(requests, worker, node, now))
        return EKI_SOUGHT_NOTHING;
    return EKI_SOUGHT_ASKED;
}

static uint64_t due(const struct eki_protocol *protocol,
                    const struct ek_worker *worker)
{
    const struct eki_asker *asker = &of_const(protocol)->askers[worker->here];
    return open_requests(asker) > 0 ? patience_ends(asker) : asker->ask_after;
}

static bool calls(const struct eki_protocol *protocol,
                  const struct ek_worker *worker)
{
    const struct eki_asker *asker = &of_const(protocol)->askers[worker->here];
    /* relaxed: set by this worker. */
    return atomic_load_explicit(&asker->ask, memory_order_relaxed) != 0;
}

static bool awaits(const struct eki_protocol *protocol,
                   const struct ek_worker *worker)
{
    return open_requests(&of_const(protocol)->askers[worker->here]) > 0;
}

static void reset_asker(struct eki_asker *asker)
{
    /* relaxed, all: handed to the worker's thread by the start of the team. */
    atomic_store_explicit(&asker->ask, 0, memory_order_relaxed);
    atomic_store_explicit(&asker->answers[0], 0, memory_order_relaxed);
    atomic_store_explicit(&asker->answers[1], 0, memory_order_relaxed);
    asker->asked = asker->denied_seen = asker->granted_seen = 0;
    asker->ask_after = asker->backoff = 0;
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_requests *requests = of(protocol);
    (void)phase, (void)now;
    for (int here = 0; here < protocol->engine->topology->workers_here; here++)
        reset_asker(&requests->askers[here]);
    requests->count = 0;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&requests->asks, 0, memory_order_relaxed);
    return true;
}

static void visit(const struct eki_protocol *protocol, eki_visit_fn *visitor,
                  void *context)
{
    const struct eki_rest *rest = &of_const(protocol)->rest;
    if (rest->sent < rest->count)
        visitor(context, "answer",
                rest->slots + rest->sent * protocol->engine->slot_bytes,
                rest->count - rest->sent);
}

static void destroy(struct eki_protocol *protocol)
{
    struct eki_requests *requests = of(protocol);
    eki_free(requests->askers);
    eki_free(requests->waiting);
    eki_free(requests->rest.slots);
    eki_free(requests->contact);
    eki_free(requests);
}

const struct eki_protocol_ops eki_requests_ops = {
    .name = "requests",
    .service = EKI_SERVE_REQUESTS,
    .kinds =
        1u << EKI_KIND_REQUEST | 1u << EKI_KIND_TASKS | 1u << EKI_KIND_NONE,
    .destroy = destroy,
    .enter = enter,
    .take = take,
    .step = step,
    .may_vote = may_vote,
    .seek = seek,
    .due = due,
    .calls = calls,
    .awaits = awaits,
    .visit = visit};

/* Where a node has several ranks, the one to ask changes. */
static bool open_contacts(struct eki_requests *requests,
                          const struct eki_topology *topology)
{
    if (topology->nodes == topology->size)
        return true;
    requests->contact =
        eki_alloc((size_t)topology->nodes, sizeof *requests->contact);
    for (int n = 0; requests->contact && n < topology->nodes; n++)
        requests->contact[n] = topology->lowest_rank[n];
    return requests->contact != NULL;
}

ek_status eki_requests_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_requests *requests = eki_alloc_lines(sizeof *requests);
    if (requests) {
        requests->protocol.ops = &eki_requests_ops;
        requests->askers = eki_alloc_lines((size_t)topology->workers_here *
                                           sizeof *requests->askers);
        requests->rest.slots = eki_alloc(eki_deque_block_max(engine->capacity),
                                         engine->slot_bytes);
        if (requests->askers && requests->rest.slots &&
            open_contacts(requests, topology)) {
            eki_engine_add(engine, &requests->protocol);
            return EK_OK;
        }
        destroy(&requests->protocol);
    }
    return eki_error(EK_ERR_NOMEM, "no memory for requests to other nodes");
}
