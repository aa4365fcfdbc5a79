/* SPDX-License-Identifier: BSD-3-Clause */
/* A decision in the making. */
#ifndef DECIDE_PLAN_H
#define DECIDE_PLAN_H

#include "decide/decide.h"

struct plan {
    const struct decide_input *input;
    struct decision *decision;
    struct eki_totals totals;
    eki_ns *loads;          /* [workers], of tasks that stay or were placed */
    struct eki_item *items; /* [count] that were shed, worker by worker */
    int64_t count;
    int32_t *to; /* [tasks] */
};

/* So many items arrive at one place. */
static inline void plan_arrive(struct plan *plan, int64_t count)
{
    if (count > plan->decision->descriptors)
        plan->decision->descriptors = count;
}

/* Of what goes on side by side the slowest counts: this began at START. */
static inline void plan_time(uint64_t *slowest_ns, uint64_t start)
{
    uint64_t took = eki_clock_cpu_ns() - start;
    *slowest_ns = took > *slowest_ns ? took : *slowest_ns;
}

/* All items of a pool go where they were placed. */
static inline void plan_send(struct plan *plan, const struct eki_pool *pool)
{
    const int64_t *first = plan->input->first;
    for (int64_t i = 0; i < pool->count; i++)
        plan->to[first[pool->items[i].from] + pool->items[i].index] =
            pool->first + pool->places[i];
}

/* Place what was shed, as src/balance does in groups of SIZE workers, or as
 * printed.  False: no memory. */
bool plan_groups(struct plan *plan, int32_t size);
bool plan_printed(struct plan *plan);

#endif
