/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of events: at most one per actor, in an implicit 4-ary heap of
 * 64-bit keys
 *
 *     time in ns (44 bits, on top) | actor (20 bits)
 *
 * No two keys are equal, so the order is total and a run can be repeated.
 */
#ifndef EKI_SIM_HEAP_H
#define EKI_SIM_HEAP_H

#include "base/base.h"

#define EKI_ACTOR_BITS 20
#define EKI_ACTORS_MOST (1 << EKI_ACTOR_BITS)
/* 4.9 hours. */
#define EKI_SIM_TIME_MOST ((UINT64_C(1) << (64 - EKI_ACTOR_BITS)) - 1)

struct eki_heap {
    uint64_t *memory, *keys; /* [count] */
    int32_t *at;             /* [actors]: where its key is; -1: it has none */
    int32_t count;
};

/* False: no memory. */
bool eki_heap_init(struct eki_heap *heap, int32_t actors);
void eki_heap_free(struct eki_heap *heap);
/* ACTOR has its event at NS, whether or not it had one; beyond
 * EKI_SIM_TIME_MOST: then. */
void eki_heap_set(struct eki_heap *heap, int32_t actor, uint64_t ns);
/* It has none. */
void eki_heap_remove(struct eki_heap *heap, int32_t actor);
/* Take the first event: its actor, and when it is; -1: there is none. */
int32_t eki_heap_pop(struct eki_heap *heap, uint64_t *ns);
/* Broken invariant as text, or NULL. */
const char *eki_heap_check(const struct eki_heap *heap);

static inline int32_t eki_heap_actor(uint64_t key)
{
    return (int32_t)(key & (EKI_ACTORS_MOST - 1));
}

static inline bool eki_heap_has(const struct eki_heap *heap, int32_t actor)
{
    return heap->at[actor] >= 0;
}

static inline uint64_t eki_heap_ns(const struct eki_heap *heap, int32_t actor)
{
    return heap->keys[heap->at[actor]] >> EKI_ACTOR_BITS;
}

/* It has its event at NS, or earlier if it has one already. */
static inline void eki_heap_set_early(struct eki_heap *heap, int32_t actor,
                                      uint64_t ns)
{
    if (!eki_heap_has(heap, actor) || ns < eki_heap_ns(heap, actor))
        eki_heap_set(heap, actor, ns);
}

#endif
