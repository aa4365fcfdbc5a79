/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree: of Algorithm 2 of HPDC'12, and what one of its vertices does; by
 * messages or in arrays it is the same.
 *
 * Vertices have numbers, level by level: the workers first, then the vertices
 * above them, so many to one as the branching says, up to the root.  An inner
 * vertex is on the rank of its *host*: the first worker of its second child.
 * Written to the base of the branching, the last digit of that worker which is
 * not 0 is a 1, at the level's place: no worker hosts two vertices, but at the
 * end of the row, where a vertex with one child has that one's first worker.
 *
 * Algorithm 1 is a tree of one vertex.
 */
#ifndef EKI_PRINTED_TREE_H
#define EKI_PRINTED_TREE_H

#include "balance/balance.h"

/* As many as two to one need for 2^31 workers, and those themselves. */
#define EKI_TREE_LEVELS 32

struct eki_tree {
    int32_t workers, branching;
    int top;                            /* the root's level, 1 at least */
    int32_t first[EKI_TREE_LEVELS + 1]; /* vertex of each level; last: count */
};

void eki_tree_open(struct eki_tree *tree, int32_t workers, int32_t branching);
/* The vertex above one that is not the root. */
int32_t eki_tree_parent(const struct eki_tree *tree, int32_t vertex);
/* How many children an inner vertex has: *FIRST and those that follow. */
int32_t eki_tree_children(const struct eki_tree *tree, int32_t vertex,
                          int32_t *first);
/* How many workers are below a vertex: *FIRST and those that follow. */
int32_t eki_tree_leaves(const struct eki_tree *tree, int32_t vertex,
                        int32_t *first);
/* The worker on whose rank a vertex is. */
int32_t eki_tree_host(const struct eki_tree *tree, int32_t vertex);
/* How many vertices of LEVEL the workers FIRST ... LAST host: *VERTEX and those
 * that follow. */
int32_t eki_tree_hosted(const struct eki_tree *tree, int level, int32_t first,
                        int32_t last, int32_t *vertex);

static inline int32_t eki_tree_count(const struct eki_tree *tree)
{
    return tree->first[tree->top + 1];
}

static inline int32_t eki_tree_root(const struct eki_tree *tree)
{
    return tree->first[tree->top];
}

/* What a vertex knows of its children. */
struct eki_children {
    int32_t count;
    eki_ns *loads;         /* [count], of all workers below each */
    const int32_t *leaves; /* [count], how many these are; NULL: 1 */
};

/*
 * Give items, longest first, each to the child with the least load per worker,
 * while that is below MOST: GIVEN [count] says to which.  Returns how many have
 * found a place, those that come first; -1: no memory, nothing has changed.
 */
int64_t eki_children_fill(const struct eki_children *children,
                          const struct eki_item *items, int64_t count,
                          double most, int32_t *given);

#endif
