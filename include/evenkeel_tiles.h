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
 * In a node tiles lie in shared memory, and a call is one copy.  Where the
 * shared-memory mount is too small they lie in private memory, and other ranks
 * of the node reach them as other nodes do, which is said once.  Between nodes
 * the server of the owner answers, between its tasks, in ek_poll() or on its
 * own thread (options.progress); whoever waits steps the server of its own
 * rank.  Below MPI_THREAD_SERIALIZED, and without a server
 * thread, only worker 0 of a rank may do that: the others wait until it is
 * between two tasks, or fetches its next one by ek_next(), which is said once.
 * No task may hold what another one waits for, a lock for example, while it
 * waits for a tile.
 *
 * Order.  Accumulates never lose each other's values.  What tasks have put and
 * accumulated in an iteration is in the store when ek_process() returns.  A get
 * beside a put or accumulate of the same tile, in one iteration, sees any
 * mixture; and a get may see a cached tile: what was written before the last
 * ek_tiles_sync() it does see, and what its own worker has put or accumulated
 * since.
 *
 * Errors.  As in evenkeel.h: each failing call says a sentence.  Collective
 * calls fail on all ranks alike, unless a rank passes NULL or a store that is
 * destroyed: it returns at once, and others wait for it.
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
    const char *name;    /**< In messages; copied; NULL: "tiles". */
    int64_t count;       /**< Tiles, numbered 0 ... count - 1. */
    int64_t length;      /**< Doubles of each tile, where length_of is NULL. */
    /** Doubles of a tile, 1 or more; the same on all ranks.  Called by any
     * thread, now and later. */
    int64_t (*length_of)(int64_t tile, void *context);
    /** Rank that has a tile, likewise; NULL: tile modulo ranks. */
    int (*owner_of)(int64_t tile, void *context);
    void *context;       /**< Passed to both; borrowed. */
    int64_t cache_bytes; /**< Of each worker's cache of tiles of other nodes;
                              0: none. */
} ek_tiles_shape;

/** Defaults of ek_tiles_shape. */
#define EK_TILES_SHAPE_INIT EK_INIT(ek_tiles_shape)

/**
 * Make a store over the ranks of a collection; all values are 0.
 *
 * Tasks of any collection may use it that was made from the same communicator
 * with the same ranks_per_node.  ek_destroy() of @p tasks destroys it, if that
 * has not been done.
 *
 * @param[in]  tasks  Collection with no iteration open.
 * @param[in]  shape  Read during the call; the same on all ranks.
 * @param[out] tiles  The store; NULL on failure.
 *
 * @retval EK_OK
 * @retval EK_ERR_ARG    Count, cache_bytes, or the length or owner of a tile is
 *                       out of range, or differs over ranks; the message names
 *                       the first such tile.
 * @retval EK_ERR_STATE  An iteration is open, or a parallel region is active.
 * @retval EK_ERR_NOMEM
 * @retval EK_ERR_MPI    Communication failed.
 *
 * Call:    Collective; synchronizing.
 * Threads: One per rank, outside parallel regions.
 * Cost:    length_of and owner_of are called a few times for each tile, on
 *          each rank; memory on the owner 8 bytes for each double and 24 for
 *          each tile, 4 KiB for each rank, and once for each collection 2.3 KiB
 *          for each worker.
 */
EK_API ek_status ek_tiles_create(ek_collection *tasks,
                                 const ek_tiles_shape *shape, ek_tiles **tiles);

/**
 * Destroy a store, and set the pointer to NULL.
 *
 * Other pointers to it are refused (EK_ERR_STATE) as long as a collection of
 * its communicator is there: some 200 bytes stay until then.  After the last of
 * these is destroyed every pointer to a store is invalid.  While an iteration
 * is open the store stays, with a warning.
 *
 * @param[in,out] tiles  NULL, or a pointer to NULL, is nothing.
 *
 * Call:    Collective, not synchronizing; between iterations.
 * Threads: One per rank, outside parallel regions.
 */
EK_API void ek_tiles_destroy(ek_tiles **tiles);

/**
 * Copy a tile.
 *
 * @param[in]  worker  The worker that runs the calling task.
 * @param[in]  tile    Its number.
 * @param[out] values  [@p length]
 * @param[in]  length  Doubles of the tile, as its shape says.
 *
 * @retval EK_OK
 * @retval EK_ERR_ARG     No such tile, another length, a NULL, or a store of
 *                        another communicator or other ranks_per_node.
 *                        Nothing was copied.
 * @retval EK_ERR_STATE   No iteration is open, or the store is destroyed.
 * @retval EK_ERR_THREAD  Another thread runs @p worker (option check).
 * @retval EK_ERR_MPI     Communication failed: the iteration ends, on all
 *                        ranks.
 *
 * Call:    From a running task.
 * Threads: The one that runs the task.
 * Cost:    In a node a copy of the tile.  Between nodes a message, and one for
 *          each 3.9 kB (ranks of one host) or 65 kB that come back; while it
 *          waits others may steal what the worker has.
 */
EK_API ek_status ek_tiles_get(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              double *values, int64_t length);

/**
 * Replace a tile; all of it has arrived when the call returns.
 *
 * @param[in] values  [@p length]; the caller's again.
 *
 * @retval As ek_tiles_get().  After EK_ERR_MPI the tile may be any mixture.
 *
 * Call, Threads, Cost: as ek_tiles_get(); pieces travel to the owner.
 */
EK_API ek_status ek_tiles_put(ek_worker *worker, ek_tiles *tiles, int64_t tile,
                              const double *values, int64_t length);

/**
 * Add @p alpha times @p values to a tile.
 *
 * No value of another task is lost, whoever adds at the same time; the order of
 * additions is any.
 *
 * @retval As ek_tiles_put().
 *
 * Call, Threads, Cost: as ek_tiles_put(); the owner adds.
 */
EK_API ek_status ek_tiles_accumulate(ek_worker *worker, ek_tiles *tiles,
                                     int64_t tile, double alpha,
                                     const double *values, int64_t length);

/** A transfer that was started, and not waited for yet. */
typedef struct ek_transfer {
    uint64_t number; /**< The library's; 0: it is over. */
} ek_transfer;

/**
 * Start to get a tile, so that it travels while the task computes.
 *
 * Up to 16 transfers of a worker are under way at a time; with more this call
 * waits for one of them.  A task that returns without having waited for one
 * that needs messages fails, and what still comes for it is dropped.
 *
 * @param[out] values    The library's until ek_tiles_wait(), before the task
 *                       returns.
 * @param[out] transfer  For ek_tiles_wait() of the same task.
 *
 * @retval As ek_tiles_get().  Nothing was started.
 *
 * Call, Threads: as ek_tiles_get().
 * Cost:    As ek_tiles_get() in a node, where the transfer is over then, and
 *          where the cache has the tile; else the server of the rank sends what
 *          is to be sent: at once if it has a thread of its own, else when a
 *          worker waits, polls (ek_poll()) or is between two tasks.
 */
EK_API ek_status ek_tiles_get_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, double *values,
                                    int64_t length, ek_transfer *transfer);
/** Start to replace a tile: ek_tiles_put() as ek_tiles_get_start() does it. */
EK_API ek_status ek_tiles_put_start(ek_worker *worker, ek_tiles *tiles,
                                    int64_t tile, const double *values,
                                    int64_t length, ek_transfer *transfer);
/** Start to add @p values to a tile: ek_tiles_accumulate() with alpha 1. */
EK_API ek_status ek_tiles_accumulate_start(ek_worker *worker, ek_tiles *tiles,
                                           int64_t tile, const double *values,
                                           int64_t length,
                                           ek_transfer *transfer);

/**
 * Wait for a transfer: a tile is here, or all of it is in the store.
 *
 * @param[in,out] transfer  One that is over is nothing to wait for.
 *
 * @retval EK_OK
 * @retval EK_ERR_ARG    A NULL, or no transfer.
 * @retval EK_ERR_STATE  No iteration is open.
 * @retval EK_ERR_MPI    As of ek_tiles_get().
 *
 * Call:    From the task that started it.
 * Threads: The one that runs the task.
 */
EK_API ek_status ek_tiles_wait(ek_worker *worker, ek_transfer *transfer);

/**
 * Values of a tile that this rank owns, to read and write.
 *
 * Tasks of later iterations see what was written before an ek_tiles_sync().
 *
 * @param[out] values  In the store, until it is destroyed; not while an
 *                     iteration is open.
 * @param[out] length  Doubles of it.
 *
 * @retval EK_ERR_ARG    The tile is not there, or belongs to another rank.
 * @retval EK_ERR_STATE  An iteration is open, or the store is destroyed.
 *
 * Call:    Local, between iterations.
 * Threads: One per rank.
 */
EK_API ek_status ek_tiles_local(ek_tiles *tiles, int64_t tile, double **values,
                                int64_t *length);

/**
 * Set every value, as if followed by ek_tiles_sync().
 *
 * @retval EK_ERR_STATE  An iteration is open, or a parallel region is active.
 * @retval EK_ERR_MPI    Communication failed.
 *
 * Call:    Collective; synchronizing; between iterations.
 * Threads: One per rank, outside parallel regions.
 */
EK_API ek_status ek_tiles_fill(ek_tiles *tiles, double value);

/**
 * What was written before is seen by all gets after: caches are emptied.
 *
 * @retval As ek_tiles_fill().
 *
 * Call, Threads: as ek_tiles_fill().
 */
EK_API ek_status ek_tiles_sync(ek_tiles *tiles);

/**
 * Square root of the sum of the squares of all values.
 *
 * @param[out] norm  The same on all ranks.
 *
 * @retval As ek_tiles_fill(); EK_ERR_ARG: @p norm is NULL.
 *
 * Call, Threads: as ek_tiles_fill().
 */
EK_API ek_status ek_tiles_norm(ek_tiles *tiles, double *norm);

/** Is given a tile, whose values are there during the call. */
typedef void ek_tile_visit_fn(int64_t tile, const double *values,
                              int64_t length, void *context);

/**
 * Give rank 0 every tile, owner by owner, those of an owner by their numbers.
 *
 * @param[in] visitor  Called on rank 0 alone; others may pass NULL.
 * @param[in] context  Passed to it; borrowed.
 *
 * @retval As ek_tiles_fill(); EK_ERR_ARG: rank 0 has no visitor;
 *         EK_ERR_NOMEM: there is no room on rank 0.
 *
 * Call, Threads: as ek_tiles_fill().
 * Cost:    All values travel; on rank 0 memory for 8 bytes for each tile and
 *          the longest tile.
 */
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
