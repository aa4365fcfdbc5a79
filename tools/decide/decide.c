/* SPDX-License-Identifier: BSD-3-Clause */
/* From arrays of tasks to destinations and back: what all decisions share. */
#include "decide/plan.h"

#include <string.h>

static int64_t tasks_of(const struct decide_input *input, int32_t worker)
{
    return input->first[worker + 1] - input->first[worker];
}

/* Every task stays where it is. */
static void stay_all(struct plan *plan)
{
    const int64_t *first = plan->input->first;
    for (int32_t w = 0; w < plan->input->workers; w++) {
        for (int64_t i = first[w]; i < first[w + 1]; i++)
            plan->to[i] = w;
    }
}

/* Loads where tasks are now; returns the largest. */
static eki_ns sum_loads(struct plan *plan)
{
    const struct decide_input *input = plan->input;
    eki_ns largest = 0;
    memset(plan->loads, 0, (size_t)input->workers * sizeof *plan->loads);
    for (int64_t i = 0; i < input->first[input->workers]; i++)
        plan->loads[plan->to[i]] += input->ns[i];
    for (int32_t w = 0; w < input->workers; w++)
        largest = plan->loads[w] > largest ? plan->loads[w] : largest;
    return largest;
}

/* What is known of the lengths of tasks; false: no memory. */
static bool add_crowd(struct plan *plan)
{
    struct eki_totals *totals = &plan->totals;
    if (totals->tasks > EKI_CROWD * totals->workers)
        return true;
    struct eki_sizes *sizes = eki_alloc(1, sizeof *sizes);
    if (!sizes)
        return false;
    for (int64_t i = 0; i < totals->tasks; i++)
        eki_sizes_add(sizes, plan->input->ns[i]);
    totals->crowd = eki_sizes_bound(sizes, totals->workers);
    eki_free(sizes);
    return true;
}

/* Sum up loads and totals, and aim. */
static bool open_plan(struct plan *plan)
{
    const struct decide_input *input = plan->input;
    struct eki_totals *totals = &plan->totals;
    totals->workers = input->workers;
    totals->tasks = input->first[input->workers];
    plan->loads = eki_alloc((size_t)totals->workers, sizeof *plan->loads);
    plan->items = eki_alloc((size_t)totals->tasks, sizeof *plan->items);
    if (!plan->loads || !plan->items || !add_crowd(plan))
        return false;
    stay_all(plan);
    totals->largest_load = sum_loads(plan);
    for (int32_t w = 0; w < input->workers; w++) {
        totals->total += plan->loads[w];
        if (tasks_of(input, w) > 0 &&
            input->ns[input->first[w]] > totals->largest_task)
            totals->largest_task = input->ns[input->first[w]];
    }
    plan->decision->target = eki_balance_target(totals, input->eps);
    return true;
}

/* What a worker sheds to have MOST, *COUNT indices to SHED. */
static bool choose_shed(const struct plan *plan, int32_t worker, eki_ns most,
                        int32_t *shed, int64_t *count)
{
    const struct decide_input *input = plan->input;
    int64_t first = input->first[worker], n = tasks_of(input, worker);
    const struct eki_donation from = {
        input->ns + first, input->bytes ? input->bytes + first : NULL, n,
        plan->loads[worker], most};
    size_t fewest;
    if (input->bytes)
        return eki_balance_shed_light(&from, shed, count, &fewest);
    *count = (input->printed ? eki_balance_shed_shortest : eki_balance_shed)(
        from.ns, n, from.load, most, shed);
    return true;
}

/* A task goes to the pool. */
static void shed_task(struct plan *plan, int32_t worker, int32_t index)
{
    int64_t task = plan->input->first[worker] + index;
    eki_ns ns = plan->input->ns[task];
    plan->loads[worker] -= ns;
    plan->to[task] = -1;
    plan->items[plan->count++] = (struct eki_item){ns, worker, index};
}

/* All workers shed, side by side. */
static bool shed_all(struct plan *plan)
{
    const struct decide_input *input = plan->input;
    double mean = (double)plan->totals.total / (double)input->workers;
    eki_ns most = input->printed ? (eki_ns)(input->printed->shed * mean)
                                 : plan->decision->target;
    uint64_t slowest = 0;
    int64_t count, room = 0;
    for (int32_t w = 0; w < input->workers; w++)
        room = tasks_of(input, w) > room ? tasks_of(input, w) : room;
    int32_t *shed = eki_alloc((size_t)room, sizeof *shed);
    bool done = shed != NULL;
    for (int32_t w = 0; done && w < input->workers; w++) {
        if (plan->loads[w] <= most)
            continue;
        uint64_t start = eki_clock_cpu_ns();
        done = choose_shed(plan, w, most, shed, &count);
        for (int64_t i = 0; done && i < count; i++)
            shed_task(plan, w, shed[i]);
        plan_time(&slowest, start);
    }
    plan->decision->critical_ns += slowest;
    eki_free(shed);
    return done;
}

/* Count the tasks that leave a worker, and the fewest that could. */
static void count_moves(struct plan *plan, int32_t worker)
{
    const struct decide_input *input = plan->input;
    struct decision *decision = plan->decision;
    int64_t first = input->first[worker], n = tasks_of(input, worker);
    eki_ns load = 0;
    for (int64_t i = first; i < first + n; i++) {
        load += input->ns[i];
        decision->moved += plan->to[i] != worker;
        decision->hash = eki_hash(decision->hash, (uint64_t)plan->to[i]);
    }
    decision->fewest +=
        eki_balance_fewest(input->ns + first, n, load, decision->target);
}

static double imbalance(eki_ns largest, const struct eki_totals *totals)
{
    double mean = (double)totals->total / (double)totals->workers;
    return mean > 0 ? (double)largest / mean - 1 : 0;
}

static void describe(struct plan *plan)
{
    eki_ns before = plan->totals.largest_load, after = sum_loads(plan);
    /* Few long tasks may fit nowhere.  Then ours stay where they were. */
    if (!plan->input->printed && after >= before) {
        stay_all(plan);
        after = before;
    }
    plan->decision->before = imbalance(before, &plan->totals);
    plan->decision->after = imbalance(after, &plan->totals);
    for (int32_t w = 0; w < plan->input->workers; w++)
        count_moves(plan, w);
}

/* Groups settle among themselves; where that is too little, all is decided in
 * one place. */
static bool plan_ours(struct plan *plan)
{
    const struct decide_input *input = plan->input;
    bool is_central = input->group <= 0 || eki_balance_is_few(&plan->totals);
    if (!plan_groups(plan, is_central ? input->workers : input->group))
        return false;
    if (is_central ||
        !eki_balance_is_worth_more(&plan->totals,
                                   sum_loads(plan) - plan->decision->target))
        return true;
    stay_all(plan);
    sum_loads(plan);
    plan->count = 0;
    return shed_all(plan) && plan_groups(plan, input->workers);
}

bool decide_arrays(const struct decide_input *input, int32_t *to,
                   struct decision *decision)
{
    struct plan plan = {.input = input, .decision = decision, .to = to};
    *decision = (struct decision){0};
    bool done = open_plan(&plan) && shed_all(&plan) &&
                (input->printed ? plan_printed(&plan) : plan_ours(&plan));
    if (done)
        describe(&plan);
    eki_free(plan.loads);
    eki_free(plan.items);
    return done;
}
