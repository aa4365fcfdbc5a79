/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that an asker shares, and who changes them on what:
 *
 *     ask         0 -> node + 1   worker  seek, when it may ask again: asks + 1
 *                 node + 1 -> 0   server  REQUEST has left: asks - 1
 *     asked_at    -> now          both    either, and a step that sends none
 *     sent_at[i]  oldest -> now   server  REQUEST has left: an entry of `sent`
 *                 then -> 0       server  the rank of that entry has answered
 *     answers[]   n -> n + 1      server  likewise: NONE, or the last TASKS
 *     all         -> 0            who enters
 */
#include "protocol/requests.h"

#include "engine/decode.h"

enum {
    /* Round trips, but at least EKI_ASK_MOST_NS and at most the time that a
     * request is open, after which a worker asks one more node. */
    PATIENCE_TRIPS = 20,
    /* ... that a request is open. */
    OPEN_TRIPS = 2,
    /* Nodes that are tried for one ask, where ranks owe the worker an answer.
     */
    NODES_TRIED = 16
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
    const struct eki_request request = {head->source, head->worker,
                                        head->signature};
    return eki_queue_add(&requests->waiting, &request) ? EKI_TAKEN
                                                       : EKI_NO_MEMORY;
}

/* Claim from the fullest deque of the node; its number or -1. */
static int claim_fullest(struct eki_engine *engine, struct eki_block *block)
{
    enum eki_deque_kind kind = engine->setup.deque;
    for (int tries = 0; tries < 3; tries++) {
        uint32_t most = 0;
        int fullest = -1;
        for (int i = 0; i < eki_deque_count(engine); i++) {
            uint32_t visible = eki_deque_visible(kind, engine->capacity,
                                                 eki_deque_of(engine, i));
            if (visible > most &&
                eki_is_alike(engine, eki_words_behind(engine, i)) &&
                !eki_stays(engine, i)) {
                most = visible;
                fullest = i;
            }
        }
        if (fullest < 0)
            return -1;
        if (eki_deque_claim(kind, engine->capacity,
                            eki_deque_of(engine, fullest), block))
            return fullest;
    }
    return -1;
}

/* What RANK and WORKER are told: KIND, and that LEFT more tasks follow. */
static struct eki_note answer_to(const struct eki_engine *engine, int kind,
                                 int rank, int worker, int64_t left)
{
    return (struct eki_note){kind, rank, worker, eki_server_last_polled(engine),
                             left};
}

/* Answer a request with MESSAGE; tasks that do not fit wait for further
 * buffers. */
static void answer_with(struct eki_requests *requests,
                        struct eki_message *message,
                        const struct eki_request *request)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_rest *rest = &requests->rest;
    size_t bytes = engine->slot_bytes;
    int64_t most = eki_message_slots(engine), count;
    struct eki_block block = {0};
    int from = -1;
    if (request->signature == engine->signature && !eki_is_stopped(engine))
        from = claim_fullest(engine, &block);
    const unsigned char *slots =
        from < 0 ? NULL : eki_slots_of(engine, from) + block.first * bytes;
    count = block.count < most ? block.count : most;
    struct eki_note note =
        answer_to(engine, from < 0 ? EKI_KIND_NONE : EKI_KIND_TASKS,
                  request->rank, request->worker, block.count - count);
    eki_note_write(message, &note, slots, count, bytes);
    eki_exchange_post(&engine->exchange, message, note.to);
    if (from < 0)
        return;
    *rest = (struct eki_rest){request->rank, request->worker, 0, note.first,
                              rest->slots};
    if (rest->count > 0)
        memcpy(rest->slots, slots + (size_t)count * bytes,
               (size_t)rest->count * bytes);
    eki_deque_finish(engine->setup.deque, eki_deque_of(engine, from), &block);
}

/* False: there were not enough buffers. */
static EKI_APART bool send_rest(struct eki_requests *requests)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_rest *rest = &requests->rest;
    size_t bytes = engine->slot_bytes;
    int64_t most = eki_message_slots(engine);
    while (rest->sent < rest->count) {
        int64_t left = rest->count - rest->sent;
        int64_t count = left < most ? left : most;
        struct eki_note note = answer_to(engine, EKI_KIND_TASKS, rest->rank,
                                         rest->worker, left - count);
        if (!eki_exchange_send(&engine->exchange, &note,
                               rest->slots + (size_t)rest->sent * bytes, count,
                               bytes))
            return false;
        rest->sent += count;
    }
    return true;
}

static bool has_rest(const struct eki_requests *requests)
{
    return requests->rest.sent < requests->rest.count;
}

/* Answer a request, behind the rest of what the one before it gets; false: no
 * buffer. */
static bool answer_request(void *context, void *request)
{
    struct eki_requests *requests = context;
    if (has_rest(requests) && !send_rest(requests))
        return false;
    struct eki_message *message = eki_exchange_reserve(
        &requests->protocol.engine->exchange, EKI_KIND_NONE);
    if (message)
        answer_with(requests, message, request);
    return message != NULL;
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

static bool has_room_for_sent(struct eki_requests *requests)
{
    return eki_grow(&requests->sent, requests->sent_count, &requests->sent_room,
                    16, sizeof *requests->sent);
}

/* Note a request to RANK, for which there is room; the worker counts the last
 * ones. */
static void note_sent(struct eki_requests *requests, int here, int rank,
                      uint64_t now)
{
    struct eki_asker *asker = &requests->askers[here];
    uint64_t oldest = UINT64_MAX;
    int at = 0;
    /* relaxed, all: written by the server alone; hints for the worker. */
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        uint64_t sent_at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        if (sent_at < oldest) {
            oldest = sent_at;
            at = i;
        }
    }
    atomic_store_explicit(&asker->sent_at[at], now, memory_order_relaxed);
    requests->sent[requests->sent_count++] =
        (struct eki_sent){.here = here, .rank = rank, .at = now};
    requests->protocol.engine->failed_across++; /* until tasks come */
}

/* When worker HERE asked RANK, which owes it an answer; 0: it does not. */
static uint64_t sent_at(const struct eki_requests *requests, int here, int rank)
{
    int i = find_sent(requests, here, rank);
    return i < requests->sent_count ? requests->sent[i].at : 0;
}

/* RANK has answered worker HERE; when it was asked, 0: it was not. */
static uint64_t forget_sent(struct eki_requests *requests, int here, int rank)
{
    struct eki_asker *asker = &requests->askers[here];
    uint64_t at;
    int i = find_sent(requests, here, rank);
    if (i == requests->sent_count)
        return 0;
    at = requests->sent[i].at;
    requests->sent_count--;
    memmove(requests->sent + i, requests->sent + i + 1,
            (size_t)(requests->sent_count - i) * sizeof *requests->sent);
    for (i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed, both: see note_sent(). */
        if (atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed) !=
            at)
            continue;
        atomic_store_explicit(&asker->sent_at[i], 0, memory_order_relaxed);
        break;
    }
    return at;
}

/* Send what worker HERE asks NODE; false: no buffer, or nobody to ask, who has
 * not been asked. */
static bool send_ask(struct eki_requests *requests, int here, int node,
                     uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_asker *asker = &requests->askers[here];
    int rank = rank_to_ask(requests, here, node);
    /* relaxed: the worker's patience counts from here; a hint. */
    atomic_store_explicit(&asker->asked_at, now, memory_order_relaxed);
    if (rank < 0 || !has_room_for_sent(requests))
        return false;
    struct eki_note note = {EKI_KIND_REQUEST, rank, engine->workers[here]->id,
                            -1, 0};
    if (!eki_exchange_send(&engine->exchange, &note, NULL, 0, 0))
        return false;
    note_sent(requests, here, rank, now);
    return true;
}

/* Send what the workers of this rank ask. */
static void send_asks(struct eki_requests *requests, uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    /* One word for all workers, so that a step without asks looks at one.
     * relaxed: an ask that is not seen yet is found in a later step. */
    int asks = atomic_load_explicit(&requests->asks, memory_order_relaxed);
    for (int here = 0; asks > 0 && here < engine->topology->workers_here;
         here++) {
        struct eki_asker *asker = &requests->askers[here];
        /* relaxed: the word is all that is asked. */
        int node = atomic_load_explicit(&asker->ask, memory_order_relaxed) - 1;
        if (node < 0)
            continue;
        asks--;
        if (!send_ask(requests, here, node, now))
            continue;
        /* relaxed: a count only. */
        atomic_fetch_sub_explicit(&requests->asks, 1, memory_order_relaxed);
        /* release: pairs with the acquire in seek(): the request is noted. */
        atomic_store_explicit(&asker->ask, 0, memory_order_release);
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

/* A request of WORKER was answered: 0 denied, 1 granted. */
static void note_answer(struct eki_requests *requests,
                        const struct ek_worker *worker,
                        const struct eki_head *head, int answer, uint64_t now)
{
    struct eki_asker *asker = &requests->askers[worker->here];
    uint64_t sent_at = forget_sent(requests, worker->here, head->source);
    if (sent_at != 0) {
        uint64_t took = now > sent_at ? now - sent_at : 0;
        /* relaxed: a hint. */
        atomic_store_explicit(&asker->round_trip_ns, took,
                              memory_order_relaxed);
        eki_server_answered(requests->protocol.engine, took);
        requests->protocol.engine->failed_across -= answer;
    }
    note_contact(requests, head);
    /* release: pairs with the acquire in note_answers(): the request is
     * forgotten.  One server at a time adds. */
    atomic_fetch_add_explicit(&asker->answers[answer], 1, memory_order_release);
}

/* The detail, a rank to ask next, is a hint: note_contact() looks at it. */
static bool answer_fits(struct eki_engine *engine, const struct eki_head *head)
{
    struct eki_decode decode = eki_decode_of(engine, head);
    return eki_fits(&decode, "tasks to follow", head->first, 0,
                    head->kind == EKI_KIND_NONE
                        ? 0
                        : eki_deque_block_max(engine->capacity));
}

static enum eki_taken take(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now)
{
    struct eki_engine *engine = protocol->engine;
    const struct eki_head *head = &message->head;
    if (head->kind == EKI_KIND_REQUEST)
        return take_request(of(protocol), head);
    if (!answer_fits(engine, head))
        return EKI_REFUSED;
    struct ek_worker *worker = eki_server_worker(engine, head->worker);
    if (head->kind == EKI_KIND_NONE) {
        note_answer(of(protocol), worker, head, 0, now);
        return EKI_TAKEN;
    }
    if (!eki_server_bring(engine, worker, message,
                          sent_at(of(protocol), worker->here, head->source)))
        return EKI_NO_MEMORY;
    if (head->first == 0)
        note_answer(of(protocol), worker, head, 1, now);
    return EKI_TAKEN;
}

static bool may_vote(const struct eki_protocol *protocol)
{
    return !has_rest(of_const(protocol));
}

static void step(struct eki_protocol *protocol, uint64_t now)
{
    send_asks(of(protocol), now);
    eki_queue_serve(&of(protocol)->waiting, answer_request, of(protocol));
    if (has_rest(of(protocol)))
        send_rest(of(protocol));
}

static uint64_t last_trip_ns(const struct eki_asker *asker)
{
    /* relaxed: written by the server as a hint. */
    return atomic_load_explicit(&asker->round_trip_ns, memory_order_relaxed);
}

/* The back-off after BEFORE (0: none), which doubles, but servers that take
 * long to answer are not asked more, unless thieves pause for so long only. */
static uint64_t next_backoff(const struct eki_engine *engine,
                             const struct eki_asker *asker, uint64_t before)
{
    uint64_t trips = EKI_ASK_TRIPS * last_trip_ns(asker);
    uint64_t next = before == 0 ? EKI_ASK_FIRST_NS : 2 * before;
    uint64_t most =
        engine->setup.has_pause ? engine->pause_ns : EKI_ASK_MOST_NS;
    if (next > engine->pause_ns)
        next = engine->pause_ns;
    if (next < trips)
        next = trips;
    return next < most ? next : most;
}

/* See what has become of the requests; who was denied waits longer each time.
 */
static void note_answers(const struct eki_engine *engine,
                         struct eki_asker *asker, uint64_t now)
{
    /* acquire: pairs with the release in note_answer(). */
    uint64_t denied =
        atomic_load_explicit(&asker->answers[0], memory_order_acquire);
    if (denied == asker->denied_seen)
        return;
    asker->denied_seen = denied;
    asker->backoff = next_backoff(engine, asker, asker->backoff);
    asker->ask_after = now + asker->backoff;
}

/* For how long a request counts as open. */
static uint64_t open_ns(const struct eki_asker *asker)
{
    uint64_t trip = last_trip_ns(asker);
    if (trip <= EKI_OPEN_LEAST_NS / OPEN_TRIPS)
        return EKI_OPEN_LEAST_NS;
    return trip < EKI_OPEN_MOST_NS / OPEN_TRIPS ? OPEN_TRIPS * trip
                                                : EKI_OPEN_MOST_NS;
}

/* Requests that are open at NOW, and when the OLDEST of them was sent. */
static int open_requests(const struct eki_asker *asker, uint64_t now,
                         uint64_t *oldest)
{
    uint64_t open_for = open_ns(asker);
    int open = 0;
    *oldest = UINT64_MAX;
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed: a hint. */
        uint64_t sent_at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        if (sent_at == 0 || sent_at + open_for <= now)
            continue;
        open++;
        *oldest = sent_at < *oldest ? sent_at : *oldest;
    }
    return open;
}

/* When a worker with open requests may ask one more node. */
static uint64_t patience_ends(const struct eki_asker *asker)
{
    /* relaxed: written by this worker and by the server as a hint. */
    uint64_t last =
        atomic_load_explicit(&asker->asked_at, memory_order_relaxed);
    uint64_t trip = last_trip_ns(asker), patience = open_ns(asker);
    if (trip < patience / PATIENCE_TRIPS)
        patience = PATIENCE_TRIPS * trip;
    return last + (patience > EKI_ASK_MOST_NS ? patience : EKI_ASK_MOST_NS);
}

/* When the worker may ask next, by what it knows at NOW. */
static uint64_t ask_at(const struct eki_asker *asker, uint64_t now)
{
    uint64_t oldest;
    int open = open_requests(asker, now, &oldest);
    if (open == 0)
        return asker->ask_after;
    uint64_t patient = patience_ends(asker);
    uint64_t forgotten = oldest + open_ns(asker);
    if (open < EKI_ASK_MOST || patient > forgotten)
        return patient;
    return forgotten;
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
    note_answers(worker->engine, asker, now);
    if (now < ask_at(asker, now))
        return false;
    asker->asked++;
    worker->counts.attempted++;
    worker->search.thief.failures++;
    /* relaxed: a hint. */
    atomic_store_explicit(&asker->asked_at, now, memory_order_relaxed);
    /* relaxed, both: see send_asks(). */
    atomic_store_explicit(&asker->ask, node + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&requests->asks, 1, memory_order_relaxed);
    return true;
}

static enum eki_sought seek(struct eki_protocol *protocol,
                            struct ek_worker *worker, int node, uint64_t now)
{
    struct eki_requests *requests = of(protocol);
    const struct eki_asker *asker = &requests->askers[worker->here];
    /* A request not yet fetched waits.  acquire: pairs with the release in
     * send_asks(). */
    if (atomic_load_explicit(&asker->ask, memory_order_acquire) != 0 ||
        !ask(requests, worker, node, now))
        return EKI_SOUGHT_NOTHING;
    return EKI_SOUGHT_ASKED;
}

/* When the worker asked last, which is not after now. */
static uint64_t last_asked(const struct eki_asker *asker)
{
    /* relaxed: a hint. */
    return atomic_load_explicit(&asker->asked_at, memory_order_relaxed);
}

/* Whether a request is open, as far as it knows. */
static bool has_open(const struct eki_asker *asker)
{
    uint64_t now = last_asked(asker);
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed: a hint. */
        uint64_t sent_at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        if (sent_at != 0 && sent_at + open_ns(asker) > now)
            return true;
    }
    return false;
}

static EKI_APART bool tell_asker(const struct eki_asker *asker, bool is_asking,
                                 bool *awaits, uint64_t *due)
{
    if (awaits)
        *awaits = is_asking || has_open(asker);
    if (due)
        *due = ask_at(asker, last_asked(asker));
    return is_asking;
}

static bool calls(const struct eki_protocol *protocol,
                  const struct ek_worker *worker, bool *awaits, uint64_t *due)
{
    const struct eki_asker *asker = &of_const(protocol)->askers[worker->here];
    /* relaxed: set by this worker. */
    bool is_asking =
        atomic_load_explicit(&asker->ask, memory_order_relaxed) != 0;
    return EKI_LIKELY(!awaits && !due)
               ? is_asking
               : tell_asker(asker, is_asking, awaits, due);
}

static void reset_asker(struct eki_asker *asker)
{
    /* relaxed, all: handed to the worker's thread by the start of the team. */
    atomic_store_explicit(&asker->ask, 0, memory_order_relaxed);
    atomic_store_explicit(&asker->answers[0], 0, memory_order_relaxed);
    atomic_store_explicit(&asker->answers[1], 0, memory_order_relaxed);
    atomic_store_explicit(&asker->round_trip_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&asker->asked_at, 0, memory_order_relaxed);
    for (int i = 0; i < EKI_ASK_MOST; i++)
        atomic_store_explicit(&asker->sent_at[i], 0, memory_order_relaxed);
    asker->asked = asker->denied_seen = 0;
    asker->ask_after = asker->backoff = 0;
}

static bool enter(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now)
{
    struct eki_requests *requests = of(protocol);
    (void)phase, (void)now;
    for (int here = 0; here < protocol->engine->topology->workers_here; here++)
        reset_asker(&requests->askers[here]);
    eki_queue_clear(&requests->waiting);
    requests->sent_count = 0;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&requests->asks, 0, memory_order_relaxed);
    return true;
}

static void tell(const struct eki_protocol *protocol, uint64_t now,
                 uint64_t waited, char *text, size_t bytes)
{
    const struct eki_requests *requests = of_const(protocol);
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
    eki_free(requests->waiting.items);
    eki_free(requests->rest.slots);
    eki_free(requests->sent);
    eki_free(requests->contacts);
    eki_free(requests);
}

static const struct eki_verb verbs[] = {
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

const struct eki_protocol_ops eki_requests_ops = {
    .name = "requests",
    .channel = EKI_CHANNEL_REQUESTS,
    .verbs = verbs,
    .verb_count = sizeof verbs / sizeof *verbs,
    .destroy = destroy,
    .enter = enter,
    .take = take,
    .step = step,
    .may_vote = may_vote,
    .seek = seek,
    .calls = calls,
    .tell = tell,
    .visit = visit};

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
        requests->waiting = EKI_QUEUE(struct eki_request, 64);
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
