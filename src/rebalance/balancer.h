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
 *     leader -> donors   OPEN     which tasks are wanted, too
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

#include "engine/decode.h"
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

/* Hints are summed in whole numbers of this part of 1, so that sums do not
 * depend on their order.  The least hint, 2^-16, is 4 of them, and half a
 * billion of the largest, 2^16, fit 63 bits. */
#define EKI_HINT_UNIT (1 << 18)

/* No load, nor sum of loads, is longer: 73 years. */
#define EKI_NS_MOST (INT64_MAX / 4)

/* What is known of the durations of a function. */
struct eki_known {
    int64_t measured, measured_ns; /* tasks that have run, and their sum */
    int64_t unmeasured, hints; /* tasks that have not; hints in EKI_HINT_UNIT */
    int64_t largest_hint;
};

/* The head of a TOTALS; a struct eki_known for each function follows, and the
 * measured tasks by size, where they are few. */
struct eki_totals_told {
    struct eki_totals totals; /* of measured tasks, but TASKS is of all */
    double variance;          /* the largest of a worker's load, ns^2 */
};

/* Tasks of one class of struct eki_sizes. */
struct eki_size_told {
    int64_t size, count;
    eki_ns shortest;
};

/* The head of a TARGET; for each function the nanoseconds of a unit of hint
 * follow, as doubles. */
struct eki_target_told {
    eki_ns target;
    int64_t slack, is_balanced; /* 0 or 1 */
    int64_t is_whole;           /* likewise: all workers are one group */
    struct eki_totals totals;   /* of all tasks */
};

/* The head of an OFFER; the load that each worker keeps follows, and the items
 * that were shed. */
struct eki_offer_told {
    int64_t workers, items, fewest;
    eki_ns largest; /* the largest load before anything was shed */
};

/* An OPEN: the tasks that workers of the group have kept, of these durations.
 */
struct eki_open_told {
    eki_ns least, most; /* more than the least, at most the most */
};

/* An entry of a PLAN: where one task goes. */
struct eki_plan_told {
    int32_t from, index, to, reserved;
};

/* A RESULT of one group, or an OVER of all. */
struct eki_result_told {
    eki_ns before, after; /* the largest loads */
    int64_t moved, fewest;
    uint64_t hash;
};

/* The tasks of this rank that may move, longest first for each worker: those of
 * worker W are [first[W], first[W + 1]). */
struct eki_donor {
    int64_t *first;         /* [workers_here + 1] */
    struct eki_item *items; /* their index counts within the worker */
    int32_t *slots;         /* which seed of its worker each task is */
    int32_t *to;            /* the worker where it goes; -1: not decided */
    int64_t open;           /* tasks that are not decided */
    eki_ns most;            /* no duration counts for more */
    bool has_target;        /* the root has said what is too much */
    bool is_over;           /* ... and that all is decided ... */
    bool is_undone;         /* ... and that it would be worse */
};

/* What a leader waits for. */
enum eki_leader_stage {
    EKI_STAGE_OFFERS,
    EKI_STAGE_GIVEN,
    EKI_STAGE_OPENED,
    EKI_STAGE_OVER
};

/* A group that this rank leads. */
struct eki_leader {
    int group, first, workers; /* workers [first, first + workers) */
    int first_rank, ranks;
    struct eki_parcel **heard; /* [ranks], in the stage that it is in; owned */
    enum eki_leader_stage stage;
    int awaited;    /* parcels until the stage is over */
    eki_ns sum;     /* of all that it was told: below EKI_NS_MOST */
    eki_ns *loads;  /* [workers], lent to the pool */
    int32_t *nodes; /* [workers], likewise */
    int32_t node_count;
    struct eki_settle settle;
    int64_t fewest;
    eki_ns largest; /* the largest load before anything was shed */
};

/* What rank 0 has heard in this phase; NULL on all others. */
struct eki_root {
    int totals_heard, left_heard, results_heard; /* parcels ... */
    bool *has_totals;                            /* ... of ranks [size] ... */
    bool *has_result;                            /* ... and groups [groups] */
    eki_ns sum;                                  /* of tasks that were left */
    struct eki_totals totals;
    double variance;
    struct eki_known *known; /* [functions] */
    struct eki_sizes *sizes;
    struct eki_group *told;   /* [groups] */
    struct eki_parcel **left; /* [groups]; owned */
    struct eki_result_told result;
};

/* How far the last rebalance came that did not come to the target. */
struct eki_reached {
    double ratio; /* of the largest load to the bound; 0: it came there */
    int64_t tasks;
    int32_t group;
};

/* One rank's part of the last rebalance. */
struct eki_balancer {
    struct eki_engine *engine;
    struct eki_balance_wish wish;
    struct eki_mail mail;
    /* Parcels that are whole and were not taken yet. */
    struct eki_parcel *arrived, **arrived_end;
    int groups, group_size;
    eki_ns target;
    bool slack;
    struct eki_totals totals;
    struct eki_donor donor;
    struct eki_leader *leaders; /* [leader_count] */
    int leader_count;
    struct eki_root root;       /* rank 0 */
    struct eki_reached reached; /* rank 0; outlives the rebalance */
    bool is_done; /* nothing more leaves this rank in this phase */
    struct eki_balance_report report;
    int64_t sent; /* tasks that have left this rank */
};

/* The rank that leads GROUP. */
static inline int eki_leader_of(const struct eki_balancer *balancer, int group)
{
    return eki_topology_rank(balancer->engine->topology,
                             group * balancer->group_size);
}

static inline const char *eki_parcel_name(int what)
{
    static const char *const names[] = {
        "parcel",      "parcel totals", "parcel target", "parcel offer",
        "parcel left", "parcel given",  "parcel open",   "parcel opened",
        "parcel plan", "parcel result", "parcel over"};
    return names[what];
}

/* Whose parcel is decoded. */
static inline struct eki_decode
eki_parcel_decode(const struct eki_balancer *balancer,
                  const struct eki_parcel *parcel)
{
    return (struct eki_decode){balancer->engine, eki_parcel_name(parcel->what),
                               parcel->rank};
}

/* Workers [*FIRST, *LAST] of RANK that are of GROUP; none: LAST < FIRST. */
static inline void eki_group_here(const struct eki_balancer *balancer,
                                  int group, int rank, int *first, int *last)
{
    const struct eki_topology *topology = balancer->engine->topology;
    int begin = group * balancer->group_size;
    int end = balancer->group_size < topology->workers - begin
                  ? begin + balancer->group_size
                  : topology->workers;
    *first = topology->first_worker[rank] > begin ? topology->first_worker[rank]
                                                  : begin;
    *last = (topology->first_worker[rank + 1] < end
                 ? topology->first_worker[rank + 1]
                 : end) -
            1;
}

/* Items of workers FIRST ... LAST, whose durations are added to *SUM. */
static inline bool eki_fits_items(const struct eki_decode *decode,
                                  const struct eki_item *items, int64_t count,
                                  int first, int last, eki_ns *sum)
{
    for (int64_t i = 0; i < count; i++) {
        if (!eki_fits(decode, "worker of a task", items[i].from, first, last) ||
            !eki_fits(decode, "index of a task", items[i].index, 0,
                      INT32_MAX) ||
            !eki_fits(decode, "duration of a task", items[i].ns, 0,
                      EKI_NS_MOST - *sum))
            return false;
        *sum += items[i].ns;
    }
    return true;
}

/* A body of whole ITEM_BYTES behind the HEAD_BYTES. */
static inline bool eki_fits_parcel(const struct eki_decode *decode,
                                   const struct eki_parcel *parcel,
                                   size_t head_bytes, size_t item_bytes)
{
    int64_t rest = parcel->bytes - (int64_t)head_bytes;
    return eki_fits(decode, "bytes", parcel->bytes, (int64_t)head_bytes,
                    INT64_MAX) &&
           eki_fits_one(decode, "bytes too many", rest % (int64_t)item_bytes,
                        0);
}

/* All functions that return bool: false means that there is no memory.  What
 * does not fit is refused, and dropped. */
bool eki_donor_begin(struct eki_balancer *balancer);
bool eki_donor_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel);
/* Send the tasks where the leaders have decided. */
bool eki_donor_move(struct eki_balancer *balancer);
void eki_donor_free(struct eki_donor *donor);

bool eki_leader_open(struct eki_balancer *balancer);
/* Rank 0 leads all workers as one group instead. */
bool eki_leader_whole(struct eki_balancer *balancer);
/* *KEPT is set where the parcel is owned from now on. */
bool eki_leader_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                     bool *kept);
void eki_leader_close(struct eki_balancer *balancer);

bool eki_root_open(struct eki_balancer *balancer);
bool eki_root_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                   bool *kept);
void eki_root_free(struct eki_balancer *balancer);

#endif
