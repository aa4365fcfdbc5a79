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

/*
 * Classes: what the order LONGEST tells apart.  Tasks of one class keep their
 * order, so that they walk through the program's data as they did before.  One
 * class is what is timed in batches, then comes one per octave, up to a bin
 * from which on it is one per bin, and ranges last.
 */
enum {
    EKI_OCTAVE_SHORT = 10, /* the last one below EKI_LONG_NS, about */
    EKI_CLASS_NEVER = 0,   /* never measured, until a bin is expected */
    EKI_CLASSES_COARSE = 65 - EKI_OCTAVE_SHORT, /* of no fine bin, no range */
    /* From 131 us on a walk at random costs less than a percent; with ten tasks
     * a worker octaves cost 0.3 % of the makespan (ek-sim, retained, hopper).
     */
    EKI_BIN_FINE = 1 + 256 * 17,
    EKI_CLASS_FINE = 1 + 17 - EKI_OCTAVE_SHORT
};

/* How classes are told apart. */
struct eki_classes {
    int fine;  /* class of a bin less the bin, where that is more than its
                  octave's */
    int range; /* class of ranges, the last one */
};

/* Without branches: which way they go, durations say. */
EKI_INLINE unsigned eki_class_of(const struct eki_classes *classes, int bin)
{
    /* Of a bin that is one, 1 + its octave. */
    int coarse = (int)((unsigned)(bin + 255) / 256) - EKI_OCTAVE_SHORT;
    int fine = bin + classes->fine;
    if (EKI_UNLIKELY(bin == EKI_BIN_NEVER))
        return EKI_CLASS_NEVER;
    coarse = coarse > 1 ? coarse : 1;
    fine = fine > coarse ? fine : coarse;
    return (unsigned)(fine < classes->range ? fine : classes->range);
}

/* Where the next slot of a class goes, and where the class ends. */
struct eki_place {
    unsigned char *next, *end;
};

/* A slot, and its class less the first. */
struct eki_sort_key {
    const struct eki_slot *slot;
    unsigned class;
};

struct eki_sort {
    struct eki_local *local;
    struct eki_span aside, log, seeds;
    int64_t *starts; /* per class from FIRST on: how many slots it has, and
                        then where its next goes */
    unsigned first;  /* class of starts[0] */
    struct eki_classes classes;
    struct eki_sort_key *keys; /* [2 * slots], instead of starts, of few slots
                                  far apart: the first half counts */
    struct eki_place *places;  /* of a sort in place: per class from LOW on */
    unsigned char *hand;       /* of it, too: slots that change their places */
    struct eki_estimate *estimates;
    unsigned low, high; /* classes seen */
    int64_t slots, gone, kept, discarded;
    unsigned functions;
};

/* A discarded task and a range that was run are gone. */
EKI_INLINE bool eki_slot_is_gone(const struct eki_slot *slot)
{
    if (EKI_PLANTED(SKIPPED_GONE) && slot->flags & EKI_SLOT_SKIPPED)
        return true;
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

EKI_INLINE unsigned eki_sort_class(const struct eki_sort *sort,
                                   const struct eki_slot *slot)
{
    int bin = slot->bin;
    if (EKI_UNLIKELY(bin == EKI_BIN_NEVER))
        bin = (int)eki_estimate_bin(sort->estimates, slot);
    return eki_class_of(&sort->classes, bin);
}

/* The flags of a slot without what they say of the iteration that is over. */
EKI_INLINE uint8_t eki_slot_next_flags(uint8_t old)
{
    unsigned flags = old & (EKI_SLOT_SEED | EKI_SLOT_RANGE | EKI_SLOT_SET |
                            EKI_SLOT_ADOPTED);
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
    sort->log = (struct eki_span){eki_local_logged(local), local->log_end};
    sort->aside = (struct eki_span){local->stack_bottom, local->stack_bottom};
    if (local->aside)
        sort->aside.first -= local->aside * local->slot_bytes;
    sort->slots = eki_local_slots(local, sort->seeds.first, sort->seeds.last) +
                  eki_local_slots(local, sort->log.first, sort->log.last) +
                  local->aside;
}

/* Gather what stays in the array that holds more, which becomes that of the
 * seeds, and order it; false: no memory, and nothing has changed. */
bool eki_sort_in_place(struct eki_sort *sort, enum eki_order order);

#endif
