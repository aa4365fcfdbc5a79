/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binary heap of indices, for the files of balance only: workers or groups by
 * something that the caller keeps about them, which may change while they are
 * in the heap.
 *
 * The order is a function that is passed, and each call is compiled for its
 * own.  It must be total, so that a decision does not depend on the history of
 * the heap: indices break ties.
 */
#ifndef EKI_BALANCE_INDEX_HEAP_H
#define EKI_BALANCE_INDEX_HEAP_H

#include "balance/balance.h"

struct eki_index_heap {
    int32_t *items; /* [count], the first is before all others; owned */
    int32_t count;
};

/* Whether index A comes before index B. */
typedef bool eki_index_before_fn(const void *context, int32_t a, int32_t b);

/* An empty heap with room for ROOM indices; false: no memory. */
static inline bool eki_index_heap_init(struct eki_index_heap *heap,
                                       int32_t room)
{
    heap->items = eki_alloc((size_t)room, sizeof *heap->items);
    heap->count = 0;
    return heap->items != NULL;
}

static inline void eki_index_heap_free(struct eki_index_heap *heap)
{
    eki_free(heap->items);
    heap->items = NULL;
}

/* The index at AT has fallen back in the order: it sinks to its new place. */
EKI_INLINE void eki_index_heap_sink(struct eki_index_heap *heap, int32_t at,
                                    eki_index_before_fn *is_before,
                                    const void *context)
{
    int32_t *items = heap->items, item = items[at];
    for (int32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count &&
            is_before(context, items[child + 1], items[child]))
            child++;
        if (!is_before(context, items[child], item))
            break;
        items[at] = items[child];
    }
    items[at] = item;
}

/* Fill the heap with 0 ... COUNT - 1. */
EKI_INLINE void eki_index_heap_fill(struct eki_index_heap *heap, int32_t count,
                                    eki_index_before_fn *is_before,
                                    const void *context)
{
    heap->count = count;
    for (int32_t i = 0; i < count; i++)
        heap->items[i] = i;
    for (int32_t at = count / 2; at-- > 0;)
        eki_index_heap_sink(heap, at, is_before, context);
}

EKI_INLINE void eki_index_heap_push(struct eki_index_heap *heap, int32_t item,
                                    eki_index_before_fn *is_before,
                                    const void *context)
{
    int32_t *items = heap->items, at = heap->count++;
    for (int32_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!is_before(context, item, items[parent]))
            break;
        items[at] = items[parent];
    }
    items[at] = item;
}

/* Remove the first. */
EKI_INLINE void eki_index_heap_pop(struct eki_index_heap *heap,
                                   eki_index_before_fn *is_before,
                                   const void *context)
{
    heap->items[0] = heap->items[--heap->count];
    eki_index_heap_sink(heap, 0, is_before, context);
}

/* The least loaded of some workers: loads that only grow, and a heap that looks
 * at them when it is asked. */
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
