/* SPDX-License-Identifier: BSD-3-Clause */
/* Each group has a pool; of several groups the root gives what they could not
 * place to others, before all settle. */
#include "decide/plan.h"

/* The groups of a decision, and what goes to the root. */
struct groups {
    struct plan *plan;
    int32_t count, size;        /* groups; workers of each but the last */
    bool is_central;            /* one, and no root */
    struct eki_settle *settles; /* [count] */
    struct eki_group *told;     /* [count] */
    struct eki_item *left;      /* [left_count] that groups gave away ... */
    int32_t *given;             /* ... and to which group each goes */
    int64_t left_count;
    struct eki_item *sorted; /* [left_count], by the groups that get them ... */
    int64_t *ends;           /* [count + 1] ... after which the next begins */
    uint64_t slowest_ns;     /* of the groups, which work side by side */
};

static bool open_groups(struct groups *groups)
{
    size_t count = (size_t)groups->count, items = (size_t)groups->plan->count;
    groups->settles = eki_alloc(count, sizeof *groups->settles);
    groups->told = eki_alloc(count, sizeof *groups->told);
    groups->left = eki_alloc(items, sizeof *groups->left);
    groups->given = eki_alloc(items, sizeof *groups->given);
    groups->sorted = eki_alloc(items, sizeof *groups->sorted);
    groups->ends = eki_alloc(count + 1, sizeof *groups->ends);
    return groups->settles && groups->told && groups->left && groups->given &&
           groups->sorted && groups->ends;
}

static void close_groups(struct groups *groups)
{
    for (int32_t g = 0; groups->settles && g < groups->count; g++)
        eki_settle_free(&groups->settles[g]);
    eki_free(groups->settles);
    eki_free(groups->told);
    eki_free(groups->left);
    eki_free(groups->given);
    eki_free(groups->sorted);
    eki_free(groups->ends);
}

/* Take the tasks that WORKER has kept and that are wanted to ITEMS, or count
 * them; NULL. */
static int64_t open_worker(struct plan *plan, const struct eki_settle *settle,
                           int32_t worker, struct eki_item *items)
{
    const struct decide_input *input = plan->input;
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
static enum eki_settle_next open_workers(struct plan *plan,
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
    const struct plan *plan = groups->plan;
    const struct decide_input *input = plan->input;
    int32_t first = group * groups->size, rest = input->workers - first;
    struct eki_pool *pool = &groups->settles[group].pool;
    uint64_t start = eki_clock_cpu_ns();
    *pool =
        (struct eki_pool){.first = first,
                          .workers = rest < groups->size ? rest : groups->size,
                          .target = plan->decision->target,
                          .slack = eki_balance_has_slack(&plan->totals),
                          .nodes = input->nodes ? input->nodes + first : NULL,
                          .node_count = input->node_count,
                          .loads = plan->loads + first};
    plan_arrive(groups->plan, to - from);
    bool done = eki_pool_add(pool, plan->items + from, to - from, false) &&
                (groups->is_central || give_left(groups, group));
    plan_time(&groups->slowest_ns, start);
    return done;
}

static bool begin_groups(struct groups *groups)
{
    const struct plan *plan = groups->plan;
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
    plan_arrive(groups->plan, groups->left_count);
    groups->plan->decision->critical_ns += eki_clock_cpu_ns() - start;
    return done;
}

/* What each group is given, longest first. */
static void sort_given(struct groups *groups)
{
    for (int64_t i = 0; i < groups->left_count; i++)
        groups->ends[groups->given[i] + 1]++;
    for (int32_t g = 0; g < groups->count; g++)
        groups->ends[g + 1] += groups->ends[g];
    /* Each end begins as that of the group before. */
    for (int64_t i = 0; i < groups->left_count; i++)
        groups->sorted[groups->ends[groups->given[i]]++] = groups->left[i];
}

/* A group settles what it has and is given. */
static bool finish_group(struct groups *groups, int32_t group)
{
    struct eki_settle *settle = &groups->settles[group];
    int64_t begin = group > 0 ? groups->ends[group - 1] : 0;
    uint64_t start = eki_clock_cpu_ns();
    if (!eki_pool_add(&settle->pool, groups->sorted + begin,
                      groups->ends[group] - begin, false))
        return false;
    enum eki_settle_next next = eki_settle_begin(settle);
    while (next == EKI_SETTLE_OPEN)
        next = open_workers(groups->plan, settle);
    if (next == EKI_SETTLE_NO_MEMORY)
        return false;
    plan_send(groups->plan, &settle->pool);
    plan_time(&groups->slowest_ns, start);
    return true;
}

static bool finish_groups(struct groups *groups)
{
    bool done = true;
    sort_given(groups);
    for (int32_t g = 0; done && g < groups->count; g++)
        done = finish_group(groups, g);
    return done;
}

bool plan_groups(struct plan *plan, int32_t size)
{
    int32_t workers = plan->input->workers;
    bool is_central = size >= workers;
    struct groups groups = {.plan = plan,
                            .count = (workers + size - 1) / size,
                            .size = size,
                            .is_central = is_central};
    bool done = open_groups(&groups) && begin_groups(&groups) &&
                (is_central || share_left(&groups));
    plan->decision->critical_ns += groups.slowest_ns;
    groups.slowest_ns = 0;
    done = done && finish_groups(&groups);
    plan->decision->critical_ns += groups.slowest_ns;
    /* What its workers have opened has come to one place, too. */
    if (done && is_central)
        plan->decision->descriptors = groups.settles->pool.count;
    close_groups(&groups);
    return done;
}
