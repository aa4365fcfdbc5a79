/* SPDX-License-Identifier: BSD-3-Clause */
#include "visit.h"

#include <evenkeel_inline.h>
#include <evenkeel_worker.h>

static void count(struct unfold_counts *counts, const struct uts_node *node,
                  int32_t children)
{
    counts->nodes++;
    counts->ends += children == 0;
    if (node->height > counts->depth)
        counts->depth = node->height;
}

/* A node and all below it, without tasks; false: no memory. */
static bool visit_below(const struct uts_tree *tree,
                        const struct uts_node *node,
                        struct unfold_counts *counts)
{
    struct uts_counts below = {0};
    bool is_good = uts_visit(tree, node, &below);
    counts->nodes += below.nodes;
    counts->ends += below.leaves;
    if (below.depth > counts->depth)
        counts->depth = below.depth;
    return is_good;
}

/* These two are calls, so that leaves, which most nodes are, need few registers
 * and save none. */
__attribute__((noinline)) static int end_leaf(ek_worker *worker,
                                              const struct uts_node *node)
{
    count(ek_worker_data(worker), node, 0);
    return 0;
}

__attribute__((noinline)) static int spawn_children(ek_worker *worker,
                                                    const struct visit *visit,
                                                    const struct uts_node *node)
{
    struct uts_parent parent;
    int32_t children = uts_children(&visit->options->tree, node);
    count(ek_worker_data(worker), node, children);
    uts_open(node, &parent);
    for (int32_t i = 0; i < children; i++) {
        struct uts_node *child =
            ek_spawn_at(worker, visit->function, sizeof *child, 0);
        if (!child)
            return 1;
        uts_child(&visit->options->tree, &parent, i, child);
    }
    return 0;
}

/* A task is a node. */
static int run_node(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct visit *visit = context;
    const struct uts_node *node = payload;
    (void)bytes;
    return uts_is_leaf(&visit->options->tree, node)
               ? end_leaf(worker, node)
               : spawn_children(worker, visit, node);
}

/* A task is a node, and all below where the cut-off is. */
static int run_above(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct visit *visit = context;
    const struct uts_node *node = payload;
    if (node->height < visit->options->cutoff)
        return run_node(worker, payload, bytes, context);
    if (!visit_below(&visit->options->tree, node, ek_worker_data(worker)))
        ek_fail(worker, 1, "no memory for the levels below a node");
    return 0;
}

/* Count NODE and spawn its children, some to a task. */
static int spread(ek_worker *worker, const struct visit *visit,
                  const struct uts_node *node, struct unfold_counts *counts)
{
    int32_t chunk = visit->options->chunk;
    int32_t children = uts_children(&visit->options->tree, node);
    count(counts, node, children);
    for (int32_t first = 0, last = 0; first < children; first = last) {
        struct visit_siblings *siblings =
            ek_spawn_at(worker, visit->function, sizeof *siblings, 0);
        if (!siblings)
            return 1;
        last += chunk < children - last ? chunk : children - last;
        *siblings = (struct visit_siblings){*node, first, last};
    }
    return 0;
}

/* A task is some siblings, of which their parent alone is told. */
static int run_siblings(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    const struct visit *visit = context;
    const struct visit_siblings *siblings = payload;
    struct unfold_counts *counts = ek_worker_data(worker);
    struct uts_parent parent;
    struct uts_node child;
    (void)bytes;
    if (siblings->last == 0)
        return spread(worker, visit, &siblings->parent, counts);
    uts_open(&siblings->parent, &parent);
    for (int32_t i = siblings->first; i < siblings->last; i++) {
        uts_child(&visit->options->tree, &parent, i, &child);
        if (spread(worker, visit, &child, counts) != 0)
            return 1;
    }
    return 0;
}

static bool visit_all(const void *context, struct unfold_counts *counts)
{
    const struct visit *visit = context;
    return visit_below(&visit->options->tree, &visit->root.parent, counts);
}

struct unfold visit_make(const struct visit_options *options,
                         struct visit *visit)
{
    bool has_chunks = options->chunk > 1;
    ek_task_fn *node = options->cutoff < INT32_MAX ? run_above : run_node;
    size_t bytes =
        has_chunks ? sizeof(struct visit_siblings) : sizeof(struct uts_node);
    *visit = (struct visit){.options = options};
    uts_root(&options->tree, &visit->root.parent);
    return (struct unfold){.name = "uts",
                           .ends = "leaves",
                           .has_depth = true,
                           .root = &visit->root,
                           .root_bytes = bytes,
                           .payload_bytes = bytes,
                           .task = has_chunks ? run_siblings : node,
                           .context = visit,
                           .function = &visit->function,
                           .visit = visit_all};
}
