/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks do to tiles between iterations. */
#include "collection/collection.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

ek_status eki_collection_check_tile(const ek_tiles *tiles, int64_t tile,
                                    const char *call)
{
    if (tile < 0 || tile >= tiles->shape.count)
        return eki_error(
            EK_ERR_ARG, "%s: tile %" PRId64 " of '%s'; allowed: 0 ... %" PRId64,
            call, tile, tiles->shape.name, tiles->shape.count - 1);
    return EK_OK;
}

static ek_status check_alive(const ek_tiles *tiles, const char *call)
{
    if (!tiles)
        return eki_error(EK_ERR_ARG, "%s: the store is NULL", call);
    if (!tiles->is_alive)
        return eki_error(EK_ERR_STATE, "%s: the store '%s' is destroyed", call,
                         tiles->shape.name);
    return EK_OK;
}

/* The values that this rank has. */
static const struct eki_tile_part *own_part(const ek_tiles *tiles)
{
    return eki_tile_part(tiles, tiles->rank);
}

static ek_status store_outcome(const ek_tiles *tiles, ek_status status)
{
    return eki_collection_outcome(tiles ? tiles->owner : NULL, status);
}

static ek_status find_local(ek_tiles *tiles, int64_t tile, double **values,
                            int64_t *length)
{
    EKI_TRY(check_alive(tiles, "ek_tiles_local"));
    EKI_TRY(eki_collection_check_between(tiles->owner, "ek_tiles_local"));
    EKI_TRY(eki_collection_check_region("ek_tiles_local"));
    EKI_TRY(eki_collection_check_tile(tiles, tile, "ek_tiles_local"));
    if (!values || !length)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_local: values and length must not be NULL");
    int owner = eki_tile_owner(tiles, tile);
    double *found =
        owner == tiles->rank ? eki_tile_find(own_part(tiles), tile) : NULL;
    if (!found)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_local: tile %" PRId64
                         " of '%s' belongs to rank %d; allowed: own tiles",
                         tile, tiles->shape.name, owner);
    *values = found;
    *length = eki_tile_length(tiles, tile);
    return EK_OK;
}

ek_status ek_tiles_local(ek_tiles *tiles, int64_t tile, double **values,
                         int64_t *length)
{
    return store_outcome(tiles, find_local(tiles, tile, values, length));
}

static ek_status enter_call(ek_tiles *tiles, const char *call,
                            enum eki_called called)
{
    ek_status status = check_alive(tiles, call);
    return status == EK_OK
               ? eki_collection_enter_call(tiles->owner, call, called)
               : store_outcome(tiles, status);
}

static ek_status leave_call(ek_tiles *tiles, ek_status status)
{
    return eki_collection_leave_call(tiles->owner, status);
}

ek_status ek_tiles_fill(ek_tiles *tiles, double value)
{
    EKI_TRY(enter_call(tiles, "ek_tiles_fill", EKI_CALLED_TILES_FILL));
    const struct eki_tile_part *part = own_part(tiles);
    ek_status status = eki_fabric_mpi_agree(
        tiles->owner->fabric, eki_collection_check_region("ek_tiles_fill"));
    if (status == EK_OK) {
        for (int64_t i = 0; i < part->doubles; i++)
            part->values[i] = value;
        eki_store_forget(tiles);
        status = eki_fabric_mpi_barrier(tiles->owner->fabric);
    }
    return leave_call(tiles, status);
}

ek_status ek_tiles_sync(ek_tiles *tiles)
{
    EKI_TRY(enter_call(tiles, "ek_tiles_sync", EKI_CALLED_TILES_SYNC));
    ek_status status = eki_fabric_mpi_agree(
        tiles->owner->fabric, eki_collection_check_region("ek_tiles_sync"));
    if (status == EK_OK)
        eki_store_forget(tiles);
    return leave_call(tiles, status);
}

static ek_status find_norm(ek_tiles *tiles, double *result)
{
    double sum = 0;
    const struct eki_tile_part *part = own_part(tiles);
    ek_status status = eki_collection_check_region("ek_tiles_norm");
    if (status == EK_OK && !result)
        status = eki_error(EK_ERR_ARG, "ek_tiles_norm: norm is NULL");
    EKI_TRY(eki_fabric_mpi_agree(tiles->owner->fabric, status));
    for (int64_t i = 0; i < part->doubles; i++)
        sum += part->values[i] * part->values[i];
    EKI_TRY(eki_fabric_mpi_sum_double(tiles->owner->fabric, &sum, 1));
    *result = sqrt(sum);
    return EK_OK;
}

ek_status ek_tiles_norm(ek_tiles *tiles, double *result)
{
    EKI_TRY(enter_call(tiles, "ek_tiles_norm", EKI_CALLED_TILES_NORM));
    return leave_call(tiles, find_norm(tiles, result));
}

/* Rank 0: what comes in, cut into tiles. */
struct gathering {
    const ek_tiles *tiles;
    ek_tile_visit_fn *visitor;
    void *context;
    int64_t *order;  /* [count]: tiles by owner, then by number */
    double *values;  /* of the next one ... */
    size_t bytes;    /* ... so many have come */
    int64_t visited; /* tiles before it */
};

/* Rank 0: the order in which tiles come, and room for the longest. */
static ek_status open_gathering(struct gathering *gathering)
{
    const ek_tiles *tiles = gathering->tiles;
    int64_t longest = 1, count = tiles->shape.count;
    int64_t *next = eki_alloc((size_t)tiles->size + 1, sizeof *next);
    gathering->order = eki_alloc((size_t)count + 1, sizeof *gathering->order);
    for (int64_t tile = 0; next && tile < count; tile++) {
        int64_t length = eki_tile_length(tiles, tile);
        longest = length > longest ? length : longest;
        next[eki_tile_owner(tiles, tile) + 1]++;
    }
    gathering->values = eki_alloc((size_t)longest, sizeof *gathering->values);
    if (!next || !gathering->order || !gathering->values) {
        eki_free(next);
        return eki_error(EK_ERR_NOMEM,
                         "ek_tiles_gather: no memory for the order of %" PRId64
                         " tiles",
                         count);
    }
    for (int r = 0; r < tiles->size; r++)
        next[r + 1] += next[r];
    for (int64_t tile = 0; tile < count; tile++)
        gathering->order[next[eki_tile_owner(tiles, tile)]++] = tile;
    eki_free(next);
    return EK_OK;
}

static void cut_piece(const void *piece, size_t bytes, void *context)
{
    struct gathering *gathering = context;
    const unsigned char *next = piece;
    while (bytes > 0) {
        int64_t tile = gathering->order[gathering->visited];
        int64_t length = eki_tile_length(gathering->tiles, tile);
        size_t left = (size_t)length * sizeof(double) - gathering->bytes;
        size_t taken = bytes < left ? bytes : left;
        memcpy((unsigned char *)gathering->values + gathering->bytes, next,
               taken);
        next += taken;
        bytes -= taken;
        gathering->bytes += taken;
        if (taken < left)
            return;
        gathering->visitor(tile, gathering->values, length, gathering->context);
        gathering->bytes = 0;
        gathering->visited++;
    }
}

static ek_status gather_tiles(ek_tiles *tiles, ek_tile_visit_fn *visitor,
                              void *context)
{
    struct gathering gathering = {
        .tiles = tiles, .visitor = visitor, .context = context};
    const struct eki_tile_part *part = own_part(tiles);
    ek_status status = eki_collection_check_region("ek_tiles_gather");
    if (status == EK_OK && tiles->rank == 0)
        status =
            visitor ? open_gathering(&gathering)
                    : eki_error(EK_ERR_ARG, "ek_tiles_gather: visitor is NULL");
    status = eki_fabric_mpi_agree(tiles->owner->fabric, status);
    if (status == EK_OK)
        status = eki_fabric_mpi_gather(tiles->owner->fabric, part->values,
                                       (size_t)part->doubles * sizeof(double),
                                       cut_piece, &gathering);
    eki_free(gathering.order);
    eki_free(gathering.values);
    return status;
}

ek_status ek_tiles_gather(ek_tiles *tiles, ek_tile_visit_fn *visitor,
                          void *context)
{
    EKI_TRY(enter_call(tiles, "ek_tiles_gather", EKI_CALLED_TILES_GATHER));
    return leave_call(tiles, gather_tiles(tiles, visitor, context));
}

int64_t ek_tiles_count(const ek_tiles *tiles)
{
    return tiles && tiles->is_alive ? tiles->shape.count : 0;
}

static bool has_tile(const ek_tiles *tiles, int64_t tile)
{
    return tile >= 0 && tile < ek_tiles_count(tiles);
}

int64_t ek_tiles_length(const ek_tiles *tiles, int64_t tile)
{
    return has_tile(tiles, tile) ? eki_tile_length(tiles, tile) : 0;
}

int ek_tiles_owner(const ek_tiles *tiles, int64_t tile)
{
    return has_tile(tiles, tile) ? eki_tile_owner(tiles, tile) : -1;
}
