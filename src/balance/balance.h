/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * balance: who gets which task, decided from durations alone.  Pure functions
 * over arrays: no messages, no threads, no random numbers, the same decision
 * for the same input.
 *
 * Words.  The *target* is the load that no worker shall exceed.  A *donor* is
 * above it and sheds tasks into a *pool*; a *hole* is what a worker is below
 * it.  A *group* is a run of workers that settles among itself what it can;
 * what is left goes to the *root*.  Where an item fits into no hole, a worker
 * takes it that sheds shorter tasks instead; to *open* workers is to ask for
 * the tasks that they had kept.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3: centralized
 * and hierarchical persistence-based rebalancing.  There donors shed their
 * shortest tasks; ours the longest that fit, which moves a third as many, and
 * the least loaded worker takes each.  The algorithms as printed are in
 * src/printed.
 */
#ifndef EKI_BALANCE_H
#define EKI_BALANCE_H

#include "base/base.h"

/* Loads and durations are integer nanoseconds, so that sums do not depend on
 * their order. */
typedef int64_t eki_ns;

/* A task that may move. */
struct eki_item {
    eki_ns ns;
    int32_t from;  /* worker */
    int32_t index; /* which of its tasks */
};

/* Workers that settle something among themselves. */
struct eki_pool {
    int32_t first, workers; /* the first worker's number, and how many */
    eki_ns target;
    bool slack;           /* the target is beyond the mean load */
    const int32_t *nodes; /* [workers], from 0 on; borrowed, or NULL */
    int32_t node_count;
    eki_ns *loads; /* [workers], of what stays and what was placed; borrowed */
    int64_t count;
    struct eki_item *items; /* [count], longest first */
    int32_t *places;        /* [count], worker from 0 on; -1: none yet */
    int32_t *starts;        /* [count], the place that each was added with */
};

/* How many tasks there are of about each length, and the shortest of them: in
 * classes of so many bins of durations, an eighth of an octave. */
#define EKI_SIZE_BINS 32
#define EKI_SIZES 513
struct eki_sizes {
    int64_t counts[EKI_SIZES];
    eki_ns shortest[EKI_SIZES];
};

/* With more tasks per worker than this the bound of eki_sizes_bound() is less
 * than 0.3 % beyond the mean load, the least tolerance. */
#define EKI_CROWD 333

void eki_sizes_add(struct eki_sizes *sizes, eki_ns ns);
/* Add COUNT tasks of class SIZE. */
void eki_sizes_merge(struct eki_sizes *sizes, int size, int64_t count,
                     eki_ns shortest);
/* The load that some worker has because there are more tasks than workers. */
eki_ns eki_sizes_bound(const struct eki_sizes *sizes, int64_t workers);

struct eki_totals {
    eki_ns total, largest_load, largest_task;
    eki_ns crowd; /* eki_sizes_bound() of all tasks, or less */
    int64_t workers, tasks;
};

/* The load that no schedule can go below: the mean, the longest task, or what
 * one of the workers has because there are more tasks than workers. */
eki_ns eki_balance_bound(const struct eki_totals *totals);
/* The bound and a tolerance EPS beyond it. */
eki_ns eki_balance_target(const struct eki_totals *totals, double eps);
/* How far the loads of workers stray, as standard deviations. */
struct eki_noise {
    eki_ns largest, sum; /* of all workers */
};

/* How far the largest load strays from the mean by that alone, as a part of it:
 * as the worker does that strays most, or as the largest of so many. */
double eki_balance_noise(const struct eki_noise *noise,
                         const struct eki_totals *totals);
/* The tolerance beyond the bound that is worth asking for.  The mean load, and
 * what few tasks come to, have at least 0.3 %, or a tenth of the mean task over
 * the mean load; the longest task has none of that.  All have the noise of the
 * durations up to 5 %: what varies more is not noise alone. */
double eki_balance_tolerance(const struct eki_totals *totals, double noise);
/* Whether tasks are so few that groups could not settle among themselves: then
 * one place decides for all. */
bool eki_balance_is_few(const struct eki_totals *totals);
/* Whether one place is to decide for all where groups settled among themselves
 * and left EXCESS above the target: the iterations to come gain more by it. */
bool eki_balance_is_worth_more(const struct eki_totals *totals, eki_ns excess);
/* Whether the target leaves room beyond the mean load. */
bool eki_balance_has_slack(const struct eki_totals *totals);

/*
 * What a worker sheds: of its durations NS, longest first, to come from LOAD to
 * TARGET or just below with as few tasks as possible: the longest while they
 * fit, then the shortest that covers the rest.  Writes the indices to SHED
 * (room for COUNT), ascending; returns how many.
 */
int64_t eki_balance_shed(const eki_ns *ns, int64_t count, eki_ns load,
                         eki_ns target, int32_t *shed);
/* With fewer tasks shed the worker is above TARGET, whatever they are. */
int64_t eki_balance_fewest(const eki_ns *ns, int64_t count, eki_ns load,
                           eki_ns target);

/* A worker above the target whose tasks, longest first, bring data along. */
struct eki_donation {
    const eki_ns *ns;    /* [count] */
    const size_t *bytes; /* [count]; their sum fits 63 bits */
    int64_t count;
    eki_ns load, target;
};

/*
 * Likewise with as few bytes as it can, at most twice the fewest; of equal
 * bytes it sheds what eki_balance_shed() does.  Writes the indices to SHED,
 * ascending, *COUNT of them; no choice has less than *FEWEST bytes.  False: no
 * memory.
 */
bool eki_balance_shed_light(const struct eki_donation *donation, int32_t *shed,
                            int64_t *count, size_t *fewest);

/* Longest first, as unsigned numbers; ties keep their order.  False: no memory.
 */
bool eki_items_sort(struct eki_item *items, int64_t count);

/* Sort COUNT items, and add them to the pool: they have no place yet, or that
 * of their worker; of equal ones those of the pool are first.  False: no
 * memory, nothing has changed. */
bool eki_pool_add(struct eki_pool *pool, struct eki_item *items, int64_t count,
                  bool are_home);
/* An item goes to a worker, or -1. */
static inline void eki_pool_put(struct eki_pool *pool, int64_t item,
                                int32_t place)
{
    eki_ns ns = pool->items[item].ns;
    if (pool->places[item] >= 0)
        pool->loads[pool->places[item]] -= ns;
    if (place >= 0)
        pool->loads[place] += ns;
    pool->places[item] = place;
}
/* Move COUNT items that have no place, CHOSEN by ascending index, to OUT; with
 * NULL all that have none.  Returns how many. */
int64_t eki_pool_take_out(struct eki_pool *pool, const int32_t *chosen,
                          int64_t count, struct eki_item *out);
void eki_pool_free(struct eki_pool *pool);
/* Broken invariant as text, or NULL; O(count + workers). */
const char *eki_pool_check(const struct eki_pool *pool);

/* What becomes of an item that fits nowhere. */
enum eki_misfit {
    EKI_MISFIT_STAYS, /* it gets no place */
    EKI_MISFIT_FORCED /* it goes to the least loaded worker */
};

/*
 * Place the items that have none: into the smallest hole that takes them or,
 * with slack, the largest.  False: no memory, nothing has changed.
 */
bool eki_pool_place(struct eki_pool *pool, enum eki_misfit misfit);

/* Items from FROM on have the places again with which they were added. */
void eki_pool_reset(struct eki_pool *pool, int64_t from);
/* Place the items from FROM on anew: each stays where it was added, goes into a
 * hole, or displaces shorter ones.  False: no memory, some have no place. */
bool eki_pool_sweep(struct eki_pool *pool, int64_t from);

/* Place all items anew, longest first: each stays on the worker that it is from
 * if that then has at most MOST, else it goes to the least loaded.  False: no
 * memory, nothing has changed. */
bool eki_pool_longest_first(struct eki_pool *pool, eki_ns most);

/* Whether a worker is above the target. */
bool eki_pool_has_over(const struct eki_pool *pool);
eki_ns eki_pool_largest_load(const struct eki_pool *pool);
/* Items that are not where they came from. */
int64_t eki_pool_moved(const struct eki_pool *pool);

/* Move and swap placed items until no worker is above the target, or nothing
 * helps.  False: no memory. */
bool eki_pool_repair(struct eki_pool *pool);

/* What comes next where a group settles. */
enum eki_settle_next {
    EKI_SETTLE_DONE, /* all items have places */
    EKI_SETTLE_OPEN, /* tasks of its workers are wanted */
    EKI_SETTLE_NO_MEMORY
};

/* How much of a group has opened. */
enum eki_settle_stage {
    EKI_SETTLE_CLOSED,
    EKI_SETTLE_FEW,   /* workers with large holes, where that may do ... */
    EKI_SETTLE_SHORT, /* ... all, tasks no longer than the first misfit ... */
    EKI_SETTLE_ALL    /* ... all tasks */
};

/*
 * A group that settles what it has.  It is told of tasks, and answers what it
 * wants, wherever they are: by messages, or in arrays.  Zeroed but for the
 * pool, which is open.
 */
struct eki_settle {
    struct eki_pool pool;
    enum eki_settle_stage stage;
    int64_t from; /* the first item that fitted nowhere */
    /* It wants the tasks of LEAST < duration <= MOST ... */
    eki_ns least, most;
    int32_t *opened; /* ... of these workers, ascending; NULL: of all; owned */
    int32_t opened_count;
};

void eki_settle_free(struct eki_settle *settle);
/* One of several groups: place what it can, and give away *COUNT items to LEFT
 * (room for all): what is too much for the group, and what fits nowhere. Before
 * eki_settle_begin(); false: no memory. */
bool eki_settle_share(struct eki_settle *settle, struct eki_item *left,
                      int64_t *count);
/* Place all items of the pool. */
enum eki_settle_next eki_settle_begin(struct eki_settle *settle);
/* What was wanted; sorts ITEMS. */
enum eki_settle_next eki_settle_opened(struct eki_settle *settle,
                                       struct eki_item *items, int64_t count);

#define EKI_GROUP_HOLES 16

/* What a group tells of itself. */
struct eki_group {
    eki_ns spare; /* target x workers - load */
    int64_t workers;
    eki_ns holes[EKI_GROUP_HOLES]; /* largest first; 0: none */
};

void eki_group_describe(const struct eki_pool *pool, struct eki_group *group);
/* Give each item, longest first, to a group: GIVEN [count].  False: no memory.
 */
bool eki_groups_share(struct eki_group *groups, int32_t count,
                      const struct eki_item *items, int64_t item_count,
                      int32_t *given);

#endif
