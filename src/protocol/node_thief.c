/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/node_thief.h"

#include "engine/decode.h"
#include "protocol/asker.h"

static struct eki_node_thief *thief_of(struct eki_protocol *protocol)
{
    return (struct eki_node_thief *)protocol;
}

static const struct eki_node_thief *
const_thief(const struct eki_protocol *protocol)
{
    return (const struct eki_node_thief *)protocol;
}

static int node_of(const struct eki_engine *engine, int rank)
{
    return engine->topology->node_of_rank[rank];
}

static void set_state(struct eki_node_thief *thief, enum eki_thief_state state)
{
    /* relaxed, both: hints. */
    atomic_store_explicit(&thief->due,
                          state == EKI_THIEF_WAITS
                              ? thief->sent_at + EKI_OPEN_LEAST_NS
                              : UINT64_MAX,
                          memory_order_relaxed);
    atomic_store_explicit(&thief->state, (int)state, memory_order_relaxed);
}

/* What was chosen has left. */
static void note_sent(struct eki_node_thief *thief)
{
    struct eki_engine *engine = thief->protocol.engine;
    uint8_t *marks = &thief->seeker.marks[thief->next.node];
    *marks |= EKI_NODE_OWES;
    if (thief->next.approach == EKI_APPROACH_READ)
        engine->sought.loads_read++;
    else
        thief->victims++;
    if (thief->next.approach == EKI_APPROACH_QUEUE)
        *marks |= EKI_NODE_ASKED;
    thief->owing = thief->next.node;
    thief->sent_at = thief->now;
    thief->next.approach = EKI_APPROACH_NONE;
    set_state(thief, EKI_THIEF_WAITS);
}

static bool send_next(struct eki_node_thief *thief)
{
    struct eki_engine *engine = thief->protocol.engine;
    static const int kinds[] = {[EKI_APPROACH_READ] = EKI_KIND_NODE_READ,
                                [EKI_APPROACH_ASK] = EKI_KIND_NODE_ASK,
                                [EKI_APPROACH_QUEUE] = EKI_KIND_NODE_QUEUE};
    struct eki_note note = {kinds[thief->next.approach],
                            engine->topology->lowest_rank[thief->next.node], -1,
                            -1, 0};
    bool asks = thief->next.approach == EKI_APPROACH_ASK;
    if (asks)
        eki_request_leaves(engine);
    bool has_left = eki_exchange_send(&engine->exchange, &note, NULL, 0, 0);
    if (asks && !has_left)
        eki_request_ends(engine);
    return has_left;
}

bool eki_node_is_thief(const struct eki_engine *engine)
{
    /* relaxed: a hint, where another server announces. */
    bool is_over = atomic_load_explicit(&engine->node->announced,
                                        memory_order_relaxed) >= engine->phase;
    return !is_over && !eki_is_stopped(engine) && eki_node_is_idle(engine);
}

/* The next thing that the seeker says. */
static void seek_as_node(struct eki_node_thief *thief)
{
    struct eki_engine *engine = thief->protocol.engine;
    bool is_waiting =
        thief->owing >= 0 && thief->now < thief->sent_at + EKI_OPEN_LEAST_NS;
    bool was_seeking = thief->is_seeking;
    if (is_waiting || !eki_may_request(engine))
        return;
    thief->is_seeking = eki_node_is_thief(engine);
    if (!thief->is_seeking)
        return;
    if (!was_seeking) {
        thief->since = thief->now;
        thief->victims = 0;
        thief->next.approach = EKI_APPROACH_NONE;
        eki_seeker_begin(&thief->seeker);
    }
    thief->owing = -1;
    if (thief->next.approach == EKI_APPROACH_NONE)
        thief->next = thief->seeker.ops->choose(&thief->seeker);
    if (thief->next.approach == EKI_APPROACH_NONE)
        set_state(thief, EKI_THIEF_DRY);
    else if (send_next(thief))
        note_sent(thief);
    else
        thief->lacks_buffers = true;
}

static void step_node_thief(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_node_thief *thief = thief_of(protocol);
    if (!thief->is_open)
        return;
    thief->now = now;
    thief->lacks_buffers = false;
    eki_node_thief_serve_guests(thief);
    protocol->engine->has_guests = thief->guests.count > 0;
    seek_as_node(thief);
}

static bool may_vote_node_thief(const struct eki_protocol *protocol)
{
    const struct eki_node_thief *thief = const_thief(protocol);
    return !thief->lacks_buffers && !eki_grants_has_rest(&thief->grants);
}

/* The node that a message comes from; -1: it does not fit. */
static int sender_of(struct eki_node_thief *thief, const struct eki_head *head)
{
    struct eki_engine *engine = thief->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    struct eki_decode decode = eki_decode_of(engine, head);
    int node = node_of(engine, head->source);
    bool fits =
        eki_fits_one(&decode, "whether a node is a thief here", thief->is_open,
                     true) &&
        eki_fits_one(&decode, "source", head->source,
                     topology->lowest_rank[node]) &&
        eki_fits_one(&decode, "a node elsewhere", node != topology->node, true);
    return fits ? node : -1;
}

/* A worker of this rank that waits for tasks, or any. */
static struct ek_worker *hungry_worker(struct eki_engine *engine)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        if (eki_is_idle(engine->workers[here]->words, engine->phase))
            return engine->workers[here];
    }
    return eki_server_worker(engine, -1);
}

/* A search has ended with tasks. */
static void note_search(struct eki_node_thief *thief)
{
    int last = EKI_SEARCH_VICTIMS - 1;
    if (thief->is_seeking && thief->victims > 0)
        thief->protocol.engine->sought
            .searches[thief->victims <= last ? thief->victims - 1 : last]++;
    thief->is_seeking = false;
}

/* Tasks of a message are here; false: no memory. */
static bool take_grant(struct eki_node_thief *thief,
                       const struct eki_message *message)
{
    struct eki_engine *engine = thief->protocol.engine;
    uint64_t asked_at = thief->is_seeking ? thief->since : 0;
    return eki_server_bring(engine, hungry_worker(engine), message, asked_at);
}

/* Note what an answer from NODE, of which nothing more follows, tells. */
static void note_answered(struct eki_node_thief *thief,
                          const struct eki_head *head, int node)
{
    static const enum eki_reply reply[] = {
        [EKI_KIND_NODE_LOAD % EKI_VERBS_MOST] = EKI_REPLY_LOAD,
        EKI_REPLY_DENIED,
        EKI_REPLY_DENIED,
        EKI_REPLY_QUEUED,
        EKI_REPLY_TASKS};
    struct eki_engine *engine = thief->protocol.engine;
    struct eki_seeker *seeker = &thief->seeker;
    bool is_grant = head->kind == EKI_KIND_NODE_GRANT;
    if (head->kind == EKI_KIND_NODE_DENIED ||
        head->kind == EKI_KIND_NODE_OCCUPIED || is_grant)
        eki_request_ends(engine);
    seeker->marks[node] &=
        (uint8_t) ~(EKI_NODE_OWES | (is_grant ? EKI_NODE_ASKED : 0));
    if (thief->owing == node) {
        thief->owing = -1;
        if (engine->answered)
            eki_histogram_add(engine->answered, thief->now - thief->sent_at);
    }
    engine->sought.occupied += head->kind == EKI_KIND_NODE_OCCUPIED;
    engine->sought.denied += head->kind == EKI_KIND_NODE_DENIED;
    engine->in_vain += head->kind == EKI_KIND_NODE_OCCUPIED ||
                       head->kind == EKI_KIND_NODE_DENIED;
    if (is_grant)
        note_search(thief);
    seeker->ops->told(seeker, node, reply[head->kind % EKI_VERBS_MOST],
                      head->worker);
    set_state(thief, thief->owing < 0 ? EKI_THIEF_FREE : EKI_THIEF_WAITS);
}

static enum eki_taken take_reply(struct eki_node_thief *thief,
                                 const struct eki_message *message, int node)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(thief->protocol.engine, head);
    bool is_grant = head->kind == EKI_KIND_NODE_GRANT;
    unsigned expected = head->kind == EKI_KIND_NODE_QUEUED || is_grant
                            ? EKI_NODE_OWES | EKI_NODE_ASKED
                            : EKI_NODE_OWES;
    if (!eki_fits_one(&decode, "an answer that is owed",
                      (thief->seeker.marks[node] & expected) != 0, true) ||
        !eki_fits(&decode, "load", head->worker, EKI_LOAD_IDLE, INT32_MAX) ||
        !eki_fits(&decode, "tasks to follow", head->first, 0,
                  is_grant
                      ? eki_deque_block_max(thief->protocol.engine->capacity)
                      : 0))
        return EKI_REFUSED;
    if (is_grant && !take_grant(thief, message))
        return EKI_NO_MEMORY;
    if (head->first == 0)
        note_answered(thief, head, node);
    return EKI_TAKEN;
}

static enum eki_taken take_node_thief(struct eki_protocol *protocol,
                                      const struct eki_message *message,
                                      uint64_t now)
{
    struct eki_node_thief *thief = thief_of(protocol);
    /* Ranks differ, or this one could not arm; such a rank gets no tasks. */
    if ((!thief->is_open ||
         message->head.signature != protocol->engine->signature) &&
        message->head.kind != EKI_KIND_NODE_GRANT)
        return EKI_TAKEN;
    int node = sender_of(thief, &message->head);
    if (node < 0)
        return EKI_REFUSED;
    thief->now = now;
    return message->head.kind < EKI_KIND_NODE_LOAD
               ? eki_node_thief_take_guest(thief, &message->head, node)
               : take_reply(thief, message, node);
}

static bool calls_node_thief(const struct eki_protocol *protocol,
                             const struct ek_worker *worker, bool *awaits,
                             uint64_t *due)
{
    const struct eki_node_thief *thief = const_thief(protocol);
    (void)worker;
    /* relaxed, both: hints. */
    int state = atomic_load_explicit(&thief->state, memory_order_relaxed);
    if (awaits)
        *awaits = state == EKI_THIEF_WAITS;
    if (due)
        *due = atomic_load_explicit(&thief->due, memory_order_relaxed);
    return thief->is_open && state == EKI_THIEF_FREE;
}

static bool enter_node_thief(struct eki_protocol *protocol,
                             const struct eki_phase *phase, uint64_t now)
{
    struct eki_node_thief *thief = thief_of(protocol);
    (void)phase;
    thief->is_open = false; /* unless the scheme arms it */
    if (!EKI_PLANTED(OLD_GUESTS))
        eki_queue_clear(&thief->guests);
    thief->lacks_buffers = thief->is_seeking = false;
    thief->next.approach = EKI_APPROACH_NONE;
    thief->owing = -1;
    thief->now = now;
    protocol->engine->has_guests = false;
    memset(&protocol->engine->sought, 0, sizeof protocol->engine->sought);
    set_state(thief, EKI_THIEF_DRY);
    return true;
}

bool eki_node_thief_arm(struct eki_engine *engine)
{
    struct eki_node_thief *thief = (struct eki_node_thief *)eki_engine_protocol(
        engine, &eki_node_thief_ops);
    const struct eki_topology *topology = engine->topology;
    if (!thief || topology->lowest_rank[topology->node] != topology->rank)
        return true;
    struct eki_seeker *seeker = &thief->seeker;
    seeker->threshold = engine->setup.load_threshold;
    seeker->option = engine->setup.lifeline;
    if (!eki_seeker_reset(seeker, engine->scheme->seeker))
        return false;
    thief->is_open = true;
    set_state(thief, EKI_THIEF_FREE);
    return true;
}

static void tell_node_thief(const struct eki_protocol *protocol, uint64_t now,
                            uint64_t waited, char *text, size_t bytes)
{
    const struct eki_node_thief *thief = const_thief(protocol);
    int owing = 0;
    for (int i = 0; thief->is_open && i < protocol->engine->topology->nodes;
         i++)
        owing += (thief->seeker.marks[i] & EKI_NODE_OWES) != 0;
    if (owing > 0 && eki_ns_since(thief->sent_at, now) >= waited)
        eki_append(text, bytes, ", %d nodes that owe an answer", owing);
    if (thief->guests.count > 0)
        eki_append(text, bytes, ", requests of %lld nodes that want tasks",
                   (long long)thief->guests.count);
}

static void visit_node_thief(const struct eki_protocol *protocol,
                             eki_visit_fn *visitor, void *context)
{
    eki_grants_visit(&const_thief(protocol)->grants, visitor, context);
}

static void destroy_node_thief(struct eki_protocol *protocol)
{
    struct eki_node_thief *thief = thief_of(protocol);
    eki_seeker_close(&thief->seeker);
    eki_free(thief->guests.items);
    eki_free(thief->grants.slots);
    eki_free(thief);
}

static const struct eki_verb node_thief_verbs[] = {
    {.name = "read load", .body = EKI_BODY_NONE},
    {.name = "ask node", .body = EKI_BODY_NONE},
    {.name = "queue at node", .body = EKI_BODY_NONE},
    {.name = "load", .body = EKI_BODY_NONE, .is_no_news = true},
    {.name = "denied", .body = EKI_BODY_NONE, .is_no_news = true},
    {.name = "occupied", .body = EKI_BODY_NONE, .is_no_news = true},
    {.name = "queued", .body = EKI_BODY_NONE, .is_no_news = true},
    {.name = "grant",
     .concerns = EKI_CONCERNS_ALL,
     .body = EKI_BODY_SLOTS,
     .has_slots = true,
     .must_fit = true}};

const struct eki_protocol_ops eki_node_thief_ops = {
    .name = "node thief",
    .channel = EKI_CHANNEL_NODE_THIEF,
    EKI_VERBS(node_thief_verbs),
    .destroy = destroy_node_thief,
    .enter = enter_node_thief,
    .take = take_node_thief,
    .step = step_node_thief,
    .may_vote = may_vote_node_thief,
    .calls = calls_node_thief,
    .tell = tell_node_thief,
    .visit = visit_node_thief};

ek_status eki_node_thief_add(struct eki_engine *engine)
{
    struct eki_node_thief *thief = eki_alloc(1, sizeof *thief);
    if (thief)
        thief->guests = EKI_QUEUE(struct eki_guest, 8);
    if (thief && eki_queue_has_room(&thief->guests) &&
        eki_grants_open(&thief->grants, engine)) {
        thief->protocol.ops = &eki_node_thief_ops;
        thief->seeker.topology = engine->topology;
        eki_random_seed(&thief->seeker.random, engine->setup.seed,
                        (uint64_t)engine->topology->node);
        eki_engine_add(engine, &thief->protocol);
        return EK_OK;
    }
    if (thief)
        eki_free(thief->guests.items);
    eki_free(thief);
    return eki_error(EK_ERR_NOMEM, "no memory for a node as a thief");
}
