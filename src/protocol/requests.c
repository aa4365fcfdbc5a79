/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/requests.h"

#include "engine/decode.h"

enum {
    /* Nodes that are tried for one ask, where ranks owe the worker an answer.
     */
    NODES_TRIED = 16,
    /* Requests of a rank that may wait for answers.  Of 1, 2, 3, 4 and one for
     * each of 47 idle workers, simulated, two is best or within a point of
     * that: with 0.1 ms a message 94.5, 94.5, 94.1, 92.7 and 60 % of the bound.
     */
    UNANSWERED_MOST = 2
};

static struct eki_requests *requests_of(struct eki_protocol *protocol)
{
    return (struct eki_requests *)protocol;
}

static const struct eki_requests *
const_requests(const struct eki_protocol *protocol)
{
    return (const struct eki_requests *)protocol;
}

static enum eki_taken take_request(struct eki_requests *requests,
                                   const struct eki_head *head)
{
    struct eki_engine *engine = requests->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    struct eki_decode decode = eki_decode_of(engine, head);
    if (head->detail != -1 &&
        !eki_fits(&decode, "victim", head->detail,
                  topology->first_worker[topology->rank],
                  topology->first_worker[topology->rank + 1] - 1))
        return EKI_REFUSED;
    const struct eki_request request = {head->source, head->worker,
                                        head->detail, head->signature};
    return eki_queue_add(&requests->waiting, &request) ? EKI_TAKEN
                                                       : EKI_NO_MEMORY;
}

static int next_rank_of_node(const struct eki_topology *topology, int rank)
{
    int node = topology->node_of_rank[rank];
    do
        rank = rank == topology->highest_rank[node]
                   ? topology->lowest_rank[node]
                   : rank + 1;
    while (topology->node_of_rank[rank] != node);
    return rank;
}

/* The rank of a node whose server was stepped last, as far as an answer of this
 * phase has told. */
static int contact_of(const struct eki_requests *requests, int node)
{
    const struct eki_engine *engine = requests->protocol.engine;
    const struct eki_contact *contact = &requests->contacts[node];
    return requests->contacts && contact->phase == engine->phase
               ? contact->rank
               : engine->topology->lowest_rank[node];
}

/* The request to RANK that worker HERE waits for; sent_count: there is none. */
static int find_sent(const struct eki_requests *requests, int here, int rank)
{
    int i = 0;
    while (i < requests->sent_count &&
           (requests->sent[i].here != here || requests->sent[i].rank != rank))
        i++;
    return i;
}

/* A rank of NODE that owes worker HERE no answer, in turn; -1: all do. */
static int rank_of_node(const struct eki_requests *requests, int here, int node)
{
    int first = contact_of(requests, node), rank = first;
    do {
        if (find_sent(requests, here, rank) == requests->sent_count)
            return rank;
        rank = next_rank_of_node(requests->protocol.engine->topology, rank);
    } while (rank != first);
    return -1;
}

/* Whom to ask for worker HERE: on NODE, or on one of the next; -1: nobody. */
static int rank_to_ask(const struct eki_requests *requests, int here, int node)
{
    const struct eki_topology *topology = requests->protocol.engine->topology;
    for (int tries = 0; tries < NODES_TRIED; tries++) {
        int rank =
            node == topology->node ? -1 : rank_of_node(requests, here, node);
        if (rank >= 0)
            return rank;
        node = (node + 1) % topology->nodes;
    }
    return -1;
}

/* When worker HERE asked RANK, which owes it an answer; 0: it does not. */
static uint64_t sent_at(const struct eki_requests *requests, int here, int rank)
{
    int i = find_sent(requests, here, rank);
    return i < requests->sent_count ? requests->sent[i].at : 0;
}

/* Send what worker HERE asks, of a node or of a worker (asker.h); false: no
 * buffer, or nobody to ask, who has not been asked. */
static bool send_ask(struct eki_requests *requests, int here, int ask,
                     uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_asker *asker = &requests->askers[here];
    int victim = ask < 0 ? ~ask : -1;
    int rank = victim < 0 ? rank_to_ask(requests, here, ask - 1)
                          : eki_topology_rank(engine->topology, victim);
    /* relaxed: the worker's patience counts from here; a hint. */
    atomic_store_explicit(&asker->asked_at, now, memory_order_relaxed);
    if (rank < 0 || !eki_grow(&requests->sent, requests->sent_count,
                              &requests->sent_room, 16, sizeof *requests->sent))
        return false;
    struct eki_note note = {EKI_KIND_REQUEST, rank, engine->workers[here]->id,
                            victim, 0};
    eki_request_leaves(engine);
    if (!eki_exchange_send(&engine->exchange, &note, NULL, 0, 0)) {
        eki_request_ends(engine);
        requests->lacks_buffers = true;
        return false;
    }
    eki_asker_note_sent(asker, now);
    requests->sent[requests->sent_count++] =
        (struct eki_sent){.here = here, .rank = rank, .at = now};
    engine->in_vain++; /* until tasks come */
    return true;
}

/* Whether so many requests of this rank wait for answers that no more leave,
 * unless the scheme is plain.  All of a node find what comes for one of them;
 * servers that are busy with denials answer nobody in time, nor the end.  A
 * request that waits for long does not count: who owes the answer may be in the
 * program's own code. */
static bool is_patient(const struct eki_requests *requests, uint64_t now)
{
    const struct eki_engine *engine = requests->protocol.engine;
    int i = requests->sent_count - UNANSWERED_MOST;
    return i >= 0 && engine->topology->workers_here > UNANSWERED_MOST &&
           !engine->is_plain &&
           eki_ns_since(requests->sent[i].at, now) < EKI_OPEN_LEAST_NS;
}

/* Send what the workers of this rank ask. */
static void send_asks(struct eki_requests *requests, uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    /* One word for all workers, so that a step without asks looks at one.
     * relaxed: an ask that is not seen yet is found in a later step. */
    int asks = atomic_load_explicit(&requests->asks, memory_order_relaxed);
    for (int here = 0; asks > 0 && here < engine->topology->workers_here &&
                       !is_patient(requests, now) && eki_may_request(engine);
         here++) {
        struct eki_asker *asker = &requests->askers[here];
        /* relaxed: the word is all that is asked. */
        int ask = atomic_load_explicit(&asker->ask, memory_order_relaxed);
        if (ask == 0)
            continue;
        asks--;
        if (!send_ask(requests, here, ask, now))
            continue;
        eki_asker_note_fetched(asker, &requests->asks);
    }
}

/* Who answers names the rank of its node to ask next. */
static void note_contact(struct eki_requests *requests,
                         const struct eki_head *head)
{
    const struct eki_engine *engine = requests->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    int node = topology->node_of_rank[head->source];
    if (requests->contacts && head->detail >= 0 &&
        head->detail < topology->size &&
        topology->node_of_rank[head->detail] == node)
        requests->contacts[node] =
            (struct eki_contact){.phase = engine->phase, .rank = head->detail};
}

/* A request of WORKER was answered; one that is not known counts, too. */
static void note_answer(struct eki_requests *requests,
                        const struct ek_worker *worker,
                        const struct eki_head *head, bool is_granted,
                        uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    int i = find_sent(requests, worker->here, head->source);
    uint64_t sent = 0, took = 0;
    if (i < requests->sent_count) {
        sent = requests->sent[i].at;
        took = now > sent ? now - sent : 0;
        memmove(requests->sent + i, requests->sent + i + 1,
                (size_t)(--requests->sent_count - i) * sizeof *requests->sent);
        if (engine->answered)
            eki_histogram_add(engine->answered, took);
        engine->in_vain -= is_granted;
        eki_request_ends(engine);
    }
    note_contact(requests, head);
    eki_asker_note_answer(&requests->askers[worker->here], is_granted, sent,
                          took);
}

/* The detail, a rank to ask next, is a hint: note_contact() looks at it. */
static bool tasks_fit(struct eki_engine *engine, const struct eki_head *head)
{
    struct eki_decode decode = eki_decode_of(engine, head);
    return eki_fits(&decode, "tasks to follow", head->first, 0,
                    head->kind == EKI_KIND_NONE
                        ? 0
                        : eki_deque_block_max(engine->capacity));
}

static enum eki_taken take_requests(struct eki_protocol *protocol,
                                    const struct eki_message *message,
                                    uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    const struct eki_head *head = &message->head;
    if (head->kind == EKI_KIND_REQUEST)
        return take_request(requests_of(protocol), head);
    if (!tasks_fit(engine, head))
        return EKI_REFUSED;
    struct ek_worker *worker = eki_server_worker(engine, head->worker);
    if (head->kind == EKI_KIND_NONE) {
        eki_server_track(engine, EKI_EVENT_ANSWER, now,
                         eki_event_pair(0, head->source));
        note_answer(requests_of(protocol), worker, head, false, now);
        return EKI_TAKEN;
    }
    if (!eki_server_bring(
            engine, worker, message,
            sent_at(requests_of(protocol), worker->here, head->source)))
        return EKI_NO_MEMORY;
    if (head->first == 0)
        note_answer(requests_of(protocol), worker, head, true, now);
    return EKI_TAKEN;
}

static bool may_vote_requests(const struct eki_protocol *protocol)
{
    const struct eki_requests *requests = const_requests(protocol);
    return !requests->lacks_buffers && !eki_grants_has_rest(&requests->grants);
}

/* Answer a request, behind the rest of what the one before it gets; false: no
 * buffer. */
static bool answer_request(void *context, void *item)
{
    struct eki_requests *requests = context;
    const struct eki_request *request = item;
    struct eki_engine *engine = requests->protocol.engine;
    if (eki_grants_has_rest(&requests->grants) &&
        !eki_grants_send_rest(&requests->grants))
        return false;
    struct eki_message *message =
        eki_exchange_reserve(&engine->exchange, EKI_KIND_NONE);
    if (!message)
        return false;
    if (eki_grants_give(&requests->grants, message, EKI_KIND_TASKS, request,
                        requests->now) > 0)
        return true;
    message->head.worker = request->worker;
    message->head.detail = eki_server_last_polled(engine);
    eki_exchange_post(&engine->exchange, message, request->rank);
    return true;
}

/* Answer who has asked, as far as there are buffers. */
static void answer_requests(struct eki_requests *requests, uint64_t now)
{
    requests->now = now;
    eki_queue_serve(&requests->waiting, answer_request, requests);
    if (eki_grants_has_rest(&requests->grants))
        eki_grants_send_rest(&requests->grants);
}

/* Votes of this node take turns with what finds no buffer: where those are few,
 * votes would take every one, and a thief of a plain scheme would wait for
 * ever.
 */
static void step_requests(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_requests *requests = requests_of(protocol);
    requests->lacks_buffers = false;
    send_asks(requests, now);
    answer_requests(requests, now);
    requests->lacks_buffers |= requests->waiting.count > 0;
}

static enum eki_sought seek_requests(struct eki_protocol *protocol,
                                     struct ek_worker *worker,
                                     const struct eki_victim *victim,
                                     uint64_t now)
{
    struct eki_requests *requests = requests_of(protocol);
    return eki_asker_seek(&requests->askers[worker->here], &requests->asks,
                          worker, victim, now);
}

static bool calls_requests(const struct eki_protocol *protocol,
                           const struct ek_worker *worker, bool *awaits,
                           uint64_t *due)
{
    return eki_asker_calls(&const_requests(protocol)->askers[worker->here],
                           awaits, due);
}

static bool enter_requests(struct eki_protocol *protocol,
                           const struct eki_phase *phase, uint64_t now)
{
    struct eki_requests *requests = requests_of(protocol);
    (void)phase, (void)now;
    for (int here = 0; here < protocol->engine->topology->workers_here; here++)
        eki_asker_reset(&requests->askers[here], protocol->engine->is_plain);
    eki_queue_clear(&requests->waiting);
    requests->sent_count = 0;
    requests->lacks_buffers = false;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&requests->asks, 0, memory_order_relaxed);
    return true;
}

static void tell_requests(const struct eki_protocol *protocol, uint64_t now,
                          uint64_t waited, char *text, size_t bytes)
{
    const struct eki_requests *requests = const_requests(protocol);
    int count = 0;
    for (int here = 0; here < protocol->engine->topology->workers_here;
         here++) {
        for (int i = 0; i < EKI_ASK_MOST; i++) {
            /* relaxed: for the eye only. */
            uint64_t sent = atomic_load_explicit(
                &requests->askers[here].sent_at[i], memory_order_relaxed);
            count += sent != 0 && eki_ns_since(sent, now) >= waited;
        }
    }
    if (count > 0)
        eki_append(text, bytes, ", %d requests without answer", count);
}

static void visit_requests(const struct eki_protocol *protocol,
                           eki_visit_fn *visitor, void *context)
{
    eki_grants_visit(&const_requests(protocol)->grants, visitor, context);
}

static void destroy_requests(struct eki_protocol *protocol)
{
    struct eki_requests *requests = requests_of(protocol);
    eki_free(requests->askers);
    eki_free(requests->waiting.items);
    eki_free(requests->grants.slots);
    eki_free(requests->sent);
    eki_free(requests->contacts);
    eki_free(requests);
}

static const struct eki_verb requests_verbs[] = {
    {.name = "request", .party = EKI_PARTY_SENDER, .body = EKI_BODY_NONE},
    {.name = "tasks",
     .concerns = EKI_CONCERNS_WORKER,
     .party = EKI_PARTY_RECEIVER,
     .body = EKI_BODY_SLOTS,
     .has_slots = true,
     .must_fit = true},
    {.name = "none",
     .concerns = EKI_CONCERNS_WORKER,
     .party = EKI_PARTY_RECEIVER,
     .body = EKI_BODY_NONE,
     .is_no_news = true}};

const struct eki_protocol_ops eki_requests_ops = {.name = "requests",
                                                  .channel =
                                                      EKI_CHANNEL_REQUESTS,
                                                  EKI_VERBS(requests_verbs),
                                                  .destroy = destroy_requests,
                                                  .enter = enter_requests,
                                                  .take = take_requests,
                                                  .step = step_requests,
                                                  .may_vote = may_vote_requests,
                                                  .seek = seek_requests,
                                                  .calls = calls_requests,
                                                  .tell = tell_requests,
                                                  .visit = visit_requests};

/* Where a node has several ranks, the one to ask changes. */
static bool open_contacts(struct eki_requests *requests,
                          const struct eki_topology *topology)
{
    if (topology->nodes == topology->size)
        return true;
    requests->contacts =
        eki_alloc((size_t)topology->nodes, sizeof *requests->contacts);
    return requests->contacts != NULL;
}

ek_status eki_requests_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_requests *requests = eki_alloc_lines(sizeof *requests);
    if (requests) {
        requests->protocol.ops = &eki_requests_ops;
        requests->waiting = EKI_QUEUE(struct eki_request, 8);
        requests->askers = eki_alloc_lines((size_t)topology->workers_here *
                                           sizeof *requests->askers);
        if (requests->askers && eki_grants_open(&requests->grants, engine) &&
            open_contacts(requests, topology) &&
            eki_queue_has_room(&requests->waiting)) {
            eki_engine_add(engine, &requests->protocol);
            return EK_OK;
        }
        destroy_requests(&requests->protocol);
    }
    return eki_error(EK_ERR_NOMEM, "no memory for requests to other nodes");
}
