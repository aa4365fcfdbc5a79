/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kind of tree that unfolds: what a node is, how long its task takes, and
 * which children that spawns; workloads/ generates them, as for the example of
 * the same name.
 */
#ifndef EK_SIM_UNFOLD_KIND_H
#define EK_SIM_UNFOLD_KIND_H

#include "sim/sim.h"

enum {
    UNFOLD_NODE_MOST = 48 /* bytes of a node */
};

/* What has run in an iteration. */
struct unfold_sums {
    int64_t tasks, spawned;
    int64_t nodes;    /* that tasks have visited: one each, or a subtree */
    int64_t found;    /* leaves, or solutions, or consumers */
    int64_t depth;    /* of the deepest node; the root has 0 */
    double work_ns;   /* of all tasks */
    uint64_t path_ns; /* of tasks that spawn each other, the longest */
    bool is_memory_out;
};

/* What a task carries: how long those take that lead to it, until it begins;
 * and its node. */
struct unfold_carried {
    uint64_t path_ns;
    unsigned char node[UNFOLD_NODE_MOST];
};

/* The task that spawns now, and the child that is to come. */
struct unfold_parent {
    struct eki_sim_worker *worker;
    size_t bytes; /* of what is carried */
    struct unfold_carried child;
    struct unfold_sums *sums;
    bool has_failed; /* no memory */
};
/* Spawn the task of child.node; false: no memory, and no more children. */
bool unfold_spawn(struct unfold_parent *parent);

struct unfold_kind {
    const char *name;
    const char *allowed; /* behind NAME: */
    const char *nodes;   /* what sums.nodes and sums.found count ... */
    const char *found;
    size_t node_bytes, tree_bytes;
    double node_ns; /* unless --node-ns says otherwise; 0: TREE says it */
    /* False: TEXT is not allowed. */
    bool (*read)(const char *text, void *tree);
    void (*root)(const void *tree, void *node);
    /* How long the task of NODE takes. */
    double (*visit)(const void *tree, const void *node, double node_ns,
                    struct unfold_sums *sums);
    /* Spawn the children of NODE, which is not in PARENT. */
    void (*spawn)(const void *tree, const void *node,
                  struct unfold_parent *parent);
};

/* Those that there are; uts only with nettle. */
extern const struct unfold_kind unfold_uts, unfold_queens, unfold_bouncing,
    unfold_fib, unfold_skew, unfold_stress;

/* A number of a tree's text. */
struct unfold_key {
    const char *name;
    size_t offset; /* of its double */
    double least, most;
    enum unfold_unit {
        UNFOLD_WHOLE,
        UNFOLD_REAL,
        UNFOLD_TIME
    } unit;
};

/* Read KEY=VALUE,KEY=VALUE,...; times are ns, and have a unit: ns, us, ms, s.
 */
bool unfold_read_keys(const char *text, const struct unfold_key *keys,
                      int count, void *values);

#endif
