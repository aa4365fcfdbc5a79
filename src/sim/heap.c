/* SPDX-License-Identifier: BSD-3-Clause */
/* Sifting in the implicit heap; position 0 is the first event. */
#include "sim/heap.h"

/* Keys before the first, so that the four children of each lie on one line. */
#define HEAP_BEFORE 3

bool eki_heap_init(struct eki_heap *heap, int32_t actors)
{
    heap->count = 0;
    heap->memory =
        eki_alloc_lines(((size_t)actors + HEAP_BEFORE) * sizeof *heap->memory);
    heap->keys = heap->memory ? heap->memory + HEAP_BEFORE : NULL;
    heap->at = eki_alloc((size_t)actors, sizeof *heap->at);
    for (int32_t actor = 0; heap->at && actor < actors; actor++)
        heap->at[actor] = -1;
    return heap->keys && heap->at;
}

void eki_heap_free(struct eki_heap *heap)
{
    eki_free(heap->memory);
    eki_free(heap->at);
    *heap = (struct eki_heap){0};
}

static inline void put_key(struct eki_heap *heap, int32_t at, uint64_t key)
{
    heap->keys[at] = key;
    heap->at[eki_heap_actor(key)] = at;
}

/* Move what is at AT towards the first until KEY fits there. */
static void sift_up(struct eki_heap *heap, int32_t at, uint64_t key)
{
    while (at > 0) {
        int32_t parent = (at - 1) / 4;
        if (heap->keys[parent] < key)
            break;
        put_key(heap, at, heap->keys[parent]);
        at = parent;
    }
    put_key(heap, at, key);
}

/* Where the way may lead in the step after the next: 16 keys. */
static inline void read_soon(const struct eki_heap *heap, int32_t first)
{
#if defined(__GNUC__)
    if (first >= heap->count)
        return;
    __builtin_prefetch(heap->keys + first);
    __builtin_prefetch(heap->keys + first + 8);
#else
    (void)heap, (void)first;
#endif
}

static void sift_down(struct eki_heap *heap, int32_t at, uint64_t key)
{
    for (;;) {
        int32_t first = 4 * at + 1;
        read_soon(heap, 4 * first + 1);
        int32_t last = first + 4 < heap->count ? first + 4 : heap->count;
        if (first >= last)
            break;
        int32_t least = first;
        for (int32_t child = first + 1; child < last; child++)
            least = heap->keys[child] < heap->keys[least] ? child : least;
        if (heap->keys[least] > key)
            break;
        put_key(heap, at, heap->keys[least]);
        at = least;
    }
    put_key(heap, at, key);
}

void eki_heap_set(struct eki_heap *heap, int32_t actor, uint64_t ns)
{
    ns = ns < EKI_SIM_TIME_MOST ? ns : EKI_SIM_TIME_MOST;
    uint64_t key = ns << EKI_ACTOR_BITS | (uint64_t)actor;
    int32_t at = heap->at[actor];
    if (at < 0)
        sift_up(heap, heap->count++, key);
    else if (key < heap->keys[at])
        sift_up(heap, at, key);
    else
        sift_down(heap, at, key);
}

void eki_heap_remove(struct eki_heap *heap, int32_t actor)
{
    int32_t at = heap->at[actor];
    if (at < 0)
        return;
    heap->at[actor] = -1;
    uint64_t last = heap->keys[--heap->count];
    if (at == heap->count)
        return;
    if (at > 0 && last < heap->keys[(at - 1) / 4])
        sift_up(heap, at, last);
    else
        sift_down(heap, at, last);
}

int32_t eki_heap_pop(struct eki_heap *heap, uint64_t *ns)
{
    if (heap->count == 0)
        return -1;
    uint64_t key = heap->keys[0];
    *ns = key >> EKI_ACTOR_BITS;
    heap->at[eki_heap_actor(key)] = -1;
    uint64_t last = heap->keys[--heap->count];
    if (heap->count > 0)
        sift_down(heap, 0, last);
    return eki_heap_actor(key);
}

const char *eki_heap_check(const struct eki_heap *heap)
{
    for (int32_t at = 0; at < heap->count; at++) {
        if (at > 0 && heap->keys[(at - 1) / 4] >= heap->keys[at])
            return "an event is before its parent";
        if (heap->at[eki_heap_actor(heap->keys[at])] != at)
            return "an actor does not know where its event is";
    }
    return NULL;
}
