/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole decision in one place: what the engine does by messages between
 * ranks, here over arrays.  Centralized: one pool.  Hierarchical: a pool per
 * group, then the root, then the groups again.
 */
#include "balance/plan.h"

#include <string.h>

/* Items on their way into a pool. */
struct batch {
    struct eki_item *items;
    int32_t *places;
    int64_t count;
};

static bool open_batch(struct batch *batch, int64_t room)
{
    batch->count = 0;
    batch->items = eki_alloc((size_t)room, sizeof *batch->items);
    batch->places = eki_alloc((size_t)room, sizeof *batch->places);
    return batch->items && batch->places;
}

static void close_batch(struct batch *batch)
{
    eki_free(batch->items);
    eki_free(batch->places);
}

/* Workers [FIRST, FIRST + WORKERS) settle: nothing yet. */
static struct eki_settle settle_of(const struct eki_plan *plan, int32_t first,
                                   int32_t workers)
{
    return (struct eki_settle){
        .pool = {.first = first,
                 .workers = workers,
                 .target = plan->target,
                 .slack = eki_balance_has_slack(&plan->totals),
                 .nodes =
                     plan->input->nodes ? plan->input->nodes + first : NULL,
                 .node_count = plan->input->node_count,
                 .loads = plan->loads + first}};
}

/* Take the tasks that WORKER has kept and that are wanted to ITEMS, or count
 * them; NULL. */
static int64_t open_worker(struct eki_plan *plan,
                           const struct eki_settle *settle, int32_t worker,
                           struct eki_item *items)
{
    const struct eki_balance_input *input = plan->input;
    int64_t begin = input->first[worker], n = 0;
    for (int64_t i = begin; i < input->first[worker + 1]; i++) {
        if (plan->to[i] != worker || input->ns[i] <= settle->least ||
            input->ns[i] > settle->most)
            continue;
        if (items) {
            plan->to[i] = -1;
            items[n] =
                (struct eki_item){input->ns[i], worker, (int32_t)(i - begin)};
        }
        n++;
    }
    return n;
}

/* The I-th worker that opens. */
static int32_t opened(const struct eki_settle *settle, int32_t i)
{
    return settle->opened ? settle->opened[i] : settle->pool.first + i;
}

/* The workers of a group open. */
static enum eki_settle_next open_workers(struct eki_plan *plan,
                                         struct eki_settle *settle)
{
    int32_t workers =
        settle->opened ? settle->opened_count : settle->pool.workers;
    int64_t room = 0, count = 0;
    for (int32_t i = 0; i < workers; i++)
        room += open_worker(plan, settle, opened(settle, i), NULL);
    struct eki_item *items = eki_alloc((size_t)room, sizeof *items);
    if (!items)
        return EKI_SETTLE_NO_MEMORY;
    for (int32_t i = 0; i < workers; i++)
        count += open_worker(plan, settle, opened(settle, i), items + count);
    enum eki_settle_next next = eki_settle_opened(settle, items, count);
    eki_free(items);
    return next;
}

/* Place all items of a group, and send them there. */
static bool settle_all(struct eki_plan *plan, struct eki_settle *settle)
{
    const struct eki_pool *pool = &settle->pool;
    enum eki_settle_next next = eki_settle_begin(settle);
    while (next == EKI_SETTLE_OPEN)
        next = open_workers(plan, settle);
    if (next == EKI_SETTLE_NO_MEMORY)
        return false;
    for (int64_t i = 0; i < pool->count; i++)
        eki_plan_send(plan, &pool->items[i], pool->first + pool->places[i]);
    return true;
}

static bool decide_central(struct eki_plan *plan, struct eki_decision *decision)
{
    uint64_t start = eki_cpu_ns();
    struct eki_settle settle = settle_of(plan, 0, plan->input->workers);
    bool done = eki_pool_fill(&settle.pool, plan->items, plan->count) &&
                settle_all(plan, &settle);
    decision->descriptors = settle.pool.count;
    decision->critical_ns += eki_cpu_ns() - start;
    eki_settle_free(&settle);
    return done;
}

struct levels {
    struct eki_plan *plan;
    int32_t groups;
    struct eki_settle *settles; /* [groups] */
    struct eki_group *told;     /* [groups] */
    struct batch left;          /* items that go to the root; places: groups */
    uint64_t slowest_ns;        /* of the groups */
};

static int32_t group_worker(const struct levels *levels, int32_t group)
{
    return group * levels->plan->input->group;
}

static int32_t group_workers(const struct levels *levels, int32_t group)
{
    int32_t size = levels->plan->input->group;
    int32_t rest = levels->plan->input->workers - group_worker(levels, group);
    return rest < size ? rest : size;
}

static void note_time(struct levels *levels, uint64_t start)
{
    uint64_t took = eki_cpu_ns() - start;
    if (took > levels->slowest_ns)
        levels->slowest_ns = took;
}

/* A group settles among itself what it can: items [FROM, TO) of the plan. */
static bool begin_group(struct levels *levels, int32_t group, int64_t from,
                        int64_t to, struct eki_decision *decision)
{
    struct eki_plan *plan = levels->plan;
    struct eki_pool *pool = &levels->settles[group].pool;
    uint64_t start = eki_cpu_ns();
    levels->settles[group] = settle_of(plan, group_worker(levels, group),
                                       group_workers(levels, group));
    struct batch *left = &levels->left;
    int64_t given;
    if (to - from > decision->descriptors)
        decision->descriptors = to - from;
    if (!eki_pool_fill(pool, plan->items + from, to - from) ||
        !eki_settle_share(&levels->settles[group], left->items + left->count,
                          &given))
        return false;
    left->count += given;
    eki_group_describe(pool, &levels->told[group]);
    note_time(levels, start);
    return true;
}

static bool begin_groups(struct levels *levels, struct eki_decision *decision)
{
    const struct eki_plan *plan = levels->plan;
    int64_t from = 0;
    for (int32_t g = 0; g < levels->groups; g++) {
        int32_t end = group_worker(levels, g) + group_workers(levels, g);
        int64_t to = from;
        while (to < plan->count && plan->items[to].from < end)
            to++;
        if (!begin_group(levels, g, from, to, decision))
            return false;
        from = to;
    }
    return true;
}

/* The root gives what is left to the groups. */
static bool share_left(struct levels *levels, struct eki_decision *decision)
{
    struct batch *left = &levels->left;
    uint64_t start = eki_cpu_ns();
    bool done = eki_items_sort(left->items, left->count) &&
                eki_groups_share(levels->told, levels->groups, left->items,
                                 left->count, left->places);
    if (left->count > decision->descriptors)
        decision->descriptors = left->count;
    decision->critical_ns += eki_cpu_ns() - start;
    return done;
}

/* The items that a group was given, into SOME. */
static void given_to(const struct levels *levels, const int64_t *order,
                     int64_t count, struct batch *some)
{
    for (int64_t i = 0; i < count; i++) {
        some->items[i] = levels->left.items[order[i]];
        some->places[i] = -1;
    }
    some->count = count;
}

static bool finish_group(struct levels *levels, int32_t group,
                         struct batch *some)
{
    uint64_t start = eki_cpu_ns();
    struct eki_settle *settle = &levels->settles[group];
    bool done =
        eki_pool_add(&settle->pool, some->items, some->places, some->count) &&
        settle_all(levels->plan, settle);
    note_time(levels, start);
    return done;
}

/* Items of the root in the order of their groups; STARTS [groups + 1]. */
static void order_left(const struct levels *levels, int64_t *starts,
                       int64_t *order)
{
    const struct batch *left = &levels->left;
    for (int64_t i = 0; i < left->count; i++)
        starts[left->places[i] + 1]++;
    for (int32_t g = 0; g < levels->groups; g++)
        starts[g + 1] += starts[g];
    for (int64_t i = 0; i < left->count; i++)
        order[starts[left->places[i]]++] = i;
    /* Each start has moved on to that of the next group. */
    memmove(starts + 1, starts, (size_t)levels->groups * sizeof *starts);
    starts[0] = 0;
}

static bool finish_groups(struct levels *levels)
{
    struct batch some;
    int64_t *starts = eki_alloc((size_t)levels->groups + 1, sizeof *starts);
    int64_t *order = eki_alloc((size_t)levels->left.count, sizeof *order);
    bool done = open_batch(&some, levels->left.count) && starts && order;
    if (done)
        order_left(levels, starts, order);
    for (int32_t g = 0; done && g < levels->groups; g++) {
        given_to(levels, order + starts[g], starts[g + 1] - starts[g], &some);
        done = finish_group(levels, g, &some);
    }
    close_batch(&some);
    eki_free(starts);
    eki_free(order);
    return done;
}

static bool run_levels(struct levels *levels, struct eki_decision *decision)
{
    if (!begin_groups(levels, decision))
        return false;
    decision->critical_ns += levels->slowest_ns;
    levels->slowest_ns = 0;
    if (!share_left(levels, decision) || !finish_groups(levels))
        return false;
    decision->critical_ns += levels->slowest_ns;
    return true;
}

static bool decide_levels(struct eki_plan *plan, struct eki_decision *decision)
{
    int32_t size = plan->input->group;
    int32_t groups = (plan->input->workers + size - 1) / size;
    struct levels levels = {
        .plan = plan,
        .groups = groups,
        .settles = eki_alloc((size_t)groups, sizeof *levels.settles),
        .told = eki_alloc((size_t)groups, sizeof *levels.told)};
    bool done = open_batch(&levels.left, plan->count) && levels.settles &&
                levels.told && run_levels(&levels, decision);
    for (int32_t g = 0; levels.settles && g < groups; g++)
        eki_settle_free(&levels.settles[g]);
    eki_free(levels.settles);
    eki_free(levels.told);
    close_batch(&levels.left);
    return done;
}

static int64_t most_tasks(const struct eki_balance_input *input)
{
    int64_t most = 0;
    for (int32_t w = 0; w < input->workers; w++) {
        if (eki_tasks_of(input, w) > most)
            most = eki_tasks_of(input, w);
    }
    return most;
}

static bool shed_worker(struct eki_plan *plan, int32_t worker, int32_t *shed)
{
    const struct eki_balance_input *input = plan->input;
    int64_t first = input->first[worker], n;
    size_t fewest;
    struct eki_donation donation = {.ns = input->ns + first,
                                    .bytes = input->bytes ? input->bytes + first
                                                          : NULL,
                                    .count = eki_tasks_of(input, worker),
                                    .load = plan->loads[worker],
                                    .target = plan->target};
    if (!input->bytes)
        n = eki_balance_shed(donation.ns, donation.count, donation.load,
                             donation.target, shed);
    else if (!eki_balance_shed_light(&donation, shed, &n, &fewest))
        return false;
    for (int64_t i = 0; i < n; i++)
        eki_plan_shed(plan, worker, shed[i]);
    return true;
}

/* All workers shed.  They do it side by side, so that the slowest of them
 * counts. */
static bool shed_all(struct eki_plan *plan, struct eki_decision *decision)
{
    uint64_t slowest = 0;
    int32_t *shed = eki_alloc((size_t)most_tasks(plan->input), sizeof *shed);
    bool done = shed != NULL;
    for (int32_t w = 0; done && w < plan->input->workers; w++) {
        if (plan->loads[w] <= plan->target)
            continue;
        uint64_t start = eki_cpu_ns();
        done = shed_worker(plan, w, shed);
        uint64_t took = eki_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    decision->critical_ns += slowest;
    eki_free(shed);
    return done;
}

bool eki_balance_decide(const struct eki_balance_input *input, int32_t *to,
                        struct eki_decision *decision)
{
    struct eki_plan plan;
    *decision = (struct eki_decision){0};
    if (!eki_plan_open(&plan, input, to))
        return false;
    bool done = shed_all(&plan, decision) &&
                (input->group > 0 && !eki_balance_is_few(&plan.totals)
                     ? decide_levels(&plan, decision)
                     : decide_central(&plan, decision));
    if (done)
        eki_plan_describe(&plan, decision);
    /* Few long tasks may fit nowhere.  Then all tasks stay where they were. */
    if (done && plan.largest_load >= plan.totals.largest_load) {
        eki_plan_undo(&plan);
        eki_plan_describe(&plan, decision);
    }
    eki_plan_close(&plan);
    return done;
}
