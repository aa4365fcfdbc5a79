/* SPDX-License-Identifier: BSD-3-Clause */
/* From arrays of tasks to destinations and back: what all decisions share. */
#include "balance/plan.h"

#include <string.h>

static void add_worker(struct eki_plan *plan, int32_t worker)
{
    const struct eki_balance_input *input = plan->input;
    struct eki_totals *totals = &plan->totals;
    int64_t first = input->first[worker], last = input->first[worker + 1];
    eki_ns load = 0;
    for (int64_t i = first; i < last; i++) {
        load += input->ns[i];
        plan->to[i] = worker;
    }
    plan->loads[worker] = load;
    totals->total += load;
    if (load > totals->largest_load)
        totals->largest_load = load;
    if (last > first && input->ns[first] > totals->largest_task)
        totals->largest_task = input->ns[first];
}

/* What is known of the lengths of tasks; false: no memory. */
static bool add_crowd(struct eki_plan *plan)
{
    int64_t workers = plan->input->workers;
    if (plan->room > EKI_CROWD * workers)
        return true;
    struct eki_sizes *sizes = eki_alloc(1, sizeof *sizes);
    if (!sizes)
        return false;
    for (int64_t i = 0; i < plan->room; i++)
        eki_sizes_add(sizes, plan->input->ns[i]);
    plan->totals.crowd = eki_sizes_bound(sizes, workers);
    eki_free(sizes);
    return true;
}

bool eki_plan_open(struct eki_plan *plan, const struct eki_balance_input *input,
                   int32_t *to)
{
    *plan = (struct eki_plan){.input = input, .to = to};
    plan->room = input->first[input->workers];
    plan->loads = eki_alloc((size_t)input->workers, sizeof *plan->loads);
    plan->items = eki_alloc((size_t)plan->room, sizeof *plan->items);
    if (!plan->loads || !plan->items || !add_crowd(plan)) {
        eki_plan_close(plan);
        return false;
    }
    plan->totals.workers = input->workers;
    plan->totals.tasks = plan->room;
    for (int32_t w = 0; w < input->workers; w++)
        add_worker(plan, w);
    plan->target = eki_balance_target(&plan->totals, input->eps);
    return true;
}

void eki_plan_close(struct eki_plan *plan)
{
    eki_free(plan->loads);
    eki_free(plan->items);
}

void eki_plan_shed(struct eki_plan *plan, int32_t worker, int64_t index)
{
    int64_t task = plan->input->first[worker] + index;
    eki_ns ns = plan->input->ns[task];
    plan->loads[worker] -= ns;
    plan->to[task] = -1;
    plan->items[plan->count++] = (struct eki_item){ns, worker, (int32_t)index};
}

void eki_plan_undo(struct eki_plan *plan)
{
    const struct eki_balance_input *input = plan->input;
    for (int32_t w = 0; w < input->workers; w++) {
        for (int64_t i = input->first[w]; i < input->first[w + 1]; i++)
            plan->to[i] = w;
    }
}

static double imbalance(eki_ns largest, const struct eki_totals *totals)
{
    double mean = (double)totals->total / (double)totals->workers;
    return mean > 0 ? (double)largest / mean - 1 : 0;
}

static eki_ns largest_load(struct eki_plan *plan)
{
    const struct eki_balance_input *input = plan->input;
    eki_ns largest = 0;
    memset(plan->loads, 0, (size_t)input->workers * sizeof *plan->loads);
    for (int64_t i = 0; i < plan->room; i++)
        plan->loads[plan->to[i]] += input->ns[i];
    for (int32_t w = 0; w < input->workers; w++) {
        if (plan->loads[w] > largest)
            largest = plan->loads[w];
    }
    return largest;
}

/* Count the tasks that left WORKER, and the fewest that could have. */
static void count_moves(const struct eki_plan *plan, int32_t worker,
                        struct eki_decision *decision)
{
    const struct eki_balance_input *input = plan->input;
    int64_t first = input->first[worker], n = eki_tasks_of(input, worker);
    eki_ns load = 0;
    for (int64_t i = first; i < first + n; i++) {
        load += input->ns[i];
        decision->moved += plan->to[i] != worker;
        decision->hash = eki_hash(decision->hash, (uint64_t)plan->to[i]);
    }
    decision->fewest +=
        eki_balance_fewest(input->ns + first, n, load, plan->target);
}

void eki_plan_describe(struct eki_plan *plan, struct eki_decision *decision)
{
    decision->bound = eki_balance_bound(&plan->totals);
    decision->target = plan->target;
    decision->before = imbalance(plan->totals.largest_load, &plan->totals);
    plan->largest_load = largest_load(plan);
    decision->after = imbalance(plan->largest_load, &plan->totals);
    decision->moved = decision->fewest = 0;
    decision->hash = 0;
    for (int32_t w = 0; w < plan->input->workers; w++)
        count_moves(plan, w, decision);
}
