/* SPDX-License-Identifier: BSD-3-Clause */
/* What both manners need: of a steal, and of a ring. */
#include "engine/offers.h"
#include "protocol/one_sided.h"

bool eki_one_sided_start(struct eki_one_sided *side,
                         const struct eki_rma_operation *operation, int *ticket)
{
    ek_status status = side->rma->ops->start(side->rma, operation, ticket);
    EKI_ASSERT(status == EK_OK || side->rma->fabric->failed != EK_OK);
    return status == EK_OK && *ticket >= 0;
}

bool eki_one_sided_test(struct eki_one_sided *side, int *ticket,
                        uint64_t before[EKI_RMA_WORDS])
{
    if (!side->rma->ops->test(side->rma, *ticket, before) ||
        side->rma->fabric->failed != EK_OK)
        return false;
    *ticket = -1;
    return true;
}

uint64_t eki_one_sided_stamp(const struct eki_engine *engine)
{
    return engine->signature ^
           (2 * engine->phase + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

void eki_steal_note_end(struct eki_one_sided *side, struct eki_steal *steal,
                        bool is_granted)
{
    struct eki_engine *engine = side->protocol.engine;
    uint64_t took = eki_ns_since(steal->since, side->now);
    struct eki_seen *seen = &side->seen[steal->rank];
    seen->empties =
        is_granted ? 0 : seen->empties + (seen->empties < EKI_EMPTIES_MOST);
    engine->in_vain -= is_granted && engine->in_vain > 0;
    if (engine->answered)
        eki_histogram_add(engine->answered, took);
    if (!is_granted)
        eki_server_track(engine, EKI_EVENT_ANSWER, side->now,
                         eki_event_pair(0, steal->rank));
    eki_asker_note_answer(&side->askers[steal - side->steals], is_granted,
                          steal->since, took);
}

void eki_steal_in_vain(struct eki_one_sided *side, struct eki_steal *steal)
{
    eki_steal_note_end(side, steal, false);
    steal->stage = EKI_STEAL_NONE;
    side->under_way--;
}

uint32_t eki_steal_side_by_side(const struct eki_one_sided *side,
                                const struct eki_steal *steal)
{
    uint32_t left = side->slots - steal->first % side->slots;
    return left < steal->count ? left : steal->count;
}

void eki_steal_get_part(struct eki_one_sided *side, struct eki_steal *steal,
                        uint32_t first, uint32_t count, uint32_t done)
{
    size_t bytes = side->protocol.engine->slot_bytes;
    steal->next = (struct eki_rma_operation){.kind = EKI_RMA_GET,
                                             .rank = steal->rank,
                                             .at = first * bytes,
                                             .memory = steal->message->body +
                                                       done * bytes,
                                             .bytes = count * bytes};
}

/* Tell that the block is copied, which it is not. */
static void tell_too_early(struct eki_one_sided *side,
                           const struct eki_steal *steal)
{
    const struct eki_rma_operation add =
        eki_on_word(EKI_RMA_ADD, steal->rank, (int)steal->copied, steal->count);
    int ticket = -1;
    if (eki_one_sided_start(side, &add, &ticket))
        side->late[side->late_count++] = ticket;
}

void eki_steal_get(struct eki_one_sided *side, struct eki_steal *steal)
{
    if (EKI_PLANTED(COPIED_FIRST))
        tell_too_early(side, steal);
    steal->stage = EKI_STEAL_GET;
    steal->message->head.count = steal->count;
    eki_steal_get_part(side, steal, steal->first,
                       eki_steal_side_by_side(side, steal), 0);
}

void eki_ring_learn(struct eki_one_sided *side, uint64_t rest)
{
    struct eki_ring *ring = &side->ring;
    uint64_t newly = ring->split - ring->tail - rest;
    EKI_ASSERT(rest <= ring->split - ring->tail);
    if (newly == 0)
        return;
    /* What is left to be copied of an older phase lies in the other half. */
    if (ring->is_copied[ring->epoch] || ring->begin[ring->epoch] == UINT64_MAX)
        ring->begin[ring->epoch] = ring->tail;
    ring->is_copied[ring->epoch] = false;
    ring->claimed[ring->epoch] += newly;
    ring->tail += newly;
}

bool eki_ring_may_look(struct eki_one_sided *side, int first)
{
    struct eki_ring *ring = &side->ring;
    bool is_early = side->now < ring->look_after;
    ring->early = is_early ? first : -1;
    if (!is_early)
        ring->look_after = side->now + EKI_OWNER_LOOKS_NS;
    return !is_early;
}

bool eki_ring_look(struct eki_one_sided *side, int epoch)
{
    int first = EKI_WORD_COPIED + epoch * EKI_SWS_BLOCKS_MAX;
    if (!eki_ring_may_look(side, first))
        return false;
    side->ring.looked = epoch;
    eki_ring_next(side, EKI_RING_COPIED,
                  (struct eki_rma_operation){.kind = EKI_RMA_READ,
                                             .rank = side->rma->fabric->rank,
                                             .at = (size_t)first,
                                             .words = EKI_SWS_BLOCKS_MAX});
    return true;
}

bool eki_one_sided_holds_lock(const struct eki_one_sided *side)
{
    bool holds = side->ring.stage >= EKI_RING_LOCK;
    for (int here = 0; here < side->protocol.engine->topology->workers_here;
         here++)
        holds |= side->steals[here].stage >= EKI_STEAL_LOCK &&
                 side->steals[here].stage <= EKI_STEAL_UNLOCK;
    return holds;
}

uint64_t eki_ring_part(const struct eki_one_sided *side, uint64_t tasks)
{
    return eki_is_stopped(side->protocol.engine) ? tasks : (tasks + 1) / 2;
}
