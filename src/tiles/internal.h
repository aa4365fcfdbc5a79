/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of tiles only. */
#ifndef EKI_TILES_INTERNAL_H
#define EKI_TILES_INTERNAL_H

#include "engine/decode.h"
#include "exchange/tickets.h"
#include "tiles/tiles.h"

#include <string.h>

/* A tile of another node, as it was got. */
struct eki_cached {
    struct eki_cached *next;          /* of its bucket */
    struct eki_cached *older, *newer; /* by their last use */
    int64_t tile, length;
    double values[]; /* [length], unless the store has none */
};

/* Those of one store that a worker has; written by it alone. */
struct eki_cache {
    const struct ek_tiles *store;
    uint64_t epoch; /* of the store when they were got */
    struct eki_cached **buckets;
    uint64_t room; /* of these, a power of two */
    struct eki_cached *oldest, *newest;
    int64_t count, bytes;
};

/* NULL: no memory. */
struct eki_cache *eki_cache_create(const struct ek_tiles *store);
void eki_cache_destroy(struct eki_cache *cache);
/* The tile, which is the newest then; NULL: it is not there. */
const struct eki_cached *eki_cache_find(struct eki_cache *cache, int64_t tile);
/* Keep a copy, in the place of the oldest ones, if it fits. */
void eki_cache_keep(struct eki_cache *cache, int64_t tile, const double *values,
                    int64_t length);
void eki_cache_drop(struct eki_cache *cache, int64_t tile);

/*
 * States of an operation, all FREE on entering; those that the worker begins
 * from OPEN, and all that the server makes, under the lock of the desk:
 *
 *     FREE      -> OPEN       worker  starts it
 *     OPEN      -> DONE       server  its last answer has come
 *     DONE      -> FREE       worker  has waited, needs its place, or its task
 *                                     has ended
 *     OPEN      -> ABANDONED  worker  its task has ended
 *               -> FREE       worker  ... and nothing was sent
 *     ABANDONED -> FREE       server  its last answer has come
 */
enum eki_op_state {
    EKI_OP_FREE,
    EKI_OP_OPEN,     /* the servers have to do with it */
    EKI_OP_DONE,     /* its task may have the values */
    EKI_OP_ABANDONED /* its task has ended: answers are dropped */
};

/*
 * An operation by messages, in a place of its worker's tickets.  The worker
 * writes all but `state` before it wants something sent; then the operation is
 * the server's, under the lock of the desk, up to DONE or FREE.
 */
struct eki_tile_op {
    _Atomic int state;
    uint32_t number; /* of all that the worker has begun, and its place */
    struct eki_tile_call call;
    bool may_cache;        /* no own put or add of the tile beside it */
    int64_t sent, arrived; /* doubles */
    int pieces, answered;  /* of those sent */
    int unasked;           /* pieces since an answer was asked for */
    uint64_t since;        /* when the first piece was sent */
    bool is_cut;           /* the rest is not sent, but that it has ended */
};

/* A worker's side. */
struct eki_tiler {
    /* Written by the worker. */
    _Alignas(EKI_LINE) int open; /* operations that are OPEN or DONE */
    struct eki_cache **caches;   /* [cache_room], by the place of the store */
    int cache_room;
    struct eki_tile_op ops[EKI_TRANSFERS_MOST];
};

/* What another rank is to be sent. */
struct eki_tile_answer {
    const struct ek_tiles *store;
    struct eki_tile_words words; /* offset: what is sent next */
    int64_t length;              /* GET: of the tile */
    int rank, worker;
    int done; /* PUT, ACCUMULATE: pieces; 0: GET */
};

/* One rank's view; written by the thread that enters, then by the server. */
struct eki_tiles {
    struct eki_protocol protocol;
    struct eki_stores *stores;
    struct eki_tiles *next;   /* of the registry */
    struct eki_tiler *tilers; /* [workers_here] */
    struct eki_queue answers; /* struct eki_tile_answer */
    struct eki_outbox outbox;
    int window;   /* pieces of a transfer that may be unanswered */
    uint64_t now; /* of the step */
    int waiting;  /* answers that this step has found no buffers for */
    struct eki_tickets tickets;
};

/* Of an engine that has joined. */
static inline struct eki_tiles *eki_tiles_of(const struct eki_engine *engine)
{
    return (struct eki_tiles *)engine->channels[EKI_CHANNEL_TILES];
}

/* Doubles that a message carries. */
static inline int64_t eki_tile_room(const struct eki_tiles *tiles)
{
    return (eki_exchange_room(&tiles->protocol.engine->exchange) -
            (int64_t)sizeof(struct eki_tile_words)) /
           (int64_t)sizeof(double);
}

void eki_tiles_step(struct eki_protocol *protocol, uint64_t now);
enum eki_taken eki_tiles_take(struct eki_protocol *protocol,
                              const struct eki_message *message, uint64_t now);
/* The task that WORKER runs has ended; false: transfers of it were open. */
bool eki_tiles_abandon(struct eki_protocol *protocol, struct ek_worker *worker);

#endif
