/* SPDX-License-Identifier: BSD-3-Clause */
/* What whole decisions share; for the files of balance only. */
#ifndef EKI_BALANCE_PLAN_H
#define EKI_BALANCE_PLAN_H

#include "balance/balance.h"

/* A decision in the making. */
struct eki_plan {
    const struct eki_balance_input *input;
    struct eki_totals totals;
    eki_ns target;
    eki_ns largest_load;    /* of the finished plan */
    eki_ns *loads;          /* [workers], of tasks that stay or were placed */
    struct eki_item *items; /* that were shed, worker by worker */
    int64_t count, room;
    int32_t *to; /* [tasks]; -1: in a pool */
};

static inline int64_t eki_tasks_of(const struct eki_balance_input *input,
                                   int32_t worker)
{
    return input->first[worker + 1] - input->first[worker];
}

/* Sum up loads and totals; every task stays where it is.  False: no memory. */
bool eki_plan_open(struct eki_plan *plan, const struct eki_balance_input *input,
                   int32_t *to);
void eki_plan_close(struct eki_plan *plan);
/* Task INDEX of WORKER goes to the pool. */
void eki_plan_shed(struct eki_plan *plan, int32_t worker, int64_t index);
/* Send an item of the pool to WORKER. */
static inline void eki_plan_send(struct eki_plan *plan,
                                 const struct eki_item *item, int32_t worker)
{
    plan->to[plan->input->first[item->from] + item->index] = worker;
}
/* Put every task back where it was. */
void eki_plan_undo(struct eki_plan *plan);
/* Describe the finished plan: bound, target, before, after, moved, fewest and
 * hash.  The loads become those of the destinations. */
void eki_plan_describe(struct eki_plan *plan, struct eki_decision *decision);

#endif
