/* SPDX-License-Identifier: BSD-3-Clause */
/* The printed algorithms over arrays, for ek-bench. */
#include "balance/plan.h"
#include "printed/printed.h"
#include "printed/tree.h"

#include <math.h>
#include <string.h>

int64_t eki_balance_shed_shortest(const eki_ns *ns, int64_t count, eki_ns load,
                                  eki_ns target)
{
    int64_t kept = count;
    while (kept > 0 && load > target)
        load -= ns[--kept];
    return count - kept;
}

static void shed_shortest(struct eki_plan *plan, const struct eki_hpdc12 *c)
{
    const struct eki_balance_input *input = plan->input;
    double mean = (double)plan->totals.total / (double)input->workers;
    for (int32_t w = 0; w < input->workers; w++) {
        int64_t count = eki_tasks_of(input, w);
        int64_t n =
            eki_balance_shed_shortest(input->ns + input->first[w], count,
                                      plan->loads[w], (eki_ns)(c->shed * mean));
        for (int64_t i = 1; i <= n; i++)
            eki_plan_shed(plan, w, count - i);
    }
}

bool eki_pool_greedy(struct eki_pool *pool)
{
    const struct eki_children workers = {pool->workers, pool->loads, NULL};
    if (eki_children_fill(&workers, pool->items, pool->count, INFINITY,
                          pool->places) < 0)
        return false;
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return true;
}

enum {
    NONE = -1
};

/* All vertices at once: loads and lists by their number, items by theirs. */
struct forest {
    struct eki_tree tree;
    struct eki_pool *pool;
    double fill; /* D x mean load */
    struct eki_decision *decision;
    eki_ns *loads;           /* of all workers below each vertex */
    int32_t *leaves;         /* how many these are */
    int64_t *heads, *tails;  /* of the items that a vertex was given */
    int64_t *next;           /* [items], of the lists */
    int64_t *up, *first;     /* items that go up, by vertex of a level */
    struct eki_item *sorted; /* of one vertex; index: of the item */
    int32_t *given;          /* likewise, to which child */
};

static bool open_forest(struct forest *forest)
{
    const struct eki_pool *pool = forest->pool;
    size_t vertices = (size_t)eki_tree_count(&forest->tree);
    size_t count = (size_t)pool->count;
    forest->loads = eki_alloc(vertices, sizeof *forest->loads);
    forest->leaves = eki_alloc(vertices, sizeof *forest->leaves);
    forest->heads = eki_alloc(vertices, sizeof *forest->heads);
    forest->tails = eki_alloc(vertices, sizeof *forest->tails);
    forest->next = eki_alloc(count, sizeof *forest->next);
    forest->up = eki_alloc(count, sizeof *forest->up);
    forest->first = eki_alloc((size_t)pool->workers + 1, sizeof *forest->first);
    forest->sorted = eki_alloc(count, sizeof *forest->sorted);
    forest->given = eki_alloc(count, sizeof *forest->given);
    if (!forest->loads || !forest->leaves || !forest->heads || !forest->tails ||
        !forest->next || !forest->up || !forest->first || !forest->sorted ||
        !forest->given)
        return false;
    memset(forest->heads, NONE, vertices * sizeof *forest->heads);
    for (int32_t w = 0; w < pool->workers; w++) {
        forest->loads[w] = pool->loads[w];
        forest->leaves[w] = 1;
    }
    return true;
}

static void close_forest(struct forest *forest)
{
    eki_free(forest->loads);
    eki_free(forest->leaves);
    eki_free(forest->heads);
    eki_free(forest->tails);
    eki_free(forest->next);
    eki_free(forest->up);
    eki_free(forest->first);
    eki_free(forest->sorted);
    eki_free(forest->given);
}

/* Add an item to those that VERTEX was given. */
static void give(struct forest *forest, int32_t vertex, int64_t item)
{
    if (forest->heads[vertex] == NONE)
        forest->heads[vertex] = item;
    else
        forest->next[forest->tails[vertex]] = item;
    forest->tails[vertex] = item;
    forest->next[item] = NONE;
}

/* Give the children of a vertex COUNT items, while they have less than MOST;
 * how many they take, the first of forest->sorted; -1: no memory. */
static int64_t fill_children(struct forest *forest, int32_t vertex,
                             const int64_t *items, int64_t count, double most)
{
    int32_t first, n = eki_tree_children(&forest->tree, vertex, &first);
    const struct eki_children children = {n, forest->loads + first,
                                          forest->leaves + first};
    for (int64_t i = 0; i < count; i++)
        forest->sorted[i] = (struct eki_item){forest->pool->items[items[i]].ns,
                                              0, (int32_t)items[i]};
    if (!eki_items_sort(forest->sorted, count))
        return -1;
    int64_t taken = eki_children_fill(&children, forest->sorted, count, most,
                                      forest->given);
    for (int64_t i = 0; i < taken; i++)
        give(forest, first + forest->given[i], forest->sorted[i].index);
    return taken;
}

/* What is below a vertex. */
static void sum_children(struct forest *forest, int32_t vertex)
{
    int32_t first, n = eki_tree_children(&forest->tree, vertex, &first);
    for (int32_t child = first; child < first + n; child++) {
        forest->loads[vertex] += forest->loads[child];
        forest->leaves[vertex] += forest->leaves[child];
    }
}

/* One level up: every vertex gives its children what they may take, and passes
 * on the rest.  All vertices of a level work side by side, so that the slowest
 * of them counts. */
static bool go_up(struct forest *forest, int level)
{
    const struct eki_tree *tree = &forest->tree;
    bool is_top = level == tree->top;
    int64_t left = 0;
    uint64_t slowest = 0;
    for (int32_t v = tree->first[level]; v < tree->first[level + 1]; v++) {
        uint64_t start = eki_cpu_ns();
        int32_t begin, n = eki_tree_children(tree, v, &begin);
        begin -= tree->first[level - 1];
        int64_t from = forest->first[begin];
        int64_t count = forest->first[begin + n] - from;
        int64_t taken = fill_children(forest, v, forest->up + from, count,
                                      is_top ? INFINITY : forest->fill);
        if (taken < 0)
            return false;
        forest->first[v - tree->first[level]] = left;
        for (int64_t i = taken; i < count; i++)
            forest->up[left++] = forest->sorted[i].index;
        sum_children(forest, v);
        if (count > forest->decision->descriptors)
            forest->decision->descriptors = count;
        uint64_t took = eki_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    forest->first[tree->first[level + 1] - tree->first[level]] = left;
    forest->decision->critical_ns += slowest;
    return true;
}

/* One level down: every vertex gives all that it was given to its children. */
static bool go_down(struct forest *forest, int level)
{
    const struct eki_tree *tree = &forest->tree;
    uint64_t slowest = 0;
    for (int32_t v = tree->first[level]; v < tree->first[level + 1]; v++) {
        uint64_t start = eki_cpu_ns();
        int64_t count = 0;
        for (int64_t i = forest->heads[v]; i != NONE; i = forest->next[i])
            forest->up[count++] = i;
        if (fill_children(forest, v, forest->up, count, INFINITY) < 0)
            return false;
        uint64_t took = eki_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    forest->decision->critical_ns += slowest;
    return true;
}

/* List the items that go up by the worker that they come from. */
static void list_leaves(struct forest *forest)
{
    const struct eki_pool *pool = forest->pool;
    int64_t *first = forest->first;
    for (int64_t i = 0; i < pool->count; i++)
        first[pool->items[i].from + 1]++;
    for (int32_t w = 0; w < pool->workers; w++)
        first[w + 1] += first[w];
    for (int64_t i = 0; i < pool->count; i++)
        forest->up[first[pool->items[i].from]++] = i;
    /* Each first has moved on to that of the next worker. */
    memmove(first + 1, first, (size_t)pool->workers * sizeof *first);
    first[0] = 0;
}

static bool climb(struct forest *forest)
{
    struct eki_pool *pool = forest->pool;
    list_leaves(forest);
    for (int level = 1; level <= forest->tree.top; level++) {
        if (!go_up(forest, level))
            return false;
    }
    for (int level = forest->tree.top - 1; level >= 1; level--) {
        if (!go_down(forest, level))
            return false;
    }
    for (int32_t w = 0; w < pool->workers; w++) {
        pool->loads[w] = forest->loads[w];
        for (int64_t i = forest->heads[w]; i != NONE; i = forest->next[i])
            pool->places[i] = w;
    }
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return true;
}

/* Algorithm 2, MEAN: load of a worker.  Descriptors that arrive at the busiest
 * vertex and the critical path go to DECISION. */
static bool place_by_tree(struct eki_pool *pool, double mean,
                          const struct eki_hpdc12 *constants,
                          struct eki_decision *decision)
{
    struct forest forest = {
        .pool = pool, .fill = constants->fill * mean, .decision = decision};
    eki_tree_open(&forest.tree, pool->workers, constants->branching);
    bool done = open_forest(&forest) && climb(&forest);
    close_forest(&forest);
    return done;
}

static bool decide(struct eki_plan *plan, const struct eki_hpdc12 *constants,
                   struct eki_decision *decision)
{
    uint64_t start = eki_cpu_ns();
    double mean = (double)plan->totals.total / (double)plan->input->workers;
    struct eki_pool pool = {.workers = plan->input->workers,
                            .loads = plan->loads};
    bool done = eki_pool_fill(&pool, plan->items, plan->count);
    if (done && constants->is_hierarchical) {
        done = place_by_tree(&pool, mean, constants, decision);
    } else if (done) {
        done = eki_pool_greedy(&pool);
        decision->descriptors = plan->count;
        decision->critical_ns += eki_cpu_ns() - start;
    }
    for (int64_t i = 0; done && i < pool.count; i++)
        eki_plan_send(plan, &pool.items[i], pool.places[i]);
    eki_pool_free(&pool);
    return done;
}

bool eki_balance_hpdc12(const struct eki_balance_input *input,
                        const struct eki_hpdc12 *constants, int32_t *to,
                        struct eki_decision *decision)
{
    struct eki_plan plan;
    *decision = (struct eki_decision){0};
    if (!eki_plan_open(&plan, input, to))
        return false;
    shed_shortest(&plan, constants);
    bool done = decide(&plan, constants, decision);
    if (done)
        eki_plan_describe(&plan, decision);
    eki_plan_close(&plan);
    return done;
}
