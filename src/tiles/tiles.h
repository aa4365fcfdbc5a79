/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiles: numbered blocks of doubles with an owner rank each, and the protocol
 * by which running tasks reach those of other nodes.
 *
 *     asker's server -> owner's   GET    struct eki_tile_words
 *     owner's server -> asker's   PIECE  ... and doubles from `offset` on
 *     asker's server -> owner's   PUT    ... and doubles that replace values
 *                                 ACCUMULATE  ... and doubles to add; of both
 *                                        head.first: pieces to answer now, or 0
 *     owner's server -> asker's   DONE   head.count pieces are in the store
 *
 * Messages travel in the line of the collection whose task asks.  Every
 * operation is answered before its task ends, and a worker that runs a task is
 * not idle: a phase does not end before all is applied.
 *
 * A store lies in parts, one for each rank: those of the ranks of a node in
 * memory that they share, or each in memory of its own, then reached by
 * messages on the node, too.  A part is locks, an index of its tiles, their
 * values in order of their numbers.
 *
 * Stores are numbered on their wire: tasks of any collection over it use them.
 *
 * Threads.  Transfers: the worker's.  Registry, stores, caches of a store that
 * is destroyed: the calling thread between phases.  Values: any, see find.
 */
#ifndef EKI_TILES_H
#define EKI_TILES_H

#include "engine/engine.h"

#include <evenkeel_tiles.h>

/* To the owner of a tile, and back; all begin with struct eki_tile_words. */
enum {
    EKI_KIND_GET = EKI_KIND(EKI_CHANNEL_TILES),
    EKI_KIND_PIECE,      /* to who gets; doubles */
    EKI_KIND_PUT,        /* doubles */
    EKI_KIND_ACCUMULATE, /* doubles */
    EKI_KIND_DONE        /* to who puts or adds; count: pieces */
};

enum {
    EKI_TRANSFERS_MOST = 16, /* of a worker, by messages, at a time */
    /* A transfer has so many bytes under way that are not answered, or pieces
     * if these are more bytes; half of them are answered at a time. */
    EKI_TILE_WINDOW_BYTES = 1 << 20,
    EKI_TILE_WINDOW_LEAST = 16,
    /* A lock for each of so many classes of the tiles of a rank. */
    EKI_TILE_LOCKS = 32
};

/* What the body of each message begins with. */
struct eki_tile_words {
    int64_t tile;
    int64_t offset; /* of the first double in the tile */
    uint32_t store; /* its number */
    uint32_t op;    /* of the worker that asks: see eki_tile_op.number */
};

/* Bytes that a message about a store without values would carry besides. */
int64_t eki_tile_carried_bytes(const struct eki_head *head);

struct eki_tile_lock {
    _Alignas(EKI_LINE) _Atomic int word;
};

struct eki_tile_entry {
    uint64_t key;  /* tile + 1; 0: none */
    int64_t first; /* its first double */
};

/* The tiles of a rank. */
struct eki_tile_part {
    bool is_near;  /* the rank is of this node ... */
    bool in_reach; /* ... and its part lies in memory that is shared */
    struct eki_tile_lock *locks;  /* [EKI_TILE_LOCKS] */
    struct eki_tile_entry *index; /* [room] */
    double *values;
    uint64_t room;
    int64_t tiles, doubles;
};

struct eki_stores;

struct ek_tiles {
    /* Written when it is made. */
    struct eki_stores *stores;
    ek_tiles_shape shape; /* its name is owned */
    uint32_t number;
    int place; /* in the registry */
    int rank, size;
    int first_rank, last_rank;   /* of the node */
    struct eki_tile_part *parts; /* of the ranks from first to last */
    int64_t near_doubles;        /* of all these */
    uint64_t hash;               /* of lengths and owners */
    bool has_values;             /* else: sizes only */
    bool is_apart; /* ranks of the node reach each other by messages alone */
    ek_collection *owner;          /* that made it */
    struct eki_node_memory shared; /* its memory; of whoever placed it */

    /* Written between phases. */
    bool is_alive;
    uint64_t epoch;        /* of what caches may have */
    struct ek_tiles *dead; /* the next one that is destroyed */
};

/* All stores over a communicator with the same nodes. */
struct eki_stores {
    struct ek_tiles **stores; /* [room]; NULL: a free place */
    int64_t room;
    int apart; /* stores that need messages on the node */
    uint32_t next_number;
    struct ek_tiles *dead;   /* destroyed ones, to refuse who still asks */
    struct eki_tiles *first; /* protocols of the engines that have joined */
};

enum eki_tile_verb {
    EKI_TILE_GET,
    EKI_TILE_PUT,
    EKI_TILE_ACCUMULATE
};

/* What a task asks for. */
struct eki_tile_call {
    enum eki_tile_verb verb;
    struct ek_tiles *store;
    int64_t tile, length;
    double *to;         /* GET */
    const double *from; /* PUT, ACCUMULATE */
    double alpha;       /* ACCUMULATE */
    int owner;
};

ek_status eki_stores_create(struct eki_stores **stores);
/* After all its stores, and the engines that have joined. */
void eki_stores_destroy(struct eki_stores **stores);
/* Tasks of ENGINE may use the stores from its next phase on; once. */
ek_status eki_stores_join(struct eki_stores *stores, struct eki_engine *engine);

/*
 * Look at all tiles; local, on all ranks.  EK_ERR_ARG names a tile whose length
 * or owner is not allowed.  Without values (simulations) it looks at none.  The
 * shape has a name.
 */
ek_status eki_store_create(struct eki_stores *stores,
                           const struct eki_topology *topology,
                           const ek_tiles_shape *shape, bool has_values,
                           struct ek_tiles **store);
/* Bytes for the parts of all ranks of the node, or of this rank. */
size_t eki_store_bytes(const struct ek_tiles *store, bool is_shared);
/* Lay the store out in zeroed MEMORY, aligned to EKI_LINE, which stays the
 * caller's; NULL: it has no values.  Others may look when all ranks have. */
void eki_store_place(struct ek_tiles *store, void *memory, bool is_shared);
/* Number it: every rank numbers the same stores, also those that fail. */
void eki_store_number(struct ek_tiles *store);
/* Let tasks find what is numbered and placed.  EK_ERR_NOMEM. */
ek_status eki_store_add(struct ek_tiles *store);
/* Nobody uses it any more.  What is added stays as a mark until the registry
 * is destroyed. */
void eki_store_destroy(struct ek_tiles **store);
/* Nothing that was got before is in a cache any more. */
void eki_store_forget(struct ek_tiles *store);
/* Hash of lengths and owners of tiles FIRST ... LAST - 1. */
uint64_t eki_store_hash(const struct ek_tiles *store, int64_t first,
                        int64_t last);

static inline int64_t eki_tile_length(const struct ek_tiles *store,
                                      int64_t tile)
{
    const ek_tiles_shape *shape = &store->shape;
    return shape->length_of ? shape->length_of(tile, shape->context)
                            : shape->length;
}

static inline int eki_tile_owner(const struct ek_tiles *store, int64_t tile)
{
    const ek_tiles_shape *shape = &store->shape;
    return shape->owner_of ? shape->owner_of(tile, shape->context)
                           : (int)(tile % store->size);
}

/* The part of a rank; NULL: it is reached by messages. */
static inline const struct eki_tile_part *
eki_tile_part(const struct ek_tiles *store, int rank)
{
    if (rank < store->first_rank || rank > store->last_rank)
        return NULL;
    const struct eki_tile_part *part = &store->parts[rank - store->first_rank];
    return part->in_reach ? part : NULL;
}

/* Values of a tile in a part; NULL: it is not there. */
double *eki_tile_find(const struct eki_tile_part *part, int64_t tile);
/* Do what CALL says to VALUES of its tile; puts and adds under its lock. */
void eki_tile_do(const struct eki_tile_part *part,
                 const struct eki_tile_call *call, double *values);

/* What came of a start. */
enum eki_started {
    EKI_STARTED_OVER,   /* it is done, without a transfer: number 0 */
    EKI_STARTED,        /* the servers have to do with it */
    EKI_STARTED_LATER,  /* too many are under way: try again */
    EKI_STARTED_NOWHERE /* the owner has no such tile */
};

/* Start what CALL says, which has been checked, for the task that WORKER runs.
 */
enum eki_started eki_tiles_start(struct ek_worker *worker,
                                 const struct eki_tile_call *call,
                                 ek_transfer *transfer);
/* Whether it needs no more waiting. */
bool eki_tiles_is_over(const struct ek_worker *worker, ek_transfer transfer);
/* The task knows that it is over. */
void eki_tiles_finish(struct ek_worker *worker, ek_transfer transfer);
/* Broken invariant of what is under way, as text, or NULL; while nobody steps
 * the engine. */
const char *eki_tiles_check(const struct eki_engine *engine);
/* Nothing may come any more for what the task has started. */
void eki_tiles_drop(struct ek_worker *worker);
/* Whether it may be one. */
bool eki_tiles_is_transfer(ek_transfer transfer);

#endif
