/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages around a decision of balance/: a restore phase in which every
 * rank is a *donor*, the rank of a group's first worker its *leader*, and rank
 * 0 the *root*.
 *
 *     donors to root     TOTALS   summed   loads, durations per function
 *     root to donors     TARGET   copied                                 (3)
 *     donors to leader   OFFER    joined   loads of the group, tasks shed
 *     leaders to root    LEFT     joined   holes, tasks without a place  (1)
 *     root to leaders    GIVEN    split    tasks of other groups         (1)
 *     leader to donors   OPEN     copied   which tasks are wanted, too   (2)
 *     donors to leader   OPENED   joined   these tasks                   (2)
 *     leader to donors   PLAN     split    where each task goes
 *     leaders to root    RESULT   summed
 *     root to donors     OVER     copied   figures of the decision
 *
 * (1) with several groups; (2) as often as the leader wants more; (3) again,
 * where groups end too far above the target: then all of it is decided anew,
 * by one leader.  Who is told so waits for the plans of the groups before.
 * They travel over trees of ranks (relay.c), one of all and one of each group.
 * Only the plan of a task that another group was given comes straight from
 * there.  Then tasks move straight from donor to receiver.  A rank that runs
 * out of memory stops the phase: whoever has not moved its tasks yet keeps
 * them.
 *
 * What decides between TARGET and RESULT is an *algorithm*: a table of the
 * parcels that it knows and some functions.  The one that is drawn here is
 * this module's; src/printed has others.
 *
 * Functions that return bool say false where there is no memory.
 */
#ifndef EKI_REBALANCE_BALANCER_H
#define EKI_REBALANCE_BALANCER_H

#include "rebalance/donor.h"
#include "rebalance/messages.h"

/* A rank in a tree of ranks FIRST ... LAST, on the first of which all others
 * hang. */
struct eki_relay {
    int rank, first, last;
    int what;                 /* is gathered */
    int awaited;              /* parts of it that are to come */
    unsigned heard;           /* a bit for each child that was heard */
    struct eki_parcels parts; /* that have come */
    /* Of a group: */
    bool has_plan;             /* it has passed */
    struct eki_leader *leader; /* NULL: of another rank */
};

/* The trees of this rank and of its groups, of which those are known later. */
struct eki_relays {
    struct eki_relay all;
    struct eki_relay *of_groups; /* [count], from group FIRST on */
    int first, count;
};

/* The rank of a group's first worker places what the group has shed. */
struct eki_leader {
    int group;
    struct eki_heard heard; /* of its ranks */
    /* What it waits for, and what it does then. */
    enum eki_leader_stage {
        EKI_STAGE_OFFERS, /* places all, or of several groups tells LEFT */
        EKI_STAGE_GIVEN,  /* places that, too */
        EKI_STAGE_OPENED, /* goes on: an OPEN, or the PLAN and a RESULT */
        EKI_STAGE_OVER    /* knows nothing more to do */
    } stage;
    eki_ns sum;    /* of the loads and tasks that it was told ... */
    eki_ns opened; /* ... and of those tasks that were in the loads */
    struct eki_settle settle; /* the loads and nodes of its pool are owned */
    struct eki_offer_told offers; /* all of them; workers: not counted */
};

/* What this rank and those that hang on it have told in this phase. */
struct eki_root {
    struct eki_relay totals_relay, results_relay;
    struct eki_parcel *totals; /* what they have, as a TOTALS, but its sizes */
    struct eki_totals_told *sums;
    struct eki_known *known; /* [functions] */
    struct eki_sizes *sizes;
    struct eki_result_told result;
    /* Of rank 0. */
    struct eki_target_told *target; /* with the hints behind it */
    struct eki_outlook outlook;
    bool has_unmeasured; /* tasks */
};

enum {
    EKI_OF_GROUP = 1, /* it is passed over the tree of its group */
    EKI_IS_LATE = 2   /* it waits for the target */
};

/* How a kind of parcel travels; zeros: the algorithm has none such. */
struct eki_way {
    eki_parcel_fn *pass; /* what every rank does with one that comes ... */
    eki_parcel_fn *take; /* ... and with what is for it, where that differs */
    int flags;
    size_t bytes; /* of its head, where all have the same length; 0: any */
};

struct eki_algorithm {
    const struct eki_way *ways; /* [EKI_PARCEL_OVER + 1] */
    /* How many vertices or workers the group of a parcel is one of; NULL: the
     * group is one. */
    int (*groups)(const struct eki_balancer *balancer, int what);
    /* What is too much for a worker, and whether all are one group. */
    void (*aim)(const struct eki_balancer *balancer,
                struct eki_target_told *told);
    /* Which of its tasks a worker sheds: *N indices to CHOSEN, ascending. */
    bool (*shed)(struct eki_balancer *balancer, const struct eki_donation *from,
                 int32_t *chosen, int64_t *n);
    /* All tasks are listed, and some are to be shed. */
    bool (*begin)(struct eki_balancer *balancer);
    /* A leader has all tasks in its pool that it is to place. */
    bool (*settle)(struct eki_balancer *balancer, struct eki_leader *leader);
    /* Whether this rank has passed on all that others wait for. */
    bool (*is_done)(const struct eki_balancer *balancer);
    void (*close)(struct eki_balancer *balancer);
    eki_ns least_gain; /* of the largest load: with less, all tasks stay */
    bool remembers;    /* how far it came, and aims no further */
};

/* What is remembered from rebalance to rebalance, and of what ran between. */
struct eki_past {
    struct eki_remembered last;
    struct eki_lap_told lap; /* of this rank */
    bool was_quiet;          /* nobody stole in it */
    struct eki_stayed {      /* of this rank, in the last rebalance */
        int64_t count, ns;   /* tasks, and what they took ... */
        double share;        /* ... times this */
    } stayed;
};

/* One rank's part of the last rebalance.  Many members: the steps of a
 * rebalance share it, and each has a struct in it. */
struct eki_balancer {
    struct eki_protocol protocol; /* first */
    struct eki_engine *engine;
    const struct eki_topology *topology;
    bool is_prepared; /* for a first rebalance, at least */
    struct eki_balance_wish wish;
    const struct eki_algorithm *algorithm;
    struct eki_mail mail;
    struct eki_parcels arrived; /* that are whole and were not taken yet */
    struct eki_parcel *taken;   /* just now; NULL: who takes it owns it */
    int groups, group_size;
    /* What the root has said: what is too much, and that all is decided. */
    bool has_target, is_over;
    eki_ns target;
    bool slack;
    struct eki_totals totals;
    struct eki_donor donor;
    struct eki_vertices *vertices; /* of src/printed, or NULL */
    struct eki_relays relays;
    struct eki_root root;
    struct eki_past past;
    bool is_done; /* nothing more leaves this rank in this phase */
    struct eki_balance_report report;
    struct eki_rebalance_own own;
};

static inline struct eki_run
eki_all_workers(const struct eki_balancer *balancer)
{
    return (struct eki_run){0, balancer->topology->workers - 1};
}

/* The workers of GROUP ... */
static inline struct eki_run eki_group_run(const struct eki_balancer *balancer,
                                           int group)
{
    int first = group * balancer->group_size;
    int rest = balancer->topology->workers - first;
    int size = rest < balancer->group_size ? rest : balancer->group_size;
    return (struct eki_run){first, first + size - 1};
}

/* ... and those of them that are on RANK. */
static inline struct eki_run
eki_group_on_rank(const struct eki_balancer *balancer, int group, int rank)
{
    const int *first = &balancer->topology->first_worker[rank];
    struct eki_run run = eki_group_run(balancer, group);
    run.first = first[0] > run.first ? first[0] : run.first;
    run.last = first[1] - 1 < run.last ? first[1] - 1 : run.last;
    return run;
}

/* Which worker of this rank one is. */
static inline int eki_here(const struct eki_balancer *balancer, int worker)
{
    return worker - balancer->topology->first_worker[balancer->topology->rank];
}

/* The rank that leads GROUP. */
static inline int eki_leader_of(const struct eki_balancer *balancer, int group)
{
    return eki_topology_rank(balancer->topology, group * balancer->group_size);
}

/* Of a TARGET. */
static inline size_t eki_target_bytes(const struct eki_balancer *balancer)
{
    return sizeof(struct eki_target_told) +
           (size_t)balancer->engine->function_count * sizeof(double);
}

static inline const struct eki_way *
eki_way_of(const struct eki_balancer *balancer, int what)
{
    return &balancer->algorithm->ways[what];
}

/* Tell this rank's part of the RESULT to itself, where that is summed up. */
static inline bool eki_result_send(struct eki_balancer *balancer, int group,
                                   const struct eki_result_told *result)
{
    return eki_mail_send_copy(&balancer->mail, balancer->topology->rank,
                              EKI_PARCEL_RESULT, group, result, sizeof *result);
}

/* Add where an item goes to what came of all. */
static inline void eki_result_add(const struct eki_balancer *balancer,
                                  const struct eki_item *item, int32_t to,
                                  struct eki_result_told *result)
{
    const struct eki_topology *topology = balancer->topology;
    const int *nodes = topology->node_of_rank;
    if (to == item->from)
        return;
    result->moved++;
    result->across += nodes[eki_topology_rank(topology, item->from)] !=
                      nodes[eki_topology_rank(topology, to)];
    result->hash += eki_hash(
        eki_hash((uint64_t)item->from, (uint64_t)item->index), (uint64_t)to);
}

/* Of the algorithm that is drawn above. */
extern const struct eki_way eki_leaders_ways[EKI_PARCEL_OVER + 1];
bool eki_leaders_begin(struct eki_balancer *balancer);

bool eki_leaders_open(struct eki_balancer *balancer);
void eki_leaders_close(struct eki_balancer *balancer);
eki_parcel_fn eki_leader_take_offers, eki_leader_take_opened,
    eki_leader_take_given;
/* Place all items of the pool, or ask for more. */
bool eki_leader_settle(struct eki_balancer *balancer,
                       struct eki_leader *leader);
/* All items of the pool have places: tell where, and what came of it. */
bool eki_leader_finish(struct eki_balancer *balancer,
                       struct eki_leader *leader);

/* Learn how fast this rank is from the tasks that the last rebalance brought
 * here and that have run since, while nobody stole. */
void eki_speed_learn(struct eki_balancer *balancer);

bool eki_root_open(struct eki_balancer *balancer);
void eki_root_free(struct eki_balancer *balancer);
eki_parcel_fn eki_root_take_totals, eki_root_take_result;
/* Aim as src/balance does. */
void eki_root_aim(const struct eki_balancer *balancer,
                  struct eki_target_told *told);
/* What all groups have left is given to those with room. */
eki_parcel_fn eki_share_take;

/* Children of a rank in a tree. */
#define EKI_BRANCHES 8

int eki_relay_children(const struct eki_relay *relay);
/* The parent of this rank, or itself. */
int eki_relay_above(const struct eki_relay *relay);
/* So many parts are to come. */
void eki_relay_expect(struct eki_relay *relay, int what, int parts);
/* A part comes from this rank, or once from a child, while it is awaited. */
bool eki_relay_hears(struct eki_relay *relay, const struct eki_decode *decode,
                     int what);

bool eki_relay_open_groups(struct eki_balancer *balancer);
void eki_relay_close_groups(struct eki_relays *relays);
/* A part of what is gathered.  The top gets all as a parcel that is its own. */
eki_parcel_fn eki_relay_gather;
/* Copies to the children, and this rank takes it, too. */
eki_parcel_fn eki_relay_pass;
/* Sections for the children, and this rank's own as a parcel to itself. */
eki_parcel_fn eki_relay_split;
/* Whether the plans of all groups of this rank have passed. */
bool eki_relay_is_done(const struct eki_balancer *balancer);

#endif
