/* SPDX-License-Identifier: BSD-3-Clause */
/* The victim's side of a node that steals: nodes that ask this one. */
#include "engine/decode.h"
#include "protocol/node_thief.h"

/* Whether a worker is of this rank, and without a thread. */
static bool has_no_thread(const struct eki_engine *engine, int local)
{
    int here = local - engine->topology->node_first;
    /* relaxed: a hint. */
    return here >= 0 && here < engine->topology->workers_here &&
           atomic_load_explicit(&engine->workers[here]->presence,
                                memory_order_relaxed) != EKI_PRESENT;
}

bool eki_node_is_idle(const struct eki_engine *engine)
{
    for (int i = 0; i < engine->topology->node_workers; i++) {
        if (eki_is_idle(eki_words_of(engine, i), engine->phase) &&
            !has_no_thread(engine, i))
            return true;
    }
    return false;
}

/* Tasks that the node offers, or that a worker of it has none. */
static int32_t node_shows(const struct eki_node_thief *thief)
{
    const struct eki_engine *engine = thief->protocol.engine;
    if (eki_node_is_idle(engine))
        return EKI_LOAD_IDLE;
    int64_t load = eki_grants_on_offer(engine, thief->now);
    return load < INT32_MAX ? (int32_t)load : INT32_MAX;
}

static int node_of_guest(const struct eki_node_thief *thief,
                         const struct eki_guest *guest)
{
    return thief->protocol.engine->topology->node_of_rank[guest->request.rank];
}

/* A request that lies here is gone: its node may be asked. */
static void forget_guest(struct eki_node_thief *thief,
                         const struct eki_guest *guest)
{
    int node = node_of_guest(thief, guest);
    thief->seeker.marks[node] &= (uint8_t)~EKI_NODE_WAITS;
    /* relaxed, both: a hint. */
    if (atomic_load_explicit(&thief->state, memory_order_relaxed) ==
        EKI_THIEF_DRY)
        atomic_store_explicit(&thief->state, EKI_THIEF_FREE,
                              memory_order_relaxed);
}

/* Give GUEST tasks in MESSAGE, behind the rest of what the one before it gets;
 * false: there are none. */
static bool give(struct eki_node_thief *thief, struct eki_message *message,
                 struct eki_guest *guest)
{
    struct eki_engine *engine = thief->protocol.engine;
    int node = node_of_guest(thief, guest);
    /* Before the claim, which may take what the load says there is. */
    guest->request.worker = node_shows(thief);
    if (guest->request.worker == EKI_LOAD_IDLE ||
        eki_grants_give(&thief->grants, message, EKI_KIND_NODE_GRANT,
                        &guest->request, thief->now) == 0)
        return false;
    engine->sought.grants++;
    engine->sought.cyclic += (thief->seeker.marks[node] & EKI_NODE_ASKED) != 0;
    forget_guest(thief, guest);
    return true;
}

static struct eki_message *reserve(struct eki_node_thief *thief, int kind)
{
    struct eki_message *message = NULL;
    if (!eki_grants_has_rest(&thief->grants) ||
        eki_grants_send_rest(&thief->grants))
        message = eki_exchange_reserve(&thief->protocol.engine->exchange, kind);
    thief->lacks_buffers |= !message;
    return message;
}

/* Answer GUEST without tasks. */
static void reply_to(struct eki_node_thief *thief, struct eki_message *message,
                     const struct eki_guest *guest, int kind)
{
    struct eki_engine *engine = thief->protocol.engine;
    message->head.kind = (uint16_t)kind;
    message->head.worker = node_shows(thief);
    eki_exchange_post(&engine->exchange, message, guest->request.rank);
}

/* The first answer to a guest; false: it stays. */
static bool greet(void *context, void *item)
{
    struct eki_node_thief *thief = context;
    struct eki_guest *guest = item;
    if (guest->waits)
        return false;
    struct eki_message *message = reserve(thief, EKI_KIND_NODE_LOAD);
    if (!message)
        return false;
    if (guest->approach == EKI_APPROACH_READ) {
        reply_to(thief, message, guest, EKI_KIND_NODE_LOAD);
        return true;
    }
    bool must_wait = guest->is_late || (guest->approach == EKI_APPROACH_QUEUE &&
                                        thief->seeker.ops->queues_first);
    if (!must_wait && give(thief, message, guest))
        return true;
    if (guest->approach == EKI_APPROACH_ASK) {
        reply_to(thief, message, guest,
                 guest->is_late ? EKI_KIND_NODE_OCCUPIED
                                : EKI_KIND_NODE_DENIED);
        return true;
    }
    guest->waits = true;
    reply_to(thief, message, guest, EKI_KIND_NODE_QUEUED);
    return false;
}

/* Tasks for the guest that waits longest; false: it goes on. */
static bool feed(void *context, void *item)
{
    struct eki_node_thief *thief = context;
    struct eki_guest *guest = item;
    if (!guest->waits || eki_is_stopped(thief->protocol.engine) ||
        node_shows(thief) <= 0)
        return false;
    struct eki_message *message = reserve(thief, EKI_KIND_NODE_QUEUED);
    if (!message)
        return false;
    if (give(thief, message, guest))
        return true;
    /* Somebody was faster: once more. */
    reply_to(thief, message, guest, EKI_KIND_NODE_QUEUED);
    return false;
}

/* Whether a request of a guest is not answered yet. */
static bool is_occupied(const struct eki_node_thief *thief)
{
    const struct eki_guest *guests = thief->guests.items;
    for (int64_t i = 0; i < thief->guests.count; i++) {
        if (guests[i].approach != EKI_APPROACH_READ)
            return true;
    }
    return false;
}

enum eki_taken eki_node_thief_take_guest(struct eki_node_thief *thief,
                                         const struct eki_head *head, int node)
{
    struct eki_decode decode = eki_decode_of(thief->protocol.engine, head);
    uint8_t *marks = &thief->seeker.marks[node];
    struct eki_guest guest = {
        .request = {head->source, EKI_LOAD_IDLE, -1, head->signature},
        .approach = head->kind == EKI_KIND_NODE_READ  ? EKI_APPROACH_READ
                    : head->kind == EKI_KIND_NODE_ASK ? EKI_APPROACH_ASK
                                                      : EKI_APPROACH_QUEUE};
    if (!eki_fits_one(&decode, "requests that lie here",
                      (*marks & EKI_NODE_WAITS) != 0, 0))
        return EKI_REFUSED;
    guest.is_late = guest.approach == EKI_APPROACH_ASK &&
                    thief->seeker.ops->holds_one && is_occupied(thief);
    if (!eki_queue_add(&thief->guests, &guest))
        return EKI_NO_MEMORY;
    if (guest.approach == EKI_APPROACH_QUEUE)
        *marks |= EKI_NODE_WAITS;
    return EKI_TAKEN;
}

void eki_node_thief_serve_guests(struct eki_node_thief *thief)
{
    if (thief->guests.count > 0)
        eki_queue_serve_all(&thief->guests, greet, thief);
    eki_queue_serve(&thief->guests, feed, thief);
    if (eki_grants_has_rest(&thief->grants))
        eki_grants_send_rest(&thief->grants);
}
