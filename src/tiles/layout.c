/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the tiles of a node lie, and what is done to one that is in reach. */
#include "tiles/internal.h"

#include <inttypes.h>

static size_t whole_lines(size_t bytes)
{
    return (bytes + EKI_LINE - 1) / EKI_LINE * EKI_LINE;
}

static size_t index_bytes(const struct eki_tile_part *part)
{
    return whole_lines((size_t)part->room * sizeof *part->index);
}

static size_t part_bytes(const struct eki_tile_part *part)
{
    return EKI_TILE_LOCKS * sizeof *part->locks + index_bytes(part) +
           whole_lines((size_t)part->doubles * sizeof(double));
}

/* Of a rank of this node; NULL: it is of another. */
static struct eki_tile_part *near_part(const struct ek_tiles *store, int rank)
{
    if (rank < store->first_rank || rank > store->last_rank)
        return NULL;
    struct eki_tile_part *part = &store->parts[rank - store->first_rank];
    return part->is_near ? part : NULL;
}

/* Whether a tile may be so; counts it for its owner. */
static ek_status survey_tile(struct ek_tiles *store, int64_t tile)
{
    int64_t length = eki_tile_length(store, tile);
    int owner = eki_tile_owner(store, tile);
    if (length < 1 || length > INT64_MAX / 64)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_create: tile %" PRId64
                         " of '%s' has %" PRId64
                         " doubles; allowed: 1 ... %" PRId64,
                         tile, store->shape.name, length, INT64_MAX / 64);
    if (owner < 0 || owner >= store->size)
        return eki_error(EK_ERR_ARG,
                         "ek_tiles_create: tile %" PRId64
                         " of '%s' belongs to rank %d; allowed: 0 ... %d",
                         tile, store->shape.name, owner, store->size - 1);
    struct eki_tile_part *part = near_part(store, owner);
    if (!part)
        return EK_OK;
    if (store->near_doubles > INT64_MAX / 64 - length)
        return eki_error(EK_ERR_NOMEM,
                         "ek_tiles_create: no memory for the tiles of '%s' of "
                         "a node",
                         store->shape.name);
    store->near_doubles += length;
    part->tiles++;
    part->doubles += length;
    return EK_OK;
}

/* Count tiles and doubles of the ranks of the node. */
static ek_status survey(struct ek_tiles *store)
{
    for (int64_t tile = 0; tile < store->shape.count; tile++)
        EKI_TRY(survey_tile(store, tile));
    for (int r = store->first_rank; r <= store->last_rank; r++) {
        struct eki_tile_part *part = &store->parts[r - store->first_rank];
        /* Two of three places are taken. */
        part->room = (uint64_t)part->tiles + (uint64_t)part->tiles / 2 + 1;
        if (part->room > UINT32_MAX)
            return eki_error(EK_ERR_ARG,
                             "ek_tiles_create: %" PRId64
                             " tiles of '%s' belong to rank %d; allowed: "
                             "2800000000",
                             part->tiles, store->shape.name, r);
    }
    store->hash = eki_store_hash(store, 0, store->shape.count);
    return EK_OK;
}

ek_status eki_store_create(struct eki_stores *stores,
                           const struct eki_topology *topology,
                           const ek_tiles_shape *shape, bool has_values,
                           struct ek_tiles **made)
{
    int node = topology->node;
    struct ek_tiles *store = eki_alloc(1, sizeof *store);
    if (!store)
        return eki_error(EK_ERR_NOMEM, "no memory for a store of tiles");
    store->stores = stores;
    store->shape = *shape;
    store->rank = topology->rank;
    store->size = topology->size;
    store->first_rank = topology->lowest_rank[node];
    store->last_rank = topology->highest_rank[node];
    store->has_values = has_values;
    store->shape.name = eki_copy_string(shape->name);
    store->parts = eki_alloc((size_t)(store->last_rank - store->first_rank) + 1,
                             sizeof *store->parts);
    for (int r = store->first_rank; store->parts && r <= store->last_rank; r++)
        store->parts[r - store->first_rank].is_near =
            topology->node_of_rank[r] == node;
    ek_status status = EK_OK;
    if (!store->shape.name || !store->parts)
        status = eki_error(EK_ERR_NOMEM, "no memory for a store of tiles");
    else if (has_values)
        status = survey(store);
    if (status != EK_OK)
        eki_store_destroy(&store);
    *made = store;
    return status;
}

uint64_t eki_store_hash(const struct ek_tiles *store, int64_t first,
                        int64_t last)
{
    uint64_t hash = 1;
    for (int64_t tile = first; tile < last; tile++)
        hash = eki_hash(eki_hash(hash, (uint64_t)eki_tile_length(store, tile)),
                        (uint64_t)eki_tile_owner(store, tile));
    return hash;
}

size_t eki_store_bytes(const struct ek_tiles *store, bool is_shared)
{
    size_t bytes = 0;
    for (int r = store->first_rank; r <= store->last_rank; r++) {
        const struct eki_tile_part *part = near_part(store, r);
        if (part && (is_shared || r == store->rank))
            bytes += part_bytes(part);
    }
    return bytes;
}

static uint64_t hash_tile(int64_t tile)
{
    return eki_splitmix((uint64_t)tile + EKI_SPLITMIX_STEP);
}

/* Where the search for a tile begins; room fits 32 bits. */
static uint64_t place_of(const struct eki_tile_part *part, int64_t tile)
{
    return (hash_tile(tile) >> 32) * part->room >> 32;
}

static uint64_t next_place(const struct eki_tile_part *part, uint64_t place)
{
    return place + 1 == part->room ? 0 : place + 1;
}

/* The index of this rank's own part. */
static void fill_index(const struct ek_tiles *store)
{
    const struct eki_tile_part *part =
        &store->parts[store->rank - store->first_rank];
    int64_t first = 0;
    for (int64_t tile = 0; tile < store->shape.count; tile++) {
        if (eki_tile_owner(store, tile) != store->rank)
            continue;
        uint64_t place = place_of(part, tile);
        while (part->index[place].key != 0)
            place = next_place(part, place);
        part->index[place] = (struct eki_tile_entry){(uint64_t)tile + 1, first};
        first += eki_tile_length(store, tile);
    }
}

void eki_store_place(struct ek_tiles *store, void *memory, bool is_shared)
{
    unsigned char *next = memory;
    store->is_apart = !is_shared && store->last_rank > store->first_rank;
    for (int r = store->first_rank; r <= store->last_rank; r++) {
        struct eki_tile_part *part = near_part(store, r);
        if (!part || (!is_shared && r != store->rank))
            continue;
        part->in_reach = true;
        if (!store->has_values)
            continue;
        part->locks = (struct eki_tile_lock *)next;
        part->index = (struct eki_tile_entry *)(next + EKI_TILE_LOCKS *
                                                           sizeof *part->locks);
        part->values =
            (double *)((unsigned char *)part->index + index_bytes(part));
        next += part_bytes(part);
    }
    if (store->has_values)
        fill_index(store);
}

double *eki_tile_find(const struct eki_tile_part *part, int64_t tile)
{
    uint64_t place = place_of(part, tile);
    uint64_t key = (uint64_t)tile + 1;
    /* A third of the places is free. */
    while (part->index[place].key != key) {
        if (part->index[place].key == 0)
            return NULL;
        place = next_place(part, place);
    }
    return part->values + part->index[place].first;
}

enum {
    PAIR = 2
};

/* The compiler makes no vectors here by itself (src/meson.build): one double at
 * a time takes three times as long. */
typedef double pair __attribute__((vector_size(PAIR * sizeof(double))));

static void add_doubles(double *to, double alpha, const double *from,
                        int64_t count)
{
    int64_t whole = count - count % PAIR;
    for (int64_t i = 0; i < whole; i += PAIR) {
        pair sum, values;
        memcpy(&sum, to + i, sizeof sum);
        memcpy(&values, from + i, sizeof values);
        sum += alpha * values;
        memcpy(to + i, &sum, sizeof sum);
    }
    for (int64_t i = whole; i < count; i++)
        to[i] += alpha * from[i];
}

void eki_tile_do(const struct eki_tile_part *part,
                 const struct eki_tile_call *call, double *values)
{
    size_t bytes = (size_t)call->length * sizeof *values;
    if (call->verb == EKI_TILE_GET) {
        memcpy(call->to, values, bytes);
        return;
    }
    _Atomic int *lock =
        &part->locks[hash_tile(call->tile) % EKI_TILE_LOCKS].word;
    eki_lock(lock);
    if (call->verb == EKI_TILE_PUT)
        memcpy(values, call->from, bytes);
    else
        add_doubles(values, call->alpha, call->from, call->length);
    eki_unlock(lock);
}
