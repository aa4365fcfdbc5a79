/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of two levels: what groups could not place goes to other groups. */
#include "balance/holes.h"

#include <string.h>

void eki_group_describe(const struct eki_pool *pool, struct eki_group *group)
{
    memset(group, 0, sizeof *group);
    group->workers = pool->workers;
    for (int32_t w = 0; w < pool->workers; w++) {
        eki_ns hole = pool->target - pool->loads[w];
        group->spare += hole;
        int at = EKI_GROUP_HOLES;
        while (at > 0 && group->holes[at - 1] < hole)
            at--;
        for (int i = EKI_GROUP_HOLES - 1; i > at; i--)
            group->holes[i] = group->holes[i - 1];
        if (at < EKI_GROUP_HOLES)
            group->holes[at] = hole;
    }
}

/* Mean spare capacity of a worker of the group. */
static eki_ns mean_spare(const struct eki_group *group)
{
    return group->workers > 0 ? group->spare / group->workers : INT64_MIN;
}

/* Heap of groups: most spare per worker first. */
struct heap {
    const struct eki_group *groups;
    int32_t *order;
    int32_t count;
};

static bool is_before(const struct heap *heap, int32_t a, int32_t b)
{
    eki_ns x = mean_spare(&heap->groups[a]), y = mean_spare(&heap->groups[b]);
    return x != y ? x > y : a < b;
}

static void sift(struct heap *heap, int32_t at)
{
    int32_t *order = heap->order;
    for (int32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count &&
            is_before(heap, order[child + 1], order[child]))
            child++;
        if (!is_before(heap, order[child], order[at]))
            return;
        int32_t swapped = order[at];
        order[at] = order[child];
        order[child] = swapped;
    }
}

/* The group takes an item, into its largest hole if that takes it. */
static void take(struct eki_group *group, eki_ns ns)
{
    group->spare -= ns;
    eki_ns hole = group->holes[0] - ns;
    int at = 0;
    for (; at + 1 < EKI_GROUP_HOLES && group->holes[at + 1] > hole; at++)
        group->holes[at] = group->holes[at + 1];
    group->holes[at] = hole;
}

/* Of the groups with most spare, one with a hole for NS; else the first. */
static int32_t choose_at(const struct heap *heap, eki_ns ns)
{
    enum {
        LOOKS = 15 /* the top of the heap */
    };
    for (int32_t at = 0; at < heap->count && at < LOOKS; at++) {
        const struct eki_group *group = &heap->groups[heap->order[at]];
        if (group->holes[0] >= ns)
            return at;
    }
    return 0;
}

bool eki_groups_share(struct eki_group *groups, int32_t count,
                      const struct eki_item *items, int64_t item_count,
                      int32_t *given)
{
    struct heap heap = {groups, eki_alloc((size_t)count, sizeof *heap.order),
                        count};
    if (!heap.order)
        return false;
    for (int32_t g = 0; g < count; g++)
        heap.order[g] = g;
    for (int32_t at = count / 2; at-- > 0;)
        sift(&heap, at);
    for (int64_t i = 0; i < item_count; i++) {
        int32_t at = choose_at(&heap, items[i].ns);
        given[i] = heap.order[at];
        take(&groups[given[i]], items[i].ns);
        sift(&heap, at);
    }
    eki_free(heap.order);
    return true;
}
