/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sws: structured atomic operations: one addition finds tasks and claims a
 * block of them (sws_word.h).
 *
 * An owner that wants tasks back replaces the word by a locked one.  It shows
 * tasks in an epoch of which all that was ever claimed is copied; if there is
 * none it goes on, and shows them later.
 */
#include "protocol/one_sided.h"

/* Attempts after which a thief looks before it adds, whatever the damping is:
 * the others that add meanwhile are fewer than those that are left. */
#define WORN (EKI_SWS_ATTEMPTS_MAX / 2)

static uint32_t shown_by_sws(const struct eki_one_sided *side,
                             const uint64_t *words)
{
    return eki_sws_remaining(side->epochs, words[EKI_WORD_SWS]);
}

static void claim_sws(struct eki_one_sided *side, struct eki_steal *steal)
{
    (void)side;
    eki_steal_next(
        steal, EKI_STEAL_CLAIM,
        eki_on_word(EKI_RMA_ADD, steal->rank, EKI_WORD_SWS, EKI_SWS_ATTEMPT));
}

static void go_on_sws(struct eki_one_sided *side, struct eki_steal *steal,
                      const uint64_t *before)
{
    struct eki_sws_word word = eki_sws_unpack(side->epochs, *before);
    struct eki_sws_block block;
    if (!eki_sws_claim(side->epochs, *before, &block)) {
        if (word.attempts > WORN)
            side->seen[steal->rank].empties = EKI_EMPTIES_MOST;
        eki_steal_in_vain(side, steal);
        return;
    }
    uint32_t half = word.tail / side->slots * side->slots;
    steal->first = half + (block.first - half) % side->slots;
    steal->count = block.count;
    steal->copied =
        EKI_WORD_COPIED + block.epoch * EKI_SWS_BLOCKS_MAX + block.number;
    eki_steal_get(side, steal);
}

static bool show_sws(struct eki_one_sided *side)
{
    struct eki_ring *ring = &side->ring;
    uint32_t epoch = 0;
    while (epoch < side->epochs && !ring->is_copied[epoch])
        epoch++;
    if (epoch == side->epochs)
        return eki_ring_look(side, (ring->looked + 1) % (int)side->epochs);
    const struct eki_sws_word word = {
        .epoch = epoch,
        .initial = (uint32_t)(ring->end - ring->split),
        .tail = eki_ring_slot(side, ring->phase, ring->split)};
    ring->epoch = (int)epoch;
    ring->split = ring->end;
    eki_ring_sync(side);
    eki_ring_next(side, EKI_RING_SHOW,
                  eki_on_word(EKI_RMA_REPLACE, side->rma->fabric->rank,
                              EKI_WORD_SWS, eki_sws_pack(side->epochs, &word)));
    return true;
}

static void hide_sws(struct eki_one_sided *side)
{
    eki_ring_next(side, EKI_RING_CLOSE,
                  eki_on_word(EKI_RMA_REPLACE, side->rma->fabric->rank,
                              EKI_WORD_SWS, eki_sws_locked(side->epochs)));
}

/* How many tasks were left as the word was replaced. */
static uint64_t rest_of(const struct eki_one_sided *side, uint64_t before)
{
    const struct eki_ring *ring = &side->ring;
    return EKI_PLANTED(CLOSED_UNSEEN) ? ring->split - ring->tail
                                      : eki_sws_remaining(side->epochs, before);
}

static void hidden_by_sws(struct eki_one_sided *side, const uint64_t *before)
{
    struct eki_ring *ring = &side->ring;
    eki_ring_learn(side, rest_of(side, *before));
    ring->split = ring->tail;
    ring->back = eki_ring_part(side, ring->end - ring->tail);
    ring->stage = EKI_RING_REST;
}

const struct eki_manner eki_sws = {.is_damped = true,
                                   .shown = shown_by_sws,
                                   .claim = claim_sws,
                                   .go_on = go_on_sws,
                                   .show = show_sws,
                                   .hide = hide_sws,
                                   .hidden = hidden_by_sws};
