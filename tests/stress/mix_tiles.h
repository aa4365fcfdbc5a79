/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two stores of tiles whose values are known to the bit, for tasks of any kind.
 *
 * To tiles of SUMS tasks add whole numbers, which are counted beside it.  A
 * tile of STATES has one version: the first ones are written by their owners
 * between iterations, the others by one task each.  A get sees no version that
 * is older than the last sync.
 */
#ifndef MIX_TILES_H
#define MIX_TILES_H

#include "sums.h"

#include <evenkeel_tiles.h>

#define CHECK_OK(call) CHECK_EQ_INT((call), EK_OK)

enum {
    SUM_TILES = 14,
    STATE_TILES = 16,
    OWNED_TILES = 8, /* of these, written between iterations */
    TILE_LONGEST = 1700
};

static struct {
    ek_tiles *sums, *states;
    uint64_t seed;
    int64_t round;                       /* version of what is put now */
    _Atomic int64_t adds[2 * SUM_TILES]; /* how often, how much; by ranks */
    _Atomic int64_t puts[STATE_TILES];   /* newest version, by this rank */
    int64_t versions[STATE_TILES], synced[STATE_TILES]; /* of the job */
} store;

static inline int64_t tile_length(int64_t tile, void *context)
{
    (void)context;
    uint64_t chance = mix(store.seed + (uint64_t)tile);
    return chance % 4 == 0 ? TILE_LONGEST - (int64_t)(chance >> 8 & 63)
                           : 1 + (int64_t)(chance >> 8) % 600;
}

static inline int tile_owner(int64_t tile, void *context)
{
    (void)context;
    return (int)(mix(store.seed ^ (uint64_t)tile) % (uint64_t)job_size);
}

static inline double state_value(int64_t version, int64_t tile, int64_t i)
{
    return (double)(version * 4096 + tile * 64 + i % 64);
}

static inline void tile_complain(const char *what, int64_t tile, int64_t i,
                                 double value)
{
    fprintf(stderr, "rank %d: %s: value %lld of tile %lld is %.17g\n", job_rank,
            what, (long long)i, (long long)tile, value);
    check_count(false);
}

/* Whether each value is of a version of FIRST ... LAST; they may be mixed. */
static inline void check_state(int64_t tile, const double *values,
                               int64_t length, int64_t first, int64_t last)
{
    for (int64_t i = 0; i < length; i++) {
        int64_t version = (int64_t)(values[i] / 4096.0);
        if (version >= first && version <= last &&
            values[i] == state_value(version, tile, i))
            continue;
        fprintf(stderr, "versions %lld ... %lld\n", (long long)first,
                (long long)last);
        tile_complain("state", tile, i, values[i]);
        return;
    }
}

static inline int64_t fill_sum(uint64_t chance, int64_t length, double *values)
{
    int64_t share = (int64_t)(chance >> 16 & 1023);
    for (int64_t i = 0; i < length; i++)
        values[i] = (double)(share + i % 7);
    return share;
}

static inline void count_add(int64_t tile, int64_t share)
{
    atomic_fetch_add(&store.adds[2 * tile], 1);
    atomic_fetch_add(&store.adds[2 * tile + 1], share);
}

/* Add to a tile; what is got then has at least as much. */
static inline void add_to_tile(ek_worker *worker, uint64_t chance)
{
    double values[TILE_LONGEST];
    int64_t tile = (int64_t)((chance >> 8) % SUM_TILES);
    int64_t length = ek_tiles_length(store.sums, tile);
    int64_t share = fill_sum(chance, length, values);
    CHECK_EQ_INT(
        ek_tiles_accumulate(worker, store.sums, tile, 1.0, values, length),
        EK_OK);
    count_add(tile, share);
    if ((chance >> 32) % 2 == 0)
        return;
    CHECK_EQ_INT(ek_tiles_get(worker, store.sums, tile, values, length), EK_OK);
    for (int64_t i = 0; i < length; i++)
        if (values[i] < (double)(share + i % 7) ||
            values[i] != (double)(int64_t)values[i]) {
            tile_complain("own sum", tile, i, values[i]);
            return;
        }
}

static inline void get_state(ek_worker *worker, uint64_t chance)
{
    double values[TILE_LONGEST];
    int64_t tile = (int64_t)((chance >> 8) % STATE_TILES);
    int64_t length = ek_tiles_length(store.states, tile);
    CHECK_EQ_INT(ek_tiles_get(worker, store.states, tile, values, length),
                 EK_OK);
    check_state(tile, values, length, store.synced[tile],
                tile < OWNED_TILES ? store.synced[tile] : store.round);
}

/* An add and a get that are under way together. */
static inline void start_both(ek_worker *worker, uint64_t chance)
{
    double values[TILE_LONGEST], got[TILE_LONGEST];
    int64_t to = (int64_t)((chance >> 8) % SUM_TILES);
    int64_t from = (int64_t)((chance >> 40) % OWNED_TILES);
    int64_t length = ek_tiles_length(store.states, from);
    int64_t share = fill_sum(chance, ek_tiles_length(store.sums, to), values);
    ek_transfer add = {0}, get = {0};
    CHECK_EQ_INT(ek_tiles_accumulate_start(worker, store.sums, to, 1.0, values,
                                           ek_tiles_length(store.sums, to),
                                           &add),
                 EK_OK);
    CHECK_EQ_INT(
        ek_tiles_get_start(worker, store.states, from, got, length, &get),
        EK_OK);
    if ((chance >> 32) % 2 == 0)
        ek_poll(worker);
    CHECK_EQ_INT(ek_tiles_wait(worker, &get), EK_OK);
    CHECK_EQ_INT(ek_tiles_wait(worker, &add), EK_OK);
    check_state(from, got, length, store.synced[from], store.synced[from]);
    count_add(to, share);
}

/* The one task that puts TILE in this iteration. */
static inline void put_state(ek_worker *worker, int64_t tile)
{
    double values[TILE_LONGEST];
    int64_t length = ek_tiles_length(store.states, tile);
    for (int64_t i = 0; i < length; i++)
        values[i] = state_value(store.round, tile, i);
    CHECK_EQ_INT(ek_tiles_put(worker, store.states, tile, values, length),
                 EK_OK);
    atomic_store(&store.puts[tile], store.round);
    CHECK_EQ_INT(ek_tiles_get(worker, store.states, tile, values, length),
                 EK_OK);
    check_state(tile, values, length, store.round, store.round);
}

/* What any task may do with tiles. */
static inline void use_tiles(ek_worker *worker, uint64_t chance)
{
    if (!store.sums)
        return;
    switch (chance % 4) {
    case 0:
    case 1:
        add_to_tile(worker, chance);
        break;
    case 2:
        get_state(worker, chance);
        break;
    case 3:
        start_both(worker, chance);
        break;
    }
}

/* How often and how much was added to each tile by all ranks. */
static int64_t added[2 * SUM_TILES];

static inline void check_sum_tile(int64_t tile, const double *values,
                                  int64_t length, void *context)
{
    (void)context;
    for (int64_t i = 0; i < length; i++) {
        int64_t sum = added[2 * tile + 1] + added[2 * tile] * (i % 7);
        if (values[i] == (double)sum)
            continue;
        fprintf(stderr, "expected %lld\n", (long long)sum);
        tile_complain("sum", tile, i, values[i]);
        return;
    }
}

static inline void check_state_tile(int64_t tile, const double *values,
                                    int64_t length, void *context)
{
    (void)context;
    check_state(tile, values, length, store.versions[tile],
                store.versions[tile]);
}

static inline void check_own(ek_tiles *tiles, ek_tile_visit_fn *check)
{
    for (int64_t tile = 0; tile < ek_tiles_count(tiles); tile++) {
        double *values = NULL;
        int64_t length = 0;
        if (ek_tiles_owner(tiles, tile) != job_rank)
            continue;
        CHECK_EQ_INT(ek_tiles_local(tiles, tile, &values, &length), EK_OK);
        check(tile, values, length, NULL);
    }
}

/* After an iteration all values are known; GATHERED: rank 0 looks, too. */
static inline void tiles_check(bool gathered)
{
    int64_t puts[STATE_TILES];
    if (!store.sums)
        return;
    for (int i = 0; i < 2 * SUM_TILES; i++)
        added[i] = atomic_load(&store.adds[i]);
    for (int i = 0; i < STATE_TILES; i++)
        puts[i] = atomic_load(&store.puts[i]);
    MPI_Allreduce(MPI_IN_PLACE, added, 2 * SUM_TILES, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, puts, STATE_TILES, MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    for (int i = OWNED_TILES; i < STATE_TILES; i++)
        store.versions[i] = puts[i];
    check_own(store.sums, check_sum_tile);
    check_own(store.states, check_state_tile);
    /* Tasks of ranks that go on write to tiles of others. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (!gathered)
        return;
    JOB_STATUS(ek_tiles_gather(store.sums, check_sum_tile, NULL), EK_OK);
    JOB_STATUS(ek_tiles_gather(store.states, check_state_tile, NULL), EK_OK);
}

/* Between iterations owners write a version; FIRST ... of all their tiles. */
static inline void tiles_write(int64_t first, int64_t last, int64_t version)
{
    for (int64_t tile = first; tile < last; tile++) {
        double *values = NULL;
        int64_t length = 0;
        store.versions[tile] = version;
        if (ek_tiles_owner(store.states, tile) != job_rank)
            continue;
        CHECK_EQ_INT(ek_tiles_local(store.states, tile, &values, &length),
                     EK_OK);
        for (int64_t i = 0; i < length; i++)
            values[i] = state_value(version, tile, i);
    }
    JOB_STATUS(ek_tiles_sync(store.states), EK_OK);
    memcpy(store.synced, store.versions, sizeof store.synced);
}

static inline void tiles_forget_sums(void)
{
    JOB_STATUS(ek_tiles_fill(store.sums, 0.0), EK_OK);
    memset(store.adds, 0, sizeof store.adds);
}

static inline ek_tiles *tiles_make(ek_collection *tasks, const char *name,
                                   int64_t count, uint64_t chance)
{
    static const int64_t caches[] = {0, 4096, 20000, 1000000};
    ek_tiles *tiles = NULL;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = name;
    shape.count = count;
    shape.length_of = tile_length;
    shape.owner_of = chance % 4 == 0 ? NULL : tile_owner;
    shape.cache_bytes = caches[chance >> 8 & 3];
    JOB_STATUS(ek_tiles_create(tasks, &shape, &tiles), EK_OK);
    return tiles;
}

static inline void tiles_begin(ek_collection *tasks, uint64_t seed)
{
    memset(&store, 0, sizeof store);
    store.seed = seed;
    store.sums = tiles_make(tasks, "sums", SUM_TILES, mix(seed));
    store.states = tiles_make(tasks, "states", STATE_TILES, mix(~seed));
    tiles_write(0, STATE_TILES, 0);
}

#endif
