/* SPDX-License-Identifier: BSD-3-Clause */
/* The leaves of the tree: workers tell what they have too much, fetch what they
 * get, and give what others fetch. */
#include "printed/vertices.h"

#include <stdlib.h>

bool eki_leaves_are_done(const struct eki_balancer *balancer)
{
    return !balancer->vertices || balancer->vertices->untold == 0;
}

int eki_leaves_groups(const struct eki_balancer *balancer, int what)
{
    int workers = balancer->topology->workers;
    struct eki_tree tree;
    if (what == EKI_PARCEL_FETCH)
        return workers;
    if (what != EKI_PARCEL_UP && what != EKI_PARCEL_DOWN)
        return balancer->groups;
    eki_tree_open(&tree, workers, balancer->wish.printed.branching);
    return eki_tree_count(&tree);
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
    const struct eki_topology *topology = balancer->topology;
    for (int64_t first = 0, end; first < count; first = end) {
        int rank = eki_topology_rank(topology, items[first].from);
        for (end = first;
             end < count && items[end].from < topology->first_worker[rank + 1];)
            end++;
        struct eki_parcel *parcel = eki_mail_put(
            &balancer->mail, rank, EKI_PARCEL_FETCH, worker,
            (end - first) * (int64_t)sizeof(struct eki_fetch_told));
        if (!parcel)
            return false;
        struct eki_fetch_told *told = eki_body_of(parcel);
        for (int64_t i = first; i < end; i++)
            *told++ = (struct eki_fetch_told){items[i].from, items[i].index};
    }
    return true;
}

/* What a worker of this rank gets. */
static bool fetch_for_worker(struct eki_balancer *balancer,
                             struct eki_parcel *parcel)
{
    struct eki_vertices *vertices = balancer->vertices;
    struct eki_item *items = eki_body_of(parcel);
    int64_t count = parcel->bytes / (int64_t)sizeof *items;
    int here = eki_here(balancer, parcel->group);
    if (!eki_fits_worker(&parcel->decode, parcel->group,
                         balancer->topology->rank) ||
        !eki_fits_one(&parcel->decode, "workers that wait",
                      vertices && !vertices->is_told[here], true) ||
        !eki_down_fits(balancer, parcel, 0))
        return true;
    vertices->is_told[here] = true;
    vertices->untold--;
    qsort(items, (size_t)count, sizeof *items, by_owner);
    return send_fetches(balancer, parcel->group, items, count);
}

static bool take_down(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    return parcel->group < balancer->topology->workers
               ? fetch_for_worker(balancer, parcel)
               : eki_vertices_take_down(balancer, parcel);
}

/* A worker gets tasks of this rank. */
static bool take_fetch(struct eki_balancer *balancer, struct eki_parcel *parcel)
{
    const struct eki_fetch_told *told = eki_body_of(parcel);
    int64_t count = parcel->bytes / (int64_t)sizeof *told;
    if (!eki_fits_parcel(&parcel->decode, parcel, 0, sizeof *told) ||
        !eki_fits_worker(&parcel->decode, parcel->group, parcel->rank) ||
        !eki_fits_one(&parcel->decode, "tasks are listed",
                      balancer->donor.first != NULL, true))
        return true;
    for (int64_t i = 0; i < count; i++) {
        const struct eki_plan_told plan = {told[i].from, told[i].index,
                                           parcel->group, 0};
        if (!eki_donor_decide(balancer, &parcel->decode, &plan,
                              (struct eki_run){plan.to, plan.to}))
            return true;
    }
    return true;
}

/* A worker tells the vertex above it what it has too much, and TOLD of that. */
static bool send_worker_up(struct eki_balancer *balancer, int worker,
                           struct eki_offer_told *told)
{
    struct eki_run run = {worker, worker};
    struct eki_parcel *parcel = eki_up_put(
        balancer, worker,
        eki_offer_bytes(balancer, run) - (int64_t)sizeof(struct eki_up_told));
    return parcel &&
           eki_offer_fill(balancer, run, parcel, eki_body_of(parcel), told);
}

bool eki_leaves_begin(struct eki_balancer *balancer)
{
    struct eki_offer_told told = {0};
    if (!eki_vertices_open(balancer))
        return false;
    struct eki_vertices *vertices = balancer->vertices;
    eki_relay_expect(&balancer->root.results_relay, EKI_PARCEL_RESULT,
                     1 + eki_relay_children(&balancer->relays.all));
    for (int here = 0; here < balancer->topology->workers_here; here++) {
        if (!send_worker_up(balancer, balancer->engine->workers[here]->id,
                            &told))
            return false;
    }
    vertices->result =
        (struct eki_result_told){.before = told.largest,
                                 .fewest = told.fewest,
                                 .fewest_across = balancer->donor.away};
    return vertices->unsettled > 0 ||
           eki_result_send(balancer, 0, &vertices->result);
}

const struct eki_way eki_leaves_ways[EKI_PARCEL_OVER + 1] = {
    [EKI_PARCEL_TOTALS] = {eki_root_take_totals, NULL, 0, 0},
    [EKI_PARCEL_TARGET] = {eki_relay_pass, eki_donor_take_target, 0,
                           sizeof(struct eki_target_told)},
    [EKI_PARCEL_UP] = {eki_vertices_take_up, NULL, EKI_IS_LATE, 0},
    [EKI_PARCEL_DOWN] = {take_down, NULL, 0, 0},
    [EKI_PARCEL_FETCH] = {take_fetch, NULL, 0, 0},
    [EKI_PARCEL_RESULT] = {eki_root_take_result, NULL, 0,
                           sizeof(struct eki_result_told)},
    [EKI_PARCEL_OVER] = {eki_relay_pass, eki_donor_take_over, 0,
                         sizeof(struct eki_result_told)}};
