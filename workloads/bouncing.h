/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BPC, bouncing producer and consumers (Dinan and others, SC 2009): a producer
 * makes the next producer and then its consumers.  The next producer is the
 * oldest task of its worker, so it is stolen first, and bounces.
 */
#ifndef WORKLOADS_BOUNCING_H
#define WORKLOADS_BOUNCING_H

#include <stdint.h>

/* The payload of a task. */
struct bouncing_node {
    int64_t left; /* producers from this one on; 0: a consumer */
};

struct bouncing {
    int64_t consumers; /* of each producer */
    int64_t depth;     /* producers */
};

static inline struct bouncing_node bouncing_root(const struct bouncing *bpc)
{
    return (struct bouncing_node){bpc->depth};
}

static inline int64_t bouncing_children(const struct bouncing *bpc,
                                        const struct bouncing_node *node)
{
    return node->left == 0 ? 0 : bpc->consumers + (node->left > 1);
}

/* Child I, from 0. */
static inline struct bouncing_node
bouncing_child(const struct bouncing_node *node, int64_t i)
{
    return (struct bouncing_node){i == 0 && node->left > 1 ? node->left - 1
                                                           : 0};
}

/* Tasks in all. */
static inline int64_t bouncing_tasks(const struct bouncing *bpc)
{
    return bpc->depth * (bpc->consumers + 1);
}

#endif
