/* SPDX-License-Identifier: BSD-3-Clause */
/* Bouncing producer and consumers, whose tasks take times of their own. */
#include "unfold_kind.h"

#include "workloads/bouncing.h"

struct timed_bouncing {
    struct bouncing bouncing;
    double n, depth, produce_ns, consume_ns;
};

static bool read(const char *text, void *tree)
{
    static const struct unfold_key keys[] = {
        {"n", offsetof(struct timed_bouncing, n), 1, 1e7, UNFOLD_WHOLE},
        {"depth", offsetof(struct timed_bouncing, depth), 1, 1e9, UNFOLD_WHOLE},
        {"produce", offsetof(struct timed_bouncing, produce_ns), 0, 1e12,
         UNFOLD_TIME},
        {"consume", offsetof(struct timed_bouncing, consume_ns), 0, 1e12,
         UNFOLD_TIME}};
    struct timed_bouncing *timed = tree;
    *timed = (struct timed_bouncing){.produce_ns = 1e6, .consume_ns = 5e6};
    bool is_good =
        unfold_read_keys(text, keys, sizeof keys / sizeof *keys, timed) &&
        timed->n > 0 && timed->depth > 0;
    timed->bouncing =
        (struct bouncing){(int64_t)timed->n, (int64_t)timed->depth};
    return is_good;
}

static void root(const void *tree, void *node)
{
    const struct timed_bouncing *timed = tree;
    *(struct bouncing_node *)node = bouncing_root(&timed->bouncing);
}

static double visit(const void *tree, const void *node, double node_ns,
                    struct unfold_sums *sums)
{
    const struct timed_bouncing *timed = tree;
    int64_t left = ((const struct bouncing_node *)node)->left;
    (void)node_ns;
    sums->nodes++;
    sums->found += left == 0;
    if (left == 0)
        return timed->consume_ns;
    /* Of its consumers. */
    int64_t depth = timed->bouncing.depth - left + 1;
    sums->depth = depth > sums->depth ? depth : sums->depth;
    return timed->produce_ns;
}

static void spawn(const void *tree, const void *node,
                  struct unfold_parent *parent)
{
    const struct timed_bouncing *timed = tree;
    int64_t children = bouncing_children(&timed->bouncing, node);
    for (int64_t i = 0; i < children; i++) {
        *(struct bouncing_node *)(void *)parent->child.node =
            bouncing_child(node, i);
        if (!unfold_spawn(parent))
            return;
    }
}

const struct unfold_kind unfold_bouncing = {
    .name = "bpc",
    .allowed = "n=1...1e7,depth=1...1e9[,produce=1ms][,consume=5ms] "
               "(ns, us, ms, s)",
    .nodes = "tasks",
    .found = "consumers",
    .node_bytes = sizeof(struct bouncing_node),
    .tree_bytes = sizeof(struct timed_bouncing),
    .read = read,
    .root = root,
    .visit = visit,
    .spawn = spawn};
