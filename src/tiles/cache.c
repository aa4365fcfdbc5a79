/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker has got of tiles of other nodes; the oldest make room. */
#include "tiles/internal.h"

enum {
    ROOM_FIRST = 16 /* buckets */
};

struct eki_cache *eki_cache_create(const struct ek_tiles *store)
{
    struct eki_cache *cache = eki_alloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->buckets = eki_alloc(ROOM_FIRST, sizeof(struct eki_cached *));
    if (!cache->buckets) {
        eki_free(cache);
        return NULL;
    }
    cache->store = store;
    cache->room = ROOM_FIRST;
    cache->epoch = store->epoch;
    return cache;
}

static int64_t cached_bytes(int64_t length)
{
    return (int64_t)sizeof(struct eki_cached) +
           length * (int64_t)sizeof(double);
}

static struct eki_cached **bucket_of(const struct eki_cache *cache,
                                     int64_t tile)
{
    return &cache->buckets[eki_splitmix((uint64_t)tile) & (cache->room - 1)];
}

static void put_in_bucket(struct eki_cache *cache, struct eki_cached *entry)
{
    struct eki_cached **bucket = bucket_of(cache, entry->tile);
    entry->next = *bucket;
    *bucket = entry;
}

/* Take an entry out of the order of use. */
static void unlink_use(struct eki_cache *cache, struct eki_cached *entry)
{
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        cache->oldest = entry->newer;
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        cache->newest = entry->older;
}

static void make_newest(struct eki_cache *cache, struct eki_cached *entry)
{
    entry->newer = NULL;
    entry->older = cache->newest;
    if (cache->newest)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
}

/* The link that leads to a tile; it holds NULL where the tile is not there. */
static struct eki_cached **link_to(const struct eki_cache *cache, int64_t tile)
{
    struct eki_cached **link = bucket_of(cache, tile);
    while (*link && (*link)->tile != tile)
        link = &(*link)->next;
    return link;
}

static void drop_at(struct eki_cache *cache, struct eki_cached **link)
{
    struct eki_cached *entry = *link;
    *link = entry->next;
    unlink_use(cache, entry);
    cache->count--;
    cache->bytes -= cached_bytes(entry->length);
    eki_free(entry);
}

static void clear_cache(struct eki_cache *cache)
{
    while (cache->oldest)
        drop_at(cache, link_to(cache, cache->oldest->tile));
    cache->epoch = cache->store->epoch;
}

void eki_cache_destroy(struct eki_cache *cache)
{
    if (!cache)
        return;
    clear_cache(cache);
    eki_free(cache->buckets);
    eki_free(cache);
}

const struct eki_cached *eki_cache_find(struct eki_cache *cache, int64_t tile)
{
    if (cache->epoch != cache->store->epoch)
        clear_cache(cache);
    struct eki_cached *entry = *link_to(cache, tile);
    if (entry && entry != cache->newest) {
        unlink_use(cache, entry);
        make_newest(cache, entry);
    }
    return entry;
}

/* Twice the buckets; without memory the chains get longer. */
static void grow_buckets(struct eki_cache *cache)
{
    uint64_t room = 2 * cache->room;
    struct eki_cached **buckets =
        eki_alloc((size_t)room, sizeof(struct eki_cached *));
    if (!buckets)
        return;
    eki_free(cache->buckets);
    cache->buckets = buckets;
    cache->room = room;
    for (struct eki_cached *entry = cache->oldest; entry; entry = entry->newer)
        put_in_bucket(cache, entry);
}

void eki_cache_keep(struct eki_cache *cache, int64_t tile, const double *values,
                    int64_t length)
{
    bool has_values = cache->store->has_values;
    int64_t most = cache->store->shape.cache_bytes;
    eki_cache_drop(cache, tile);
    if (cached_bytes(length) > most)
        return;
    while (cache->bytes + cached_bytes(length) > most)
        drop_at(cache, link_to(cache, cache->oldest->tile));
    struct eki_cached *entry =
        eki_alloc(1, has_values ? (size_t)cached_bytes(length) : sizeof *entry);
    if (!entry)
        return;
    if ((uint64_t)cache->count == cache->room)
        grow_buckets(cache);
    entry->tile = tile;
    entry->length = length;
    if (has_values)
        memcpy(entry->values, values, (size_t)length * sizeof *values);
    put_in_bucket(cache, entry);
    make_newest(cache, entry);
    cache->count++;
    cache->bytes += cached_bytes(length);
}

void eki_cache_drop(struct eki_cache *cache, int64_t tile)
{
    if (cache->epoch != cache->store->epoch)
        clear_cache(cache);
    struct eki_cached **link = link_to(cache, tile);
    if (*link)
        drop_at(cache, link);
}
