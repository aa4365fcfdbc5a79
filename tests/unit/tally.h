/* SPDX-License-Identifier: BSD-3-Clause */
/* A protocol that counts what the engine asks, and does as it is told. */
#ifndef TALLY_H
#define TALLY_H

#include "lone.h"

static struct counting {
    struct eki_protocol protocol;
    int entered, taken, stepped, cancelled, destroyed;
    int sought, node; /* of the last time */
    enum eki_taken answer;
    enum eki_sought finds;
    bool wants_servers, is_busy, calls, awaits;
    uint64_t due;
} counting; /* of the engine that is made last */

static inline void count_destroy(struct eki_protocol *protocol)
{
    (void)protocol;
    counting.destroyed++;
}

static inline bool count_enter(struct eki_protocol *protocol,
                               const struct eki_phase *phase, uint64_t now)
{
    (void)protocol, (void)phase, (void)now;
    counting.entered++;
    return counting.wants_servers;
}

static inline enum eki_taken count_take(struct eki_protocol *protocol,
                                        const struct eki_message *message,
                                        uint64_t now)
{
    (void)protocol, (void)message, (void)now;
    counting.taken++;
    return counting.answer;
}

static inline void count_step(struct eki_protocol *protocol, uint64_t now)
{
    (void)protocol, (void)now;
    counting.stepped++;
}

static inline bool count_may_vote(const struct eki_protocol *protocol)
{
    (void)protocol;
    return !counting.is_busy;
}

/* Where it finds something, that is a task numbered 60. */
static inline enum eki_sought count_seek(struct eki_protocol *protocol,
                                         struct ek_worker *worker,
                                         const struct eki_victim *victim,
                                         uint64_t now)
{
    enum eki_sought finds = counting.finds;
    (void)protocol, (void)now;
    counting.sought++;
    counting.node = victim->node;
    counting.finds = EKI_SOUGHT_NOTHING;
    if (finds == EKI_SOUGHT_FOUND) {
        lone_fill_slot(eki_local_push(&worker->local), 60);
        worker->created++;
        eki_worker_store(worker);
    }
    return finds;
}

static inline int64_t count_cancel(struct eki_protocol *protocol,
                                   struct ek_worker *worker)
{
    (void)protocol, (void)worker;
    counting.cancelled++;
    return 0;
}

static inline bool count_calls(const struct eki_protocol *protocol,
                               const struct ek_worker *worker, bool *awaits,
                               uint64_t *due)
{
    (void)protocol, (void)worker;
    if (awaits)
        *awaits = counting.awaits;
    if (due)
        *due = counting.due;
    return counting.calls;
}

static const struct eki_verb verbs[] = {
    {.name = "first"},
    {.name = "second", .body = EKI_BODY_NONE, .must_fit = true}};

static const struct eki_protocol_ops all = {.name = "counting",
                                            .channel = EKI_CHANNEL_TILES,
                                            .verbs = verbs,
                                            .verb_count = 2,
                                            .destroy = count_destroy,
                                            .enter = count_enter,
                                            .take = count_take,
                                            .step = count_step,
                                            .may_vote = count_may_vote,
                                            .seek = count_seek,
                                            .cancel = count_cancel,
                                            .calls = count_calls};

static inline void add(struct lone *lone, const struct eki_protocol_ops *ops)
{
    counting = (struct counting){.protocol.ops = ops, .node = -9};
    eki_engine_add(lone->engine, &counting.protocol);
}

#endif
