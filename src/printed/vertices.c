/* SPDX-License-Identifier: BSD-3-Clause */
#include "printed/vertices.h"

#include <math.h>

/* An inner vertex of the tree that is on this rank. */
struct eki_vertex {
    int32_t number, first;        /* its own, and that of its first child */
    struct eki_children children; /* owned */
    struct eki_parcel **parts;    /* [children.count] that have come; owned */
    int awaited;                  /* children that have told nothing */
    eki_ns sum;                   /* of loads and items that it was told */
    /* What its children get: in the order in which they were given it. */
    struct eki_item *items; /* [count] */
    int32_t *given;         /* [count], to which child */
    int64_t count;
    bool is_settled; /* its children have been told */
};

/* The rank that a vertex is on. */
static int rank_of_vertex(const struct eki_balancer *balancer, int32_t vertex)
{
    return eki_topology_rank(balancer->topology,
                             eki_tree_host(&balancer->vertices->tree, vertex));
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

/* The vertices that workers of this rank host: one each at most, but for the
 * last one of a level. */
static bool list_vertices(const struct eki_balancer *balancer)
{
    const struct eki_topology *topology = balancer->topology;
    struct eki_vertices *vertices = balancer->vertices;
    const int *first = &topology->first_worker[topology->rank];
    for (int level = 1; level <= vertices->tree.top; level++) {
        int32_t begin, n = eki_tree_hosted(&vertices->tree, level, first[0],
                                           first[1] - 1, &begin);
        for (int32_t i = 0; i < n; i++) {
            if (!open_vertex(&vertices->tree, begin + i,
                             &vertices->list[vertices->count++]))
                return false;
        }
    }
    vertices->unsettled = vertices->count;
    return true;
}

bool eki_vertices_open(struct eki_balancer *balancer)
{
    struct eki_vertices *vertices = eki_alloc(1, sizeof *vertices);
    if (!vertices)
        return false;
    balancer->vertices = vertices;
    eki_tree_open(&vertices->tree, balancer->topology->workers,
                  balancer->wish.printed.branching);
    vertices->untold = balancer->topology->workers_here;
    vertices->is_told =
        eki_alloc((size_t)vertices->untold, sizeof *vertices->is_told);
    vertices->list = eki_alloc((size_t)(vertices->untold + vertices->tree.top),
                               sizeof *vertices->list);
    return vertices->is_told && vertices->list && list_vertices(balancer);
}

static void free_parts(struct eki_vertex *vertex)
{
    for (int32_t i = 0; vertex->parts && i < vertex->children.count; i++)
        eki_free(vertex->parts[i]);
    eki_free(vertex->parts);
    vertex->parts = NULL;
}

void eki_vertices_close(struct eki_balancer *balancer)
{
    struct eki_vertices *vertices = balancer->vertices;
    for (int i = 0; vertices && i < vertices->count; i++) {
        struct eki_vertex *vertex = &vertices->list[i];
        free_parts(vertex);
        eki_free((void *)vertex->children.leaves);
        eki_free(vertex->children.loads);
        eki_free(vertex->items);
        eki_free(vertex->given);
    }
    if (vertices) {
        eki_free(vertices->list);
        eki_free(vertices->is_told);
    }
    eki_free(vertices);
    balancer->vertices = NULL;
}

/* A vertex of this rank; NULL: it is elsewhere, or none. */
static struct eki_vertex *vertex_of(const struct eki_vertices *vertices,
                                    int32_t number)
{
    for (int i = 0; vertices && i < vertices->count; i++) {
        if (vertices->list[i].number == number)
            return &vertices->list[i];
    }
    return NULL;
}

/* The vertex of this rank that is above another. */
static struct eki_vertex *vertex_above(const struct eki_vertices *vertices,
                                       int32_t number)
{
    if (!vertices || number == eki_tree_root(&vertices->tree))
        return NULL;
    return vertex_of(vertices, eki_tree_parent(&vertices->tree, number));
}

/* Children are workers: these are the places. */
static void add_places(struct eki_balancer *balancer,
                       const struct eki_vertex *vertex)
{
    struct eki_result_told *result = &balancer->vertices->result;
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
    const size_t bytes = sizeof(struct eki_item);
    struct eki_deal *deals =
        eki_alloc((size_t)vertex->children.count, sizeof *deals);
    bool done = deals != NULL;
    for (int64_t i = 0; done && i < vertex->count; i++)
        deals[vertex->given[i]].bytes += (int64_t)bytes;
    for (int32_t i = 0; done && i < vertex->children.count; i++) {
        int32_t child = vertex->first + i;
        struct eki_parcel *parcel =
            eki_mail_put(&balancer->mail, rank_of_vertex(balancer, child),
                         EKI_PARCEL_DOWN, child, deals[i].bytes);
        done = parcel != NULL;
        deals[i].end = done ? parcel->data : NULL;
    }
    for (int64_t i = 0; done && i < vertex->count; i++)
        memcpy(eki_deal_put(&deals[vertex->given[i]], bytes), &vertex->items[i],
               bytes);
    eki_free(deals);
    return done;
}

/* All that children get is known. */
static bool settle_vertex(struct eki_balancer *balancer,
                          struct eki_vertex *vertex)
{
    struct eki_vertices *vertices = balancer->vertices;
    vertex->is_settled = true;
    if (vertex->first < vertices->tree.workers)
        add_places(balancer, vertex);
    return send_downs(balancer, vertex) &&
           (--vertices->unsettled > 0 ||
            eki_result_send(balancer, 0, &vertices->result));
}

/* Make room for COUNT items more, which follow those that it has. */
static struct eki_item *make_room_for_items(struct eki_vertex *vertex,
                                            int64_t count)
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
static int64_t fill_children(struct eki_vertex *vertex, int64_t count,
                             double most)
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

struct eki_parcel *eki_up_put(struct eki_balancer *balancer, int32_t vertex,
                              int64_t bytes)
{
    int32_t above = eki_tree_parent(&balancer->vertices->tree, vertex);
    return eki_mail_put(&balancer->mail, rank_of_vertex(balancer, above),
                        EKI_PARCEL_UP, vertex,
                        (int64_t)sizeof(struct eki_up_told) + bytes);
}

/* Tell the vertex above what it has; the LEFT items go up. */
static bool send_up(struct eki_balancer *balancer,
                    const struct eki_vertex *vertex, int64_t left)
{
    size_t bytes = (size_t)left * sizeof *vertex->items;
    struct eki_parcel *parcel =
        eki_up_put(balancer, vertex->number, (int64_t)bytes);
    if (!parcel)
        return false;
    struct eki_up_told *told = eki_body_of(parcel);
    for (int32_t i = 0; i < vertex->children.count; i++)
        told->load += vertex->children.loads[i];
    if (bytes)
        memcpy(told + 1, vertex->items + vertex->count, bytes);
    return true;
}

static int64_t items_of_parcel(const struct eki_parcel *up)
{
    return (up->bytes - (int64_t)sizeof(struct eki_up_told)) /
           (int64_t)sizeof(struct eki_item);
}

/* All children have told what they have: they get what they may take, the rest
 * goes up.  The root gives them all. */
static bool climb_vertex(struct eki_balancer *balancer,
                         struct eki_vertex *vertex)
{
    const struct eki_totals *totals = &balancer->totals;
    bool is_top = vertex->number == eki_tree_root(&balancer->vertices->tree);
    double mean = (double)totals->total / (double)totals->workers;
    int64_t count = 0;
    for (int32_t i = 0; i < vertex->children.count; i++)
        count += items_of_parcel(vertex->parts[i]);
    struct eki_item *items = make_room_for_items(vertex, count);
    if (!items)
        return false;
    for (int32_t i = 0; i < vertex->children.count; i++) {
        const struct eki_up_told *told = eki_body_of(vertex->parts[i]);
        int64_t n = items_of_parcel(vertex->parts[i]);
        vertex->children.loads[i] = told->load;
        if (n)
            memcpy(items, told + 1, (size_t)n * sizeof *items);
        items += n;
    }
    free_parts(vertex);
    int64_t left = fill_children(
        vertex, count, is_top ? INFINITY : balancer->wish.printed.fill * mean);
    if (left < 0)
        return false;
    return is_top ? settle_vertex(balancer, vertex)
                  : send_up(balancer, vertex, left);
}

/* From a child, once: its load, and tasks of the workers below it. */
static bool up_fits(const struct eki_balancer *balancer,
                    struct eki_vertex *vertex, const struct eki_parcel *parcel)
{
    const struct eki_decode *decode = &parcel->decode;
    const struct eki_up_told *told = eki_body_of(parcel);
    int32_t first, leaves;
    if (!eki_fits_one(decode, "vertex of this rank", vertex != NULL, true) ||
        !eki_fits_one(decode, "right sender", parcel->rank,
                      rank_of_vertex(balancer, parcel->group)) ||
        !eki_fits(decode, "children to come", vertex->awaited, 1, INT32_MAX) ||
        !eki_fits_one(decode, "parts before it",
                      vertex->parts[parcel->group - vertex->first] != NULL,
                      false) ||
        !eki_fits_parcel(decode, parcel, sizeof *told,
                         sizeof(struct eki_item)) ||
        !eki_fits(decode, "load", told->load, 0, EKI_NS_MOST - vertex->sum))
        return false;
    vertex->sum += told->load;
    leaves = eki_tree_leaves(&balancer->vertices->tree, parcel->group, &first);
    return eki_fits_items(
        decode, EKI_BEHIND(told), parcel->bytes - (int64_t)sizeof *told,
        (struct eki_run){first, first + leaves - 1}, &vertex->sum);
}

bool eki_vertices_take_up(struct eki_balancer *balancer,
                          struct eki_parcel *parcel)
{
    struct eki_vertex *vertex = vertex_above(balancer->vertices, parcel->group);
    if (!up_fits(balancer, vertex, parcel))
        return true;
    vertex->parts[parcel->group - vertex->first] = parcel;
    balancer->taken = NULL;
    return --vertex->awaited > 0 || climb_vertex(balancer, vertex);
}

bool eki_down_fits(const struct eki_balancer *balancer,
                   const struct eki_parcel *parcel, eki_ns sum)
{
    const struct eki_tree *tree = &balancer->vertices->tree;
    return eki_fits(&parcel->decode, "vertex", parcel->group, 0,
                    eki_tree_root(tree) - 1) &&
           eki_fits_one(&parcel->decode, "right sender", parcel->rank,
                        rank_of_vertex(balancer,
                                       eki_tree_parent(tree, parcel->group))) &&
           eki_fits_items(&parcel->decode, eki_body_of(parcel), parcel->bytes,
                          eki_all_workers(balancer), &sum);
}

bool eki_vertices_take_down(struct eki_balancer *balancer,
                            struct eki_parcel *parcel)
{
    const struct eki_decode *decode = &parcel->decode;
    struct eki_vertex *vertex = vertex_of(balancer->vertices, parcel->group);
    int64_t count = parcel->bytes / (int64_t)sizeof(struct eki_item);
    if (!eki_fits_one(decode, "vertex of this rank", vertex != NULL, true) ||
        !eki_fits_one(decode, "children to come", vertex->awaited, 0) ||
        !eki_fits_one(decode, "others before it", vertex->is_settled, false) ||
        !eki_down_fits(balancer, parcel, vertex->sum))
        return true;
    struct eki_item *items = make_room_for_items(vertex, count);
    if (!items)
        return false;
    if (count)
        memcpy(items, parcel->data, (size_t)parcel->bytes);
    return fill_children(vertex, count, INFINITY) == 0 &&
           settle_vertex(balancer, vertex);
}
