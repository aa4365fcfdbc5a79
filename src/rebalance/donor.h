/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * donor: what every rank does in a rebalance.  It tells its loads (totals.c),
 * lists its tasks (items.c), offers what is too much (offer.c), hears where
 * that goes (decisions.c) and sends it there (move.c).
 *
 * Of each task, in to[]:
 *
 *     its worker   it stays       TARGET: some are offered
 *     -1           it is open     PLAN: each gets a place
 *     a worker     it is decided  OVER: with the last one decided all move
 *
 * An OPEN makes tasks that stay open, too.
 */
#ifndef EKI_REBALANCE_DONOR_H
#define EKI_REBALANCE_DONOR_H

#include "rebalance/messages.h"

struct eki_balancer;

/* The tasks of this rank that may move, longest first for each worker: those of
 * worker W are [first[W], first[W + 1]). */
struct eki_donor {
    int64_t *first;         /* [workers_here + 1] */
    struct eki_item *items; /* their index counts within the worker */
    eki_ns *ns;             /* their durations */
    size_t *bytes;          /* that move with each, or NULL */
    int32_t *slots;         /* which seed of its worker each task is; also: */
    int32_t *to;            /* the worker where it goes; -1: not decided */
    int32_t *chosen;        /* scratch: what a worker sheds */
    bool *gives;            /* [workers_here], tasks to others */
    eki_ns pinned;          /* load of the rank that may not move */
    /* A duration measured here, and that of a rank of speed 1, count times
     * this: first as of speed 1, then as of the fastest rank. */
    double share, common;
    int64_t open;     /* tasks that are not decided */
    int64_t away;     /* tasks that must leave the node, at least */
    uint64_t owed_ns; /* by the data of tasks that leave home, see away.h */
    eki_ns most;      /* no duration counts for more */
    bool is_undone;   /* what was decided would be worse */
};

/* A range that has not run may not move: nobody knows what it costs.  Nor does
 * a task of a function that this rank has not registered, where ranks differed.
 */
static inline bool eki_donor_may_move(const struct eki_engine *engine,
                                      const struct eki_slot *slot)
{
    return !(slot->flags & EKI_SLOT_RANGE) &&
           slot->function < engine->function_count;
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

/* What a measured task counts. */
static inline eki_ns eki_donor_ns(const struct eki_donor *donor,
                                  const struct eki_slot *slot)
{
    uint64_t ns = eki_bin_ns(slot->bin);
    if (EKI_UNLIKELY(donor->share != 1))
        ns = (uint64_t)((double)ns * donor->share);
    return eki_donor_counted(donor, ns);
}

/* Slots, or items, of this rank. */
int64_t eki_donor_slots(const struct eki_balancer *balancer);
/* Of what is pinned to the rank each worker is expected to run an equal part.
 */
eki_ns eki_donor_pinned(const struct eki_balancer *balancer, int here);
/* What a worker of this rank cannot do of the target, for it is slower than the
 * fastest: it counts as load. */
eki_ns eki_donor_missing(const struct eki_balancer *balancer);

/* A TOTALS of zeros with room for all sizes, which are added last; NULL: no
 * memory. */
struct eki_parcel *eki_totals_make(const struct eki_balancer *balancer,
                                   int rank);
void eki_totals_add_sizes(struct eki_parcel *parcel,
                          const struct eki_sizes *sizes);
/* Tell the TOTALS of this rank. */
bool eki_donor_begin(struct eki_balancer *balancer);
/* List its tasks; those never measured count by their hints, in HINT_NS for
 * each function. */
bool eki_donor_list(struct eki_balancer *balancer, const double *hint_ns);
/* All tasks stay, so far. */
void eki_donor_keep(struct eki_balancer *balancer);
void eki_donor_free(struct eki_donor *donor);
/* A broken invariant in words, or NULL; O(tasks). */
const char *eki_donor_check(const struct eki_balancer *balancer);

/* What some workers of this rank have too much: to the PARCEL, whose LOADS end
 * its head, and to the sums of TOLD. */
bool eki_offer_fill(struct eki_balancer *balancer, struct eki_run workers,
                    struct eki_parcel *parcel, eki_ns *loads,
                    struct eki_offer_told *told);
/* Bytes that it may have behind its head. */
int64_t eki_offer_bytes(const struct eki_balancer *balancer,
                        struct eki_run workers);
/* Offer to every group what its workers on this rank have too much. */
bool eki_offers_send(struct eki_balancer *balancer);
eki_parcel_fn eki_offer_take_open;

eki_parcel_fn eki_donor_take_target;
eki_parcel_fn eki_donor_take_plans;
eki_parcel_fn eki_donor_take_over;
/* A task goes where PLAN says, if it is this rank's, and open, and that is one
 * of these WORKERS. */
bool eki_donor_decide(struct eki_balancer *balancer,
                      const struct eki_decode *decode,
                      const struct eki_plan_told *plan, struct eki_run workers);
/* Send the tasks where the leaders have decided. */
bool eki_donor_move(struct eki_balancer *balancer);

#endif
