/* SPDX-License-Identifier: BSD-3-Clause */
/* The stores of a wire. */
#include "tiles/internal.h"

ek_status eki_stores_create(struct eki_stores **made)
{
    struct eki_stores *stores = eki_alloc(1, sizeof *stores);
    if (!stores)
        return eki_error(EK_ERR_NOMEM, "no memory for stores of tiles");
    *made = stores;
    return EK_OK;
}

static void free_mark(struct ek_tiles *store)
{
    eki_free((void *)(uintptr_t)store->shape.name);
    eki_free(store);
}

void eki_stores_destroy(struct eki_stores **made)
{
    struct eki_stores *stores = *made;
    *made = NULL;
    if (!stores)
        return;
    while (stores->dead) {
        struct ek_tiles *store = stores->dead;
        stores->dead = store->dead;
        free_mark(store);
    }
    eki_free(stores->stores);
    eki_free(stores);
}

/* A free place; -1: no memory. */
static int free_place(struct eki_stores *stores)
{
    int place = 0;
    while (place < stores->room && stores->stores[place])
        place++;
    if (place < stores->room)
        return place;
    if (!eki_grow(&stores->stores, place, &stores->room, 4,
                  sizeof(struct ek_tiles *)))
        return -1;
    for (int64_t i = place; i < stores->room; i++)
        stores->stores[i] = NULL;
    return place;
}

void eki_store_number(struct ek_tiles *store)
{
    store->number = store->stores->next_number++;
}

ek_status eki_store_add(struct ek_tiles *store)
{
    struct eki_stores *stores = store->stores;
    int place = free_place(stores);
    if (place < 0)
        return eki_error(EK_ERR_NOMEM, "no memory for a store of tiles");
    store->place = place;
    store->is_alive = true;
    stores->stores[place] = store;
    stores->apart += store->is_apart;
    return EK_OK;
}

/* No worker has tiles of the store in its cache any more. */
static void free_caches(const struct ek_tiles *store)
{
    for (struct eki_tiles *tiles = store->stores->first; tiles;
         tiles = tiles->next) {
        int workers = tiles->protocol.engine->topology->workers_here;
        for (int here = 0; here < workers; here++) {
            struct eki_tiler *tiler = &tiles->tilers[here];
            if (store->place >= tiler->cache_room)
                continue;
            eki_cache_destroy(tiler->caches[store->place]);
            tiler->caches[store->place] = NULL;
        }
    }
}

void eki_store_destroy(struct ek_tiles **made)
{
    struct ek_tiles *store = *made;
    *made = NULL;
    if (!store)
        return;
    eki_free(store->parts);
    store->parts = NULL;
    if (!store->is_alive) {
        free_mark(store);
        return;
    }
    struct eki_stores *stores = store->stores;
    free_caches(store);
    store->is_alive = false;
    store->owner = NULL;
    stores->stores[store->place] = NULL;
    stores->apart -= store->is_apart;
    store->dead = stores->dead;
    stores->dead = store;
}

void eki_store_forget(struct ek_tiles *store)
{
    if (!EKI_PLANTED(KEPT_CACHE))
        store->epoch++;
}
