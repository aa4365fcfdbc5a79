/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an iteration that was stopped goes on with.  What ran is done: it lies
 * at the bottom of the log, which no restore touches until the iteration is
 * over.  What was cancelled waits again, seeds as seeds, and what tasks have
 * spawned on the stack, where it leaves no slot when it has run.
 */
#include "task/sort.h"

/* Whether the slot waits.  What ran goes to the log, where there is room. */
static bool still_waits(struct eki_local *local, const struct eki_slot *slot)
{
    if (eki_slot_is_gone(slot)) {
        local->gone += (slot->flags & EKI_SLOT_DISCARDED) != 0;
        return false;
    }
    if (!eki_slot_has_run(slot))
        return true;
    memmove(local->log_end, slot, local->slot_bytes);
    local->log_end += local->slot_bytes;
    return false;
}

static void split_seeds(struct eki_local *local)
{
    unsigned char *kept = local->seed_base;
    for (unsigned char *at = kept; at != local->seed_end;
         at += local->slot_bytes) {
        if (!still_waits(local, (const struct eki_slot *)at))
            continue;
        memmove(kept, at, local->slot_bytes);
        kept += local->slot_bytes;
    }
    local->seed_end = local->seed_top = kept;
}

/* A spawned task waits on the stack with the flags of one that is spawned now.
 */
static void wait_on_stack(struct eki_local *local, const struct eki_slot *slot)
{
    struct eki_slot *waits = (struct eki_slot *)local->stack_top, spawned;
    memcpy(&spawned, &local->spawned_word, sizeof local->spawned_word);
    memmove(waits, slot, local->slot_bytes);
    waits->flags &= (uint8_t)~EKI_SLOT_CANCELLED;
    waits->flags |= spawned.flags;
    local->stack_top += local->slot_bytes;
}

/* A spawned task is not kept by any restore but this one. */
static bool goes_on(const struct eki_slot *slot)
{
    return !(slot->flags & EKI_SLOT_SEED) && !EKI_PLANTED(SPAWNED_LEFT);
}

static void split_aside(struct eki_local *local)
{
    const unsigned char *end = local->stack_top;
    local->stack_top -= local->aside * local->slot_bytes;
    local->stack_bottom = local->stack_top;
    for (unsigned char *at = local->stack_top; at != end;
         at += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        if (goes_on(slot))
            wait_on_stack(local, slot);
        else if (still_waits(local, slot))
            eki_slot_copy(eki_local_add_seed(local), slot, local->slot_bytes);
    }
    local->aside = 0;
}

/* What is gone leaves the log. */
static void split_log(struct eki_local *local)
{
    const unsigned char *end = local->log_end;
    local->log_end = local->log;
    for (unsigned char *at = local->log; at != end; at += local->slot_bytes)
        still_waits(local, (const struct eki_slot *)at);
}

bool eki_local_continue(struct eki_local *local)
{
    int64_t seeds = eki_local_slots(local, local->seed_base, local->seed_end);
    if (!eki_local_log_reserve(local, seeds + local->aside) ||
        !eki_local_seeds_reserve(local, local->aside))
        return false;
    split_log(local);
    split_seeds(local);
    if (local->aside)
        split_aside(local);
    local->done = eki_local_slots(local, local->log, local->log_end);
    return true;
}

bool eki_local_put_part(struct eki_local *local, const struct eki_slot *slot)
{
    bool is_done = slot->flags & EKI_SLOT_SEED;
    if (is_done ? !eki_local_log(local, slot) : !eki_local_reserve(local, 1))
        return false;
    if (is_done)
        local->done++;
    else
        wait_on_stack(local, slot);
    return true;
}

bool eki_local_stand_down(struct eki_local *local)
{
    unsigned char *kept = local->seed_base;
    for (unsigned char *at = kept; at != local->seed_end;
         at += local->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)at;
        if (slot->bin == EKI_BIN_NEVER && slot->flags & EKI_SLOT_SET) {
            slot->flags &= (uint8_t)~EKI_SLOT_STANDS;
            if (!eki_local_put_part(local, slot))
                return false;
            continue;
        }
        if (kept != at)
            eki_slot_copy(kept, at, local->slot_bytes);
        kept += local->slot_bytes;
    }
    local->seed_end = local->seed_top = kept;
    return true;
}
