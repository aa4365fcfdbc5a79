/* SPDX-License-Identifier: BSD-3-Clause */
/* Items into holes. */
#include "balance/holes.h"

/* One of the largest holes, or -1. */
static int32_t largest_hole(const struct eki_holes *holes)
{
    int bin = eki_holes_below(holes, EKI_BIN_COUNT - 1);
    return bin < 0 ? -1 : holes->heads[bin];
}

static int32_t least_loaded(const struct eki_pool *pool)
{
    int32_t least = 0;
    for (int32_t w = 1; w < pool->workers; w++) {
        if (pool->loads[w] < pool->loads[least])
            least = w;
    }
    return least;
}

/* Where an item goes; -1: nowhere. */
static int32_t choose_place(const struct eki_nodes *nodes,
                            const struct eki_item *item, enum eki_misfit misfit)
{
    const struct eki_holes *holes = nodes->holes;
    int32_t worker = eki_nodes_hole(nodes, item, NULL);
    if (worker < 0 && holes->pool->slack)
        worker = largest_hole(holes);
    /* The bins know a hole to 1/256 only: where the largest does not take the
     * item, another of its bin may. */
    if (worker < 0 || eki_hole_of(holes, worker) < item->ns)
        worker = eki_nodes_elsewhere(nodes, item->ns);
    if (worker >= 0 || misfit == EKI_MISFIT_STAYS)
        return worker;
    worker = largest_hole(holes);
    return worker >= 0 ? worker : least_loaded(holes->pool);
}

bool eki_pool_place(struct eki_pool *pool, enum eki_misfit misfit)
{
    struct eki_nodes nodes = {0};
    /* Not zeroed: it has room for a head per bin, of which few are used. */
    struct eki_holes *holes = eki_realloc(NULL, 1, sizeof *holes);
    if (!holes)
        return false;
    bool is_open = eki_holes_init(holes, pool) && eki_nodes_init(&nodes, holes);
    for (int64_t i = 0; is_open && i < pool->count; i++) {
        int32_t worker;
        if (pool->places[i] >= 0 ||
            (worker = choose_place(&nodes, &pool->items[i], misfit)) < 0)
            continue;
        eki_nodes_note(&nodes, &pool->items[i], worker);
        eki_holes_remove(holes, worker);
        eki_pool_put(pool, i, worker);
        eki_holes_add(holes, worker);
    }
    eki_nodes_free(&nodes);
    eki_holes_free(holes);
    eki_free(holes);
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return is_open;
}
