/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms 1 and 2 of HPDC'12 as printed, to compare with.
 *
 * Workers shed their shortest tasks above C x mean load.  Centralized: the
 * longest task goes to the least loaded worker.  Hierarchical: the same in a
 * tree of workers, up while a child is below D x mean load, down for what is
 * left.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3.
 */
#include "balance/index_heap.h"
#include "balance/plan.h"

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

/* Least load first. */
static bool is_less(const void *context, int32_t a, int32_t b)
{
    const eki_ns *loads = context;
    return loads[a] != loads[b] ? loads[a] < loads[b] : a < b;
}

bool eki_pool_greedy(struct eki_pool *pool)
{
    struct eki_index_heap heap;
    if (!eki_index_heap_init(&heap, pool->workers))
        return false;
    eki_index_heap_fill(&heap, pool->workers, is_less, pool->loads);
    for (int64_t i = 0; i < pool->count; i++) {
        pool->places[i] = heap.items[0];
        pool->loads[heap.items[0]] += pool->items[i].ns;
        eki_index_heap_sink(&heap, 0, is_less, pool->loads);
    }
    eki_index_heap_free(&heap);
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return true;
}

enum {
    LEVELS_MOST = 40,
    NONE = -1
};

/* Vertices of one level of the tree; level 0: the workers. */
struct level {
    int32_t count;
    eki_ns *loads;   /* of the subtree */
    int32_t *leaves; /* workers of the subtree */
    int64_t *heads;  /* items that come down to the vertex */
};

struct tree {
    struct eki_pool *pool;
    double fill; /* D x mean load */
    int32_t branching;
    struct eki_decision *decision;
    struct level levels[LEVELS_MOST];
    int top;
    int64_t *next;           /* [count], of the lists */
    struct eki_item *sorted; /* [count], of one vertex; index: of the item */
    int64_t *up, *first;     /* items that go up, by vertex */
};

static bool open_level(struct level *level, int32_t count)
{
    level->count = count;
    level->loads = eki_alloc((size_t)count, sizeof *level->loads);
    level->leaves = eki_alloc((size_t)count, sizeof *level->leaves);
    level->heads = eki_alloc((size_t)count, sizeof *level->heads);
    if (!level->loads || !level->leaves || !level->heads)
        return false;
    memset(level->heads, NONE, (size_t)count * sizeof *level->heads);
    return true;
}

static bool open_tree(struct tree *tree)
{
    const struct eki_pool *pool = tree->pool;
    int32_t workers = pool->workers;
    size_t count = (size_t)pool->count;
    tree->next = eki_alloc(count, sizeof *tree->next);
    tree->sorted = eki_alloc(count, sizeof *tree->sorted);
    tree->up = eki_alloc(count, sizeof *tree->up);
    tree->first = eki_alloc((size_t)workers + 1, sizeof *tree->first);
    if (!tree->next || !tree->sorted || !tree->up || !tree->first ||
        !open_level(&tree->levels[0], workers))
        return false;
    for (int32_t w = 0; w < workers; w++) {
        tree->levels[0].loads[w] = pool->loads[w];
        tree->levels[0].leaves[w] = 1;
    }
    for (int32_t n = workers; n > 1;) {
        n = (n + tree->branching - 1) / tree->branching;
        if (!open_level(&tree->levels[++tree->top], n))
            return false;
    }
    return true;
}

static void close_tree(struct tree *tree)
{
    for (int l = 0; l <= tree->top; l++) {
        eki_free(tree->levels[l].loads);
        eki_free(tree->levels[l].leaves);
        eki_free(tree->levels[l].heads);
    }
    eki_free(tree->next);
    eki_free(tree->sorted);
    eki_free(tree->up);
    eki_free(tree->first);
}

/* The children of a vertex: [*FIRST, end). */
static int32_t children(const struct tree *tree, int l, int32_t vertex,
                        int32_t *first)
{
    int32_t k = tree->branching, below = tree->levels[l - 1].count;
    *first = vertex * k;
    return *first + k < below ? *first + k : below;
}

static double average(const struct level *level, int32_t vertex)
{
    return (double)level->loads[vertex] / (double)level->leaves[vertex];
}

/* The child with the least average load. */
static int32_t least_child(const struct tree *tree, int l, int32_t vertex)
{
    int32_t first, end = children(tree, l, vertex, &first), least = first;
    const struct level *below = &tree->levels[l - 1];
    for (int32_t child = first + 1; child < end; child++) {
        if (average(below, child) < average(below, least))
            least = child;
    }
    return least;
}

static void give(struct tree *tree, int l, int32_t child, int64_t item)
{
    struct level *level = &tree->levels[l];
    level->loads[child] += tree->pool->items[item].ns;
    tree->next[item] = level->heads[child];
    level->heads[child] = item;
}

/* On the way up a vertex gives its children what they may take.  Items that
 * they may not take go into REST; returns how many. */
static int64_t fill_children(struct tree *tree, int l, int32_t vertex,
                             int64_t count, int64_t *rest)
{
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t child = least_child(tree, l, vertex);
        int64_t item = tree->sorted[i].index;
        if (l == tree->top || average(&tree->levels[l - 1], child) < tree->fill)
            give(tree, l - 1, child, item);
        else
            rest[left++] = item;
    }
    return left;
}

/* Put the items into tree->sorted, longest first. */
static bool sort_some(struct tree *tree, const int64_t *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        tree->sorted[i] = (struct eki_item){tree->pool->items[items[i]].ns, 0,
                                            (int32_t)items[i]};
    return eki_items_sort(tree->sorted, count);
}

/* One level up: every vertex sorts the items of its children, gives them what
 * they may take, and passes on the rest.  All vertices of a level work side by
 * side, so that the slowest of them counts. */
static bool go_up(struct tree *tree, int l)
{
    struct level *level = &tree->levels[l], *below = &tree->levels[l - 1];
    int64_t left = 0;
    uint64_t slowest = 0;
    for (int32_t v = 0; v < level->count; v++) {
        uint64_t start = eki_cpu_ns();
        int32_t first, end = children(tree, l, v, &first);
        int64_t from = tree->first[first], count = tree->first[end] - from;
        if (!sort_some(tree, tree->up + from, count))
            return false;
        tree->first[v] = left;
        left += fill_children(tree, l, v, count, tree->up + left);
        for (int32_t child = first; child < end; child++) {
            level->loads[v] += below->loads[child];
            level->leaves[v] += below->leaves[child];
        }
        if (count > tree->decision->descriptors)
            tree->decision->descriptors = count;
        uint64_t took = eki_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    tree->first[level->count] = left;
    tree->decision->critical_ns += slowest;
    return true;
}

/* One level down: every vertex gives all that has come to it to its children.
 */
static bool go_down(struct tree *tree, int l)
{
    const struct level *level = &tree->levels[l];
    uint64_t slowest = 0;
    for (int32_t v = 0; v < level->count; v++) {
        uint64_t start = eki_cpu_ns();
        int64_t count = 0;
        for (int64_t i = level->heads[v]; i != NONE; i = tree->next[i])
            tree->up[count++] = i;
        if (!sort_some(tree, tree->up, count))
            return false;
        for (int64_t i = 0; i < count; i++)
            give(tree, l - 1, least_child(tree, l, v), tree->sorted[i].index);
        uint64_t took = eki_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    tree->decision->critical_ns += slowest;
    return true;
}

/* List the items that go up by the worker that they come from. */
static void list_leaves(struct tree *tree)
{
    const struct eki_pool *pool = tree->pool;
    for (int64_t i = 0; i < pool->count; i++)
        tree->first[pool->items[i].from + 1]++;
    for (int32_t w = 0; w < pool->workers; w++)
        tree->first[w + 1] += tree->first[w];
    for (int64_t i = 0; i < pool->count; i++)
        tree->up[tree->first[pool->items[i].from]++] = i;
    /* Each first has moved on to that of the next worker. */
    memmove(tree->first + 1, tree->first,
            (size_t)pool->workers * sizeof *tree->first);
    tree->first[0] = 0;
}

static bool climb(struct tree *tree)
{
    struct eki_pool *pool = tree->pool;
    list_leaves(tree);
    for (int l = 1; l <= tree->top; l++) {
        if (!go_up(tree, l))
            return false;
    }
    for (int l = tree->top - 1; l >= 1; l--) {
        if (!go_down(tree, l))
            return false;
    }
    for (int32_t w = 0; w < pool->workers; w++) {
        pool->loads[w] = tree->levels[0].loads[w];
        for (int64_t i = tree->levels[0].heads[w]; i != NONE; i = tree->next[i])
            pool->places[i] = w;
    }
    /* A tree of one worker has no level from which items could come down. */
    for (int64_t i = 0; i < pool->count; i++)
        pool->places[i] = pool->places[i] < 0 ? 0 : pool->places[i];
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return true;
}

bool eki_pool_tree(struct eki_pool *pool, double mean,
                   const struct eki_hpdc12 *constants,
                   struct eki_decision *decision)
{
    struct tree *tree = eki_alloc(1, sizeof *tree);
    if (!tree)
        return false;
    tree->pool = pool;
    tree->fill = constants->fill * mean;
    tree->branching = constants->branching;
    tree->decision = decision;
    bool done = open_tree(tree) && climb(tree);
    close_tree(tree);
    eki_free(tree);
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
        done = eki_pool_tree(&pool, mean, constants, decision);
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
