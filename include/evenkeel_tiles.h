/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles: numbered blocks of doubles, spread over the ranks, that any running
 * task can get, put and accumulate into.
 *
 * A tile moves as a whole, and a store does not grow.
 * docs/how-to/use-tiles.md says when to use tiles, and how they travel.
 *
 * Order.  Accumulates never lose values of each other.  When ek_process()
 * returns, the store has all that tasks have put and accumulated.  A get beside
 * a put or an accumulate of the same tile, in one iteration, may see any
 * mixture.  A get sees what was written before the last ek_tiles_sync(), and
 * what its own worker has written since.  Other writes since may be missing.
 *
 * Locks.  A task that waits for a tile must not hold what other tasks wait for,
 * such as a lock.
 *
 * Errors, threads.  As in evenkeel.h.  A rank that passes NULL or a destroyed
 * store to a collective call returns at once, and the other ranks wait for it.
 */
#ifndef EVENKEEL_TILES_H
#define EVENKEEL_TILES_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A store of tiles. */
typedef struct ek_tiles ek_tiles;

/** Number, lengths and owners of tiles; the same on all ranks. */
typedef struct ek_tiles_shape {
    size_t struct_bytes; /**< Set by EK_TILES_SHAPE_INIT. */
    const char *name;    /**< In messages; copied; NULL: "tiles". */
    int64_t count;       /**< Tiles, numbered 0 ... count - 1. */
    int64_t length;      /**< Doubles of each tile, if length_of is NULL. */
    /** Returns the doubles of a tile, 1 or more.  Any thread may call this
     * function, until the store is destroyed. */
    int64_t (*length_of)(int64_t tile, void *context);
    /** Returns the rank that has a tile; called as length_of is.  NULL: tile
     * modulo ranks. */
    int (*owner_of)(int64_t tile, void *context);
    void *context;       /**< Passed to both; borrowed. */
    int64_t cache_bytes; /**< Of each worker's cache for tiles of other nodes;
                              0: none. */
} ek_tiles_shape;

/** Defaults of ek_tiles_shape. */
#define EK_TILES_SHAPE_INIT EK_INIT(ek_tiles_shape)

/**
 * Make a store over the ranks of a collection; all values are 0.
 *
 * Tasks of other collections may use the store if these were made from the same
 * communicator with the same ranks_per_node.
 * @param[in]  tasks  Its owner: ek_destroy() of @p tasks destroys the store.
 * @param[in]  shape  Read during the call.
 * @param[out] tiles  The store; NULL on failure.
 * @retval EK_ERR_ARG    Count, cache_bytes, or the length or owner of a tile is
 *                       out of range or differs between ranks.
 * @retval EK_ERR_STATE  An iteration is open, or a parallel region is active.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 * Cost:    8 bytes per double and 24 per tile, on its owner; 4 KiB per rank.
 */
EK_API ek_status ek_tiles_create(ek_collection *tasks,
                                 const ek_tiles_shape *shape, ek_tiles **tiles);

/**
 * Destroy a store, and set the pointer to NULL, which is accepted.
 *
 * Copies of the pointer are refused by all calls (EK_ERR_STATE), until the last
 * collection over the communicator is destroyed.  They are invalid afterwards.
 * While an iteration is open, the call only warns, and the store stays.
 * Call:    Collective, not synchronizing.
 * Threads: Main thread.
 */
EK_API void ek_tiles_destroy(ek_tiles **tiles);

/**
 * Copy a tile.
 * @param[in]  worker  The worker that runs the calling task.
 * @param[in]  tile    Its number.
 * @param[out] values  [@p length]
 * @param[in]  length  Doubles of the tile.
 * @retval EK_ERR_ARG     No such tile, another length, a NULL, or a store of
 *                        another communicator or other ranks_per_node.
 * @retval EK_ERR_STATE   No iteration is open, or the store is destroyed.
 * @retval EK_ERR_THREAD  Another thread runs @p worker (option check).
 * @retval EK_ERR_MPI     Communication failed: the iteration ends on all ranks.
 * Call:    From a running task.
 * Threads: The one that runs the task.
 * Cost:    In a node one copy; between nodes messages.
 */
EK_API ek_status ek_tiles_get(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              double *values, int64_t length);

/**
 * Replace a tile; returns when the store has all @p values.
 * @retval As ek_tiles_get(); so are Call, Threads and Cost.  After EK_ERR_MPI
 *         the tile may be any mixture.
 */
EK_API ek_status ek_tiles_put(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              const double *values, int64_t length);

/** Add @p alpha times @p values to a tile, in any order with other tasks that
 * add.  Otherwise as ek_tiles_put(). */
EK_API ek_status ek_tiles_accumulate(ek_worker *worker, ek_tiles *tiles,
                                     int64_t tile, double alpha,
                                     const double *values, int64_t length);

/** A transfer that a task has started. */
typedef struct ek_transfer {
    uint64_t number; /**< The library's; 0: it is over. */
} ek_transfer;

/**
 * Start to get a tile; the tile travels while the task computes.
 *
 * A worker has at most 16 transfers under way; with more, this call waits for
 * one.  The task waits for each transfer before it returns.  If it does not,
 * the task fails, unless the transfer is over.
 * @param[out] values    [@p length]; the library's until ek_tiles_wait().
 * @param[out] transfer  For ek_tiles_wait() of the same task.
 * @retval As ek_tiles_get(); so are Call and Threads.
 * Cost:    If the tile is in the node or the cache: as ek_tiles_get(), and the
 *          transfer is over.  Otherwise the server of the rank sends a message.
 */
EK_API ek_status ek_tiles_get_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, double *values,
                                    int64_t length, ek_transfer *transfer);

/** Start to replace a tile; @p values do not change until ek_tiles_wait().
 * Otherwise as ek_tiles_get_start(). */
EK_API ek_status ek_tiles_put_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, const double *values,
                                    int64_t length, ek_transfer *transfer);

/** Start to add @p values to a tile; otherwise as ek_tiles_put_start(). */
EK_API ek_status ek_tiles_accumulate_start(ek_worker *worker, ek_tiles *tiles,
                                           int64_t tile, const double *values,
                                           int64_t length,
                                           ek_transfer *transfer);

/**
 * Wait until a tile is here, or until the store has all of its values.
 * @param[in,out] transfer  Of the same task; one that is over is accepted.
 * @retval EK_ERR_ARG    A NULL, or no transfer.
 * @retval EK_ERR_STATE  No iteration is open.
 * @retval EK_ERR_MPI    As of ek_tiles_get().
 * Call:    As ek_tiles_get(); so are Threads.
 */
EK_API ek_status ek_tiles_wait(ek_worker *worker, ek_transfer *transfer);

/**
 * Find the values of a tile that this rank owns, to read and write them.
 *
 * Tasks see what was written after the next ek_tiles_sync().
 * @param[out] values  In the store; valid until it is destroyed, but not while
 *                     an iteration is open.
 * @param[out] length  Doubles of the tile.
 * @retval EK_ERR_ARG    No such tile, the tile of another rank, or a NULL.
 * @retval EK_ERR_STATE  An iteration is open, a parallel region is active, or
 *                       the store is destroyed.
 * Call:    Local.
 * Threads: Main thread.
 */
EK_API ek_status ek_tiles_local(ek_tiles *tiles, int64_t tile, double **values,
                                int64_t *length);

/**
 * Set every value; all later gets see it.
 * @retval EK_ERR_ARG    @p tiles is NULL.
 * @retval EK_ERR_STATE  An iteration is open, a parallel region is active, or
 *                       the store is destroyed.
 * Call:    Collective; synchronizing.
 * Threads: Main thread.
 */
EK_API ek_status ek_tiles_fill(ek_tiles *tiles, double value);

/** Let all later gets see what was written before: caches are emptied.  Status,
 * call and threads: as ek_tiles_fill(). */
EK_API ek_status ek_tiles_sync(ek_tiles *tiles);

/** Square root of the sum of the squares of all values; @p norm is the same on
 * all ranks.  Status, call and threads: as ek_tiles_fill(). */
EK_API ek_status ek_tiles_norm(ek_tiles *tiles, double *norm);

/** Receives a tile, whose @p values are valid during the call. */
typedef void ek_tile_visit_fn(int64_t tile, const double *values,
                              int64_t length, void *context);

/**
 * Show every tile to rank 0, owner by owner, and in ascending order of each.
 * @param[in] visitor  Called on rank 0; other ranks may pass NULL.
 * @param[in] context  Passed to @p visitor; borrowed.
 * @retval As ek_tiles_fill(); so are Call and Threads.
 * @retval EK_ERR_ARG  Rank 0 has no visitor.
 * Cost:    All values travel.  Rank 0 needs 8 bytes per tile, and room for the
 *          longest one.
 */
EK_API ek_status ek_tiles_gather(ek_tiles *tiles, ek_tile_visit_fn *visitor,
                                 void *context);

/** Number of tiles. */
EK_API int64_t ek_tiles_count(const ek_tiles *tiles);

/** Doubles of a tile; 0: there is no such tile. */
EK_API int64_t ek_tiles_length(const ek_tiles *tiles, int64_t tile);

/** Rank that has a tile; -1: there is no such tile. */
EK_API int ek_tiles_owner(const ek_tiles *tiles, int64_t tile);

#ifdef __cplusplus
}
#endif
#endif
