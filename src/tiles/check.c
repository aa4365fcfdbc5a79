/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold between two steps of a rank's workers and server. */
#include "tiles/internal.h"

static const char *check_transfer(const struct eki_tile_op *op, bool is_asked,
                                  int window)
{
    /* relaxed: a check, while nobody else is at it. */
    int state = atomic_load_explicit(&op->state, memory_order_relaxed);
    if (state == EKI_OP_FREE || state == EKI_OP_DONE)
        return is_asked ? "the server is asked for a transfer that is over"
                        : NULL;
    if (op->sent > op->call.length || op->arrived > op->call.length)
        return "a transfer of more than its tile";
    if (op->answered > op->pieces ||
        (op->call.verb != EKI_TILE_GET && op->pieces - op->answered > window))
        return "a transfer with too many answers, or too few";
    return NULL;
}

static const char *check_cache(const struct eki_cache *cache)
{
    int64_t count = 0, bytes = 0;
    const struct eki_cached *last = NULL;
    for (const struct eki_cached *entry = cache->oldest; entry;
         entry = entry->newer) {
        if (entry->older != last)
            return "the uses of a cache are out of order";
        last = entry;
        count++;
        bytes +=
            (int64_t)sizeof *entry + entry->length * (int64_t)sizeof(double);
    }
    if (last != cache->newest || count != cache->count || bytes != cache->bytes)
        return "a cache does not know what it has";
    return bytes > cache->store->shape.cache_bytes ? "a cache is too large"
                                                   : NULL;
}

static const char *check_tiler(const struct eki_tiles *tiles, int here,
                               int *asked)
{
    const struct eki_tiler *tiler = &tiles->tilers[here];
    const char *wrong = NULL;
    int open = 0;
    for (int i = 0; !wrong && i < EKI_TRANSFERS_MOST; i++) {
        const struct eki_tile_op *op = &tiler->ops[i];
        bool is_asked = eki_ticket_is_wanted(&tiles->tickets, here, i);
        /* relaxed: a check, while nobody else is at it. */
        int state = atomic_load_explicit(&op->state, memory_order_relaxed);
        open += state == EKI_OP_OPEN || state == EKI_OP_DONE;
        *asked += is_asked;
        wrong = check_transfer(op, is_asked, tiles->window);
    }
    if (!wrong && open != tiler->open)
        wrong = "open transfers are miscounted";
    for (int i = 0; !wrong && i < tiler->cache_room; i++)
        wrong = tiler->caches[i] ? check_cache(tiler->caches[i]) : NULL;
    return wrong;
}

const char *eki_tiles_check(const struct eki_engine *engine)
{
    const struct eki_tiles *tiles = eki_tiles_of(engine);
    const char *wrong = NULL;
    int asked = 0;
    if (!tiles)
        return NULL;
    for (int here = 0; !wrong && here < engine->topology->workers_here; here++)
        wrong = check_tiler(tiles, here, &asked);
    /* relaxed: a check, while nobody else is at it. */
    if (!wrong && asked != atomic_load_explicit(&tiles->tickets.wants,
                                                memory_order_relaxed))
        wrong = "transfers that the server is asked for are miscounted";
    return wrong;
}
