/* SPDX-License-Identifier: BSD-3-Clause */
/* The printed algorithms: all items in one pool, from which the least loaded
 * worker takes each, or all vertices of a tree, level by level. */
#include "decide/plan.h"

#include "printed/tree.h"

#include <math.h>
#include <string.h>

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
    struct plan *plan;
    eki_ns *loads;             /* of all workers below each vertex */
    int32_t *leaves;           /* how many these are */
    struct list *risen, *came; /* that came up to a vertex, or down */
    int64_t *next;             /* [items], of the lists */
    struct eki_item *sorted;   /* of one vertex; index: of the item */
    int32_t *given;            /* of one vertex: to which child */
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
        if (goes_up) {
            sum_children(forest, v);
            plan_arrive(forest->plan, count);
        }
        plan_time(&slowest, start);
    }
    forest->plan->decision->critical_ns += slowest;
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

/* Algorithm 2. */
static bool place_by_tree(struct plan *plan, struct eki_pool *pool)
{
    const struct eki_hpdc12 *constants = plan->input->printed;
    double mean = (double)plan->totals.total / (double)pool->workers;
    struct forest forest = {
        .pool = pool, .fill = constants->fill * mean, .plan = plan};
    eki_tree_open(&forest.tree, pool->workers, constants->branching);
    bool done = open_forest(&forest) && climb(&forest);
    close_forest(&forest);
    return done;
}

bool plan_printed(struct plan *plan)
{
    uint64_t start = eki_clock_cpu_ns();
    struct eki_pool pool = {.workers = plan->input->workers,
                            .loads = plan->loads};
    bool done = eki_pool_add(&pool, plan->items, plan->count, false);
    if (done && plan->input->printed->is_hierarchical) {
        done = place_by_tree(plan, &pool);
    } else if (done) {
        done = eki_pool_greedy(&pool);
        plan_arrive(plan, plan->count);
        plan->decision->critical_ns += eki_clock_cpu_ns() - start;
    }
    if (done)
        plan_send(plan, &pool);
    eki_pool_free(&pool);
    return done;
}
