/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles: numbered blocks of doubles that lie with an owner rank each, and that
 * any running task can get, put and accumulate into.
 *
 * For matrices and tensors that are too large for every rank, or that all tasks
 * update: each task gets the tiles that it needs and accumulates what it has
 * computed.  Not a general global address space: a tile moves as a whole, and a
 * store does not grow.
 *
 * In a node tiles lie in shared memory, and a call is one copy.  Between nodes
 * the server of the owner answers, between its tasks or on its own thread
 * (options.progress); whoever waits steps the server of its own rank.
 *
 * Order.  Accumulates never lose each other's values.  What tasks have put and
 * accumulated in an iteration is in the store when ek_process() returns.  A get
 * beside a put or accumulate of the same tile, in one iteration, sees any
 * mixture; and a get may see a cached tile: what was written before the last
 * ek_tiles_sync() it does see.
 */
#ifndef EVENKEEL_TILES_H
#define EVENKEEL_TILES_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A store of tiles. */
typedef struct ek_tiles ek_tiles;

/** How many tiles there are, how long, and where. */
typedef struct ek_tiles_shape {
    size_t struct_bytes; /**< Set by EK_TILES_SHAPE_INIT. */
    const char *name;    /**< In messages; copied. */
    int64_t count;       /**< Tiles, numbered 0 ... count - 1. */
    int64_t length;      /**< Doubles of each tile, where length_of is NULL. */
    /** Doubles of a tile, 1 or more; the same on all ranks.  Called by any
     * thread, now and later. */
    int64_t (*length_of)(int64_t tile, void *context);
    /** Rank that has a tile, likewise; NULL: tile modulo ranks. */
    int (*owner_of)(int64_t tile, void *context);
    void *context;       /**< Passed to both; borrowed. */
    int64_t cache_bytes; /**< Of each worker's cache of tiles of other nodes. */
} ek_tiles_shape;

/** Defaults of ek_tiles_shape. */
#define EK_TILES_SHAPE_INIT                                        \
    {                                                              \
        sizeof(ek_tiles_shape), "tiles", 0, 0, NULL, NULL, NULL, 0 \
    }

/** Make a store over the ranks of a collection; all values are 0. */
EK_API ek_status ek_tiles_create(ek_collection *tasks,
                                 const ek_tiles_shape *shape, ek_tiles **tiles);

/** Destroy a store. */
EK_API void ek_tiles_destroy(ek_tiles **tiles);

/** Copy a tile to @p values; @p length is that of the tile. */
EK_API ek_status ek_tiles_get(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              double *values, int64_t length);

/** Replace a tile. */
EK_API ek_status ek_tiles_put(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              const double *values, int64_t length);

/** Add @p alpha times @p values to a tile, atomically. */
EK_API ek_status ek_tiles_accumulate(ek_worker *worker, ek_tiles *tiles,
                                     int64_t tile, double alpha,
                                     const double *values, int64_t length);

/** A transfer that was started, and not waited for yet. */
typedef struct ek_transfer {
    uint64_t number; /**< The library's. */
} ek_transfer;

/** ek_tiles_get() and the like, which return at once: @p values is the
 * library's until ek_tiles_wait(), before the task returns. */
EK_API ek_status ek_tiles_get_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, double *values,
                                    int64_t length, ek_transfer *transfer);
/** Likewise, of ek_tiles_put(). */
EK_API ek_status ek_tiles_put_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, const double *values,
                                    int64_t length, ek_transfer *transfer);
/** Likewise, of ek_tiles_accumulate(). */
EK_API ek_status ek_tiles_accumulate_start(ek_worker *worker, ek_tiles *tiles,
                                           int64_t tile, double alpha,
                                           const double *values, int64_t length,
                                           ek_transfer *transfer);
/** Wait for a transfer. */
EK_API ek_status ek_tiles_wait(ek_worker *worker, ek_transfer *transfer);

/** Values of a tile that this rank owns, between iterations. */
EK_API ek_status ek_tiles_local(ek_tiles *tiles, int64_t tile, double **values,
                                int64_t *length);

/** Set every value. */
EK_API ek_status ek_tiles_fill(ek_tiles *tiles, double value);

/** What was written before is seen by all gets after. */
EK_API ek_status ek_tiles_sync(ek_tiles *tiles);

/** Square root of the sum of the squares of all values. */
EK_API ek_status ek_tiles_norm(ek_tiles *tiles, double *norm);

/** Is given a tile. */
typedef void ek_tile_visit_fn(int64_t tile, const double *values,
                              int64_t length, void *context);

/** Rank 0 is given every tile, owner by owner. */
EK_API ek_status ek_tiles_gather(ek_tiles *tiles, ek_tile_visit_fn *visitor,
                                 void *context);

/** Tiles of the store. */
EK_API int64_t ek_tiles_count(const ek_tiles *tiles);

/** Doubles of a tile; 0: there is no such tile. */
EK_API int64_t ek_tiles_length(const ek_tiles *tiles, int64_t tile);

/** Rank that has a tile; -1: there is no such tile. */
EK_API int ek_tiles_owner(const ek_tiles *tiles, int64_t tile);

#ifdef __cplusplus
}
#endif
#endif
