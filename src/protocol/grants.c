/* SPDX-License-Identifier: BSD-3-Clause */
/* The victim's side of requests: a block for who asks, in pieces, or none. */
#include "engine/away.h"
#include "protocol/requests.h"

/* Whether what a deque shows may be run elsewhere, and is worth moving. */
static bool may_leave(const struct eki_engine *engine, int deque, uint64_t now)
{
    return eki_is_alike(engine, eki_words_behind(engine, deque)) &&
           eki_away_is_in_time(engine, deque, now);
}

/* Claim from the deque of VICTIM, a worker of this rank; its number or -1. */
static int claim_of(struct eki_engine *engine, int victim,
                    struct eki_block *block, uint64_t now)
{
    const struct eki_topology *topology = engine->topology;
    int deque =
        topology->node_first + victim - topology->first_worker[topology->rank];
    return may_leave(engine, deque, now) &&
                   eki_deque_claim(engine->setup.deque, engine->capacity,
                                   eki_deque_of(engine, deque), block)
               ? deque
               : -1;
}

/* Claim from the fullest deque of the node; its number or -1. */
static int claim_fullest(struct eki_engine *engine, struct eki_block *block,
                         uint64_t now)
{
    enum eki_deque_kind kind = engine->setup.deque;
    for (int tries = 0; tries < 3; tries++) {
        uint32_t most = 0;
        int fullest = -1;
        for (int i = 0; i < eki_deque_count(engine); i++) {
            uint32_t visible = eki_deque_visible(kind, engine->capacity,
                                                 eki_deque_of(engine, i));
            if (visible > most && may_leave(engine, i, now)) {
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

/* Answer a request with tasks of this rank, of which ALL lie in the rest. */
static void share_lineup(struct eki_requests *requests,
                         struct eki_message *message,
                         const struct eki_request *request, int64_t all)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_rest *rest = &requests->rest;
    int64_t most = eki_message_slots(engine), count = all < most ? all : most;
    struct eki_note note = answer_to(engine, EKI_KIND_TASKS, request->rank,
                                     request->worker, all - count);
    eki_note_write(message, &note, rest->slots, count, engine->slot_bytes);
    eki_exchange_post(&engine->exchange, message, note.to);
    *rest = (struct eki_rest){request->rank, request->worker, count, all,
                              rest->slots};
}

/* Answer a request with MESSAGE; tasks that do not fit wait for further
 * buffers. */
static void answer_with(struct eki_requests *requests,
                        struct eki_message *message,
                        const struct eki_request *request, uint64_t now)
{
    struct eki_engine *engine = requests->protocol.engine;
    struct eki_rest *rest = &requests->rest;
    size_t bytes = engine->slot_bytes;
    int64_t most = eki_message_slots(engine), count;
    struct eki_block block = {0};
    int from = -1;
    bool is_alike =
        request->signature == engine->signature && !eki_is_stopped(engine);
    if (is_alike && request->victim < 0) {
        int64_t all = eki_lineup_share(engine, rest->slots,
                                       eki_deque_block_max(engine->capacity));
        if (all > 0) {
            share_lineup(requests, message, request, all);
            return;
        }
    }
    if (is_alike)
        from = request->victim < 0
                   ? claim_fullest(engine, &block, now)
                   : claim_of(engine, request->victim, &block, now);
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
    eki_away_leave(engine, from, block.count, now);
    *rest = (struct eki_rest){request->rank, request->worker, 0, note.first,
                              rest->slots};
    if (rest->count > 0)
        memcpy(rest->slots, slots + (size_t)count * bytes,
               (size_t)rest->count * bytes);
    eki_deque_finish(eki_deque_of(engine, from), &block);
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

/* Answer a request, behind the rest of what the one before it gets; false: no
 * buffer. */
static bool answer_request(void *context, void *request)
{
    struct eki_requests *requests = context;
    if (eki_requests_has_rest(requests) && !send_rest(requests))
        return false;
    struct eki_message *message = eki_exchange_reserve(
        &requests->protocol.engine->exchange, EKI_KIND_NONE);
    if (message)
        answer_with(requests, message, request, requests->now);
    return message != NULL;
}

void eki_requests_grant(struct eki_requests *requests, uint64_t now)
{
    requests->now = now;
    eki_queue_serve(&requests->waiting, answer_request, requests);
    if (eki_requests_has_rest(requests))
        send_rest(requests);
}
