/* SPDX-License-Identifier: BSD-3-Clause */
/* All tiles of a store to rank 0, which cuts what ranks send into tiles. */
#include "collection/collection.h"

#include <inttypes.h>
#include <string.h>

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

static void take_piece(const void *piece, size_t bytes, void *context)
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

ek_status eki_collection_gather_tiles(const ek_tiles *tiles, ek_status status,
                                      ek_tile_visit_fn *visitor, void *context)
{
    struct gathering gathering = {
        .tiles = tiles, .visitor = visitor, .context = context};
    const ek_collection *tasks = tiles->owner;
    const struct eki_tile_part *part = eki_tile_part(tiles, tiles->rank);
    if (status == EK_OK && tiles->rank == 0)
        status =
            visitor ? open_gathering(&gathering)
                    : eki_error(EK_ERR_ARG, "ek_tiles_gather: visitor is NULL");
    status = eki_fabric_mpi_agree(tasks->fabric, status);
    if (status == EK_OK)
        status = eki_fabric_mpi_gather(tasks->fabric, part->values,
                                       (size_t)part->doubles * sizeof(double),
                                       take_piece, &gathering);
    eki_free(gathering.order);
    eki_free(gathering.values);
    return status;
}
