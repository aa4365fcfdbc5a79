/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary trees whose depth follows a recurrence: fib, and skew and stress of
 * the tests of WOOL.  A node of which D is left has a child of D - first and
 * one of D - second; where nothing is left it is a leaf, which counts in a
 * loop.
 *
 * The literature prints arguments only (Varisteas, Brorsson, 2013); we read
 *
 *     fib:N                  the calls of the recursion: N - 1 and N - 2
 *     skew:LEAF,D,DEC1,DEC2  children of D - DEC1 and of D - DEC2
 *     stress:LEAF,D,DEC      two children of D - DEC
 *
 * where a leaf counts to LEAF.  So skew with two equal DECs is stress.
 *
 * Threads: any; a tree is only read.
 */
#ifndef WORKLOADS_FORKS_H
#define WORKLOADS_FORKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FORKS_MOST = 60 /* depth: 2^61 nodes at most */
};

struct forks {
    int32_t depth;         /* what is left of the root */
    int32_t first, second; /* and how much less of its children, above 0 */
    int32_t leaf;          /* iterations of a leaf */
    int32_t least;         /* leaves with less left are not found: fib(0) = 0 */
    int32_t cutoff;        /* one task visits all below nodes of this level */
    /* By what is left: nodes from there on, and leaves that are found. */
    int64_t nodes[FORKS_MOST + 1], found[FORKS_MOST + 1];
};

/* The payload of a task. */
struct forks_node {
    int32_t left;
    int32_t level; /* of the root: 0 */
};

/* Read the TEXT of tree NAME, above, maybe with ",cutoff=C" behind; false:
 * there is no such tree, or numbers are not allowed. */
bool forks_read(const char *name, const char *text, struct forks *tree);
/* What is allowed behind the name and a colon. */
#define FORKS_FIB "N[,cutoff=C], N from 0 to 60"
#define FORKS_SKEW                                                            \
    "LEAF,D,DEC1,DEC2[,cutoff=C], LEAF up to 1e9, and to 1e18 for all nodes " \
    "together, the others up to 60"
#define FORKS_STRESS                                                    \
    "LEAF,D,DEC[,cutoff=C], LEAF up to 1e9, and to 1e18 for all nodes " \
    "together, the others up to 60"

static inline struct forks_node forks_root(const struct forks *tree)
{
    return (struct forks_node){tree->depth, 0};
}

static inline bool forks_is_leaf(const struct forks_node *node)
{
    return node->left <= 0;
}

/* Child I, 0 or 1. */
static inline struct forks_node
forks_child(const struct forks *tree, const struct forks_node *node, int i)
{
    return (struct forks_node){
        node->left - (i == 0 ? tree->first : tree->second), node->level + 1};
}

/* Nodes from NODE on, and leaves of them that are found: for fib, fib(N). */
static inline int64_t forks_nodes(const struct forks *tree,
                                  const struct forks_node *node)
{
    return forks_is_leaf(node) ? 1 : tree->nodes[node->left];
}

static inline int64_t forks_found(const struct forks *tree,
                                  const struct forks_node *node)
{
    return forks_is_leaf(node) ? node->left >= tree->least
                               : tree->found[node->left];
}

struct forks_counts {
    int64_t nodes, found;
    uint64_t sum; /* of what leaves have counted to */
};
/* Visit NODE alone; a leaf counts. */
void forks_visit_one(const struct forks *tree, const struct forks_node *node,
                     struct forks_counts *counts);
/* Likewise all from NODE on. */
void forks_visit(const struct forks *tree, const struct forks_node *node,
                 struct forks_counts *counts);

#endif
