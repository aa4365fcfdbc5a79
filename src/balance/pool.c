/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of a pool. */
#include "balance/balance.h"

#include <string.h>

/* Item FROM of one pool becomes item TO of another, or of the same. */
static void copy_item(struct eki_pool *pool, int64_t to,
                      const struct eki_pool *other, int64_t from)
{
    pool->items[to] = other->items[from];
    pool->places[to] = other->places[from];
    pool->starts[to] = other->starts[from];
}

bool eki_pool_add(struct eki_pool *pool, struct eki_item *items, int64_t count,
                  bool are_home)
{
    struct eki_pool all = *pool;
    size_t room = (size_t)(pool->count + count);
    int64_t mine = 0, theirs = 0;
    all.items = eki_alloc(room, sizeof *all.items);
    all.places = eki_alloc(room, sizeof *all.places);
    all.starts = eki_alloc(room, sizeof *all.starts);
    if (!all.items || !all.places || !all.starts ||
        !eki_items_sort(items, count)) {
        eki_pool_free(&all);
        return false;
    }
    for (all.count = 0; all.count < (int64_t)room; all.count++) {
        if (theirs == count ||
            (mine < pool->count && pool->items[mine].ns >= items[theirs].ns)) {
            copy_item(&all, all.count, pool, mine++);
            continue;
        }
        all.items[all.count] = items[theirs];
        all.places[all.count] = all.starts[all.count] =
            are_home ? items[theirs].from - pool->first : -1;
        theirs++;
    }
    eki_pool_free(pool);
    *pool = all;
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return true;
}

void eki_pool_free(struct eki_pool *pool)
{
    eki_free(pool->items);
    eki_free(pool->places);
    eki_free(pool->starts);
    pool->items = NULL;
    pool->places = pool->starts = NULL;
    pool->count = 0;
}

int64_t eki_pool_take_out(struct eki_pool *pool, const int32_t *chosen,
                          int64_t count, struct eki_item *out)
{
    int64_t kept = 0, taken = 0;
    for (int64_t i = 0; i < pool->count; i++) {
        if (chosen ? taken < count && chosen[taken] == i : pool->places[i] < 0)
            out[taken++] = pool->items[i];
        else
            copy_item(pool, kept++, pool, i);
    }
    pool->count = kept;
    return taken;
}

void eki_pool_reset(struct eki_pool *pool, int64_t from)
{
    for (int64_t i = from; i < pool->count; i++)
        eki_pool_put(pool, i, pool->starts[i]);
}

eki_ns eki_pool_largest_load(const struct eki_pool *pool)
{
    eki_ns largest = 0;
    for (int32_t w = 0; w < pool->workers; w++) {
        if (pool->loads[w] > largest)
            largest = pool->loads[w];
    }
    return largest;
}

bool eki_pool_has_over(const struct eki_pool *pool)
{
    return eki_pool_largest_load(pool) > pool->target;
}

int64_t eki_pool_moved(const struct eki_pool *pool)
{
    int64_t moved = 0;
    for (int64_t i = 0; i < pool->count; i++)
        moved += pool->first + pool->places[i] != pool->items[i].from;
    return moved;
}

const char *eki_pool_check(const struct eki_pool *pool)
{
    eki_ns room = 0;
    for (int32_t w = 0; w < pool->workers; w++) {
        if (pool->loads[w] < 0)
            return "a load of the pool is negative";
        room += pool->loads[w];
    }
    for (int64_t i = 0; i < pool->count; i++) {
        if (pool->items[i].ns < 0)
            return "an item of the pool is shorter than nothing";
        if (i > 0 && pool->items[i - 1].ns < pool->items[i].ns)
            return "the items of the pool are not in order, longest first";
        if (pool->places[i] < -1 || pool->places[i] >= pool->workers ||
            pool->starts[i] < -1 || pool->starts[i] >= pool->workers)
            return "an item is placed on a worker outside of the pool";
        if (pool->places[i] >= 0)
            room -= pool->items[i].ns;
    }
    return room < 0 ? "placed items are not in the loads of the pool" : NULL;
}
