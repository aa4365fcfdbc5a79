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
 * They travel over trees of ranks, one of all and one of each group: TOTALS and
 * RESULT are summed up on the way, OFFER, OPENED and LEFT joined (relay.c).
 * Only the plan of a task that another group was given comes straight from
 * there.  Then tasks move straight from donor to receiver.  A rank that runs
 * out of memory stops the phase: whoever has not moved its tasks yet keeps
 * them.
 *
 * Algorithm 2 of HPDC'12 is printed as a tree of vertices over the workers,
 * which are on ranks all over the job (vertices.c, balance/tree.h).  Between
 * TARGET and RESULT, which every rank then sends, it has instead:
 *
 *     worker, vertex -> the vertex above   UP     its load, what is left to
 * give vertex -> those below it             DOWN   what each of them gets
 *     worker -> donors                     FETCH  the tasks that it gets
 */
#ifndef EKI_REBALANCE_BALANCER_H
#define EKI_REBALANCE_BALANCER_H

#include "balance/tree.h"
#include "rebalance/messages.h"
#include "rebalance/rebalance.h"

/* Children of a rank in a tree. */
#define EKI_BRANCHES 8

/* Write the classes that have tasks to PUT, room for all; how many. */
static inline int64_t eki_sizes_tell(const struct eki_sizes *sizes,
                                     struct eki_size_told *put)
{
    int64_t n = 0;
    for (int size = 0; size < EKI_SIZES; size++) {
        if (sizes->counts[size] > 0)
            put[n++] = (struct eki_size_told){size, sizes->counts[size],
                                              sizes->shortest[size]};
    }
    return n;
}

/* The tasks of this rank that may move, longest first for each worker: those of
 * worker W are [first[W], first[W + 1]). */
struct eki_donor {
    int64_t *first;         /* [workers_here + 1] */
    struct eki_item *items; /* their index counts within the worker */
    int32_t *slots;         /* which seed of its worker each task is */
    int32_t *to;            /* the worker where it goes; -1: not decided */
    bool *gives;            /* [workers_here], tasks to others */
    eki_ns pinned;          /* load of the rank that may not move */
    int64_t open;           /* tasks that are not decided */
    int64_t away;           /* tasks that must leave the node, at least */
    eki_ns most;            /* no duration counts for more */
    bool has_target;        /* the root has said what is too much */
    bool is_over;           /* ... and that all is decided ... */
    bool is_undone;         /* ... and that it would be worse */
};

/* This rank in a tree of ranks FIRST ... LAST, on the first of which all others
 * hang. */
struct eki_relay {
    int first, last;
    int what;                 /* is gathered */
    int awaited;              /* parcels of it that are to come */
    unsigned heard;           /* a bit for each child that was heard */
    struct eki_parcel *parts; /* that have come; owned */
    bool has_plan;            /* the plan of the group has passed */
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
    const struct eki_section **heard; /* [ranks], while a parcel is taken */
    enum eki_leader_stage stage;
    eki_ns sum;     /* of the loads and tasks that it was told ... */
    eki_ns opened;  /* ... and of those tasks that were in the loads */
    eki_ns *loads;  /* [workers], lent to the pool */
    int32_t *nodes; /* [workers], likewise */
    int32_t node_count;
    struct eki_settle settle;
    int64_t fewest, fewest_across;
    eki_ns largest; /* the largest load before anything was shed */
};

/* An inner vertex of the printed tree that is on this rank. */
struct eki_vertex {
    int32_t number, first;        /* its own, and that of its first child */
    struct eki_children children; /* owned */
    struct eki_parcel **parts;    /* [children.count] that have come; owned */
    int awaited;                  /* children that have told nothing */
    eki_ns sum;                   /* of loads and items that it was told */
    /* What its children get: in the order in which they were given it. */
    struct eki_item *items; /* [count] */
    int32_t *given;         /* [count], to which child */
    int64_t count;
    bool is_settled; /* its children have been told */
};

/* What this rank does in the printed tree. */
struct eki_vertices {
    struct eki_tree tree;
    struct eki_vertex *list; /* [count], by their number */
    int count, unsettled;
    bool *is_told; /* [workers_here], workers that know what they get */
    int untold;
    struct eki_result_told result; /* of this rank */
};

/* What this rank and those that hang on it have told in this phase. */
struct eki_root {
    int totals_heard, results_heard; /* parcels */
    unsigned totals, results;        /* a bit for each child that was heard */
    eki_ns sum;                      /* of tasks that were left */
    struct eki_totals_told sums;
    struct eki_outlook outlook;
    bool has_unmeasured;     /* tasks */
    struct eki_known *known; /* [functions] */
    struct eki_sizes *sizes;
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
    struct eki_parcel *early; /* that wait for the target; owned */
    int groups, group_size;
    eki_ns target;
    bool slack;
    struct eki_totals totals;
    struct eki_donor donor;
    struct eki_leader *leaders; /* [leader_count] */
    int leader_count;
    struct eki_vertices vertices;
    struct eki_relay all;     /* the tree of all ranks ... */
    struct eki_relay *relays; /* ... and of the groups that it has workers of */
    int first_group, relay_count;
    int leading; /* children under which a group is led */
    struct eki_root root;
    struct eki_reached reached; /* rank 0; outlives the rebalance ... */
    struct eki_chooser chooser; /* ... likewise */
    struct eki_lap_told lap;    /* of this rank */
    bool was_quiet;             /* nobody stole in it */
    double imbalance;           /* of what ran in it, on all ranks */
    bool is_done; /* nothing more leaves this rank in this phase */
    struct eki_balance_report report;
    int64_t sent; /* tasks that have left this rank */
    struct eki_rebalance_own own;
};

/* Whether workers tell a tree of vertices what they shed, and not a leader. */
static inline bool eki_is_tree(const struct eki_balancer *balancer)
{
    return balancer->wish.is_printed && balancer->wish.printed.is_hierarchical;
}

/* The rank that leads GROUP. */
static inline int eki_leader_of(const struct eki_balancer *balancer, int group)
{
    return eki_topology_rank(balancer->engine->topology,
                             group * balancer->group_size);
}

/* Add where an item goes to what came of all. */
static inline void eki_result_add(const struct eki_balancer *balancer,
                                  const struct eki_item *item, int32_t to,
                                  struct eki_result_told *result)
{
    const struct eki_topology *topology = balancer->engine->topology;
    const int *nodes = topology->node_of_rank;
    if (to == item->from)
        return;
    result->moved++;
    result->across += nodes[eki_topology_rank(topology, item->from)] !=
                      nodes[eki_topology_rank(topology, to)];
    result->hash += eki_hash(
        eki_hash((uint64_t)item->from, (uint64_t)item->index), (uint64_t)to);
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

/* All functions that return bool: false means that there is no memory.  What
 * does not fit is refused, and dropped. */
bool eki_donor_begin(struct eki_balancer *balancer);
bool eki_donor_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel);
/* Send the tasks where the leaders have decided. */
bool eki_donor_move(struct eki_balancer *balancer);
void eki_donor_free(struct eki_donor *donor);

bool eki_leader_open(struct eki_balancer *balancer);
bool eki_leader_take(struct eki_balancer *balancer,
                     const struct eki_parcel *parcel);
void eki_leader_close(struct eki_balancer *balancer);

/* The vertices of this rank; what follows when its workers have told theirs
 * what they shed; an UP, which is owned from now on where *KEPT is set, or a
 * DOWN. */
bool eki_vertices_open(struct eki_balancer *balancer);
bool eki_vertices_begin(struct eki_balancer *balancer);
bool eki_vertices_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                       bool *kept);
void eki_vertices_close(struct eki_vertices *vertices);

bool eki_root_open(struct eki_balancer *balancer);
bool eki_root_take(struct eki_balancer *balancer,
                   const struct eki_parcel *parcel);
void eki_root_free(struct eki_balancer *balancer);
/* What all groups left. */
bool eki_share_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel);

/* The tree of all ranks, and of the groups when they are known. */
void eki_relay_open(struct eki_balancer *balancer);
bool eki_relay_open_groups(struct eki_balancer *balancer);
void eki_relay_close(struct eki_balancer *balancer);
int eki_relay_children(const struct eki_balancer *balancer,
                       const struct eki_relay *relay);
/* The parent of this rank, or itself. */
int eki_relay_above(const struct eki_balancer *balancer,
                    const struct eki_relay *relay);
/* Which child of this rank RANK is, or hangs on; -1: none. */
int eki_relay_branch(const struct eki_balancer *balancer,
                     const struct eki_relay *relay, int rank);
/* A part of what is gathered; *KEPT is set where it is owned from now on.  The
 * top gets all as a parcel that is its own. */
bool eki_relay_gather(struct eki_balancer *balancer, struct eki_parcel *parcel,
                      bool *kept);
/* Copies to the children.  *FITS: it comes from above. */
bool eki_relay_pass(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel, bool *fits);
/* Sections for the children, and this rank's own as a parcel to itself. */
bool eki_relay_split(struct eki_balancer *balancer,
                     const struct eki_parcel *parcel);
/* Whether the plans of all groups of this rank have passed. */
bool eki_relay_is_done(const struct eki_balancer *balancer);
/* The section after SECTION, or the first (NULL); NULL: none is left.  Whoever
 * calls knows that sections fit. */
const struct eki_section *eki_section_next(const struct eki_parcel *parcel,
                                           const struct eki_section *section);

#endif
