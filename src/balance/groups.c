/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of two levels: what groups could not place goes to other groups. */
#include "balance/balance.h"
#include "balance/index_heap.h"

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

/* Most spare capacity per worker first. */
static bool has_more_spare(const void *context, int32_t a, int32_t b)
{
    const struct eki_group *groups = context;
    eki_ns x = mean_spare(&groups[a]), y = mean_spare(&groups[b]);
    return x != y ? x > y : a < b;
}

/* The group takes an item into its largest hole, which may become negative. */
static void take_item(struct eki_group *group, eki_ns ns)
{
    group->spare -= ns;
    eki_ns hole = group->holes[0] - ns;
    int at = 0;
    for (; at + 1 < EKI_GROUP_HOLES && group->holes[at + 1] > hole; at++)
        group->holes[at] = group->holes[at + 1];
    group->holes[at] = hole;
}

/* Look at the groups with most spare capacity for one that has a hole for NS;
 * returns its place in the heap, or the top. */
static int32_t choose_at(const struct eki_index_heap *heap,
                         const struct eki_group *groups, eki_ns ns)
{
    enum {
        LOOKS = 15 /* the top of the heap */
    };
    for (int32_t at = 0; at < heap->count && at < LOOKS; at++) {
        if (groups[heap->items[at]].holes[0] >= ns)
            return at;
    }
    return 0;
}

bool eki_groups_share(struct eki_group *groups, int32_t count,
                      const struct eki_item *items, int64_t item_count,
                      int32_t *given)
{
    struct eki_index_heap heap;
    if (!eki_index_heap_init(&heap, count))
        return false;
    eki_index_heap_fill(&heap, count, has_more_spare, groups);
    for (int64_t i = 0; i < item_count; i++) {
        int32_t at = choose_at(&heap, groups, items[i].ns);
        given[i] = heap.items[at];
        take_item(&groups[given[i]], items[i].ns);
        eki_index_heap_sink(&heap, at, has_more_spare, groups);
    }
    eki_index_heap_free(&heap);
    return true;
}
