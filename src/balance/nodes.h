/* SPDX-License-Identifier: BSD-3-Clause */
/* Which node an item goes to; for the files of balance only. */
#ifndef EKI_BALANCE_NODES_H
#define EKI_BALANCE_NODES_H

#include "balance/holes.h"

/* What the nodes of a pool have: nothing where there is one, or none is known.
 */
struct eki_nodes {
    const struct eki_holes *holes;
    eki_ns *room;     /* [nodes] of the target, beside its own items; or NULL */
    int64_t *begin;   /* [nodes + 2] of the workers of each ... */
    int32_t *workers; /* [workers] */
};

/* The node that an item is from; -1: of another pool, or not known. */
static inline int32_t eki_nodes_of(const struct eki_nodes *nodes,
                                   const struct eki_item *item)
{
    const struct eki_pool *pool = nodes->holes->pool;
    int32_t home = item->from - pool->first;
    return nodes->room && home >= 0 && home < pool->workers ? pool->nodes[home]
                                                            : -1;
}

/* False: no memory. */
bool eki_nodes_init(struct eki_nodes *nodes, const struct eki_holes *holes);
void eki_nodes_free(struct eki_nodes *nodes);
/* The smallest hole on its own node that takes an item, where it is to stay
 * there, or the largest of those that have room for it beside what is ABOVE,
 * unless that is NULL; or -1. */
int32_t eki_nodes_hole(const struct eki_nodes *nodes,
                       const struct eki_item *item, const eki_ns *above);
/* One of the smallest holes that take NS, on a node with room if there is one
 * among the first; or -1. */
int32_t eki_nodes_elsewhere(const struct eki_nodes *nodes, eki_ns ns);
/* An item was placed. */
void eki_nodes_note(struct eki_nodes *nodes, const struct eki_item *item,
                    int32_t worker);

#endif
