/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned tasks: the list, and who takes them. */
#include "engine/internal.h"

struct eki_slot *eki_pinned_new(struct eki_pinned *pinned)
{
    struct eki_local *local = &pinned->local;
    int64_t used = eki_local_slots(local, local->seeds, local->seed_end);
    /* What is done comes back. */
    if (!eki_grow(&pinned->ran_on, used + pinned->local.done, &pinned->room, 16,
                  sizeof *pinned->ran_on))
        return NULL;
    pinned->ran_on[used] = -1;
    return eki_local_add_seed(local);
}

bool eki_pinned_add(struct eki_pinned *pinned, const struct eki_slot *slot)
{
    struct eki_slot *added = eki_pinned_new(pinned);
    if (!added)
        return false;
    memcpy(added, slot, pinned->local.slot_bytes);
    pinned->local.has_hints |= slot->deviation != EKI_NO_HINT;
    return true;
}

void eki_pinned_free(struct eki_pinned *pinned)
{
    eki_local_free(&pinned->local);
    eki_free(pinned->ran_on);
}

/* What a task has set need not be time. */
static uint64_t slot_ns(const struct eki_slot *slot)
{
    return slot->flags & EKI_SLOT_SET ? 0 : eki_bin_ns(slot->bin);
}

uint64_t eki_pinned_ns(const struct eki_pinned *pinned)
{
    const struct eki_local *local = &pinned->local;
    uint64_t ns = 0;
    for (const unsigned char *at = local->seed_base; at != local->seed_top;
         at += local->slot_bytes)
        ns += slot_ns((const struct eki_slot *)at);
    return ns;
}

/* The K-th that is taken, the last one of the list first. */
static struct eki_slot *slot_of(const struct eki_pinned *pinned, int64_t k)
{
    return (struct eki_slot *)(pinned->local.seed_top -
                               (k + 1) * pinned->local.slot_bytes);
}

static void note_worker(struct eki_pinned *pinned, const struct eki_slot *slot,
                        int here)
{
    pinned->ran_on[eki_local_slots(&pinned->local, pinned->local.seeds,
                                   (const unsigned char *)slot)] = here;
}

struct eki_slot *eki_pinned_take(struct ek_worker *worker)
{
    struct eki_pinned *pinned = &worker->engine->pinned;
    /* relaxed: only the number counts; what is there was handed on by the
     * start of the team. */
    int64_t k =
        atomic_fetch_add_explicit(&pinned->next, 1, memory_order_relaxed);
    if (k >= eki_pinned_count(pinned)) {
        worker->batch.duties &= (uint8_t)~EKI_DUTY_PINNED;
        return NULL;
    }
    struct eki_slot *slot = slot_of(pinned, k);
    note_worker(pinned, slot, worker->here);
    return slot;
}

int64_t eki_pinned_cancel(struct eki_pinned *pinned)
{
    int64_t count = eki_pinned_count(pinned);
    if (count == 0)
        return 0;
    /* relaxed: see eki_pinned_take(). */
    int64_t first = EKI_PLANTED(PINNED_TWICE)
                        ? 0
                        : atomic_exchange_explicit(&pinned->next, count,
                                                   memory_order_relaxed);
    for (int64_t k = first; k < count; k++) {
        struct eki_slot *slot = slot_of(pinned, k);
        slot->flags |= EKI_SLOT_CANCELLED;
        note_worker(pinned, slot, -1);
    }
    return first < count ? count - first : 0;
}

ek_status eki_engine_restore_pinned(struct eki_engine *engine,
                                    int64_t *discarded)
{
    struct eki_local *local = &engine->pinned.local;
    if ((local->seed_base == local->seed_end && local->gone == 0 &&
         local->log_end == eki_local_logged(local)) ||
        eki_local_restore(local, EKI_ORDER_LONGEST, discarded))
        return EK_OK;
    return eki_error(EK_ERR_NOMEM, "no memory to restore pinned tasks");
}
