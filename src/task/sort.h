/* SPDX-License-Identifier: BSD-3-Clause */
/* What restore.c and in_place.c share.  For this module only. */
#ifndef EKI_TASK_SORT_H
#define EKI_TASK_SORT_H

#include "task/task.h"

/* What is known of the durations of one function, for tasks never measured. */
struct eki_estimate {
    double measured_ns, hints;
    int64_t measured, hinted;
};

/* Slots [first, last). */
struct eki_span {
    unsigned char *first, *last;
};

/* Where the next slot of a bin goes, and where the bin ends. */
struct eki_place {
    unsigned char *next, *end;
};

struct eki_sort {
    struct eki_local *local;
    struct eki_span aside, log, seeds;
    int64_t *starts; /* per bin from FIRST on: how many slots it has, and
                        then where its next goes */
    unsigned first;  /* bin of starts[0] */
    struct eki_place *places; /* of a sort in place: per bin from LOW on */
    unsigned char *hand;      /* likewise: slots that change their places */
    struct eki_estimate *estimates;
    unsigned low, high; /* bins seen */
    int64_t slots, gone, kept, discarded;
    unsigned functions;
};

/* A discarded task and a range that was run are gone. */
EKI_INLINE bool eki_slot_is_gone(const struct eki_slot *slot)
{
    if (EKI_LIKELY((slot->flags & (EKI_SLOT_SEED | EKI_SLOT_RANGE |
                                   EKI_SLOT_DISCARDED)) == EKI_SLOT_SEED))
        return false;
    if (slot->flags & EKI_SLOT_RANGE)
        return !(slot->flags & EKI_SLOT_CANCELLED);
    return slot->flags & EKI_SLOT_DISCARDED || !(slot->flags & EKI_SLOT_SEED);
}

/* The bin in which a task that was never measured is expected. */
unsigned eki_estimate_bin(const struct eki_estimate *estimates,
                          const struct eki_slot *slot);

EKI_INLINE unsigned eki_sort_bin(const struct eki_sort *sort,
                                 const struct eki_slot *slot)
{
    if (EKI_UNLIKELY(slot->bin == EKI_BIN_RANGE))
        return EKI_BIN_COUNT - 1;
    if (EKI_UNLIKELY(slot->bin == EKI_BIN_NEVER))
        return eki_estimate_bin(sort->estimates, slot);
    return slot->bin;
}

/* The flags of a slot without what they say of the iteration that is over. */
EKI_INLINE uint8_t eki_slot_next_flags(uint8_t old)
{
    unsigned flags = old & (EKI_SLOT_SEED | EKI_SLOT_RANGE | EKI_SLOT_SET);
    flags |= (old & EKI_SLOT_COSTED) * (EKI_SLOT_SET / EKI_SLOT_COSTED);
    if (flags & EKI_SLOT_RANGE)
        flags |= EKI_SLOT_CANCELLED;
    return (uint8_t)flags;
}

/* Note what there is; again when arrays have changed. */
static inline void eki_sort_find(struct eki_sort *sort)
{
    struct eki_local *local = sort->local;
    sort->seeds = (struct eki_span){local->seed_base, local->seed_end};
    sort->log = (struct eki_span){local->log, local->log_end};
    sort->aside = (struct eki_span){local->stack_bottom, local->stack_bottom};
    if (local->aside)
        sort->aside.first -= local->aside * local->slot_bytes;
    sort->slots = eki_local_slots(local, sort->seeds.first, sort->seeds.last) +
                  eki_local_slots(local, local->log, local->log_end) +
                  local->aside;
}

/* Gather what stays in the array that holds more, which becomes that of the
 * seeds, and order it; false: no memory, and nothing has changed. */
bool eki_sort_in_place(struct eki_sort *sort, enum eki_order order);

#endif
