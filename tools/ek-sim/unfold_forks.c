/* SPDX-License-Identifier: BSD-3-Clause */
/* Fib, skew and stress: a task a node, and below the cut-off one for all. */
#include "unfold_kind.h"

#include "workloads/forks.h"

static bool read_fib(const char *text, void *tree)
{
    return forks_read("fib", text, tree);
}

static bool read_skew(const char *text, void *tree)
{
    return forks_read("skew", text, tree);
}

static bool read_stress(const char *text, void *tree)
{
    return forks_read("stress", text, tree);
}

static void root(const void *tree, void *node)
{
    *(struct forks_node *)node = forks_root(tree);
}

/* Whether its task visits all that is below. */
static bool is_whole(const struct forks *forks, const struct forks_node *node)
{
    return node->level >= forks->cutoff || forks_is_leaf(node);
}

/* A leaf takes its iterations, and each other node one: 1 ns each, as the real
 * ones of workloads/forks.c take 0.96 ns, and calls of fib 1.04 ns. */
static double visit(const void *tree, const void *node, double node_ns,
                    struct unfold_sums *sums)
{
    const struct forks *forks = tree;
    const struct forks_node *from = node;
    bool is_all = is_whole(forks, from);
    int64_t nodes = is_all ? forks_nodes(forks, from) : 1;
    int64_t leaves = is_all ? (nodes + 1) / 2 : 0;
    int64_t leaf = forks->leaf > 0 ? forks->leaf : 1;
    sums->depth = from->level > sums->depth ? from->level : sums->depth;
    sums->nodes += nodes;
    sums->found += is_all ? forks_found(forks, from) : 0;
    return ((double)leaves * (double)leaf + (double)(nodes - leaves)) * node_ns;
}

static void spawn(const void *tree, const void *node,
                  struct unfold_parent *parent)
{
    const struct forks *forks = tree;
    if (is_whole(forks, node))
        return;
    for (int i = 0; i < 2; i++) {
        *(struct forks_node *)(void *)parent->child.node =
            forks_child(forks, node, i);
        if (!unfold_spawn(parent))
            return;
    }
}

const struct unfold_kind unfold_fib = {.name = "fib",
                                       .allowed = FORKS_FIB,
                                       .nodes = "nodes",
                                       .found = "found",
                                       .node_bytes = sizeof(struct forks_node),
                                       .tree_bytes = sizeof(struct forks),
                                       .node_ns = 1,
                                       .read = read_fib,
                                       .root = root,
                                       .visit = visit,
                                       .spawn = spawn};

const struct unfold_kind unfold_skew = {.name = "skew",
                                        .allowed = FORKS_SKEW,
                                        .nodes = "nodes",
                                        .found = "leaves",
                                        .node_bytes = sizeof(struct forks_node),
                                        .tree_bytes = sizeof(struct forks),
                                        .node_ns = 1,
                                        .read = read_skew,
                                        .root = root,
                                        .visit = visit,
                                        .spawn = spawn};

const struct unfold_kind unfold_stress = {.name = "stress",
                                          .allowed = FORKS_STRESS,
                                          .nodes = "nodes",
                                          .found = "leaves",
                                          .node_bytes =
                                              sizeof(struct forks_node),
                                          .tree_bytes = sizeof(struct forks),
                                          .node_ns = 1,
                                          .read = read_stress,
                                          .root = root,
                                          .visit = visit,
                                          .spawn = spawn};
