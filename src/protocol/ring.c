/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner's side of one-sided steals: its ring. */
#include "engine/away.h"
#include "protocol/grants.h"
#include "protocol/node_thief.h"
#include "protocol/one_sided.h"

/* Words that are set when a phase begins; the stamp last: who has seen it sees
 * nothing of an older phase. */
enum {
    RENEWED = 4
};

/* Set the next word for this phase. */
static void renew_word(struct eki_one_sided *side)
{
    const struct eki_engine *engine = side->protocol.engine;
    uint64_t nothing = engine->phase << EKI_SDC_PHASE_SHIFT;
    const int words[RENEWED] = {EKI_WORD_SWS, EKI_WORD_TAIL, EKI_WORD_SPLIT,
                                EKI_WORD_STAMPS + (int)(engine->phase & 1)};
    const uint64_t values[RENEWED] = {eki_sws_locked(side->epochs), nothing,
                                      nothing, eki_one_sided_stamp(engine)};
    int i = side->ring.renewed++;
    eki_ring_next(side, EKI_RING_RENEW,
                  eki_on_word(EKI_RMA_REPLACE, side->rma->fabric->rank,
                              words[i], values[i]));
}

/* The ring of the phase before: all tasks that were shown have run. */
static void renew_ring(struct eki_one_sided *side)
{
    struct eki_ring *ring = &side->ring;
    EKI_ASSERT(ring->split == ring->end);
    eki_ring_learn(side, 0);
    for (int e = 0; e < EKI_SWS_EPOCHS_MAX; e++)
        ring->begin[e] = UINT64_MAX;
    ring->tail = ring->split = ring->end = 0;
    ring->epoch = ring->renewed = 0;
    ring->phase = side->protocol.engine->phase;
    ring->manner = side->manner;
    renew_word(side);
}

uint64_t eki_ring_oldest(const struct eki_ring *ring)
{
    uint64_t oldest = ring->tail;
    for (int e = 0; e < EKI_SWS_EPOCHS_MAX; e++) {
        if (!ring->is_copied[e] && ring->begin[e] < oldest)
            oldest = ring->begin[e];
    }
    return oldest;
}

/* How many slots are free. */
static uint64_t ring_room(const struct eki_one_sided *side)
{
    return side->slots - (side->ring.end - eki_ring_oldest(&side->ring));
}

static unsigned char *slot_at(const struct eki_one_sided *side,
                              uint64_t position)
{
    return side->rma->data +
           (size_t)eki_ring_slot(side, side->ring.phase, position) *
               side->protocol.engine->slot_bytes;
}

/* How many of COUNT slots from a position on lie before the ring's end. */
static uint64_t slots_side_by_side(const struct eki_one_sided *side,
                                   uint64_t position, uint64_t count)
{
    uint64_t left = side->slots - position % side->slots;
    return left < count ? left : count;
}

static void put_block(struct eki_one_sided *side, const unsigned char *slots,
                      uint64_t count)
{
    struct eki_ring *ring = &side->ring;
    size_t bytes = side->protocol.engine->slot_bytes;
    while (count > 0) {
        uint64_t part = slots_side_by_side(side, ring->end, count);
        memcpy(slot_at(side, ring->end), slots, part * bytes);
        slots += part * bytes;
        ring->end += part;
        count -= part;
    }
}

/* Take what the node shows; false: nothing. */
static bool fill_ring(struct eki_one_sided *side)
{
    struct eki_engine *engine = side->protocol.engine;
    struct eki_block block;
    uint64_t most = eki_deque_block_max(engine->capacity);
    int64_t shared = eki_lineup_share(
        engine, slot_at(side, side->ring.end),
        (int64_t)slots_side_by_side(side, side->ring.end, most));
    if (shared > 0) {
        side->ring.end += (uint64_t)shared;
        return true;
    }
    int from = eki_grants_claim_fullest(engine, &block, side->now);
    if (from < 0)
        return false;
    put_block(side,
              eki_slots_of(engine, from) + block.first * engine->slot_bytes,
              block.count);
    eki_away_leave(engine, from, block.count, side->now);
    eki_deque_finish(eki_deque_of(engine, from), &block);
    return true;
}

/* Workers have got tasks: forget what they have asked. */
static void drop_asks(struct eki_one_sided *side)
{
    for (int here = 0; here < side->protocol.engine->topology->workers_here;
         here++) {
        struct eki_asker *asker = &side->askers[here];
        /* relaxed: what is not seen yet is a new ask.  The count is one too low
         * until its worker has added. */
        if (atomic_load_explicit(&asker->ask, memory_order_relaxed) != 0)
            eki_asker_note_fetched(asker, &side->asks);
    }
}

/* Give tasks back to the workers; false: no memory. */
static bool return_tasks(struct eki_one_sided *side)
{
    struct eki_ring *ring = &side->ring;
    struct eki_engine *engine = side->protocol.engine;
    while (ring->back > 0) {
        uint64_t first = ring->end - ring->back;
        uint64_t part = slots_side_by_side(side, first, ring->back);
        uint64_t most = (uint64_t)eki_message_slots(engine);
        /* The last ones first: the end goes down. */
        if (part < ring->back) {
            first += part;
            part = ring->back - part;
        }
        /* In parts that could be passed on. */
        if (part > most) {
            first += part - most;
            part = most;
        }
        if (!eki_server_share(engine, slot_at(side, first), (int64_t)part))
            return false;
        ring->end -= part;
        ring->back -= part;
        engine->post.moved++;
        drop_asks(side);
    }
    return true;
}

/* Whether workers of the node need what is in the ring. */
static bool are_needed(const struct eki_engine *engine)
{
    return eki_is_stopped(engine) ||
           (eki_visible(engine, eki_server_deque(engine)) == 0 &&
            eki_node_is_idle(engine));
}

/* Whether the node shows tasks that it can spare. */
static bool has_spare_tasks(const struct eki_one_sided *side)
{
    const struct eki_engine *engine = side->protocol.engine;
    return !eki_is_stopped(engine) && !eki_is_held(engine) &&
           (eki_lineup_taken(&engine->lineup) < engine->lineup.count ||
            eki_grants_on_offer(engine, side->now) > 0) &&
           !eki_node_is_idle(engine);
}

/* Look at an epoch of which something may be being copied; false: there is
 * none. */
static bool look_for_room(struct eki_one_sided *side)
{
    for (int e = 0; e < EKI_SWS_EPOCHS_MAX; e++) {
        if (!side->ring.is_copied[e] && side->ring.begin[e] != UINT64_MAX)
            return eki_ring_look(side, e);
    }
    return false;
}

/* What the owner does next; false: nothing. */
static bool choose_for_ring(struct eki_one_sided *side)
{
    struct eki_ring *ring = &side->ring;
    const struct eki_engine *engine = side->protocol.engine;
    ring->early = -1;
    if (ring->phase != engine->phase) {
        if (side->manner)
            renew_ring(side);
        return side->manner != NULL;
    }
    if (ring->back > 0)
        return return_tasks(side);
    if (ring->tail != ring->end && are_needed(engine)) {
        ring->back = eki_ring_part(side, ring->end - ring->split);
        if (ring->back == 0)
            ring->manner->hide(side);
        return true;
    }
    if (ring->split != ring->end)
        return ring->manner->show(side);
    if (!has_spare_tasks(side))
        return false;
    if (ring->tail == ring->end)
        return ring_room(side) < eki_deque_block_max(engine->capacity)
                   ? look_for_room(side)
                   : fill_ring(side);
    if (!eki_ring_may_look(side, 0))
        return false;
    eki_ring_next(side, EKI_RING_LOOK, eki_look(side->rma->fabric->rank));
    return true;
}

static void note_copied(struct eki_one_sided *side, const uint64_t *done)
{
    struct eki_ring *ring = &side->ring;
    ring->is_copied[ring->looked] =
        EKI_PLANTED(EARLY_EPOCH) ||
        eki_sws_is_copied(done, ring->claimed[ring->looked]);
}

static void go_on_owning(struct eki_one_sided *side, const uint64_t *before)
{
    struct eki_ring *ring = &side->ring;
    enum eki_ring_stage stage = ring->stage;
    ring->stage = EKI_RING_REST;
    if (stage == EKI_RING_RENEW && ring->renewed < RENEWED)
        renew_word(side);
    else if (stage == EKI_RING_LOOK)
        eki_ring_learn(side, ring->manner->shown(side, before));
    else if (stage == EKI_RING_COPIED)
        note_copied(side, before);
    else if (stage >= EKI_RING_CLOSE) {
        ring->stage = stage;
        ring->manner->hidden(side, before);
    }
}

bool eki_ring_step(struct eki_one_sided *side)
{
    struct eki_ring *ring = &side->ring;
    uint64_t before[EKI_RMA_WORDS];
    if (ring->stage == EKI_RING_REST) {
        if (!choose_for_ring(side))
            return false;
        if (ring->stage == EKI_RING_REST)
            return true;
    }
    if (ring->ticket < 0 &&
        !eki_one_sided_start(side, &ring->next, &ring->ticket))
        return false;
    if (!eki_one_sided_test(side, &ring->ticket, before))
        return false;
    go_on_owning(side, before);
    return true;
}
