/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner vertices of Algorithm 2, each on the rank of its host: what their
 * children shed comes up, what their children get goes down. */
#include "rebalance/balancer.h"

#include <math.h>
#include <stdlib.h>

/* The rank that a vertex is on. */
static int rank_of(const struct eki_balancer *balancer, int32_t vertex)
{
    return eki_topology_rank(balancer->engine->topology,
                             eki_tree_host(&balancer->vertices.tree, vertex));
}

static bool is_root(const struct eki_vertices *vertices,
                    const struct eki_vertex *vertex)
{
    return vertex->number == eki_tree_root(&vertices->tree);
}

static bool open_vertex(const struct eki_tree *tree, int32_t number,
                        struct eki_vertex *vertex)
{
    int32_t first, n = eki_tree_children(tree, number, &vertex->first);
    int32_t *leaves = eki_alloc((size_t)n, sizeof *leaves);
    vertex->number = number;
    vertex->awaited = vertex->children.count = n;
    vertex->children.leaves = leaves;
    vertex->children.loads = eki_alloc((size_t)n, sizeof(eki_ns));
    vertex->parts = eki_alloc((size_t)n, sizeof *vertex->parts);
    if (!leaves || !vertex->children.loads || !vertex->parts)
        return false;
    for (int32_t i = 0; i < n; i++)
        leaves[i] = eki_tree_leaves(tree, vertex->first + i, &first);
    return true;
}

/* The vertices that workers of this rank host, and how many: all are opened. */
static int list_vertices(const struct eki_balancer *balancer, bool *is_good)
{
    const struct eki_topology *topology = balancer->engine->topology;
    const struct eki_vertices *vertices = &balancer->vertices;
    const int *first = &topology->first_worker[topology->rank];
    int count = 0;
    *is_good = true;
    for (int level = 1; level <= vertices->tree.top; level++) {
        int32_t begin, n = eki_tree_hosted(&vertices->tree, level, first[0],
                                           first[1] - 1, &begin);
        for (int32_t i = 0; *is_good && vertices->list && i < n; i++)
            *is_good = open_vertex(&vertices->tree, begin + i,
                                   &vertices->list[count + i]);
        count += n;
    }
    return count;
}

bool eki_vertices_open(struct eki_balancer *balancer)
{
    struct eki_vertices *vertices = &balancer->vertices;
    bool is_good;
    int count = list_vertices(balancer, &is_good);
    vertices->untold = balancer->engine->topology->workers_here;
    vertices->is_told =
        eki_alloc((size_t)vertices->untold, sizeof *vertices->is_told);
    vertices->list = eki_alloc((size_t)count, sizeof *vertices->list);
    if (!vertices->is_told || !vertices->list)
        return false;
    vertices->count = vertices->unsettled = count;
    list_vertices(balancer, &is_good);
    return is_good;
}

static void free_parts(struct eki_vertex *vertex)
{
    for (int32_t i = 0; vertex->parts && i < vertex->children.count; i++)
        eki_free(vertex->parts[i]);
    eki_free(vertex->parts);
    vertex->parts = NULL;
}

static void free_vertex(struct eki_vertex *vertex)
{
    free_parts(vertex);
    eki_free((void *)vertex->children.leaves);
    eki_free(vertex->children.loads);
    eki_free(vertex->items);
    eki_free(vertex->given);
}

void eki_vertices_close(struct eki_vertices *vertices)
{
    for (int i = 0; i < vertices->count; i++)
        free_vertex(&vertices->list[i]);
    eki_free(vertices->list);
    eki_free(vertices->is_told);
    memset(vertices, 0, sizeof *vertices);
}

/* NULL: it is not on this rank. */
static struct eki_vertex *find(const struct eki_vertices *vertices,
                               int32_t number)
{
    for (int i = 0; i < vertices->count; i++) {
        if (vertices->list[i].number == number)
            return &vertices->list[i];
    }
    return NULL;
}

/* All vertices of this rank have settled: what came of it. */
static bool send_result(struct eki_balancer *balancer)
{
    const struct eki_vertices *vertices = &balancer->vertices;
    return eki_mail_send_copy(&balancer->mail, balancer->engine->topology->rank,
                              EKI_PARCEL_RESULT, 0, &vertices->result,
                              sizeof vertices->result);
}

bool eki_vertices_begin(struct eki_balancer *balancer)
{
    return balancer->vertices.unsettled > 0 || send_result(balancer);
}

/* Children are workers: these are the places. */
static void add_places(struct eki_balancer *balancer,
                       const struct eki_vertex *vertex)
{
    struct eki_result_told *result = &balancer->vertices.result;
    for (int32_t i = 0; i < vertex->children.count; i++) {
        if (vertex->children.loads[i] > result->after)
            result->after = vertex->children.loads[i];
    }
    for (int64_t i = 0; i < vertex->count; i++)
        eki_result_add(balancer, &vertex->items[i],
                       vertex->first + vertex->given[i], result);
}

/* A DOWN for each child, even if it gets nothing: it waits for it. */
static bool send_downs(struct eki_balancer *balancer,
                       const struct eki_vertex *vertex)
{
    int32_t children = vertex->children.count;
    int64_t *counts = eki_alloc((size_t)children, sizeof *counts);
    struct eki_item **ends = eki_alloc((size_t)children, sizeof *ends);
    bool done = counts && ends;
    for (int64_t i = 0; done && i < vertex->count; i++)
        counts[vertex->given[i]]++;
    for (int32_t i = 0; done && i < children; i++) {
        int32_t child = vertex->first + i;
        struct eki_parcel *parcel =
            eki_mail_make(rank_of(balancer, child), EKI_PARCEL_DOWN, child,
                          counts[i] * (int64_t)sizeof(struct eki_item));
        done = parcel != NULL;
        if (!done)
            break;
        ends[i] = (struct eki_item *)parcel->data;
        eki_mail_send(&balancer->mail, parcel);
    }
    for (int64_t i = 0; done && i < vertex->count; i++)
        *ends[vertex->given[i]]++ = vertex->items[i];
    eki_free(counts);
    eki_free(ends);
    return done;
}

/* All that children get is known. */
static bool settle(struct eki_balancer *balancer, struct eki_vertex *vertex)
{
    struct eki_vertices *vertices = &balancer->vertices;
    vertex->is_settled = true;
    if (vertex->first < vertices->tree.workers)
        add_places(balancer, vertex);
    return send_downs(balancer, vertex) &&
           (--vertices->unsettled > 0 || send_result(balancer));
}

static int64_t items_in(const struct eki_parcel *up)
{
    return (up->bytes - (int64_t)sizeof(struct eki_up_told)) /
           (int64_t)sizeof(struct eki_item);
}

/* Make room for COUNT items more, which follow those that it has. */
static struct eki_item *make_room(struct eki_vertex *vertex, int64_t count)
{
    size_t room = (size_t)(vertex->count + count);
    struct eki_item *items =
        eki_realloc(vertex->items, room, sizeof *vertex->items);
    vertex->items = items ? items : vertex->items;
    int32_t *given = eki_realloc(vertex->given, room, sizeof *vertex->given);
    vertex->given = given ? given : vertex->given;
    return items && given ? items + vertex->count : NULL;
}

/* Give the children what they take of COUNT items that follow; returns how many
 * of these are left, -1: no memory. */
static int64_t fill(struct eki_vertex *vertex, int64_t count, double most)
{
    struct eki_item *items = vertex->items + vertex->count;
    if (!eki_items_sort(items, count))
        return -1;
    int64_t taken = eki_children_fill(&vertex->children, items, count, most,
                                      vertex->given + vertex->count);
    if (taken < 0)
        return -1;
    vertex->count += taken;
    return count - taken;
}

/* Tell the vertex above what it has; the LEFT items go up. */
static bool send_up(struct eki_balancer *balancer,
                    const struct eki_vertex *vertex, int64_t left)
{
    int32_t above = eki_tree_parent(&balancer->vertices.tree, vertex->number);
    struct eki_parcel *parcel =
        eki_mail_make(rank_of(balancer, above), EKI_PARCEL_UP, vertex->number,
                      (int64_t)sizeof(struct eki_up_told) +
                          left * (int64_t)sizeof(struct eki_item));
    if (!parcel)
        return false;
    struct eki_up_told *told = (struct eki_up_told *)parcel->data;
    for (int32_t i = 0; i < vertex->children.count; i++)
        told->load += vertex->children.loads[i];
    if (left)
        memcpy(told + 1, vertex->items + vertex->count,
               (size_t)left * sizeof *vertex->items);
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

/* All children have told what they have: they get what they may take, the rest
 * goes up.  The root gives them all. */
static bool climb(struct eki_balancer *balancer, struct eki_vertex *vertex)
{
    const struct eki_totals *totals = &balancer->totals;
    bool is_top = is_root(&balancer->vertices, vertex);
    double mean = (double)totals->total / (double)totals->workers;
    int64_t count = 0;
    for (int32_t i = 0; i < vertex->children.count; i++)
        count += items_in(vertex->parts[i]);
    struct eki_item *items = make_room(vertex, count);
    if (!items)
        return false;
    for (int32_t i = 0; i < vertex->children.count; i++) {
        const struct eki_up_told *told =
            (const struct eki_up_told *)vertex->parts[i]->data;
        int64_t n = items_in(vertex->parts[i]);
        vertex->children.loads[i] = told->load;
        if (n)
            memcpy(items, told + 1, (size_t)n * sizeof *items);
        items += n;
    }
    free_parts(vertex);
    int64_t left = fill(vertex, count,
                        is_top ? INFINITY : balancer->wish.printed.fill * mean);
    if (left < 0)
        return false;
    return is_top ? settle(balancer, vertex) : send_up(balancer, vertex, left);
}

/* From a child, once: its load, and tasks of the workers below it. */
static bool up_fits(const struct eki_balancer *balancer,
                    struct eki_vertex *vertex, const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_up_told *told = (const struct eki_up_told *)parcel->data;
    int32_t first, leaves;
    if (!eki_fits_one(&decode, "vertex of this rank", vertex != NULL, true) ||
        !eki_fits_one(&decode, "right sender", parcel->rank,
                      rank_of(balancer, parcel->group)) ||
        !eki_fits(&decode, "children to come", vertex->awaited, 1, INT32_MAX) ||
        !eki_fits_one(&decode, "parts before it",
                      vertex->parts[parcel->group - vertex->first] != NULL,
                      false) ||
        !eki_fits_parcel(&decode, parcel, sizeof *told,
                         sizeof(struct eki_item)) ||
        !eki_fits(&decode, "load", told->load, 0, EKI_NS_MOST - vertex->sum))
        return false;
    vertex->sum += told->load;
    leaves = eki_tree_leaves(&balancer->vertices.tree, parcel->group, &first);
    return eki_fits_items(&decode, (const struct eki_item *)(told + 1),
                          items_in(parcel), first, first + leaves - 1,
                          &vertex->sum);
}

static bool take_up(struct eki_balancer *balancer, struct eki_parcel *parcel,
                    bool *kept)
{
    struct eki_vertices *vertices = &balancer->vertices;
    struct eki_vertex *vertex = NULL;
    if (parcel->group != eki_tree_root(&vertices->tree))
        vertex =
            find(vertices, eki_tree_parent(&vertices->tree, parcel->group));
    if (!up_fits(balancer, vertex, parcel))
        return true;
    vertex->parts[parcel->group - vertex->first] = parcel;
    *kept = true;
    return --vertex->awaited > 0 || climb(balancer, vertex);
}

/* Tasks of any workers, from the vertex above. */
static bool down_fits(const struct eki_balancer *balancer,
                      const struct eki_parcel *parcel, eki_ns sum)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_tree *tree = &balancer->vertices.tree;
    return eki_fits(&decode, "vertex", parcel->group, 0,
                    eki_tree_root(tree) - 1) &&
           eki_fits_one(
               &decode, "right sender", parcel->rank,
               rank_of(balancer, eki_tree_parent(tree, parcel->group))) &&
           eki_fits_parcel(&decode, parcel, 0, sizeof(struct eki_item)) &&
           eki_fits_items(&decode, (const struct eki_item *)parcel->data,
                          parcel->bytes / (int64_t)sizeof(struct eki_item), 0,
                          tree->workers - 1, &sum);
}

/* Give the children what has come from above. */
static bool take_down(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    struct eki_vertex *vertex = find(&balancer->vertices, parcel->group);
    int64_t count = parcel->bytes / (int64_t)sizeof(struct eki_item);
    if (!eki_fits_one(&decode, "vertex of this rank", vertex != NULL, true) ||
        !eki_fits_one(&decode, "children to come", vertex->awaited, 0) ||
        !eki_fits_one(&decode, "others before it", vertex->is_settled, false) ||
        !down_fits(balancer, parcel, vertex->sum))
        return true;
    struct eki_item *items = make_room(vertex, count);
    if (!items)
        return false;
    if (count)
        memcpy(items, parcel->data, (size_t)parcel->bytes);
    return fill(vertex, count, INFINITY) == 0 && settle(balancer, vertex);
}

static int by_owner(const void *a, const void *b)
{
    const struct eki_item *mine = a, *other = b;
    if (mine->from != other->from)
        return mine->from < other->from ? -1 : 1;
    return mine->index < other->index ? -1 : mine->index > other->index;
}

/* Items, by their owners, go to WORKER: tell each rank that has some. */
static bool send_fetches(struct eki_balancer *balancer, int32_t worker,
                         const struct eki_item *items, int64_t count)
{
    const struct eki_topology *topology = balancer->engine->topology;
    for (int64_t first = 0, end; first < count; first = end) {
        int rank = eki_topology_rank(topology, items[first].from);
        for (end = first;
             end < count && items[end].from < topology->first_worker[rank + 1];)
            end++;
        struct eki_parcel *parcel = eki_mail_make(
            rank, EKI_PARCEL_FETCH, worker,
            (end - first) * (int64_t)sizeof(struct eki_fetch_told));
        if (!parcel)
            return false;
        struct eki_fetch_told *told = (struct eki_fetch_told *)parcel->data;
        for (int64_t i = first; i < end; i++)
            *told++ = (struct eki_fetch_told){items[i].from, items[i].index};
        eki_mail_send(&balancer->mail, parcel);
    }
    return true;
}

/* What a worker of this rank gets. */
static bool take_leaf(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    struct eki_vertices *vertices = &balancer->vertices;
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    struct eki_item *items = (struct eki_item *)parcel->data;
    int64_t count = parcel->bytes / (int64_t)sizeof *items;
    int here = parcel->group - balancer->engine->workers[0]->id;
    if (!eki_fits_worker(&decode, parcel->group,
                         balancer->engine->topology->rank) ||
        !eki_fits_one(&decode, "workers that wait",
                      vertices->is_told && !vertices->is_told[here], true) ||
        !down_fits(balancer, parcel, 0))
        return true;
    vertices->is_told[here] = true;
    vertices->untold--;
    qsort(items, (size_t)count, sizeof *items, by_owner);
    return send_fetches(balancer, parcel->group, items, count);
}

bool eki_vertices_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                       bool *kept)
{
    if (parcel->what == EKI_PARCEL_UP)
        return take_up(balancer, parcel, kept);
    return parcel->group < balancer->vertices.tree.workers
               ? take_leaf(balancer, parcel)
               : take_down(balancer, parcel);
}
