/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol/grants.h"

#include "engine/away.h"

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

int eki_grants_claim_fullest(struct eki_engine *engine, struct eki_block *block,
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

int64_t eki_grants_on_offer(const struct eki_engine *engine, uint64_t now)
{
    int64_t tasks = 0;
    for (int i = 0; i < eki_deque_count(engine); i++) {
        int64_t visible = eki_visible(engine, i);
        if (visible > 0 && may_leave(engine, i, now))
            tasks += visible;
    }
    return tasks;
}

/* A message of the grant to RANK and WORKER after which LEFT tasks follow. */
static struct eki_note note_of(const struct eki_grants *grants, int64_t left)
{
    return (struct eki_note){grants->kind, grants->rank, grants->worker,
                             eki_server_last_polled(grants->engine), left};
}

/* How many of COUNT tasks of a block a grant has. */
static int64_t batch_of(const struct eki_engine *engine, int64_t count)
{
    int64_t batch = engine->setup.steal_batch;
    /* Data that leaves is noted by the block. */
    return batch > 0 && batch < count && !engine->kept ? batch : count;
}

/* Post the first COUNT of ALL tasks; the rest waits in memory. */
static int64_t post_first(struct eki_grants *grants,
                          struct eki_message *message,
                          const unsigned char *slots, int64_t all)
{
    struct eki_engine *engine = grants->engine;
    size_t bytes = engine->slot_bytes;
    int64_t most = eki_message_slots(engine), count = all < most ? all : most;
    struct eki_note note = note_of(grants, all - count);
    eki_note_write(message, &note, slots, count, bytes);
    eki_exchange_post(&engine->exchange, message, note.to);
    grants->sent = count;
    grants->count = all;
    if (slots != grants->slots && count < all)
        memcpy(grants->slots + (size_t)count * bytes,
               slots + (size_t)count * bytes, (size_t)(all - count) * bytes);
    return all;
}

/* Give a part of a block that was claimed from a deque. */
static int64_t give_block(struct eki_grants *grants,
                          struct eki_message *message, int from,
                          const struct eki_block *block, uint64_t now)
{
    struct eki_engine *engine = grants->engine;
    size_t bytes = engine->slot_bytes;
    const unsigned char *slots =
        eki_slots_of(engine, from) + block->first * bytes;
    int64_t all = batch_of(engine, block->count);
    if (all < block->count && !EKI_PLANTED(BATCH_ALONE) &&
        !eki_server_share(engine, slots + (size_t)all * bytes,
                          block->count - all))
        all = block->count;
    post_first(grants, message, slots, all);
    eki_away_leave(engine, from, block->count, now);
    eki_deque_finish(eki_deque_of(engine, from), block);
    return all;
}

int64_t eki_grants_give(struct eki_grants *grants, struct eki_message *message,
                        int kind, const struct eki_request *request,
                        uint64_t now)
{
    struct eki_engine *engine = grants->engine;
    struct eki_block block = {0};
    EKI_ASSERT(!eki_grants_has_rest(grants));
    if (request->signature != engine->signature || eki_is_stopped(engine))
        return 0;
    grants->kind = kind;
    grants->rank = request->rank;
    grants->worker = request->worker;
    if (request->victim < 0) {
        int64_t all = eki_lineup_share(
            engine, grants->slots,
            batch_of(engine, eki_deque_block_max(engine->capacity)));
        if (all > 0)
            return post_first(grants, message, grants->slots, all);
    }
    int from = request->victim < 0
                   ? eki_grants_claim_fullest(engine, &block, now)
                   : claim_of(engine, request->victim, &block, now);
    return from < 0 ? 0 : give_block(grants, message, from, &block, now);
}

bool eki_grants_send_rest(struct eki_grants *grants)
{
    struct eki_engine *engine = grants->engine;
    size_t bytes = engine->slot_bytes;
    int64_t most = eki_message_slots(engine);
    while (eki_grants_has_rest(grants)) {
        int64_t left = grants->count - grants->sent;
        int64_t count = left < most ? left : most;
        struct eki_note note = note_of(grants, left - count);
        if (!eki_exchange_send(&engine->exchange, &note,
                               grants->slots + (size_t)grants->sent * bytes,
                               count, bytes))
            return false;
        grants->sent += count;
    }
    return true;
}

bool eki_grants_open(struct eki_grants *grants, struct eki_engine *engine)
{
    grants->engine = engine;
    grants->slots =
        eki_alloc(eki_deque_block_max(engine->capacity), engine->slot_bytes);
    return grants->slots != NULL;
}
