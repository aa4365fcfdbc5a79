/* SPDX-License-Identifier: BSD-3-Clause */
/* Holes of a pool by size, and which node an item goes to; shared by the files
 * of balance only. */
#ifndef EKI_BALANCE_HOLES_H
#define EKI_BALANCE_HOLES_H

#include "balance/balance.h"
#include "task/task.h"

#define EKI_HOLE_WORDS (EKI_BIN_COUNT / 64 + 1)
#define EKI_HOLE_TOPS (EKI_HOLE_WORDS / 64 + 1)

struct eki_holes {
    const struct eki_pool *pool;
    uint64_t bits[EKI_HOLE_WORDS]; /* bins that have workers */
    uint64_t top[EKI_HOLE_TOPS];   /* words of bits that are not 0 */
    int32_t heads[EKI_BIN_COUNT];  /* first worker, where the bit is set */
    int32_t *next, *previous;      /* [workers] */
};

static inline eki_ns eki_hole_of(const struct eki_holes *holes, int32_t worker)
{
    return holes->pool->target - holes->pool->loads[worker];
}

/* The first worker of a bin; -1: it has none. */
static inline int32_t eki_holes_head(const struct eki_holes *holes, int bin)
{
    return holes->bits[bin / 64] >> bin % 64 & 1 ? holes->heads[bin] : -1;
}

/* Start with every worker of the pool that has a hole; false: no memory. */
bool eki_holes_init(struct eki_holes *holes, const struct eki_pool *pool);
void eki_holes_free(struct eki_holes *holes);
/* Whoever changes the load of a worker removes it before and adds it after. */
void eki_holes_remove(struct eki_holes *holes, int32_t worker);
void eki_holes_add(struct eki_holes *holes, int32_t worker);
/* The next bin that has workers, at or above BIN or at or below it; -1: none.
 */
int eki_holes_above(const struct eki_holes *holes, int bin);
int eki_holes_below(const struct eki_holes *holes, int bin);

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
/* A hole on its own node for an item that is to stay there, or -1.  With ABOVE
 * NULL the smallest that takes it; else the largest of those that have room for
 * it beside the longer tasks, ABOVE. */
int32_t eki_nodes_hole(const struct eki_nodes *nodes,
                       const struct eki_item *item, const eki_ns *above);
/* One of the smallest holes that take NS, on a node with room if there is one
 * among the first; or -1. */
int32_t eki_nodes_elsewhere(const struct eki_nodes *nodes, eki_ns ns);
/* An item was placed. */
void eki_nodes_note(struct eki_nodes *nodes, const struct eki_item *item,
                    int32_t worker);

#endif
