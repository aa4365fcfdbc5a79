/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of a pool. */
#include "balance/balance.h"

#include <string.h>

bool eki_pool_add(struct eki_pool *pool, const struct eki_item *items,
                  const int32_t *places, int64_t count)
{
    size_t room = (size_t)(pool->count + count);
    struct eki_item *merged = eki_alloc(room, sizeof *merged);
    int32_t *merged_places = eki_alloc(room, sizeof *merged_places);
    int32_t *starts = eki_alloc(room, sizeof *starts);
    if (!merged || !merged_places || !starts) {
        eki_free(merged);
        eki_free(merged_places);
        eki_free(starts);
        return false;
    }
    int64_t mine = 0, theirs = 0;
    for (int64_t to = 0; to < (int64_t)room; to++) {
        bool takes_mine =
            theirs == count ||
            (mine < pool->count && pool->items[mine].ns >= items[theirs].ns);
        merged[to] = takes_mine ? pool->items[mine] : items[theirs];
        merged_places[to] = takes_mine ? pool->places[mine] : places[theirs];
        starts[to] = takes_mine ? pool->starts[mine] : places[theirs];
        mine += takes_mine;
        theirs += !takes_mine;
    }
    eki_pool_free(pool);
    pool->items = merged;
    pool->places = merged_places;
    pool->starts = starts;
    pool->count = (int64_t)room;
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

bool eki_pool_fill(struct eki_pool *pool, struct eki_item *items, int64_t count)
{
    int32_t *places = eki_alloc((size_t)count, sizeof *places);
    if (!places)
        return false;
    memset(places, -1, (size_t)count * sizeof *places);
    bool done = eki_items_sort(items, count) &&
                eki_pool_add(pool, items, places, count);
    eki_free(places);
    return done;
}

/* Item FROM of the pool becomes item TO. */
static void move_item(struct eki_pool *pool, int64_t to, int64_t from)
{
    pool->items[to] = pool->items[from];
    pool->starts[to] = pool->starts[from];
    pool->places[to] = pool->places[from];
}

void eki_pool_take_out(struct eki_pool *pool, const int32_t *chosen,
                       int64_t count, struct eki_item *out)
{
    int64_t kept = 0, taken = 0;
    for (int64_t i = 0; i < pool->count; i++) {
        if (taken < count && chosen[taken] == i)
            out[taken++] = pool->items[i];
        else
            move_item(pool, kept++, i);
    }
    pool->count = kept;
}

int64_t eki_pool_give_up(struct eki_pool *pool, struct eki_item *left)
{
    int64_t kept = 0, given = 0;
    for (int64_t i = 0; i < pool->count; i++) {
        if (pool->places[i] < 0)
            left[given++] = pool->items[i];
        else
            move_item(pool, kept++, i);
    }
    pool->count = kept;
    return given;
}

int64_t eki_pool_first_left(const struct eki_pool *pool)
{
    int64_t at = 0;
    while (at < pool->count && pool->places[at] >= 0)
        at++;
    return at;
}

void eki_pool_reset(struct eki_pool *pool, int64_t from)
{
    for (int64_t i = from; i < pool->count; i++) {
        if (pool->places[i] >= 0)
            pool->loads[pool->places[i]] -= pool->items[i].ns;
        pool->places[i] = pool->starts[i];
        if (pool->places[i] >= 0)
            pool->loads[pool->places[i]] += pool->items[i].ns;
    }
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
