/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores of tiles with real values, and what tasks do to them.
 *
 * Values are whole numbers that only grow: an accumulate adds to each, and a
 * put replaces it by a larger one, in a tile that nobody else changes in that
 * iteration.  So a get is right if each value lies between what it must see and
 * what was begun, and a store is right if all has been added, once.
 */
#include "explore.h"

#include <math.h>
#include <string.h>

/* Calls of a task's actor that are not free. */
enum {
    CALL_FREE,
    CALL_LATER, /* too many were under way */
    CALL_OPEN
};

static int64_t length_of(int64_t tile, void *context)
{
    const struct explore_store *store = context;
    return 1 + (int64_t)(eki_hash(store->salt, (uint64_t)tile) %
                         (uint64_t)store->length_most);
}

static int owner_of(int64_t tile, void *context)
{
    const struct explore_store *store = context;
    return (int)(eki_hash(store->salt + 1, (uint64_t)tile) %
                 (uint64_t)store->ranks);
}

double *explore_tile_values(const struct explore_store *store, int64_t tile)
{
    int owner = owner_of(tile, (void *)(uintptr_t)store);
    return eki_tile_find(eki_tile_part(store->store->tiles[owner], owner),
                         tile);
}

/* Nobody works with the tile: it is what lies there. */
static void take_over(const struct explore_store *store,
                      struct explore_tile *tile, int64_t number)
{
    size_t bytes =
        (size_t)length_of(number, (void *)(uintptr_t)store) * sizeof(double);
    const double *values = explore_tile_values(store, number);
    memcpy(tile->begun, values, bytes);
    memcpy(tile->done, values, bytes);
    memcpy(tile->synced, values, bytes);
    tile->putter = -1;
    tile->iteration = -1;
    tile->is_unsure = false;
}

/* Between iterations the owners write into their tiles, and all that was got
 * before is forgotten. */
static void sync_store(struct explore *explore, struct explore_store *store)
{
    bool fills = explore_chance(explore, 300);
    double value = (double)explore_below(explore, 100);
    for (int64_t tile = 0; tile < store->tiles; tile++) {
        int64_t length = length_of(tile, store);
        double *values = explore_tile_values(store, tile);
        for (int64_t i = 0; i < length; i++)
            values[i] = fills                          ? value
                        : explore_chance(explore, 300) ? values[i] + 1
                                                       : values[i];
        take_over(store, &store->tile[tile], tile);
    }
    for (int r = 0; r < store->ranks; r++)
        eki_store_forget(store->store->tiles[r]);
    memset(store->own, 0, sizeof store->own);
    explore_seen.syncs++;
}

/* Make a store of which all is known but the ranks. */
static void open_store(struct explore *explore, struct explore_store *store)
{
    const struct explore_tiling *tiling = &explore->scenario->tiling;
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = "tiles";
    store->ranks = explore->scenario->ranks;
    shape.count = store->tiles;
    shape.length_of = length_of;
    shape.owner_of = owner_of;
    shape.context = store;
    shape.cache_bytes = tiling->cache_bytes;
    store->has_cache = tiling->cache_bytes > 0;
    if (eki_sim_create_store(explore->sim, &shape,
                             tiling->is_apart ? EKI_SIM_VALUES_APART
                                              : EKI_SIM_VALUES_SHARED,
                             &store->store) != EK_OK)
        ledger_fail(&explore->ledger, "cannot create a store: %s",
                    ek_error_message());
    else
        explore_seen.stores++;
}

static void create_store(struct explore *explore, struct explore_store *store)
{
    const struct explore_tiling *tiling = &explore->scenario->tiling;
    store->salt = eki_random_next(&explore->random);
    store->tiles = 1 + (int)explore_below(explore, tiling->tiles_most);
    store->length_most = tiling->length_most;
    open_store(explore, store);
}

void explore_change_stores(struct explore *explore)
{
    for (int s = 0; s < explore->scenario->tiling.stores; s++) {
        struct explore_store *store = &explore->stores[s];
        if (store->store && explore_chance(explore, 300))
            eki_sim_destroy_store(explore->sim, &store->store);
        if (!store->store && explore_chance(explore, 800))
            create_store(explore, store);
        if (store->store)
            sync_store(explore, store);
    }
}

void explore_destroy_stores(struct explore *explore)
{
    for (int s = 0; s < EXPLORE_STORES; s++) {
        if (explore->sim)
            eki_sim_destroy_store(explore->sim, &explore->stores[s].store);
        explore->stores[s].store = NULL;
    }
    for (int w = 0; w < EXPLORE_WORKERS; w++)
        for (int i = 0; i < EXPLORE_CALLS; i++)
            explore->callers[w].calls[i].state = CALL_FREE;
}

/* VALUES lie between LEAST and MOST. */
static void check_between(struct explore *explore, const char *what,
                          int64_t tile, int64_t length, const double *values,
                          const double *least, const double *most)
{
    for (int64_t i = 0; i < length; i++) {
        if (EKI_LIKELY(values[i] >= least[i] && values[i] <= most[i]))
            continue;
        ledger_fail(&explore->ledger,
                    "%s tile %lld: value %lld is %g, allowed: %g ... %g", what,
                    (long long)tile, (long long)i, values[i], least[i],
                    most[i]);
        return;
    }
}

void explore_check_stores(struct explore *explore)
{
    for (int s = 0; s < explore->scenario->tiling.stores; s++) {
        struct explore_store *store = &explore->stores[s];
        for (int64_t t = 0; store->store && t < store->tiles; t++) {
            const struct explore_tile *tile = &store->tile[t];
            check_between(explore, "after an iteration", t, length_of(t, store),
                          explore_tile_values(store, t),
                          tile->is_unsure ? tile->done : tile->begun,
                          tile->begun);
        }
    }
}

void explore_note_stores(struct explore *explore)
{
    for (int s = 0; s < EXPLORE_STORES; s++) {
        struct explore_store *store = &explore->stores[s];
        /* Numbers begin with 0. */
        store->saved_number =
            store->store ? 1 + store->store->tiles[0]->number : 0;
        for (int64_t t = 0; store->store && t < store->tiles; t++) {
            memcpy(store->tile[t].saved[explore->is_second],
                   explore_tile_values(store, t),
                   (size_t)length_of(t, store) * sizeof(double));
            explore_seen.tiles_saved++;
        }
    }
}

void explore_change_values(struct explore *explore)
{
    for (int s = 0; s < EXPLORE_STORES; s++) {
        struct explore_store *store = &explore->stores[s];
        for (int64_t t = 0; store->store && t < store->tiles; t++)
            explore_tile_values(store, t)[0] +=
                (double)explore_below(explore, 3);
    }
}

/* The store that was made first of those behind NUMBER; NULL: none. */
static struct explore_store *next_saved(struct explore *explore,
                                        uint32_t number)
{
    struct explore_store *next = NULL;
    for (int s = 0; s < EXPLORE_STORES; s++) {
        struct explore_store *store = &explore->stores[s];
        if (store->saved_number > number &&
            (!next || store->saved_number < next->saved_number))
            next = store;
    }
    return next;
}

void explore_open_saved_stores(struct explore *explore)
{
    struct explore_store *store = next_saved(explore, 0);
    for (; store; store = next_saved(explore, store->saved_number))
        open_store(explore, store);
}

void explore_check_saved_stores(struct explore *explore)
{
    for (int s = 0; s < EXPLORE_STORES; s++) {
        struct explore_store *store = &explore->stores[s];
        for (int64_t t = 0; store->store && t < store->tiles; t++) {
            const double *saved = store->tile[t].saved[explore->is_second];
            check_between(explore, "of a save", t, length_of(t, store),
                          explore_tile_values(store, t), saved, saved);
            take_over(store, &store->tile[t], t);
        }
    }
}

/* Whether WORKER reaches a tile without messages. */
static bool is_in_reach(const struct explore_store *store,
                        const struct eki_sim_worker *worker, int64_t tile)
{
    return eki_tile_part(store->store->tiles[worker->rank->number],
                         owner_of(tile, (void *)(uintptr_t)store)) != NULL;
}

/* What a get that begins now must see: what is known to be done, or what was
 * when the cache was emptied, and what this worker has done itself. */
static void note_least(const struct explore_store *store,
                       const struct eki_sim_worker *worker,
                       struct explore_call *call)
{
    const struct explore_tile *tile = &store->tile[call->call.tile];
    bool is_cached =
        store->has_cache && !is_in_reach(store, worker, call->call.tile);
    double own = store->own[worker->actor][call->call.tile];
    memcpy(call->least, is_cached ? tile->synced : tile->done,
           sizeof call->least);
    if (own > call->least[0])
        call->least[0] = own;
}

/* Whether the task of WORKER may put, or only accumulate. */
static bool may_put(const struct explore_tile *tile,
                    const struct eki_sim_worker *worker)
{
    if (tile->iteration == worker->rank->iteration)
        return false;
    for (int i = 0; i < EXPLORE_DOUBLES; i++)
        if (tile->begun[i] != tile->done[i])
            return false;
    return true;
}

/* Draw a call; false: of that tile only gets are allowed, and this is none. */
static bool draw_call(struct explore *explore, struct eki_sim_worker *worker,
                      struct explore_call *call)
{
    int s = (int)explore_below(explore, explore->scenario->tiling.stores);
    struct explore_store *store = &explore->stores[s];
    if (!store->store)
        return false;
    int64_t number = (int64_t)explore_below(explore, store->tiles);
    struct explore_tile *tile = &store->tile[number];
    call->store = store;
    call->call = (struct eki_tile_call){
        .verb =
            (enum eki_tile_verb)explore_below(explore, EKI_TILE_ACCUMULATE + 1),
        .store = store->store->tiles[worker->rank->number],
        .tile = number,
        .owner = owner_of(number, store),
        .to = call->values,
        .from = call->values,
        .length = length_of(number, store),
        .alpha = 1};
    if (call->call.verb == EKI_TILE_GET)
        return true;
    if (call->call.verb == EKI_TILE_PUT && !may_put(tile, worker))
        call->call.verb = EKI_TILE_ACCUMULATE;
    if (tile->iteration == worker->rank->iteration && tile->putter >= 0)
        return false;
    tile->iteration = worker->rank->iteration;
    tile->putter = call->call.verb == EKI_TILE_PUT
                       ? explore_actor(explore, worker)->key
                       : -1;
    if (call->call.verb == EKI_TILE_ACCUMULATE)
        call->call.alpha = 1 + (double)explore_below(explore, 3);
    for (int64_t i = 0; i < call->call.length; i++)
        call->values[i] =
            1 + (double)explore_below(explore, 8) +
            (call->call.verb == EKI_TILE_PUT ? tile->begun[i] : 0);
    return true;
}

/* What a put or an accumulate makes of a value. */
static double changed(const struct eki_tile_call *call, double value, int64_t i)
{
    return call->verb == EKI_TILE_PUT ? call->from[i]
                                      : value + call->alpha * call->from[i];
}

static void note_begun(struct explore_call *call)
{
    double *begun = call->store->tile[call->call.tile].begun;
    for (int64_t i = 0;
         call->call.verb != EKI_TILE_GET && i < call->call.length; i++)
        begun[i] = changed(&call->call, begun[i], i);
}

/* The task knows that a call is over. */
static void end_call(struct explore *explore,
                     const struct eki_sim_worker *worker,
                     struct explore_call *call)
{
    struct explore_tile *tile = &call->store->tile[call->call.tile];
    call->state = CALL_FREE;
    switch (call->call.verb) {
    case EKI_TILE_GET:
        explore_seen.gets++;
        check_between(explore, "a get of", call->call.tile, call->call.length,
                      call->values, call->least, tile->begun);
        return;
    case EKI_TILE_PUT:
        explore_seen.puts++;
        break;
    case EKI_TILE_ACCUMULATE:
        explore_seen.adds++;
        break;
    }
    for (int64_t i = 0; i < call->call.length; i++)
        tile->done[i] = changed(&call->call, tile->done[i], i);
    double *own = &call->store->own[worker->actor][call->call.tile];
    *own = changed(&call->call, fmax(*own, tile->synced[0]), 0);
}

static void start_call(struct explore *explore, struct eki_sim_worker *worker,
                       struct explore_call *call)
{
    if (call->call.verb == EKI_TILE_GET)
        note_least(call->store, worker, call);
    enum eki_started started =
        eki_tiles_start(worker->worker, &call->call, &call->transfer);
    call->state = started == EKI_STARTED_LATER ? CALL_LATER : CALL_OPEN;
    if (started == EKI_STARTED_NOWHERE)
        ledger_fail(&explore->ledger, "tile %lld is nowhere",
                    (long long)call->call.tile);
    explore_seen.transfers_later += started == EKI_STARTED_LATER;
    if (started == EKI_STARTED_LATER)
        return;
    explore_progress(explore);
    note_begun(call);
    explore_say(explore, "worker %d %s tile %lld of rank %d%s",
                worker->worker->id,
                call->call.verb == EKI_TILE_GET   ? "gets"
                : call->call.verb == EKI_TILE_PUT ? "puts"
                                                  : "adds to",
                (long long)call->call.tile, call->call.owner,
                started == EKI_STARTED_OVER ? ", at once" : "");
    if (started == EKI_STARTED_OVER)
        end_call(explore, worker, call);
    else
        eki_sim_want(explore->sim, worker);
}

static struct explore_caller *caller_of(struct explore *explore,
                                        const struct eki_sim_worker *worker)
{
    return &explore->callers[worker->actor];
}

void explore_call_tile(struct explore *explore, struct eki_sim_worker *worker)
{
    struct explore_caller *caller = caller_of(explore, worker);
    int free = 0;
    while (free < EXPLORE_CALLS && caller->calls[free].state != CALL_FREE)
        free++;
    if (free == EXPLORE_CALLS ||
        !draw_call(explore, worker, &caller->calls[free]))
        return;
    start_call(explore, worker, &caller->calls[free]);
    caller->waits = explore_chance(
        explore, explore_plan(explore, worker->rank)->wait_permille);
}

bool explore_waits_for_tiles(struct explore *explore,
                             struct eki_sim_worker *worker, bool is_last)
{
    struct explore_caller *caller = caller_of(explore, worker);
    bool is_open = false, is_late = false;
    for (int i = 0; i < EXPLORE_CALLS; i++) {
        struct explore_call *call = &caller->calls[i];
        if (call->state == CALL_LATER)
            start_call(explore, worker, call);
        if (call->state == CALL_OPEN &&
            eki_tiles_is_over(worker->worker, call->transfer)) {
            explore_progress(explore);
            eki_tiles_finish(worker->worker, call->transfer);
            end_call(explore, worker, call);
        }
        is_open |= call->state == CALL_OPEN;
        is_late |= call->state == CALL_LATER;
    }
    caller->waits &= is_open;
    return is_late || caller->waits || (is_last && is_open);
}

bool explore_leave_tiles(struct explore *explore, struct eki_sim_worker *worker)
{
    struct explore_caller *caller = caller_of(explore, worker);
    bool has_left = false;
    bool is_open = worker->worker->batch.marks & EKI_MARK_TRANSFER;
    for (int i = 0; i < EXPLORE_CALLS; i++) {
        struct explore_call *call = &caller->calls[i];
        if (call->state == CALL_FREE)
            continue;
        has_left |= call->state == CALL_OPEN;
        if (call->state == CALL_OPEN && call->call.verb != EKI_TILE_GET)
            call->store->tile[call->call.tile].is_unsure = true;
        call->state = CALL_FREE;
    }
    caller->waits = false;
    if (is_open && !has_left)
        ledger_fail(&explore->ledger,
                    "worker %d: a transfer is open after all are over",
                    worker->worker->id);
    explore_seen.transfers_left += is_open;
    return is_open;
}
