/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tasks of a tree do.
 */
#ifndef UTS_VISIT_H
#define UTS_VISIT_H

#include "common/unfold.h"
#include "workloads/uts.h"

struct visit_options {
    struct uts_tree tree;
    int cutoff; /* a node of this depth is visited with all below it */
    int chunk;  /* siblings of a task */
};

/* Payload of a task of some siblings: it generates them, and visits each. */
struct visit_siblings {
    struct uts_node parent;
    int32_t first, last; /* first ... last - 1 */
};

/** What the tasks of this rank share. */
struct visit {
    const struct visit_options *options;
    ek_function function;
    /* Of the seed: the root, or, where tasks are siblings, the node above it,
     * which there is not: first = last = 0. */
    struct visit_siblings root;
};

/** The tree as @p visit has it, which must stay. */
struct unfold visit_make(const struct visit_options *options,
                         struct visit *visit);

#endif
