/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items stay on their node where they can.  A node that has too much gives away
 * its longest items that fit what is too much: the fewest; all others look for
 * a hole on their own node first, and items from elsewhere for a node that has
 * room beside its own.
 */
#include "balance/holes.h"

bool eki_nodes_init(struct eki_nodes *nodes, const struct eki_holes *holes)
{
    const struct eki_pool *pool = holes->pool;
    nodes->holes = holes;
    nodes->room = nodes->begin = NULL;
    nodes->workers = NULL;
    if (pool->node_count <= 1 || !pool->nodes)
        return true;
    nodes->room = eki_alloc((size_t)pool->node_count, sizeof *nodes->room);
    nodes->begin =
        eki_alloc((size_t)pool->node_count + 2, sizeof *nodes->begin);
    nodes->workers = eki_alloc((size_t)pool->workers, sizeof *nodes->workers);
    if (!nodes->room || !nodes->begin || !nodes->workers) {
        eki_nodes_free(nodes);
        return false;
    }
    for (int32_t w = 0; w < pool->workers; w++) {
        nodes->room[pool->nodes[w]] += eki_hole_of(holes, w);
        nodes->begin[pool->nodes[w] + 2]++;
    }
    for (int32_t n = 0; n < pool->node_count; n++)
        nodes->begin[n + 2] += nodes->begin[n + 1];
    /* What comes next of a node moves on to where the next node begins. */
    for (int32_t w = 0; w < pool->workers; w++)
        nodes->workers[nodes->begin[pool->nodes[w] + 1]++] = w;
    for (int64_t i = 0; i < pool->count; i++) {
        int32_t node = eki_nodes_of(nodes, &pool->items[i]);
        if (node >= 0 && pool->places[i] < 0)
            nodes->room[node] -= pool->items[i].ns;
    }
    return true;
}

void eki_nodes_free(struct eki_nodes *nodes)
{
    eki_free(nodes->room);
    eki_free(nodes->begin);
    eki_free(nodes->workers);
    nodes->room = nodes->begin = NULL;
    nodes->workers = NULL;
}

int32_t eki_nodes_hole(const struct eki_nodes *nodes,
                       const struct eki_item *item, const eki_ns *above)
{
    int32_t node = eki_nodes_of(nodes, item), best = -1;
    eki_ns target = nodes->holes->pool->target, best_hole = 0;
    if (node < 0 || nodes->room[node] + item->ns <= 0)
        return -1;
    for (int64_t i = nodes->begin[node]; i < nodes->begin[node + 1]; i++) {
        int32_t worker = nodes->workers[i];
        eki_ns hole = eki_hole_of(nodes->holes, worker);
        if (above ? above[worker] + item->ns > target : hole < item->ns)
            continue;
        if (best < 0 || (above ? hole > best_hole : hole < best_hole)) {
            best = worker;
            best_hole = hole;
        }
    }
    return best;
}

int32_t eki_nodes_elsewhere(const struct eki_nodes *nodes, eki_ns ns)
{
    enum {
        LOOKS = 64, /* at workers that take it */
        LIKE = 8    /* at workers whose hole is about as large, or too small */
    };
    const struct eki_holes *holes = nodes->holes;
    int like = eki_bin_of((uint64_t)ns), looks = 0;
    int32_t any = -1;
    for (int bin = eki_holes_above(holes, like); bin >= 0 && looks < LOOKS;
         bin = eki_holes_above(holes, bin + 1)) {
        int left = bin == like ? LIKE : LOOKS - looks;
        for (int32_t w = holes->heads[bin]; w >= 0 && left > 0;
             w = holes->next[w], left--) {
            if (eki_hole_of(holes, w) < ns)
                continue;
            /* It takes no room from items of its node. */
            if (!nodes->room || nodes->room[holes->pool->nodes[w]] >= ns)
                return w;
            any = any < 0 ? w : any;
            looks++;
        }
    }
    return any;
}

void eki_nodes_note(struct eki_nodes *nodes, const struct eki_item *item,
                    int32_t worker)
{
    if (!nodes->room)
        return;
    int32_t from = eki_nodes_of(nodes, item);
    int32_t to = nodes->holes->pool->nodes[worker];
    if (from == to)
        return;
    if (from >= 0)
        nodes->room[from] += item->ns;
    nodes->room[to] -= item->ns;
}
