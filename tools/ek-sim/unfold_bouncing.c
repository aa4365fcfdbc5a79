/* SPDX-License-Identifier: BSD-3-Clause */
/* Bouncing producer and consumers, whose tasks take times of their own. */
#include "unfold_kind.h"

struct bouncing {
    double n, depth, produce_ns, consume_ns;
};

/* A producer of so many that are left; 0: a consumer. */
struct bouncing_node {
    int64_t left;
};

static bool read(const char *text, void *tree)
{
    static const struct unfold_key keys[] = {
        {"n", offsetof(struct bouncing, n), 1, 1e9, UNFOLD_WHOLE},
        {"depth", offsetof(struct bouncing, depth), 1, 1e9, UNFOLD_WHOLE},
        {"produce", offsetof(struct bouncing, produce_ns), 0, 1e12,
         UNFOLD_TIME},
        {"consume", offsetof(struct bouncing, consume_ns), 0, 1e12,
         UNFOLD_TIME}};
    struct bouncing *bouncing = tree;
    *bouncing = (struct bouncing){.produce_ns = 1e6, .consume_ns = 5e6};
    return unfold_read_keys(text, keys, sizeof keys / sizeof *keys, bouncing) &&
           bouncing->n > 0 && bouncing->depth > 0;
}

static void root(const void *tree, void *node)
{
    const struct bouncing *bouncing = tree;
    *(struct bouncing_node *)node =
        (struct bouncing_node){(int64_t)bouncing->depth};
}

static double visit(const void *tree, const void *node, double node_ns,
                    struct unfold_sums *sums)
{
    const struct bouncing *bouncing = tree;
    int64_t left = ((const struct bouncing_node *)node)->left;
    (void)node_ns;
    sums->nodes++;
    sums->found += left == 0;
    if (left == 0)
        return bouncing->consume_ns;
    int64_t depth = (int64_t)bouncing->depth - left;
    sums->depth = depth + 1 > sums->depth ? depth + 1 : sums->depth;
    return bouncing->produce_ns;
}

static void spawn(const void *tree, const void *node,
                  struct unfold_parent *parent)
{
    const struct bouncing *bouncing = tree;
    int64_t left = ((const struct bouncing_node *)node)->left;
    struct bouncing_node *child = (void *)parent->child.node;
    if (left == 0)
        return;
    if (left > 1) {
        child->left = left - 1;
        unfold_spawn(parent);
    }
    child->left = 0;
    for (int64_t i = 0; i < (int64_t)bouncing->n; i++)
        unfold_spawn(parent);
}

const struct unfold_kind unfold_bouncing = {
    .name = "bpc",
    .allowed = "n=1...1e9,depth=1...1e9[,produce=1ms][,consume=5ms] "
               "(ns, us, ms, s)",
    .nodes = "tasks",
    .found = "consumers",
    .node_bytes = sizeof(struct bouncing_node),
    .tree_bytes = sizeof(struct bouncing),
    .read = read,
    .root = root,
    .visit = visit,
    .spawn = spawn};
