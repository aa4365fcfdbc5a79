/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole decision in one place: what the engine does by messages between
 * ranks, here over arrays.  Each group has a pool; of several groups the root
 * gives what they could not place to others, before all settle.
 */
#include "balance/plan.h"

#include <string.h>

/* The groups of a decision, and what goes to the root. */
struct groups {
    struct eki_plan *plan;
    struct eki_decision *decision;
    int32_t count, size;        /* groups; workers of each but the last */
    bool is_central;            /* one, and no root */
    struct eki_settle *settles; /* [count] */
    struct eki_group *told;     /* [count] */
    int64_t *heads;             /* [count]: the first item that each is given */
    struct eki_item *left;      /* [left_count] that groups gave away ... */
    int32_t *given;             /* ... to which group each goes ... */
    int64_t *next;              /* ... and the next one that goes there */
    int64_t left_count;
    struct eki_item *some; /* scratch: what one group is given */
    uint64_t slowest_ns;   /* of the groups, which work side by side */
};

static bool open_groups(struct groups *groups)
{
    size_t count = (size_t)groups->count, items = (size_t)groups->plan->count;
    groups->settles = eki_alloc(count, sizeof *groups->settles);
    groups->told = eki_alloc(count, sizeof *groups->told);
    groups->heads = eki_alloc(count, sizeof *groups->heads);
    groups->left = eki_alloc(items, sizeof *groups->left);
    groups->given = eki_alloc(items, sizeof *groups->given);
    groups->next = eki_alloc(items, sizeof *groups->next);
    groups->some = eki_alloc(items, sizeof *groups->some);
    return groups->settles && groups->told && groups->heads && groups->left &&
           groups->given && groups->next && groups->some;
}

static void close_groups(struct groups *groups)
{
    for (int32_t g = 0; groups->settles && g < groups->count; g++)
        eki_settle_free(&groups->settles[g]);
    eki_free(groups->settles);
    eki_free(groups->told);
    eki_free(groups->heads);
    eki_free(groups->left);
    eki_free(groups->given);
    eki_free(groups->next);
    eki_free(groups->some);
}

static void note_time(uint64_t *slowest_ns, uint64_t start)
{
    uint64_t took = eki_clock_cpu_ns() - start;
    *slowest_ns = took > *slowest_ns ? took : *slowest_ns;
}

/* So many descriptors arrive at one place. */
static void note_descriptors(const struct groups *groups, int64_t count)
{
    if (count > groups->decision->descriptors)
        groups->decision->descriptors = count;
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

/* A group gives away what it cannot place. */
static bool give_left(struct groups *groups, int32_t group)
{
    struct eki_settle *settle = &groups->settles[group];
    int64_t given;
    if (!eki_settle_share(settle, groups->left + groups->left_count, &given))
        return false;
    groups->left_count += given;
    eki_group_describe(&settle->pool, &groups->told[group]);
    return true;
}

/* A group gets what its workers have shed: items [FROM, TO) of the plan. */
static bool begin_group(struct groups *groups, int32_t group, int64_t from,
                        int64_t to)
{
    const struct eki_plan *plan = groups->plan;
    const struct eki_balance_input *input = plan->input;
    int32_t first = group * groups->size, rest = input->workers - first;
    struct eki_pool *pool = &groups->settles[group].pool;
    uint64_t start = eki_clock_cpu_ns();
    *pool =
        (struct eki_pool){.first = first,
                          .workers = rest < groups->size ? rest : groups->size,
                          .target = plan->target,
                          .slack = eki_balance_has_slack(&plan->totals),
                          .nodes = input->nodes ? input->nodes + first : NULL,
                          .node_count = input->node_count,
                          .loads = plan->loads + first};
    note_descriptors(groups, to - from);
    bool done = eki_pool_fill(pool, plan->items + from, to - from) &&
                (groups->is_central || give_left(groups, group));
    note_time(&groups->slowest_ns, start);
    return done;
}

static bool begin_groups(struct groups *groups)
{
    const struct eki_plan *plan = groups->plan;
    bool done = true;
    for (int64_t g = 0, from = 0, to = 0; done && g < groups->count;
         g++, from = to) {
        while (to < plan->count &&
               plan->items[to].from < (g + 1) * groups->size)
            to++;
        done = begin_group(groups, (int32_t)g, from, to);
    }
    return done;
}

/* The root gives what is left to the groups. */
static bool share_left(struct groups *groups)
{
    uint64_t start = eki_clock_cpu_ns();
    bool done = eki_items_sort(groups->left, groups->left_count) &&
                eki_groups_share(groups->told, groups->count, groups->left,
                                 groups->left_count, groups->given);
    note_descriptors(groups, groups->left_count);
    groups->decision->critical_ns += eki_clock_cpu_ns() - start;
    return done;
}

/* List what each group is given, longest first. */
static void list_given(struct groups *groups)
{
    for (int32_t g = 0; g < groups->count; g++)
        groups->heads[g] = -1;
    for (int64_t i = groups->left_count; i-- > 0;) {
        groups->next[i] = groups->heads[groups->given[i]];
        groups->heads[groups->given[i]] = i;
    }
}

/* A group settles what it has and is given. */
static bool finish_group(struct groups *groups, int32_t group)
{
    struct eki_settle *settle = &groups->settles[group];
    int64_t count = 0;
    for (int64_t i = groups->heads[group]; i >= 0; i = groups->next[i])
        groups->some[count++] = groups->left[i];
    uint64_t start = eki_clock_cpu_ns();
    bool done = eki_pool_fill(&settle->pool, groups->some, count) &&
                settle_all(groups->plan, settle);
    note_time(&groups->slowest_ns, start);
    return done;
}

static bool finish_groups(struct groups *groups)
{
    bool done = true;
    list_given(groups);
    for (int32_t g = 0; done && g < groups->count; g++)
        done = finish_group(groups, g);
    return done;
}

static bool decide(struct eki_plan *plan, struct eki_decision *decision)
{
    const struct eki_balance_input *input = plan->input;
    bool is_central = input->group <= 0 || eki_balance_is_few(&plan->totals);
    int32_t size = is_central ? input->workers : input->group;
    struct groups groups = {.plan = plan,
                            .decision = decision,
                            .count = (input->workers + size - 1) / size,
                            .size = size,
                            .is_central = is_central};
    bool done = open_groups(&groups) && begin_groups(&groups) &&
                (is_central || share_left(&groups));
    decision->critical_ns += groups.slowest_ns;
    groups.slowest_ns = 0;
    done = done && finish_groups(&groups);
    decision->critical_ns += groups.slowest_ns;
    /* What its workers have opened has come to one place, too. */
    if (done && is_central)
        decision->descriptors = groups.settles->pool.count;
    close_groups(&groups);
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
        uint64_t start = eki_clock_cpu_ns();
        done = shed_worker(plan, w, shed);
        note_time(&slowest, start);
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
    bool done = shed_all(&plan, decision) && decide(&plan, decision);
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
