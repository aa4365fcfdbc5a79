/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of Algorithm 2: who is above whom, and what a vertex gives whom. */
#include "printed/tree.h"

#include "balance/index_heap.h"

void eki_tree_open(struct eki_tree *tree, int32_t workers, int32_t branching)
{
    int32_t count = workers;
    *tree = (struct eki_tree){.workers = workers, .branching = branching};
    do {
        tree->first[tree->top + 1] = tree->first[tree->top] + count;
        tree->top++;
        count = (int32_t)(((int64_t)count + branching - 1) / branching);
    } while (count > 1);
    tree->first[tree->top + 1] = tree->first[tree->top] + 1;
}

static int level_of(const struct eki_tree *tree, int32_t vertex)
{
    int level = 0;
    while (vertex >= tree->first[level + 1])
        level++;
    return level;
}

int32_t eki_tree_parent(const struct eki_tree *tree, int32_t vertex)
{
    int level = level_of(tree, vertex);
    return tree->first[level + 1] +
           (vertex - tree->first[level]) / tree->branching;
}

int32_t eki_tree_children(const struct eki_tree *tree, int32_t vertex,
                          int32_t *first)
{
    int level = level_of(tree, vertex);
    int64_t begin = tree->first[level - 1] +
                    (int64_t)(vertex - tree->first[level]) * tree->branching;
    int64_t rest = tree->first[level] - begin;
    *first = (int32_t)begin;
    return rest < tree->branching ? (int32_t)rest : tree->branching;
}

/* The workers below a whole vertex of LEVEL, but no more than all. */
static int64_t width_of(const struct eki_tree *tree, int level)
{
    int64_t width = 1;
    while (level-- > 0 && width < tree->workers)
        width *= tree->branching;
    return width;
}

int32_t eki_tree_leaves(const struct eki_tree *tree, int32_t vertex,
                        int32_t *first)
{
    int level = level_of(tree, vertex);
    int64_t width = width_of(tree, level);
    int64_t begin = (vertex - tree->first[level]) * width;
    *first = (int32_t)begin;
    return (int32_t)(begin + width < tree->workers ? width
                                                   : tree->workers - begin);
}

int32_t eki_tree_host(const struct eki_tree *tree, int32_t vertex)
{
    int32_t child, host = vertex;
    if (vertex >= tree->workers) {
        child = eki_tree_children(tree, vertex, &host) > 1 ? host + 1 : host;
        eki_tree_leaves(tree, child, &host);
    }
    return host;
}

int32_t eki_tree_hosted(const struct eki_tree *tree, int level, int32_t first,
                        int32_t last, int32_t *vertex)
{
    int64_t width = width_of(tree, level);
    int32_t begin = tree->first[level] + (int32_t)(first / width);
    int32_t end = tree->first[level] + (int32_t)(last / width) + 1;
    /* Hosts ascend as vertices do: only the outer two may be of others. */
    if (eki_tree_host(tree, begin) < first)
        begin++;
    if (end > begin && eki_tree_host(tree, end - 1) > last)
        end--;
    *vertex = begin;
    return end - begin;
}

static double average_load(const struct eki_children *children, int32_t child)
{
    double load = (double)children->loads[child];
    return children->leaves ? load / children->leaves[child] : load;
}

/* Least load per worker first. */
static bool is_less(const void *context, int32_t a, int32_t b)
{
    double mine = average_load(context, a), others = average_load(context, b);
    return mine != others ? mine < others : a < b;
}

int64_t eki_children_fill(const struct eki_children *children,
                          const struct eki_item *items, int64_t count,
                          double most, int32_t *given)
{
    struct eki_index_heap heap;
    int64_t n = 0;
    if (!eki_index_heap_init(&heap, children->count))
        return -1;
    eki_index_heap_fill(&heap, children->count, is_less, children);
    for (; n < count && average_load(children, heap.items[0]) < most; n++) {
        given[n] = heap.items[0];
        children->loads[given[n]] += items[n].ns;
        eki_index_heap_sink(&heap, 0, is_less, children);
    }
    eki_index_heap_free(&heap);
    return n;
}
