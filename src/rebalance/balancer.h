/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages around a decision of balance/: a restore phase in which every
 * rank is a *donor*, the rank of a group's first worker its *leader*, and rank
 * 0 the *root*.
 *
 *     donors -> root     TOTALS   loads in all, durations per function
 *     root -> donors     TARGET
 *     donors -> leader   OFFER    loads of the group, tasks that were shed
 *     leaders -> root    LEFT     holes, tasks without a place   (two levels)
 *     root -> leaders    GIVEN    tasks of other groups          (two levels)
 *     leader -> donors   OPEN     workers that may give more
 *     donors -> leader   OPENED   their tasks
 *     leader -> donors   PLAN     where each task goes
 *     leaders -> root    RESULT
 *     root -> donors     OVER     figures of the decision
 *
 * Then tasks move straight from donor to receiver.  A rank that runs out of
 * memory stops the phase: whoever has not moved its tasks yet keeps them.
 */
#ifndef EKI_REBALANCE_BALANCER_H
#define EKI_REBALANCE_BALANCER_H

#include "engine/offers.h"
#include "rebalance/parcel.h"
#include "rebalance/rebalance.h"

enum eki_parcel_kind {
    EKI_PARCEL_TOTALS = 1,
    EKI_PARCEL_TARGET,
    EKI_PARCEL_OFFER,
    EKI_PARCEL_LEFT,
    EKI_PARCEL_GIVEN,
    EKI_PARCEL_OPEN,
    EKI_PARCEL_OPENED,
    EKI_PARCEL_PLAN,
    EKI_PARCEL_RESULT,
    EKI_PARCEL_OVER
};

/* Hints in whole numbers, so that sums do not depend on their order. */
#define EKI_HINT_UNIT (1 << 18)

/* Durations of a function. */
struct eki_known {
    int64_t measured, measured_ns;
    int64_t unmeasured, hints; /* in EKI_HINT_UNIT */
    int64_t largest_hint;
};

/* TOTALS; known[] for each function follow. */
struct eki_totals_told {
    struct eki_totals totals; /* of measured tasks, but TASKS is of all */
    double variance;          /* largest of a worker's load, ns^2 */
};

/* TARGET; for each function the nanoseconds of a hint of 1 follow, as doubles.
 */
struct eki_target_told {
    eki_ns target;
    int64_t slack, is_balanced;
    struct eki_totals totals; /* of all tasks */
};

/* OFFER; loads of what stays, and items follow. */
struct eki_offer_told {
    int64_t workers, items, fewest;
    eki_ns largest; /* load, with them */
};

/* PLAN: entries. */
struct eki_plan_told {
    int32_t from, index, to, reserved;
};

/* RESULT and OVER. */
struct eki_result_told {
    eki_ns before, after; /* largest loads */
    int64_t moved, fewest;
    uint64_t hash;
};

/* This rank's tasks. */
struct eki_donor {
    int64_t *first;         /* [workers_here + 1] */
    struct eki_item *items; /* longest first; index: which of the worker's */
    int32_t *slots;         /* ... and which of its seeds that is */
    int32_t *to;            /* ... and where it goes; -1: not decided */
    int64_t open;           /* items that are not decided */
    bool is_over;           /* the root has said so ... */
    bool is_undone;         /* ... and that it would be worse */
};

/* A group that this rank leads. */
struct eki_leader {
    int group, first, workers; /* workers [first, first + workers) */
    int first_rank, ranks;
    struct eki_parcel **heard; /* [ranks], of the stage that it waits for */
    int awaited;
    eki_ns *loads;
    struct eki_pool pool;
    int round; /* of opening */
    int64_t fewest;
    eki_ns largest; /* load before */
};

struct eki_root {
    int totals_heard, left_heard, results_heard;
    struct eki_totals totals;
    double variance;
    struct eki_known *known;  /* [functions] */
    struct eki_group *told;   /* [groups] */
    struct eki_parcel **left; /* [groups] */
    struct eki_result_told result;
};

/* One rank's part of the last rebalance. */
struct eki_balancer {
    struct eki_engine *engine;
    struct eki_balance_wish wish;
    struct eki_mail mail;
    struct eki_parcel *arrived, **arrived_end; /* whole, to be taken */
    int groups, group_size;
    eki_ns target;
    bool slack;
    struct eki_totals totals;
    struct eki_donor donor;
    struct eki_leader *leaders; /* [leader_count] */
    int leader_count;
    struct eki_root root; /* rank 0 */
    bool is_done;
    struct eki_balance_report report;
    int64_t sent; /* tasks that left this rank */
};

/* Each returns false where there is no memory. */
bool eki_donor_begin(struct eki_balancer *balancer);
bool eki_donor_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel);
/* Where tasks go is decided: send them there. */
bool eki_donor_move(struct eki_balancer *balancer);
void eki_donor_free(struct eki_donor *donor);

bool eki_leader_open(struct eki_balancer *balancer);
/* Keeps the parcel where it says so in *KEPT. */
bool eki_leader_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                     bool *kept);
void eki_leader_free(struct eki_leader *leader);

bool eki_root_open(struct eki_balancer *balancer);
bool eki_root_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                   bool *kept);
void eki_root_free(struct eki_balancer *balancer);

#endif
