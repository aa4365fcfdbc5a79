/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaders of groups place what the workers of their group have shed. */
#include "rebalance/balancer.h"

static int rank_of(const struct eki_balancer *balancer, int worker)
{
    return eki_topology_rank(balancer->engine->topology, worker);
}

/* The nodes of the group's workers, from 0 on. */
static void number_nodes(const struct eki_balancer *balancer,
                         struct eki_leader *leader)
{
    const int *nodes = balancer->engine->topology->node_of_rank;
    int least = nodes[leader->first_rank], most = least;
    for (int r = 0; r < leader->ranks; r++) {
        int node = nodes[leader->first_rank + r];
        least = node < least ? node : least;
        most = node > most ? node : most;
    }
    for (int r = 0; r < leader->ranks; r++) {
        int first, last, rank = leader->first_rank + r;
        eki_group_here(balancer, leader->group, rank, &first, &last);
        for (int w = first; w <= last; w++)
            leader->nodes[w - leader->first] = nodes[rank] - least;
    }
    leader->node_count = most - least + 1;
}

static bool open_leader(struct eki_balancer *balancer, int group)
{
    struct eki_leader *leader = &balancer->leaders[balancer->leader_count++];
    int size = balancer->group_size, rest;
    memset(leader, 0, sizeof *leader);
    leader->group = group;
    leader->first = group * size;
    rest = balancer->engine->topology->workers - leader->first;
    leader->workers = rest < size ? rest : size;
    leader->first_rank = rank_of(balancer, leader->first);
    leader->ranks = rank_of(balancer, leader->first + leader->workers - 1) -
                    leader->first_rank + 1;
    leader->awaited = leader->ranks;
    leader->heard = eki_alloc((size_t)leader->ranks, sizeof *leader->heard);
    leader->loads = eki_alloc((size_t)leader->workers, sizeof *leader->loads);
    leader->nodes = eki_alloc((size_t)leader->workers, sizeof *leader->nodes);
    if (!leader->heard || !leader->loads || !leader->nodes)
        return false;
    number_nodes(balancer, leader);
    return true;
}

bool eki_leader_open(struct eki_balancer *balancer)
{
    int mine = 0;
    for (int g = 0; g < balancer->groups; g++)
        mine += rank_of(balancer, g * balancer->group_size) ==
                balancer->engine->topology->rank;
    balancer->leaders = eki_alloc((size_t)mine, sizeof *balancer->leaders);
    if (!balancer->leaders)
        return false;
    for (int g = 0; g < balancer->groups; g++) {
        if (rank_of(balancer, g * balancer->group_size) ==
                balancer->engine->topology->rank &&
            !open_leader(balancer, g))
            return false;
    }
    return true;
}

static void forget_heard(struct eki_leader *leader)
{
    for (int r = 0; leader->heard && r < leader->ranks; r++) {
        eki_free(leader->heard[r]);
        leader->heard[r] = NULL;
    }
}

static void free_leader(struct eki_leader *leader)
{
    forget_heard(leader);
    eki_free(leader->heard);
    eki_free(leader->loads);
    eki_free(leader->nodes);
    eki_pool_free(&leader->settle.pool);
}

void eki_leader_close(struct eki_balancer *balancer)
{
    for (int i = 0; i < balancer->leader_count; i++)
        free_leader(&balancer->leaders[i]);
    eki_free(balancer->leaders);
    balancer->leaders = NULL;
    balancer->leader_count = 0;
}

bool eki_leader_whole(struct eki_balancer *balancer)
{
    if (balancer->groups == 1)
        return true;
    eki_leader_close(balancer);
    balancer->group_size = balancer->engine->topology->workers;
    balancer->groups = 1;
    return eki_leader_open(balancer);
}

static void add_result(const struct eki_leader *leader,
                       struct eki_result_told *result)
{
    const struct eki_pool *pool = &leader->settle.pool;
    result->fewest = leader->fewest;
    result->before = leader->largest;
    result->after = eki_pool_largest_load(pool);
    result->moved = eki_pool_moved(pool);
    for (int64_t i = 0; i < pool->count; i++) {
        const struct eki_item *item = &pool->items[i];
        int32_t to = leader->first + pool->places[i];
        if (to == item->from)
            continue;
        result->hash +=
            eki_hash(eki_hash((uint64_t)item->from, (uint64_t)item->index),
                     (uint64_t)to);
    }
}

/* Items of the pool by the rank whose workers shed them, COUNTS [ranks]. */
static void count_plans(const struct eki_balancer *balancer,
                        const struct eki_leader *leader, int64_t *counts)
{
    const struct eki_pool *pool = &leader->settle.pool;
    for (int64_t i = 0; i < pool->count; i++)
        counts[rank_of(balancer, pool->items[i].from)]++;
}

/* A parcel for each rank that has COUNTS.  False: no memory, and none is made.
 */
static bool make_plans(const struct eki_balancer *balancer,
                       const struct eki_leader *leader, const int64_t *counts,
                       struct eki_parcel **parcels)
{
    for (int r = 0; r < balancer->engine->topology->size; r++) {
        if (counts[r] == 0)
            continue;
        parcels[r] =
            eki_mail_make(r, EKI_PARCEL_PLAN, leader->group,
                          counts[r] * (int64_t)sizeof(struct eki_plan_told));
        if (!parcels[r])
            goto free_parcels;
    }
    return true;
free_parcels:
    for (int r = 0; r < balancer->engine->topology->size; r++)
        eki_free(parcels[r]);
    return false;
}

/* Where each item goes, into the parcel of its rank; COUNTS start anew and end
 * as they were. */
static void fill_plans(const struct eki_balancer *balancer,
                       const struct eki_leader *leader, int64_t *counts,
                       struct eki_parcel **parcels)
{
    const struct eki_pool *pool = &leader->settle.pool;
    memset(counts, 0,
           (size_t)balancer->engine->topology->size * sizeof *counts);
    for (int64_t i = 0; i < pool->count; i++) {
        const struct eki_item *item = &pool->items[i];
        int r = rank_of(balancer, item->from);
        ((struct eki_plan_told *)parcels[r]->data)[counts[r]++] =
            (struct eki_plan_told){item->from, item->index,
                                   leader->first + pool->places[i], 0};
    }
}

/* One parcel per rank that has items in the pool. */
static bool send_plans(struct eki_balancer *balancer,
                       const struct eki_leader *leader)
{
    int size = balancer->engine->topology->size;
    struct eki_parcel **parcels = eki_alloc((size_t)size, sizeof *parcels);
    int64_t *counts = eki_alloc((size_t)size, sizeof *counts);
    bool done = false;
    if (!parcels || !counts)
        goto free_arrays;
    count_plans(balancer, leader, counts);
    if (!make_plans(balancer, leader, counts, parcels))
        goto free_arrays;
    fill_plans(balancer, leader, counts, parcels);
    for (int r = 0; r < size; r++) {
        if (parcels[r])
            eki_mail_send(&balancer->mail, parcels[r]);
    }
    done = true;
free_arrays:
    eki_free(parcels);
    eki_free(counts);
    return done;
}

static bool finish(struct eki_balancer *balancer, struct eki_leader *leader)
{
    struct eki_result_told result = {0};
    add_result(leader, &result);
    leader->stage = EKI_STAGE_OVER;
    return send_plans(balancer, leader) &&
           eki_mail_send_copy(&balancer->mail, 0, EKI_PARCEL_RESULT,
                              leader->group, &result, sizeof result);
}

/* Ask the ranks of the group for tasks that their workers have kept. */
static bool ask(struct eki_balancer *balancer, struct eki_leader *leader)
{
    const struct eki_open_told told = {leader->settle.least,
                                       leader->settle.most};
    leader->stage = EKI_STAGE_OPENED;
    leader->awaited = leader->ranks;
    for (int r = 0; r < leader->ranks; r++) {
        if (!eki_mail_send_copy(&balancer->mail, leader->first_rank + r,
                                EKI_PARCEL_OPEN, leader->group, &told,
                                sizeof told))
            return false;
    }
    return true;
}

static bool settle_as_printed(struct eki_balancer *balancer,
                              struct eki_leader *leader)
{
    struct eki_decision decision = {0};
    const struct eki_totals *totals = &balancer->totals;
    double mean = (double)totals->total / (double)totals->workers;
    bool done = balancer->wish.printed.is_hierarchical
                    ? eki_pool_tree(&leader->settle.pool, mean,
                                    &balancer->wish.printed, &decision)
                    : eki_pool_greedy(&leader->settle.pool);
    return done && finish(balancer, leader);
}

/* Do what comes next; false: no memory. */
static bool go_on(struct eki_balancer *balancer, struct eki_leader *leader,
                  enum eki_settle_next next)
{
    switch (next) {
    case EKI_SETTLE_OPEN:
        return ask(balancer, leader);
    case EKI_SETTLE_DONE:
        return finish(balancer, leader);
    default:
        return false;
    }
}

/* Place all items of the pool. */
static bool settle(struct eki_balancer *balancer, struct eki_leader *leader)
{
    if (balancer->wish.is_printed)
        return settle_as_printed(balancer, leader);
    return go_on(balancer, leader, eki_settle_begin(&leader->settle));
}

/* Items in an OPENED. */
static int64_t opened_in(const struct eki_parcel *opened)
{
    return opened->bytes / (int64_t)sizeof(struct eki_item);
}

/* The items that were opened, in the order of the ranks; NULL: no memory. */
static struct eki_item *copy_opened(const struct eki_leader *leader,
                                    int64_t *count)
{
    *count = 0;
    for (int r = 0; r < leader->ranks; r++)
        *count += opened_in(leader->heard[r]);
    struct eki_item *items = eki_alloc((size_t)*count, sizeof *items);
    struct eki_item *at = items;
    for (int r = 0; items && r < leader->ranks; r++) {
        int64_t n = opened_in(leader->heard[r]);
        if (n == 0)
            continue;
        memcpy(at, leader->heard[r]->data, (size_t)n * sizeof *at);
        at += n;
    }
    return items;
}

static bool take_opened(struct eki_balancer *balancer,
                        struct eki_leader *leader)
{
    int64_t count;
    struct eki_item *items = copy_opened(leader, &count);
    if (!items)
        return false;
    forget_heard(leader);
    enum eki_settle_next next =
        eki_settle_opened(&leader->settle, items, count);
    eki_free(items);
    return go_on(balancer, leader, next);
}

static bool tell_left(struct eki_balancer *balancer, struct eki_leader *leader)
{
    struct eki_pool *pool = &leader->settle.pool;
    leader->stage = EKI_STAGE_GIVEN;
    struct eki_parcel *parcel =
        eki_mail_make(0, EKI_PARCEL_LEFT, leader->group,
                      (int64_t)sizeof(struct eki_group) +
                          pool->count * (int64_t)sizeof(struct eki_item));
    if (!parcel)
        return false;
    struct eki_group *group = (struct eki_group *)parcel->data;
    int64_t left;
    if (!eki_settle_share(&leader->settle, (struct eki_item *)(group + 1),
                          &left)) {
        eki_free(parcel);
        return false;
    }
    parcel->bytes =
        (int64_t)sizeof *group + left * (int64_t)sizeof(struct eki_item);
    eki_group_describe(pool, group);
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

static const struct eki_offer_told *offer_of(const struct eki_leader *leader,
                                             int r)
{
    return (const struct eki_offer_told *)leader->heard[r]->data;
}

static int64_t count_offered(const struct eki_leader *leader)
{
    int64_t count = 0;
    for (int r = 0; r < leader->ranks; r++)
        count += offer_of(leader, r)->items;
    return count;
}

/* All offers, in the order of the workers: their loads, and the items. */
static void copy_offered(struct eki_leader *leader, struct eki_item *items)
{
    eki_ns *load = leader->loads;
    for (int r = 0; r < leader->ranks; r++) {
        const struct eki_offer_told *told = offer_of(leader, r);
        const eki_ns *loads = (const eki_ns *)(told + 1);
        memcpy(load, loads, (size_t)told->workers * sizeof *loads);
        memcpy(items, loads + told->workers,
               (size_t)told->items * sizeof *items);
        load += told->workers;
        items += told->items;
        leader->fewest += told->fewest;
        if (told->largest > leader->largest)
            leader->largest = told->largest;
    }
}

/* Open the pool with all offers. */
static bool gather(const struct eki_balancer *balancer,
                   struct eki_leader *leader)
{
    int64_t count = count_offered(leader);
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    copy_offered(leader, items);
    leader->settle =
        (struct eki_settle){.pool = {.first = leader->first,
                                     .workers = leader->workers,
                                     .target = balancer->target,
                                     .slack = balancer->slack,
                                     .nodes = leader->nodes,
                                     .node_count = leader->node_count,
                                     .loads = leader->loads}};
    bool done = eki_pool_fill(&leader->settle.pool, items, count);
    eki_free(items);
    forget_heard(leader);
    return done;
}

static bool take_offers(struct eki_balancer *balancer,
                        struct eki_leader *leader)
{
    if (!gather(balancer, leader))
        return false;
    if (balancer->groups == 1)
        return settle(balancer, leader);
    return tell_left(balancer, leader);
}

/* The root gives tasks of other groups, longest first. */
static bool take_given(struct eki_balancer *balancer, struct eki_leader *leader,
                       struct eki_parcel *parcel)
{
    struct eki_item *items = (struct eki_item *)parcel->data;
    return eki_pool_fill(&leader->settle.pool, items,
                         parcel->bytes / (int64_t)sizeof *items) &&
           settle(balancer, leader);
}

/* The loads that workers keep, and what they shed. */
static bool offer_fits(const struct eki_decode *decode,
                       const struct eki_balancer *balancer,
                       struct eki_leader *leader,
                       const struct eki_parcel *parcel, int first, int last)
{
    const struct eki_offer_told *told =
        (const struct eki_offer_told *)parcel->data;
    const eki_ns *loads = (const eki_ns *)(told + 1);
    int64_t workers = last - first + 1,
            ranks = balancer->engine->topology->size;
    size_t head = sizeof *told + (size_t)workers * sizeof *loads;
    if (!eki_fits_parcel(decode, parcel, head, sizeof(struct eki_item)))
        return false;
    int64_t items =
        (parcel->bytes - (int64_t)head) / (int64_t)sizeof(struct eki_item);
    if (!eki_fits_one(decode, "workers", told->workers, workers) ||
        !eki_fits_one(decode, "items", told->items, items) ||
        !eki_fits(decode, "fewest", told->fewest, 0, INT64_MAX / 4 / ranks) ||
        !eki_fits(decode, "largest load", told->largest, 0, EKI_NS_MOST))
        return false;
    for (int64_t w = 0; w < workers; w++) {
        if (!eki_fits(decode, "load", loads[w], 0, EKI_NS_MOST - leader->sum))
            return false;
        leader->sum += loads[w];
    }
    return eki_fits_items(decode, (const struct eki_item *)(loads + workers),
                          items, first, last, &leader->sum);
}

/* A parcel of the stage that the leader is in, from a rank that it has not
 * heard in it. */
static bool parcel_fits(const struct eki_balancer *balancer,
                        struct eki_leader *leader,
                        const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_item *items = (const struct eki_item *)parcel->data;
    int64_t count = parcel->bytes / (int64_t)sizeof *items;
    int at = parcel->rank - leader->first_rank, first, last;
    bool is_given = parcel->what == EKI_PARCEL_GIVEN;
    bool is_offer = parcel->what == EKI_PARCEL_OFFER;
    eki_group_here(balancer, leader->group, parcel->rank, &first, &last);
    if (!eki_fits_one(&decode, "stage", leader->stage,
                      is_given   ? EKI_STAGE_GIVEN
                      : is_offer ? EKI_STAGE_OFFERS
                                 : EKI_STAGE_OPENED))
        return false;
    if (is_given)
        return eki_fits_parcel(&decode, parcel, 0, sizeof *items) &&
               eki_fits_items(&decode, items, count, 0,
                              balancer->engine->topology->workers - 1,
                              &leader->sum);
    if (!eki_fits(&decode, "rank", at, 0, leader->ranks - 1) ||
        !eki_fits_one(&decode, "parcels before it", leader->heard[at] != NULL,
                      false))
        return false;
    if (is_offer)
        return offer_fits(&decode, balancer, leader, parcel, first, last);
    return eki_fits_parcel(&decode, parcel, 0, sizeof *items) &&
           eki_fits_items(&decode, items, count, first, last, &leader->sum);
}

bool eki_leader_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                     bool *kept)
{
    struct eki_leader *leader = balancer->leaders;
    struct eki_leader *end = leader + balancer->leader_count;
    while (leader != end && leader->group != parcel->group)
        leader++;
    EKI_ASSERT(leader != end);
    if (!parcel_fits(balancer, leader, parcel))
        return true;
    if (parcel->what == EKI_PARCEL_GIVEN)
        return take_given(balancer, leader, parcel);
    leader->heard[parcel->rank - leader->first_rank] = parcel;
    *kept = true;
    if (--leader->awaited > 0)
        return true;
    return parcel->what == EKI_PARCEL_OFFER ? take_offers(balancer, leader)
                                            : take_opened(balancer, leader);
}
