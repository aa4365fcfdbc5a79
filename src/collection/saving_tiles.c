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

/* The own store behind PREVIOUS, or the first one; NULL: there is none. */
static struct ek_tiles *next_own_store(struct eki_own_stores own,
                                       const struct ek_tiles *previous)
{
    struct ek_tiles *next = NULL;
    for (int i = 0; own.stores && i < own.stores->room; i++) {
        struct ek_tiles *store = own.stores->stores[i];
        if (store && store->owner == own.owner &&
            (!previous || store->number > previous->number) &&
            (!next || store->number < next->number))
            next = store;
    }
    return next;
}

struct eki_own_stores eki_saving_stores(const ek_collection *tasks)
{
    return (struct eki_own_stores){eki_fabric_mpi_shelf(tasks->fabric)->stores,
                                   tasks};
}

static uint64_t hash_lengths(const struct ek_tiles *store)
{
    uint64_t hash = 1;
    for (int64_t tile = 0; tile < store->shape.count; tile++)
        hash = eki_hash(hash, (uint64_t)eki_tile_length(store, tile));
    return hash;
}

ek_status eki_saving_write_stores(struct eki_own_stores own,
                                  struct eki_save_out *out)
{
    const struct ek_tiles *store = NULL;
    for (int i = 0; (store = next_own_store(own, store)) != NULL; i++) {
        struct eki_save_store saved = {.tiles = store->shape.count,
                                       .lengths = hash_lengths(store),
                                       .layout = store->hash};
        EKI_TRY(eki_save_store(out, i, store->shape.name, &saved));
    }
    return EK_OK;
}

ek_status eki_saving_write_tiles(struct eki_own_stores own,
                                 struct eki_save_out *out)
{
    const struct ek_tiles *store = NULL;
    for (int i = 0; (store = next_own_store(own, store)) != NULL; i++) {
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

ek_status eki_saving_match_stores(struct eki_own_stores own,
                                  const struct eki_save_manifest *manifest)
{
    const struct ek_tiles *store = NULL;
    int i = 0;
    for (; (store = next_own_store(own, store)) != NULL; i++) {
        if (i < manifest->stores)
            EKI_TRY(match_store(store, &manifest->store_list[i]));
    }
    if (i == manifest->stores)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "ek_load: here are %d stores of tiles, the save has %d; "
                     "allowed: as many, made before ek_load",
                     i, manifest->stores);
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

static ek_status read_part_tiles(struct eki_taking *taking, int part,
                                 struct filling *fillings)
{
    struct eki_save_tile piece;
    struct eki_save_in in;
    EKI_TRY(eki_saving_open_part(taking, part, &in));
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
static ek_status check_fillings(const struct eki_taking *taking, int count,
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
                taking->number, taking->folder, fillings[i].doubles,
                store->shape.name, store->rank, doubles);
        eki_store_forget(store);
    }
    return EK_OK;
}

ek_status eki_saving_read_tiles(struct eki_taking *taking,
                                struct eki_own_stores own)
{
    const struct eki_topology *topology = taking->engine->topology;
    const struct eki_save_manifest *manifest = taking->manifest;
    bool is_own = manifest->head.ranks == topology->size;
    struct ek_tiles *store = NULL;
    if (manifest->stores == 0)
        return EK_OK;
    struct filling *fillings =
        eki_alloc((size_t)manifest->stores, sizeof *fillings);
    if (!fillings)
        return eki_error(EK_ERR_NOMEM, "no memory to read tiles");
    for (int i = 0; i < manifest->stores; i++) {
        fillings[i].store = store = next_own_store(own, store);
        is_own &= store->hash == manifest->store_list[i].layout;
    }
    ek_status status = EK_OK;
    for (int part = 0; status == EK_OK && part < manifest->head.ranks; part++) {
        if (!is_own || part == topology->rank)
            status = read_part_tiles(taking, part, fillings);
    }
    if (status == EK_OK)
        status = check_fillings(taking, manifest->stores, fillings);
    eki_free(fillings);
    return status;
}
