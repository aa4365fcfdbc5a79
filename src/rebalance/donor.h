/* SPDX-License-Identifier: BSD-3-Clause */
/* What a donor counts, for what it tells (totals.c) and what it gives
 * (donor.c). */
#ifndef EKI_REBALANCE_DONOR_H
#define EKI_REBALANCE_DONOR_H

#include "rebalance/balancer.h"

/* A range that has not run may not move: nobody knows what it costs.  Nor does
 * a task of a function that this rank has not registered, where ranks differed.
 */
static inline bool eki_donor_may_move(const struct eki_engine *engine,
                                      const struct eki_slot *slot)
{
    return !(slot->flags & EKI_SLOT_RANGE) &&
           slot->function < engine->function_count;
}

/* Slots, or items, of this rank. */
static inline int64_t eki_donor_slots(const struct eki_balancer *balancer)
{
    int64_t n = 0;
    if (balancer->wish.items)
        return balancer->wish.items->count;
    for (int here = 0; here < balancer->engine->topology->workers_here;
         here++) {
        const struct eki_local *local = &balancer->engine->workers[here]->local;
        n += eki_local_slots(local, local->seed_base, local->seed_end);
    }
    return n;
}

/* Of a task that was never measured, in EKI_HINT_UNIT. */
static inline int64_t eki_donor_hint(const struct eki_slot *slot)
{
    return (int64_t)(eki_hint_cost(slot->deviation) * EKI_HINT_UNIT + 0.5);
}

/* Durations are cut at 2.4 hours, or at what lets the sum of all tasks fit. */
static inline eki_ns eki_donor_counted(const struct eki_donor *donor,
                                       uint64_t ns)
{
    return ns < (uint64_t)donor->most ? (eki_ns)ns : donor->most;
}

/* Of what is pinned to the rank each worker is expected to run an equal part.
 */
static inline eki_ns eki_donor_pinned(const struct eki_balancer *balancer,
                                      int here)
{
    int workers = balancer->engine->topology->workers_here;
    eki_ns pinned = balancer->donor.pinned;
    return pinned / workers + (here < pinned % workers);
}

/* Write what this rank has to a TOTALS, whose HEAD is known. */
void eki_donor_tell(struct eki_balancer *balancer, struct eki_parcel *parcel,
                    int64_t head, struct eki_sizes *sizes);

#endif
