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

/* Items in the order in which a vertex has got them: those that came up to it,
 * or those that it was given. */
struct list {
    int64_t head, tail; /* NONE, both: it is empty */
};

/* All vertices at once, by their number; items by theirs. */
struct forest {
    struct eki_tree tree;
    struct eki_pool *pool;
    double fill; /* D x mean load */
    struct eki_decision *decision;
    eki_ns *loads;             /* of all workers below each vertex */
    int32_t *leaves;           /* how many these are */
    struct list *risen, *came; /* that came up to a vertex, or down */
    int64_t *next;             /* [items], of the lists */
    struct eki_item *sorted;   /* of one vertex; index: of the item */
    int32_t *given;            /* likewise, to which child */
};

static bool open_forest(struct forest *forest)
{
    const struct eki_pool *pool = forest->pool;
    size_t vertices = (size_t)eki_tree_count(&forest->tree);
    size_t count = (size_t)pool->count;
    forest->loads = eki_alloc(vertices, sizeof *forest->loads);
    forest->leaves = eki_alloc(vertices, sizeof *forest->leaves);
    forest->risen = eki_alloc(vertices, sizeof *forest->risen);
    forest->came = eki_alloc(vertices, sizeof *forest->came);
    forest->next = eki_alloc(count, sizeof *forest->next);
    forest->sorted = eki_alloc(count, sizeof *forest->sorted);
    forest->given = eki_alloc(count, sizeof *forest->given);
    if (!forest->loads || !forest->leaves || !forest->risen || !forest->came ||
        !forest->next || !forest->sorted || !forest->given)
        return false;
    memset(forest->risen, NONE, vertices * sizeof *forest->risen);
    memset(forest->came, NONE, vertices * sizeof *forest->came);
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
    eki_free(forest->risen);
    eki_free(forest->came);
    eki_free(forest->next);
    eki_free(forest->sorted);
    eki_free(forest->given);
}

static void add_to_list(struct forest *forest, struct list *list, int64_t item)
{
    *(list->head == NONE ? &list->head : &forest->next[list->tail]) = item;
    list->tail = item;
    forest->next[item] = NONE;
}

/* Give the children of a vertex what is in a list, while they have less than
 * MOST; what is left goes up.  How many items there were; -1: no memory. */
static int64_t give_children(struct forest *forest, int32_t vertex,
                             const struct list *list, double most)
{
    int32_t first, n = eki_tree_children(&forest->tree, vertex, &first);
    const struct eki_children children = {n, forest->loads + first,
                                          forest->leaves + first};
    struct eki_item *items = forest->sorted;
    int64_t count = 0;
    for (int64_t i = list->head; i != NONE; i = forest->next[i])
        items[count++] =
            (struct eki_item){forest->pool->items[i].ns, 0, (int32_t)i};
    if (!eki_items_sort(items, count))
        return -1;
    int64_t taken =
        eki_children_fill(&children, items, count, most, forest->given);
    for (int64_t i = 0; i < taken; i++)
        add_to_list(forest, &forest->came[first + forest->given[i]],
                    items[i].index);
    for (int64_t i = taken; taken >= 0 && i < count; i++)
        add_to_list(forest,
                    &forest->risen[eki_tree_parent(&forest->tree, vertex)],
                    items[i].index);
    return taken < 0 ? -1 : count;
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

/* Every vertex of a level gives what has come up to it, or down.  All work side
 * by side, so that the slowest of them counts. */
static bool visit_level(struct forest *forest, int level, bool goes_up)
{
    const struct eki_tree *tree = &forest->tree;
    double most = goes_up && level < tree->top ? forest->fill : INFINITY;
    uint64_t slowest = 0;
    for (int32_t v = tree->first[level]; v < tree->first[level + 1]; v++) {
        uint64_t start = eki_clock_cpu_ns();
        int64_t count = give_children(
            forest, v, goes_up ? &forest->risen[v] : &forest->came[v], most);
        if (count < 0)
            return false;
        if (goes_up)
            sum_children(forest, v);
        if (goes_up && count > forest->decision->descriptors)
            forest->decision->descriptors = count;
        uint64_t took = eki_clock_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    forest->decision->critical_ns += slowest;
    return true;
}

static bool climb(struct forest *forest)
{
    const struct eki_tree *tree = &forest->tree;
    struct eki_pool *pool = forest->pool;
    for (int64_t i = 0; i < pool->count; i++)
        add_to_list(forest,
                    &forest->risen[eki_tree_parent(tree, pool->items[i].from)],
                    i);
    for (int level = 1; level <= tree->top; level++) {
        if (!visit_level(forest, level, true))
            return false;
    }
    for (int level = tree->top - 1; level >= 1; level--) {
        if (!visit_level(forest, level, false))
            return false;
    }
    for (int32_t w = 0; w < pool->workers; w++) {
        pool->loads[w] = forest->loads[w];
        for (int64_t i = forest->came[w].head; i != NONE; i = forest->next[i])
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
    uint64_t start = eki_clock_cpu_ns();
    double mean = (double)plan->totals.total / (double)plan->input->workers;
    struct eki_pool pool = {.workers = plan->input->workers,
                            .loads = plan->loads};
    bool done = eki_pool_fill(&pool, plan->items, plan->count);
    if (done && constants->is_hierarchical) {
        done = place_by_tree(&pool, mean, constants, decision);
    } else if (done) {
        done = eki_pool_greedy(&pool);
        decision->descriptors = plan->count;
        decision->critical_ns += eki_clock_cpu_ns() - start;
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
