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

enum {
    SUM_TILES = 14,
    STATE_TILES = 16,
    OWNED_TILES = 8, /* of these, written between iterations */
    TILE_LONGEST = 1700,
    PERIOD = 61 /* no part of a tile is like another nearby */
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

/* Value i of a tile is its base and i % PERIOD, or a multiple of that. */
static inline void fill_values(int64_t base, int64_t length, double *values)
{
    for (int64_t i = 0; i < length; i++)
        values[i] = (double)(base + i % PERIOD);
}

/* Bases of all values are LOW, LOW + UNIT ... HIGH; they may be mixed. */
struct bases {
    int64_t low, high, unit;
    int64_t times; /* i % PERIOD was added */
};

static inline void check_values(const char *what, int64_t tile,
                                const double *values, int64_t length,
                                struct bases bases)
{
    for (int64_t i = 0; i < length; i++) {
        int64_t base = (int64_t)values[i] - bases.times * (i % PERIOD);
        if (base >= bases.low && base <= bases.high &&
            (base - bases.low) % bases.unit == 0 &&
            values[i] == (double)(int64_t)values[i])
            continue;
        fprintf(stderr,
                "rank %d: %s: value %lld of tile %lld is %.17g, its base "
                "%lld; expected %lld ... %lld\n",
                job_rank, what, (long long)i, (long long)tile, values[i],
                (long long)base, (long long)bases.low, (long long)bases.high);
        check_count(false);
        return;
    }
}

static inline int64_t state_base(int64_t version, int64_t tile)
{
    return version * 4096 + tile * 64;
}

/* Whether each value is of a version of FIRST ... LAST. */
static inline void check_state(int64_t tile, const double *values,
                               int64_t length, int64_t first, int64_t last)
{
    struct bases bases = {state_base(first, tile), state_base(last, tile), 4096,
                          1};
    check_values("state", tile, values, length, bases);
}

/* What a task adds to a tile. */
static inline int64_t share_of(uint64_t chance)
{
    return (int64_t)(chance >> 16 & 1023);
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
    int64_t share = share_of(chance);
    fill_values(share, length, values);
    CHECK_OK(
        ek_tiles_accumulate(worker, store.sums, tile, 1.0, values, length));
    count_add(tile, share);
    if ((chance >> 32) % 2 == 0)
        return;
    CHECK_OK(ek_tiles_get(worker, store.sums, tile, values, length));
    struct bases bases = {share, INT64_MAX, 1, 1};
    check_values("own sum", tile, values, length, bases);
}

static inline void get_state(ek_worker *worker, uint64_t chance)
{
    double values[TILE_LONGEST];
    int64_t tile = (int64_t)((chance >> 8) % STATE_TILES);
    int64_t length = ek_tiles_length(store.states, tile);
    CHECK_OK(ek_tiles_get(worker, store.states, tile, values, length));
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
    fill_values(share_of(chance), TILE_LONGEST, values);
    ek_transfer add = {0}, get = {0};
    CHECK_OK(ek_tiles_accumulate_start(worker, store.sums, to, values,
                                       ek_tiles_length(store.sums, to), &add));
    CHECK_OK(ek_tiles_get_start(worker, store.states, from, got, length, &get));
    if ((chance >> 32) % 2 == 0)
        ek_poll(worker);
    CHECK_OK(ek_tiles_wait(worker, &get));
    CHECK_OK(ek_tiles_wait(worker, &add));
    check_state(from, got, length, store.synced[from], store.synced[from]);
    count_add(to, share_of(chance));
}

/* The one task that puts TILE in this iteration. */
static inline void put_state(ek_worker *worker, int64_t tile)
{
    double values[TILE_LONGEST];
    int64_t length = ek_tiles_length(store.states, tile);
    fill_values(state_base(store.round, tile), length, values);
    CHECK_OK(ek_tiles_put(worker, store.states, tile, values, length));
    atomic_store(&store.puts[tile], store.round);
    CHECK_OK(ek_tiles_get(worker, store.states, tile, values, length));
    check_state(tile, values, length, store.round, store.round);
}

/* What any task may do with tiles. */
static inline void use_tiles(ek_worker *worker, uint64_t chance)
{
    static void (*const uses[])(ek_worker *, uint64_t) = {
        add_to_tile, add_to_tile, get_state, start_both};
    if (store.sums)
        uses[chance % 4](worker, chance);
}

/* How often and how much was added to each tile by all ranks. */
static int64_t added[2 * SUM_TILES];

static inline void check_sum_tile(int64_t tile, const double *values,
                                  int64_t length, void *context)
{
    (void)context;
    struct bases bases = {added[2 * tile + 1], added[2 * tile + 1], 1,
                          added[2 * tile]};
    check_values("sum", tile, values, length, bases);
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
        CHECK_OK(ek_tiles_local(tiles, tile, &values, &length));
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
    JOB_OK(ek_tiles_gather(store.sums, check_sum_tile, NULL));
    JOB_OK(ek_tiles_gather(store.states, check_state_tile, NULL));
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
        CHECK_OK(ek_tiles_local(store.states, tile, &values, &length));
        fill_values(state_base(version, tile), length, values);
    }
    JOB_OK(ek_tiles_sync(store.states));
    memcpy(store.synced, store.versions, sizeof store.synced);
}

static inline void tiles_forget_sums(void)
{
    JOB_OK(ek_tiles_fill(store.sums, 0.0));
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
    JOB_OK(ek_tiles_create(tasks, &shape, &tiles));
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
