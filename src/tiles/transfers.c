/* SPDX-License-Identifier: BSD-3-Clause */
/* What a running task does to tiles: at once where they are in reach, else by
 * an operation that the servers have to do with. */
#include "tiles/internal.h"

static struct eki_tiler *tiler_of(const struct ek_worker *worker)
{
    return &eki_tiles_of(worker->engine)->tilers[worker->here];
}

/* The cache of STORE; NULL: it has none, or there is no memory. */
static struct eki_cache *cache_of(struct eki_tiler *tiler,
                                  const struct ek_tiles *store)
{
    if (store->shape.cache_bytes == 0)
        return NULL;
    if (store->place >= tiler->cache_room) {
        int room = store->place + 4;
        struct eki_cache **caches = eki_realloc(tiler->caches, (size_t)room,
                                                sizeof(struct eki_cache *));
        if (!caches)
            return NULL;
        for (int i = tiler->cache_room; i < room; i++)
            caches[i] = NULL;
        tiler->caches = caches;
        tiler->cache_room = room;
    }
    struct eki_cache **cache = &tiler->caches[store->place];
    if (!*cache)
        *cache = eki_cache_create(store);
    return *cache;
}

/* Do at once what is in reach. */
static enum eki_started do_here(const struct eki_tile_part *part,
                                const struct eki_tile_call *call)
{
    if (!call->store->has_values)
        return EKI_STARTED_OVER;
    double *values = eki_tile_find(part, call->tile);
    if (!values)
        return EKI_STARTED_NOWHERE;
    eki_tile_do(part, call, values);
    return EKI_STARTED_OVER;
}

/* Whether the cache has the tile: then it is copied. */
static bool get_cached(struct eki_tiler *tiler,
                       const struct eki_tile_call *call)
{
    struct eki_cache *cache = cache_of(tiler, call->store);
    const struct eki_cached *entry =
        cache ? eki_cache_find(cache, call->tile) : NULL;
    if (entry && call->store->has_values)
        memcpy(call->to, entry->values,
               (size_t)call->length * sizeof *call->to);
    return entry != NULL;
}

static int state_of(const struct eki_tile_op *op)
{
    /* acquire: pairs with the release in end_answered() of serve.c: the values.
     */
    return atomic_load_explicit(&op->state, memory_order_acquire);
}

static void set_free(struct eki_tile_op *op)
{
    /* relaxed: the server sees it by what is wanted next. */
    atomic_store_explicit(&op->state, EKI_OP_FREE, memory_order_relaxed);
}

/* The task has what it wanted of an operation that is DONE. */
static void end_op(struct ek_worker *worker, struct eki_tile_op *op)
{
    struct eki_tiler *tiler = tiler_of(worker);
    const struct eki_tile_call *call = &op->call;
    if (call->verb == EKI_TILE_GET && op->may_cache) {
        struct eki_cache *cache = cache_of(tiler, call->store);
        if (cache)
            eki_cache_keep(cache, call->tile, call->to, call->length);
    }
    set_free(op);
    if (--tiler->open == 0)
        worker->batch.marks &= ~(uint32_t)EKI_MARK_TRANSFER;
}

/* A place for an operation; NULL: all are under way. */
static struct eki_tile_op *take_op(struct ek_worker *worker)
{
    struct eki_tiler *tiler = tiler_of(worker);
    struct eki_tile_op *done = NULL;
    for (int i = 0; i < EKI_TRANSFERS_MOST; i++) {
        struct eki_tile_op *op = &tiler->ops[i];
        int state = state_of(op);
        if (state == EKI_OP_FREE)
            return op;
        if (state == EKI_OP_DONE)
            done = op;
    }
    /* Whoever waits for it finds another in its place: so it is over. */
    if (done)
        end_op(worker, done);
    return done;
}

/* What is got beside an own put or add of the tile may be either. */
static bool may_cache(struct eki_tiler *tiler, const struct eki_tile_call *call)
{
    bool is_get = call->verb == EKI_TILE_GET, may = is_get;
    for (int i = 0; i < EKI_TRANSFERS_MOST; i++) {
        struct eki_tile_op *op = &tiler->ops[i];
        int state = state_of(op);
        if ((state != EKI_OP_OPEN && state != EKI_OP_DONE) ||
            op->call.tile != call->tile || op->call.store != call->store)
            continue;
        if (!is_get)
            op->may_cache = false;
        else if (op->call.verb != EKI_TILE_GET)
            may = false;
    }
    return may;
}

/* Hand the operation to the server. */
static void open_op(struct ek_worker *worker, struct eki_tile_op *op)
{
    struct eki_tiles *tiles = eki_tiles_of(worker->engine);
    struct eki_tiler *tiler = tiler_of(worker);
    int place = (int)(op - tiler->ops);
    op->number = eki_ticket_number(&tiles->tickets, worker->here, place);
    op->sent = op->arrived = 0;
    op->pieces = op->answered = op->unasked = 0;
    op->is_cut = false;
    /* release: pairs with the acquire in find_waiting(), which does not look at
     * what is wanted. */
    atomic_store_explicit(&op->state, EKI_OP_OPEN, memory_order_release);
    eki_ticket_want(&tiles->tickets, worker->here, place);
    tiler->open++;
    worker->batch.marks |= EKI_MARK_TRANSFER;
    worker->batch.wants_server = true;
}

enum eki_started eki_tiles_start(struct ek_worker *worker,
                                 const struct eki_tile_call *call,
                                 ek_transfer *transfer)
{
    const struct eki_tile_part *part = eki_tile_part(call->store, call->owner);
    struct eki_counts *counts = &worker->counts;
    transfer->number = 0;
    if (part)
        return do_here(part, call);
    struct eki_tiler *tiler = tiler_of(worker);
    bool is_get = call->verb == EKI_TILE_GET;
    if (is_get && get_cached(tiler, call)) {
        counts->tile_gets++;
        counts->tile_hits++;
        return EKI_STARTED_OVER;
    }
    struct eki_tile_op *op = take_op(worker);
    if (!op)
        return EKI_STARTED_LATER;
    if (!is_get && cache_of(tiler, call->store))
        eki_cache_drop(cache_of(tiler, call->store), call->tile);
    op->may_cache = may_cache(tiler, call);
    op->call = *call;
    counts->tile_gets += is_get;
    counts->tile_bytes += call->length * (int64_t)sizeof(double);
    open_op(worker, op);
    transfer->number = op->number;
    return EKI_STARTED;
}

bool eki_tiles_is_transfer(ek_transfer transfer)
{
    return transfer.number <= UINT32_MAX &&
           (transfer.number == 0 || transfer.number >= EKI_TRANSFERS_MOST);
}

/* The operation of a transfer; NULL: another has its place. */
static struct eki_tile_op *op_of(const struct ek_worker *worker,
                                 ek_transfer transfer)
{
    if (transfer.number == 0)
        return NULL;
    struct eki_tile_op *op =
        &tiler_of(worker)->ops[transfer.number % EKI_TRANSFERS_MOST];
    return op->number == transfer.number ? op : NULL;
}

bool eki_tiles_is_over(const struct ek_worker *worker, ek_transfer transfer)
{
    const struct eki_tile_op *op = op_of(worker, transfer);
    return !op || state_of(op) != EKI_OP_OPEN;
}

void eki_tiles_finish(struct ek_worker *worker, ek_transfer transfer)
{
    struct eki_tile_op *op = op_of(worker, transfer);
    if (op && state_of(op) == EKI_OP_DONE)
        end_op(worker, op);
}

/* An operation that nobody waits for; under the lock of the desk. */
static void abandon_op(struct eki_tiles *tiles, int here, int place)
{
    struct eki_tile_op *op = &tiles->tilers[here].ops[place];
    if (state_of(op) == EKI_OP_OPEN) {
        op->is_cut = true;
        /* relaxed: the lock orders it. */
        atomic_store_explicit(&op->state, EKI_OP_ABANDONED,
                              memory_order_relaxed);
        if (!eki_ticket_is_wanted(&tiles->tickets, here, place) ||
            op->pieces > 0)
            return;
        eki_ticket_unwant(&tiles->tickets, here, place);
    }
    if (state_of(op) != EKI_OP_FREE)
        set_free(op);
}

bool eki_tiles_abandon(struct eki_protocol *protocol, struct ek_worker *worker)
{
    struct eki_tiles *tiles = (struct eki_tiles *)protocol;
    struct eki_tiler *tiler = &tiles->tilers[worker->here];
    if (tiler->open == 0)
        return true;
    eki_lock(&tiles->tickets.desks[worker->here].lock);
    for (int i = 0; i < EKI_TRANSFERS_MOST; i++) {
        if (state_of(&tiler->ops[i]) != EKI_OP_ABANDONED)
            abandon_op(tiles, worker->here, i);
    }
    eki_unlock(&tiles->tickets.desks[worker->here].lock);
    tiler->open = 0;
    return false;
}

void eki_tiles_drop(struct ek_worker *worker)
{
    eki_tiles_abandon(worker->engine->channels[EKI_CHANNEL_TILES], worker);
}
