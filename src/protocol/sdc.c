/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sdc: Scioto's queue, split and with deferred copies: a thief locks it, reads
 * tail and split, moves the tail, and unlocks.
 *
 * While the lock is held by another a thief looks, and leaves if there is
 * nothing.  The owner shows tasks without the lock, and hides them with it; if
 * it is held, the owner tries again.
 */
#include "protocol/one_sided.h"

/* A position of a phase as a word. */
static uint64_t word_of(uint64_t phase, uint64_t position)
{
    return phase << EKI_SDC_PHASE_SHIFT | position;
}

/* Both may be of different phases, or times. */
static uint32_t shown_by_sdc(const struct eki_one_sided *side,
                             const uint64_t *words)
{
    uint64_t tail = words[EKI_WORD_TAIL], split = words[EKI_WORD_SPLIT];
    (void)side;
    return tail >> EKI_SDC_PHASE_SHIFT == split >> EKI_SDC_PHASE_SHIFT
               ? (uint32_t)(split - tail)
               : 0;
}

static void claim_sdc(struct eki_one_sided *side, struct eki_steal *steal)
{
    (void)side;
    eki_steal_next(steal, EKI_STEAL_LOCK,
                   eki_on_word(EKI_RMA_REPLACE, steal->rank, EKI_WORD_LOCK, 1));
}

static void unlock_victim(struct eki_steal *steal)
{
    eki_steal_next(steal, EKI_STEAL_UNLOCK,
                   eki_on_word(EKI_RMA_REPLACE, steal->rank, EKI_WORD_LOCK, 0));
}

/* The lock is ours: move the tail behind a block. */
static void move_tail(struct eki_one_sided *side, struct eki_steal *steal,
                      const uint64_t *words)
{
    uint64_t tail = words[EKI_WORD_TAIL];
    uint32_t shown = shown_by_sdc(side, words);
    if (shown == 0) {
        unlock_victim(steal);
        return;
    }
    steal->first =
        eki_ring_slot(side, tail >> EKI_SDC_PHASE_SHIFT,
                      tail & ((UINT64_C(1) << EKI_SDC_PHASE_SHIFT) - 1));
    steal->count = shown - eki_deque_remaining(shown, 1);
    steal->copied = EKI_WORD_COPIED;
    eki_steal_next(steal, EKI_STEAL_TAIL,
                   eki_on_word(EKI_RMA_REPLACE, steal->rank, EKI_WORD_TAIL,
                               tail + steal->count));
}

static void go_on_sdc(struct eki_one_sided *side, struct eki_steal *steal,
                      const uint64_t *before)
{
    if (steal->stage == EKI_STEAL_LOCK)
        eki_steal_next(steal, *before == 0 ? EKI_STEAL_READ : EKI_STEAL_LOOK,
                       eki_look(steal->rank));
    else if (steal->stage == EKI_STEAL_READ)
        move_tail(side, steal, before);
    else if (steal->stage == EKI_STEAL_TAIL)
        unlock_victim(steal);
    else if (steal->count > 0)
        eki_steal_get(side, steal);
    else
        eki_steal_in_vain(side, steal);
}

static struct eki_rma_operation on_own(const struct eki_one_sided *side,
                                       int word, uint64_t value)
{
    return eki_on_word(EKI_RMA_REPLACE, side->rma->fabric->rank, word, value);
}

static bool show_sdc(struct eki_one_sided *side)
{
    struct eki_ring *ring = &side->ring;
    ring->split = ring->end;
    eki_ring_sync(side);
    eki_ring_next(
        side, EKI_RING_SHOW,
        on_own(side, EKI_WORD_SPLIT, word_of(ring->phase, ring->split)));
    return true;
}

static void hide_sdc(struct eki_one_sided *side)
{
    eki_ring_next(side, EKI_RING_LOCK, on_own(side, EKI_WORD_LOCK, 1));
}

static void unlock_own(struct eki_one_sided *side)
{
    eki_ring_next(side, EKI_RING_UNLOCK, on_own(side, EKI_WORD_LOCK, 0));
}

/* The lock is ours: lower the split. */
static void lower_split(struct eki_one_sided *side, const uint64_t *words)
{
    struct eki_ring *ring = &side->ring;
    uint64_t part;
    eki_ring_learn(side, shown_by_sdc(side, words));
    part = eki_ring_part(side, ring->split - ring->tail);
    ring->split -= part;
    if (part > 0)
        eki_ring_next(
            side, EKI_RING_LOWER,
            on_own(side, EKI_WORD_SPLIT, word_of(ring->phase, ring->split)));
    else
        unlock_own(side);
}

static void hidden_by_sdc(struct eki_one_sided *side, const uint64_t *before)
{
    struct eki_ring *ring = &side->ring;
    if (ring->stage == EKI_RING_LOCK && *before != 0) {
        ring->stage = EKI_RING_REST;
    } else if (ring->stage == EKI_RING_LOCK) {
        eki_ring_next(side, EKI_RING_READ, eki_look(side->rma->fabric->rank));
    } else if (ring->stage == EKI_RING_READ) {
        lower_split(side, before);
    } else if (ring->stage == EKI_RING_LOWER) {
        unlock_own(side);
    } else {
        ring->back = ring->end - ring->split;
        ring->stage = EKI_RING_REST;
    }
}

const struct eki_manner eki_sdc = {.shown = shown_by_sdc,
                                   .claim = claim_sdc,
                                   .go_on = go_on_sdc,
                                   .show = show_sdc,
                                   .hide = hide_sdc,
                                   .hidden = hidden_by_sdc};
