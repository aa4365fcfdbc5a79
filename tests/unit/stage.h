/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of two with a store of tiles. */
#ifndef STAGE_H
#define STAGE_H

#include "lone.h"
#include "tiles/internal.h"

enum {
    TILES = 10,
    LONG = 300,  /* doubles of tile 1, in three messages */
    SHORT = 7,   /* ... of the others */
    FIRST = 117, /* doubles of a message */
    CACHE_BYTES = 4000
};

_Static_assert(FIRST == (LONE_BYTES - 64 - sizeof(struct eki_tile_words)) / 8,
               "the room of a message");

struct stage {
    struct lone lone;
    struct eki_stores *stores;
    struct ek_tiles *store;
    void *memory;
    double values[LONG], other[LONG];
};

static inline int64_t length_of(int64_t tile, void *context)
{
    (void)context;
    return tile == 1 ? LONG : SHORT;
}

static inline ek_tiles_shape shape_of(int64_t cache_bytes)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = "tiles";
    shape.count = TILES;
    shape.length_of = length_of;
    shape.cache_bytes = cache_bytes;
    return shape;
}

static inline void place(struct stage *stage, bool is_shared)
{
    stage->memory = eki_alloc_lines(eki_store_bytes(stage->store, is_shared));
    eki_store_place(stage->store, stage->memory, is_shared);
    eki_store_number(stage->store);
    CHECK_OK(eki_store_add(stage->store));
}

/* RANK of two nodes, in an iteration; rank 1 has the odd tiles. */
static inline void begin(struct stage *stage, int rank, int64_t cache_bytes)
{
    ek_tiles_shape shape = shape_of(cache_bytes);
    memset(stage, 0, sizeof *stage);
    lone_start(&stage->lone, rank);
    CHECK_OK(eki_stores_create(&stage->stores));
    CHECK_OK(eki_stores_join(stage->stores, stage->lone.engine));
    CHECK_OK(eki_store_create(stage->stores, stage->lone.topology, &shape, true,
                              &stage->store));
    place(stage, true);
    lone_enter(&stage->lone, EKI_PHASE_PROCESS, EK_STEAL_NONE);
    for (int i = 0; i < LONG; i++)
        stage->values[i] = i + 1;
}

static inline void end(struct stage *stage)
{
    eki_store_destroy(&stage->store);
    lone_close(&stage->lone);
    eki_stores_destroy(&stage->stores);
    eki_free(stage->memory);
}

static inline enum eki_started start(struct stage *stage,
                                     enum eki_tile_verb verb, int64_t tile,
                                     ek_transfer *transfer)
{
    struct eki_tile_call call = {
        .verb = verb,
        .store = stage->store,
        .tile = tile,
        .owner = eki_tile_owner(stage->store, tile),
        .to = verb == EKI_TILE_GET ? stage->other : NULL,
        .from = verb == EKI_TILE_GET ? NULL : stage->values,
        .length = length_of(tile, NULL),
        .alpha = 2};
    return eki_tiles_start(lone_worker(&stage->lone), &call, transfer);
}

static inline struct eki_tile_words words_in(const struct eki_message *message)
{
    struct eki_tile_words words;
    memcpy(&words, message->body, sizeof words);
    return words;
}

/* The message that comes next: COUNT doubles of TILE from OFFSET on, which are
 * 1000 and so on, for or of operation OP. */
static inline struct eki_message *message_of(struct stage *stage, int kind,
                                             int64_t tile, int64_t offset,
                                             int count, uint32_t op)
{
    struct eki_message *message = lone_message(&stage->lone, kind);
    struct eki_tile_words words = {tile, offset, stage->store->number, op};
    bool is_answer = kind == EKI_KIND_PIECE || kind == EKI_KIND_DONE;
    int rank = is_answer ? stage->lone.fabric.rank : message->head.source;
    message->head.worker = stage->lone.topology->first_worker[rank];
    message->head.count = count;
    memcpy(message->body, &words, sizeof words);
    message->head.bytes =
        (int64_t)sizeof words + (kind == EKI_KIND_DONE ? 0 : 8 * count);
    for (int i = 0; kind != EKI_KIND_DONE && i < count; i++) {
        double value = 1000.0 + (double)offset + i;
        memcpy(message->body + sizeof words + 8 * i, &value, sizeof value);
    }
    return message;
}

#endif
