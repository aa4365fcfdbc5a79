/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least loaded of the workers of a pool, for the files of balance only:
 * loads that only grow, and a heap that looks at them when it is asked.
 */
#ifndef EKI_BALANCE_LEAST_H
#define EKI_BALANCE_LEAST_H

#include "balance/balance.h"
#include "balance/index_heap.h"

struct eki_least {
    const eki_ns *loads; /* [workers], borrowed */
    eki_ns *seen;        /* [workers], when the heap looked last: never more */
    struct eki_index_heap heap;
};

static inline bool eki_least_before(const void *context, int32_t a, int32_t b)
{
    const eki_ns *loads = context;
    return loads[a] != loads[b] ? loads[a] < loads[b] : a < b;
}

/* Room for so many WORKERS; false: no memory. */
static inline bool eki_least_init(struct eki_least *least, int32_t workers)
{
    least->seen = eki_alloc((size_t)workers, sizeof *least->seen);
    return least->seen && eki_index_heap_init(&least->heap, workers);
}

static inline void eki_least_free(struct eki_least *least)
{
    eki_free(least->seen);
    eki_index_heap_free(&least->heap);
}

/* Start with LOADS. */
static inline void eki_least_fill(struct eki_least *least, const eki_ns *loads,
                                  int32_t workers)
{
    least->loads = loads;
    for (int32_t w = 0; w < workers; w++)
        least->seen[w] = loads[w];
    eki_index_heap_fill(&least->heap, workers, eki_least_before, least->seen);
}

/* The worker with the least load, the first of equal ones. */
static inline int32_t eki_least_of(struct eki_least *least)
{
    const int32_t *top = &least->heap.items[0];
    while (least->seen[*top] != least->loads[*top]) {
        least->seen[*top] = least->loads[*top];
        eki_index_heap_sink(&least->heap, 0, eki_least_before, least->seen);
    }
    return *top;
}

#endif
