/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines whose tasks may use stores: the life of their protocol. */
#include "tiles/internal.h"

/* Nothing of the last phase is left; on a lone node the servers are needed
 * where stores lie apart. */
static bool enter_tiles(struct eki_protocol *protocol,
                        const struct eki_phase *phase, uint64_t now)
{
    struct eki_tiles *tiles = (struct eki_tiles *)protocol;
    int workers = protocol->engine->topology->workers_here;
    (void)now;
    eki_queue_clear(&tiles->answers);
    eki_tickets_clear(&tiles->tickets);
    for (int here = 0; here < workers; here++) {
        struct eki_tiler *tiler = &tiles->tilers[here];
        tiler->open = 0;
        for (int i = 0; i < EKI_TRANSFERS_MOST; i++)
            /* relaxed: handed on by the start of the team. */
            atomic_store_explicit(&tiler->ops[i].state, EKI_OP_FREE,
                                  memory_order_relaxed);
    }
    return phase->kind == EKI_PHASE_PROCESS && tiles->stores->apart > 0;
}

/* Transfers that have waited for too long. */
struct waiting {
    int count;
    int owner;      /* of the oldest one's tile */
    uint64_t since; /* of the oldest one */
};

static void find_waiting(const struct eki_tiles *tiles, int here, uint64_t now,
                         uint64_t waited, struct waiting *waiting)
{
    const struct eki_tiler *tiler = &tiles->tilers[here];
    /* The worker may abandon one, and begin another in its place. */
    eki_lock(&tiles->tickets.desks[here].lock);
    for (int i = 0; i < EKI_TRANSFERS_MOST; i++) {
        const struct eki_tile_op *op = &tiler->ops[i];
        /* acquire: pairs with the release in open_op(): the operation. */
        if (atomic_load_explicit(&op->state, memory_order_acquire) !=
                EKI_OP_OPEN ||
            op->pieces == 0 || eki_ns_since(op->since, now) < waited)
            continue;
        if (waiting->count++ == 0 || op->since < waiting->since) {
            waiting->owner = op->call.owner;
            waiting->since = op->since;
        }
    }
    eki_unlock(&tiles->tickets.desks[here].lock);
}

static void tell_tiles(const struct eki_protocol *protocol, uint64_t now,
                       uint64_t waited, char *text, size_t bytes)
{
    const struct eki_tiles *tiles = (const struct eki_tiles *)protocol;
    int workers = protocol->engine->topology->workers_here;
    struct waiting waiting = {.count = 0};
    for (int here = 0; here < workers; here++)
        find_waiting(tiles, here, now, waited, &waiting);
    if (waiting.count > 0)
        eki_append(text, bytes,
                   ", %d transfers of tiles that are not answered, the first "
                   "by rank %d",
                   waiting.count, waiting.owner);
}

static void destroy_tiles(struct eki_protocol *protocol)
{
    struct eki_tiles *tiles = (struct eki_tiles *)protocol;
    struct eki_tiles **link = &tiles->stores->first;
    while (*link != tiles)
        link = &(*link)->next;
    *link = tiles->next;
    for (int here = 0; here < protocol->engine->topology->workers_here;
         here++) {
        struct eki_tiler *tiler = &tiles->tilers[here];
        for (int i = 0; i < tiler->cache_room; i++)
            eki_cache_destroy(tiler->caches[i]);
        eki_free(tiler->caches);
    }
    eki_free(tiles->tilers);
    eki_free(tiles->answers.items);
    eki_tickets_close(&tiles->tickets);
    eki_free(tiles);
}

static const struct eki_verb tiles_verbs[] = {
    {.name = "get"},
    {.name = "piece", .concerns = EKI_CONCERNS_WORKER},
    {.name = "put"},
    {.name = "accumulate"},
    {.name = "done", .concerns = EKI_CONCERNS_WORKER}};

static const struct eki_protocol_ops tile_ops = {
    .name = "tiles",
    .channel = EKI_CHANNEL_TILES,
    EKI_VERBS(tiles_verbs),
    .destroy = destroy_tiles,
    .enter = enter_tiles,
    .take = eki_tiles_take,
    .step = eki_tiles_step,
    .end_task = eki_tiles_abandon,
    .tell = tell_tiles,
};

/* Pieces of a transfer that may be unanswered; FABRIC: NULL, or any. */
static int window_of(const struct eki_fabric *fabric)
{
    size_t pieces = fabric ? EKI_TILE_WINDOW_BYTES / fabric->message_bytes : 0;
    return pieces > EKI_TILE_WINDOW_LEAST ? (int)pieces : EKI_TILE_WINDOW_LEAST;
}

ek_status eki_stores_join(struct eki_stores *stores, struct eki_engine *engine)
{
    int workers = engine->topology->workers_here;
    struct eki_tiles *tiles = eki_alloc_lines(sizeof *tiles);
    struct eki_tiler *tilers =
        eki_alloc_lines((size_t)workers * sizeof *tilers);
    if (tiles)
        tiles->answers = EKI_QUEUE(struct eki_tile_answer, 16);
    if (!tiles || !tilers || !eki_queue_has_room(&tiles->answers) ||
        !eki_tickets_open(&tiles->tickets, workers, EKI_TRANSFERS_MOST, true)) {
        if (tiles)
            eki_free(tiles->answers.items);
        eki_free(tiles);
        eki_free(tilers);
        return eki_error(EK_ERR_NOMEM, "no memory for tiles of %d workers",
                         workers);
    }
    tiles->protocol.ops = &tile_ops;
    tiles->tilers = tilers;
    tiles->stores = stores;
    tiles->window = window_of(engine->exchange.fabric);
    tiles->next = stores->first;
    stores->first = tiles;
    engine->stores = stores;
    eki_engine_add(engine, &tiles->protocol);
    return EK_OK;
}
