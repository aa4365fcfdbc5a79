/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of stores of tiles. */
#include "collection/collection.h"

#include <inttypes.h>
#include <string.h>

static ek_status check_shape(const ek_tiles_shape *shape, ek_tiles_shape *taken)
{
    *taken = (ek_tiles_shape)EK_TILES_SHAPE_INIT;
    if (!shape || !eki_struct_copy(shape, shape->struct_bytes,
                                   offsetof(ek_tiles_shape, length), taken,
                                   sizeof *taken))
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_create: shape is NULL or was not set by "
                         "EK_TILES_SHAPE_INIT");
    if (!taken->name)
        taken->name = "tiles";
    if (!*taken->name)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_create: name is empty; allowed: a name, or "
                         "NULL for 'tiles'");
    if (taken->count < 0 || taken->count > INT64_MAX / 64)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_create: count of '%s' is %" PRId64
                         "; allowed: 0 ... %" PRId64,
                         taken->name, taken->count, INT64_MAX / 64);
    if (taken->cache_bytes < 0)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_create: cache_bytes of '%s' is %" PRId64
                         "; allowed: 0 or more",
                         taken->name, taken->cache_bytes);
    return EK_OK;
}

ek_status eki_collection_join_stores(ek_collection *tasks)
{
    struct eki_stores *stores = eki_fabric_mpi_shelf(tasks->fabric)->stores;
    if (EKI_LIKELY(stores == tasks->engine->stores))
        return EK_OK;
    return eki_stores_join(stores, tasks->engine);
}

/* What this rank has to say of a store before others are asked. */
static ek_status make_store(ek_collection *tasks, const ek_tiles_shape *shape,
                            ek_tiles **made)
{
    ek_tiles_shape taken;
    EKI_TRY(eki_collection_check_region("ek_tiles_create"));
    EKI_TRY(check_shape(shape, &taken));
    struct eki_shelf *shelf = eki_fabric_mpi_shelf(tasks->fabric);
    shelf->free = eki_stores_destroy;
    if (!shelf->stores)
        EKI_TRY(eki_stores_create(&shelf->stores));
    EKI_TRY(eki_collection_join_stores(tasks));
    EKI_TRY(
        eki_store_create(shelf->stores, tasks->topology, &taken, true, made));
    (*made)->owner = tasks;
    return EK_OK;
}

/* The ranks differ in tile TILE: those that differ from rank 0 say how. */
static ek_status explain_tile(const ek_tiles *tiles, int64_t tile)
{
    struct eki_fabric *fabric = tiles->owner->fabric;
    int64_t mine[] = {eki_tile_length(tiles, tile),
                      eki_tile_owner(tiles, tile)};
    int64_t first[] = {mine[0], mine[1]};
    ek_status status = EK_OK;
    EKI_TRY(eki_fabric_mpi_broadcast(fabric, first, sizeof first, 0));
    if (memcmp(mine, first, sizeof mine) != 0)
        status = eki_error(EK_ERR_ARG,
                           "ek_tiles_create: ranks differ in tile %" PRId64
                           " of '%s': on rank 0 it has %" PRId64
                           " doubles and belongs to rank %" PRId64
                           ", on rank %d %" PRId64 " and rank %" PRId64,
                           tile, tiles->shape.name, first[0], first[1],
                           tiles->rank, mine[0], mine[1]);
    return eki_fabric_mpi_agree(fabric, status);
}

/* Ranks differ: in the first tile that is not the same; collective. */
static ek_status explain_tiles(const ek_tiles *tiles)
{
    int64_t first = 0, last = tiles->shape.count;
    while (last - first > 1) {
        int64_t middle = first + (last - first) / 2;
        bool same = true;
        EKI_TRY(eki_fabric_mpi_agree_on(tiles->owner->fabric, EK_OK,
                                        eki_store_hash(tiles, first, middle),
                                        &same));
        if (same)
            first = middle;
        else
            last = middle;
    }
    return explain_tile(tiles, first);
}

/* Ranks differ: in how many tiles there are, or how much is kept of them, or in
 * one of the tiles; collective. */
static ek_status explain_shape(const ek_tiles *tiles)
{
    struct eki_fabric *fabric = tiles->owner->fabric;
    int64_t mine[] = {tiles->shape.count, tiles->shape.cache_bytes};
    int64_t first[] = {mine[0], mine[1]};
    ek_status status = EK_OK;
    EKI_TRY(eki_fabric_mpi_broadcast(fabric, first, sizeof first, 0));
    if (memcmp(mine, first, sizeof mine) != 0)
        status = eki_error(EK_ERR_ARG,
                           "ek_tiles_create: ranks differ in '%s': on rank 0 "
                           "count is %" PRId64 ", cache_bytes %" PRId64
                           ", on rank %d %" PRId64 " and %" PRId64,
                           tiles->shape.name, first[0], first[1], tiles->rank,
                           mine[0], mine[1]);
    EKI_TRY(eki_fabric_mpi_agree(fabric, status));
    return explain_tiles(tiles);
}

/* Where only worker 0 may talk to MPI, it may be in a long task. */
static void warn_of_level(const ek_tiles *tiles)
{
    static _Atomic bool is_told;
    const struct eki_topology *topology = tiles->owner->topology;
    bool is_alone = topology->nodes == 1 && !tiles->is_apart;
    if (tiles->rank != 0 || is_alone || topology->workers == topology->size ||
        tiles->owner->team->has_server || eki_mpi_thread_level() >= 2 ||
        !eki_is_untold(&is_told))
        return;
    eki_log(EK_LEVEL_WARN, tiles->rank, tiles->size, "tiles",
            "MPI is below MPI_THREAD_SERIALIZED: a task that needs a tile of "
            "another node waits until worker 0 of its rank is between two "
            "tasks; initialize MPI with MPI_THREAD_SERIALIZED, or set "
            "progress=server");
}

/* A node has no room: each rank takes memory of its own. */
static ek_status place_apart(ek_tiles *tiles)
{
    static _Atomic bool is_told;
    struct eki_node_memory *shared = &tiles->shared;
    if (tiles->rank == 0 && eki_is_untold(&is_told))
        eki_log(EK_LEVEL_WARN, tiles->rank, tiles->size, "tiles",
                "the tiles of '%s' lie in private memory, so ranks of a node "
                "exchange them by messages: %s",
                tiles->shape.name, ek_error_message());
    shared->bytes = eki_store_bytes(tiles, false);
    shared->memory = eki_alloc_lines(shared->bytes);
    if (!shared->memory)
        return eki_error(EK_ERR_NOMEM, "no memory for %zu bytes of tiles",
                         shared->bytes);
    eki_store_place(tiles, shared->memory, false);
    return EK_OK;
}

/* Collective.  All ranks take a number, whatever fails from now on. */
static ek_status place_store(ek_tiles *tiles)
{
    const struct eki_topology *topology = tiles->owner->topology;
    bool has_neighbors = topology->nodes < topology->size;
    eki_store_number(tiles);
    ek_status status = eki_fabric_mpi_try_share(
        tiles->owner->fabric, eki_store_bytes(tiles, true), &tiles->shared);
    if (status == EK_OK)
        eki_store_place(tiles, tiles->shared.memory, true);
    else if (status == EK_ERR_NOMEM && has_neighbors)
        status = place_apart(tiles);
    if (status == EK_OK)
        status = eki_store_add(tiles);
    return eki_fabric_mpi_agree(tiles->owner->fabric, status);
}

static void free_tiles(ek_tiles *tiles)
{
    if (!tiles)
        return;
    eki_fabric_mpi_unshare(&tiles->shared);
    eki_store_destroy(&tiles);
}

/* Collective. */
static ek_status make_on_all(ek_collection *tasks, const ek_tiles_shape *shape,
                             ek_tiles **made)
{
    ek_tiles *tiles = NULL;
    bool are_same;
    uint64_t hash = 0;
    ek_status status = make_store(tasks, shape, &tiles);
    if (status == EK_OK)
        hash = eki_hash(eki_hash(tiles->hash, (uint64_t)tiles->shape.count),
                        (uint64_t)tiles->shape.cache_bytes);
    status = eki_fabric_mpi_agree_on(tasks->fabric, status, hash, &are_same);
    if (status == EK_OK && !are_same)
        status = explain_shape(tiles);
    if (status == EK_OK)
        status = place_store(tiles);
    if (status != EK_OK) {
        free_tiles(tiles);
        return status;
    }
    *made = tiles;
    return EK_OK;
}

ek_status ek_tiles_create(ek_collection *tasks, const ek_tiles_shape *shape,
                          ek_tiles **tiles)
{
    if (!tiles)
        return eki_collection_outcome(
            tasks, eki_error(EK_ERR_ARG, "ek_tiles_create: tiles is NULL"));
    *tiles = NULL;
    EKI_TRY(eki_collection_enter_call(tasks, "ek_tiles_create",
                                      EKI_CALLED_TILES_CREATE));
    ek_status status = make_on_all(tasks, shape, tiles);
    if (status == EK_OK)
        warn_of_level(*tiles);
    return eki_collection_leave_call(tasks, status);
}

void ek_tiles_destroy(ek_tiles **made)
{
    if (!made || !*made)
        return;
    ek_tiles *tiles = *made;
    *made = NULL;
    if (tiles->is_alive && eki_collection_is_busy())
        eki_log(EK_LEVEL_WARN, tiles->rank, tiles->size, "tiles",
                "'%s' is not destroyed, because an iteration is open; its "
                "collection will destroy it",
                tiles->shape.name);
    else if (tiles->is_alive)
        free_tiles(tiles);
}

void eki_collection_free_stores(ek_collection *tasks)
{
    const struct eki_stores *stores =
        tasks->engine ? tasks->engine->stores : NULL;
    for (int i = 0; stores && i < stores->room; i++) {
        ek_tiles *tiles = stores->stores[i];
        if (!tiles || tiles->owner != tasks)
            continue;
        if (tiles->rank == 0)
            eki_log(EK_LEVEL_WARN, tiles->rank, tiles->size, "tiles",
                    "'%s' is destroyed with its collection; call "
                    "ek_tiles_destroy first",
                    tiles->shape.name);
        free_tiles(tiles);
    }
}
