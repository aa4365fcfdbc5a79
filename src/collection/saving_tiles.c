/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores of tiles in saves: those that the collection has made, in the order in
 * which it has made them.  Each rank writes its own tiles.  Where ranks or
 * owners are others, each rank reads all files and takes the tiles that it has.
 */
#include "collection/saving.h"

#include <inttypes.h>

/* A store that is read. */
struct filling {
    struct ek_tiles *store;
    int64_t doubles; /* that have been read */
};

/* The store of the collection behind PREVIOUS, or the first one; NULL: there is
 * none. */
static struct ek_tiles *next_own_store(const ek_collection *tasks,
                                       const struct ek_tiles *previous)
{
    const struct eki_stores *stores =
        eki_fabric_mpi_shelf(tasks->fabric)->stores;
    struct ek_tiles *next = NULL;
    for (int i = 0; stores && i < stores->room; i++) {
        struct ek_tiles *store = stores->stores[i];
        if (store && store->owner == tasks &&
            (!previous || store->number > previous->number) &&
            (!next || store->number < next->number))
            next = store;
    }
    return next;
}

static uint64_t hash_lengths(const struct ek_tiles *store)
{
    uint64_t hash = 1;
    for (int64_t tile = 0; tile < store->shape.count; tile++)
        hash = eki_hash(hash, (uint64_t)eki_tile_length(store, tile));
    return hash;
}

ek_status eki_saving_write_stores(const ek_collection *tasks,
                                  struct eki_save_out *out)
{
    const struct ek_tiles *store = NULL;
    for (int i = 0; (store = next_own_store(tasks, store)) != NULL; i++) {
        struct eki_save_store saved = {.tiles = store->shape.count,
                                       .lengths = hash_lengths(store),
                                       .layout = store->hash};
        EKI_TRY(eki_save_store(out, i, store->shape.name, &saved));
    }
    return EK_OK;
}

ek_status eki_saving_write_tiles(const ek_collection *tasks,
                                 struct eki_save_out *out)
{
    const struct ek_tiles *store = NULL;
    for (int i = 0; (store = next_own_store(tasks, store)) != NULL; i++) {
        const double *values = eki_tile_part(store, store->rank)->values;
        for (int64_t tile = 0; tile < store->shape.count; tile++) {
            int64_t length = eki_tile_length(store, tile);
            if (eki_tile_owner(store, tile) != store->rank)
                continue;
            EKI_TRY(eki_save_tile(out, i, tile, values, length));
            values += length;
        }
    }
    return eki_save_tiles_end(out);
}

/* Whether a store is the one that was SAVED. */
static ek_status match_store(const struct ek_tiles *store,
                             const struct eki_save_store *saved)
{
    const char *name = store->shape.name;
    if (strncmp(name, saved->name, EKI_BLOCK_NAME - 1) == 0 &&
        store->shape.count == saved->tiles &&
        hash_lengths(store) == saved->lengths)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "ek_load: the store '%s' of %" PRId64
                     " tiles is not '%s' of %" PRId64
                     " tiles of the save, or their lengths differ; allowed: "
                     "stores with the names and tiles of the save, made in the "
                     "same order",
                     name, store->shape.count, saved->name, saved->tiles);
}

ek_status eki_saving_match_stores(const ek_collection *tasks,
                                  const struct eki_save_manifest *manifest)
{
    const struct ek_tiles *store = NULL;
    int i = 0;
    for (; (store = next_own_store(tasks, store)) != NULL; i++) {
        if (i < manifest->stores)
            EKI_TRY(match_store(store, &manifest->store_list[i]));
    }
    if (i == manifest->stores)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "ek_load: '%s' has %d stores of tiles, the save has %d; "
                     "allowed: as many, made before ek_load",
                     tasks->settings.name, i, manifest->stores);
}

/* Copy what has been read of a tile, if this rank has it. */
static ek_status fill_tile(const struct eki_save_in *in,
                           const struct eki_save_tile *piece,
                           struct filling *filling)
{
    const struct ek_tiles *store = filling->store;
    int64_t length = piece->tile < store->shape.count
                         ? eki_tile_length(store, piece->tile)
                         : -1;
    if (piece->offset > length || piece->count > length - piece->offset)
        return eki_sealed_refuse(&in->in, piece->at,
                                 "%" PRId64 " values from %" PRId64
                                 " on of tile %" PRId64
                                 " of '%s', which has %" PRId64,
                                 piece->count, piece->offset, piece->tile,
                                 store->shape.name, length);
    if (eki_tile_owner(store, piece->tile) != store->rank)
        return EK_OK;
    double *values =
        eki_tile_find(eki_tile_part(store, store->rank), piece->tile);
    memcpy(values + piece->offset, piece->values,
           (size_t)piece->count * sizeof *values);
    filling->doubles += piece->count;
    return EK_OK;
}

static ek_status read_part_tiles(const struct eki_saving *saving, int part,
                                 const struct eki_save_manifest *manifest,
                                 struct filling *fillings)
{
    char name[EKI_SAVE_NAME];
    struct eki_save_numbers *numbers;
    struct eki_save_tile piece;
    struct eki_save_in in;
    eki_save_name(name, saving->folder, saving->number, part);
    EKI_TRY(eki_save_open(&in, name, part, manifest, &numbers));
    eki_free(numbers);
    ek_status status = EK_OK;
    for (bool found = true; status == EK_OK && found;) {
        status = eki_save_next_tile(&in, &piece, &found);
        if (status == EK_OK && found)
            status = fill_tile(&in, &piece, &fillings[piece.store]);
    }
    eki_save_close(&in);
    return status;
}

/* All values of this rank have come. */
static ek_status check_fillings(const struct eki_saving *saving, int count,
                                const struct filling *fillings)
{
    for (int i = 0; i < count; i++) {
        struct ek_tiles *store = fillings[i].store;
        int64_t doubles = eki_tile_part(store, store->rank)->doubles;
        if (fillings[i].doubles != doubles)
            return eki_error(
                EK_ERR_FILE,
                "the files of save %" PRId64 " in '%.500s' have %" PRId64
                " values of '%s' for rank %d, expected %" PRId64,
                saving->number, saving->folder, fillings[i].doubles,
                store->shape.name, store->rank, doubles);
        eki_store_forget(store);
    }
    return EK_OK;
}

ek_status eki_saving_read_tiles(const struct eki_saving *saving,
                                const struct eki_save_manifest *manifest)
{
    const ek_collection *tasks = saving->tasks;
    bool is_own = manifest->head.ranks == tasks->topology->size;
    struct ek_tiles *store = NULL;
    if (manifest->stores == 0)
        return EK_OK;
    struct filling *fillings =
        eki_alloc((size_t)manifest->stores, sizeof *fillings);
    if (!fillings)
        return eki_error(EK_ERR_NOMEM, "no memory to read tiles");
    for (int i = 0; i < manifest->stores; i++) {
        fillings[i].store = store = next_own_store(tasks, store);
        is_own &= store->hash == manifest->store_list[i].layout;
    }
    ek_status status = EK_OK;
    for (int part = 0; status == EK_OK && part < manifest->head.ranks; part++) {
        if (!is_own || part == tasks->topology->rank)
            status = read_part_tiles(saving, part, manifest, fillings);
    }
    if (status == EK_OK)
        status = check_fillings(saving, manifest->stores, fillings);
    eki_free(fillings);
    return status;
}
