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
    leader->heard = eki_alloc((size_t)leader->ranks, sizeof *leader->heard);
    leader->loads = eki_alloc((size_t)leader->workers, sizeof *leader->loads);
    leader->nodes = eki_alloc((size_t)leader->workers, sizeof *leader->nodes);
    if (!leader->heard || !leader->loads || !leader->nodes)
        return false;
    number_nodes(balancer, leader);
    return true;
}

/* The first group whose first worker is of this rank or a later one. */
static int first_led(const struct eki_balancer *balancer)
{
    const struct eki_topology *topology = balancer->engine->topology;
    int first = topology->first_worker[topology->rank];
    return (first + balancer->group_size - 1) / balancer->group_size;
}

bool eki_leader_open(struct eki_balancer *balancer)
{
    int first = first_led(balancer), end = first;
    while (end < balancer->groups &&
           eki_leader_of(balancer, end) == balancer->engine->topology->rank)
        end++;
    balancer->leaders =
        eki_alloc((size_t)(end - first), sizeof *balancer->leaders);
    if (!balancer->leaders)
        return false;
    for (int g = first; g < end; g++) {
        if (!open_leader(balancer, g))
            return false;
    }
    return true;
}

static void free_leader(struct eki_leader *leader)
{
    eki_free(leader->heard);
    eki_free(leader->loads);
    eki_free(leader->nodes);
    eki_settle_free(&leader->settle);
}

void eki_leader_close(struct eki_balancer *balancer)
{
    for (int i = 0; i < balancer->leader_count; i++)
        free_leader(&balancer->leaders[i]);
    eki_free(balancer->leaders);
    balancer->leaders = NULL;
    balancer->leader_count = 0;
}

static void add_result(const struct eki_balancer *balancer,
                       const struct eki_leader *leader,
                       struct eki_result_told *result)
{
    const struct eki_pool *pool = &leader->settle.pool;
    result->fewest = leader->fewest;
    result->fewest_across = leader->fewest_across;
    result->before = leader->largest;
    result->after = eki_pool_largest_load(pool);
    for (int64_t i = 0; i < pool->count; i++)
        eki_result_add(balancer, &pool->items[i],
                       leader->first + pool->places[i], result);
}

/* Items of the pool by the rank whose workers shed them, COUNTS [ranks]. */
static void count_plans(const struct eki_balancer *balancer,
                        const struct eki_leader *leader, int64_t *counts)
{
    const struct eki_pool *pool = &leader->settle.pool;
    for (int64_t i = 0; i < pool->count; i++)
        counts[rank_of(balancer, pool->items[i].from)]++;
}

static bool is_of_group(const struct eki_leader *leader, int rank)
{
    return rank >= leader->first_rank &&
           rank < leader->first_rank + leader->ranks;
}

static int64_t bytes_of_plan(int64_t count)
{
    return (int64_t)sizeof(struct eki_section) +
           count * (int64_t)sizeof(struct eki_plan_told);
}

/* A parcel for the group, to this rank, where the tree of the group begins, and
 * one for each rank outside that has COUNTS.  PLANS [size]: where that of each
 * rank goes.  False: no memory. */
static bool send_empty_plans(struct eki_balancer *balancer,
                             const struct eki_leader *leader,
                             const int64_t *counts, struct eki_section **plans)
{
    int me = balancer->engine->topology->rank;
    int64_t bytes = 0;
    for (int r = leader->first_rank; is_of_group(leader, r); r++)
        bytes += counts[r] ? bytes_of_plan(counts[r]) : 0;
    struct eki_parcel *parcel =
        eki_mail_make(me, EKI_PARCEL_PLAN, leader->group, bytes);
    if (!parcel)
        return false;
    eki_mail_send(&balancer->mail, parcel);
    unsigned char *at = parcel->data;
    for (int r = 0; r < balancer->engine->topology->size; r++) {
        if (counts[r] == 0)
            continue;
        bytes = bytes_of_plan(counts[r]);
        plans[r] = (struct eki_section *)at;
        if (is_of_group(leader, r)) {
            at += bytes;
        } else {
            parcel = eki_mail_make(r, EKI_PARCEL_PLAN, leader->group, bytes);
            if (!parcel)
                return false;
            eki_mail_send(&balancer->mail, parcel);
            plans[r] = (struct eki_section *)parcel->data;
        }
        *plans[r] = (struct eki_section){
            r, bytes - (int64_t)sizeof(struct eki_section)};
    }
    return true;
}

/* Where each item goes, into the plan of its rank; COUNTS start anew and end as
 * they were. */
static void fill_plans(const struct eki_balancer *balancer,
                       const struct eki_leader *leader, int64_t *counts,
                       struct eki_section **plans)
{
    const struct eki_pool *pool = &leader->settle.pool;
    memset(counts, 0,
           (size_t)balancer->engine->topology->size * sizeof *counts);
    for (int64_t i = 0; i < pool->count; i++) {
        const struct eki_item *item = &pool->items[i];
        int r = rank_of(balancer, item->from);
        ((struct eki_plan_told *)(plans[r] + 1))[counts[r]++] =
            (struct eki_plan_told){item->from, item->index,
                                   leader->first + pool->places[i], 0};
    }
}

/* Nothing has left while this rank does not post. */
static bool send_plans(struct eki_balancer *balancer,
                       const struct eki_leader *leader)
{
    size_t size = (size_t)balancer->engine->topology->size;
    struct eki_section **plans = eki_alloc(size, sizeof *plans);
    int64_t *counts = eki_alloc(size, sizeof *counts);
    bool done = plans && counts;
    if (done) {
        count_plans(balancer, leader, counts);
        done = send_empty_plans(balancer, leader, counts, plans);
    }
    if (done)
        fill_plans(balancer, leader, counts, plans);
    eki_free(plans);
    eki_free(counts);
    return done;
}

static bool finish(struct eki_balancer *balancer, struct eki_leader *leader)
{
    struct eki_result_told result = {0};
    add_result(balancer, leader, &result);
    leader->stage = EKI_STAGE_OVER;
    return send_plans(balancer, leader) &&
           eki_mail_send_copy(&balancer->mail, balancer->engine->topology->rank,
                              EKI_PARCEL_RESULT, leader->group, &result,
                              sizeof result);
}

/* Ask the ranks of the group for tasks that their workers have kept. */
static bool ask(struct eki_balancer *balancer, struct eki_leader *leader)
{
    const struct eki_settle *settle = &leader->settle;
    size_t listed =
        settle->opened ? (size_t)settle->opened_count * sizeof(int32_t) : 0;
    struct eki_parcel *parcel = eki_mail_make(
        balancer->engine->topology->rank, EKI_PARCEL_OPEN, leader->group,
        (int64_t)(sizeof(struct eki_open_told) + listed));
    leader->stage = EKI_STAGE_OPENED;
    if (!parcel)
        return false;
    struct eki_open_told *told = (struct eki_open_told *)parcel->data;
    *told = (struct eki_open_told){settle->least, settle->most};
    if (listed)
        memcpy(told + 1, settle->opened, listed);
    eki_mail_send(&balancer->mail, parcel);
    return true;
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
        return eki_pool_greedy(&leader->settle.pool) &&
               finish(balancer, leader);
    return go_on(balancer, leader, eki_settle_begin(&leader->settle));
}

/* Items in an OPENED. */
static int64_t opened_in(const struct eki_section *opened)
{
    return opened->bytes / (int64_t)sizeof(struct eki_item);
}

static bool take_opened(struct eki_balancer *balancer,
                        struct eki_leader *leader)
{
    int64_t count = 0, at = 0;
    for (int r = 0; r < leader->ranks; r++)
        count += opened_in(leader->heard[r]);
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    for (int r = 0; r < leader->ranks; r++) {
        int64_t n = opened_in(leader->heard[r]);
        memcpy(items + at, leader->heard[r] + 1, (size_t)n * sizeof *items);
        at += n;
    }
    enum eki_settle_next next =
        eki_settle_opened(&leader->settle, items, count);
    eki_free(items);
    return go_on(balancer, leader, next);
}

static bool tell_left(struct eki_balancer *balancer, struct eki_leader *leader)
{
    struct eki_pool *pool = &leader->settle.pool;
    struct eki_parcel *parcel = eki_mail_make(
        balancer->engine->topology->rank, EKI_PARCEL_LEFT, leader->group,
        (int64_t)(sizeof(struct eki_section) + sizeof(struct eki_group)) +
            pool->count * (int64_t)sizeof(struct eki_item));
    leader->stage = EKI_STAGE_GIVEN;
    if (!parcel)
        return false;
    struct eki_section *section = (struct eki_section *)parcel->data;
    struct eki_group *group = (struct eki_group *)(section + 1);
    int64_t left;
    if (!eki_settle_share(&leader->settle, (struct eki_item *)(group + 1),
                          &left)) {
        eki_free(parcel);
        return false;
    }
    eki_group_describe(pool, group);
    *section = (struct eki_section){
        leader->group,
        (int64_t)sizeof *group + left * (int64_t)sizeof(struct eki_item)};
    parcel->bytes = (int64_t)sizeof *section + section->bytes;
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

static const struct eki_offer_told *offer_of(const struct eki_leader *leader,
                                             int r)
{
    return (const struct eki_offer_told *)(leader->heard[r] + 1);
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
        leader->fewest_across += told->fewest_across;
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

/* The loads that workers keep, and what they shed. */
static bool offer_fits(const struct eki_decode *decode,
                       const struct eki_balancer *balancer,
                       struct eki_leader *leader,
                       const struct eki_section *section, int first, int last)
{
    const struct eki_offer_told *told =
        (const struct eki_offer_told *)(section + 1);
    const eki_ns *loads = (const eki_ns *)(told + 1);
    int64_t workers = last - first + 1,
            ranks = balancer->engine->topology->size;
    int64_t rest = section->bytes - (int64_t)sizeof *told -
                   workers * (int64_t)sizeof *loads;
    if (!eki_fits(decode, "bytes", rest, 0, INT64_MAX) ||
        !eki_fits_one(decode, "workers", told->workers, workers) ||
        !eki_fits_one(decode, "items", rest,
                      told->items * (int64_t)sizeof(struct eki_item)) ||
        !eki_fits(decode, "fewest", told->fewest, 0, INT64_MAX / 4 / ranks) ||
        !eki_fits(decode, "fewest across nodes", told->fewest_across, 0,
                  INT64_MAX / 4 / ranks) ||
        !eki_fits(decode, "largest load", told->largest, 0, EKI_NS_MOST))
        return false;
    for (int64_t w = 0; w < workers; w++) {
        if (!eki_fits(decode, "load", loads[w], 0, EKI_NS_MOST - leader->sum))
            return false;
        leader->sum += loads[w];
    }
    return eki_fits_items(decode, (const struct eki_item *)(loads + workers),
                          told->items, first, last, &leader->sum);
}

/* Items of workers FIRST ... LAST. */
static bool opened_fits(const struct eki_decode *decode,
                        struct eki_leader *leader,
                        const struct eki_section *section, int first, int last)
{
    int64_t item = (int64_t)sizeof(struct eki_item);
    return eki_fits_one(decode, "bytes too many", section->bytes % item, 0) &&
           eki_fits_items(decode, (const struct eki_item *)(section + 1),
                          section->bytes / item, first, last, &leader->opened);
}

/* What each rank of the group tells, once, in the stage that the leader is in.
 */
static bool heard_fits(const struct eki_balancer *balancer,
                       struct eki_leader *leader,
                       const struct eki_parcel *parcel)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    bool is_offer = parcel->what == EKI_PARCEL_OFFER;
    const struct eki_section *at = NULL;
    int heard = 0;
    if (!eki_fits_one(&decode, "stage", leader->stage,
                      is_offer ? EKI_STAGE_OFFERS : EKI_STAGE_OPENED))
        return false;
    memset(leader->heard, 0, (size_t)leader->ranks * sizeof *leader->heard);
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int first, last;
        int64_t r = at->of - leader->first_rank;
        if (!eki_fits(&decode, "rank", r, 0, leader->ranks - 1) ||
            !eki_fits_one(&decode, "parts before it", leader->heard[r] != NULL,
                          false))
            return false;
        decode.source = (int)at->of;
        eki_group_here(balancer, leader->group, decode.source, &first, &last);
        if (is_offer ? !offer_fits(&decode, balancer, leader, at, first, last)
                     : !opened_fits(&decode, leader, at, first, last))
            return false;
        leader->heard[r] = at;
        heard++;
    }
    return eki_fits_one(&decode, "ranks", heard, leader->ranks);
}

/* The root gives tasks of other groups, longest first. */
static bool take_given(struct eki_balancer *balancer, struct eki_leader *leader,
                       const struct eki_parcel *parcel,
                       const struct eki_section *section)
{
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    struct eki_item *items = (struct eki_item *)(section + 1);
    int64_t item = (int64_t)sizeof *items, count = section->bytes / item;
    if (!eki_fits_one(&decode, "stage", leader->stage, EKI_STAGE_GIVEN) ||
        !eki_fits_one(&decode, "bytes too many", section->bytes % item, 0) ||
        !eki_fits_items(&decode, items, count, 0,
                        balancer->engine->topology->workers - 1, &leader->sum))
        return true;
    return eki_pool_fill(&leader->settle.pool, items, count) &&
           settle(balancer, leader);
}

static struct eki_leader *leader_of(const struct eki_balancer *balancer,
                                    int64_t group)
{
    struct eki_leader *leader = balancer->leaders;
    struct eki_leader *end = leader + balancer->leader_count;
    while (leader != end && leader->group != group)
        leader++;
    EKI_ASSERT(leader != end);
    return leader;
}

bool eki_leader_take(struct eki_balancer *balancer,
                     const struct eki_parcel *parcel)
{
    if (parcel->what != EKI_PARCEL_GIVEN) {
        struct eki_leader *leader = leader_of(balancer, parcel->group);
        if (!heard_fits(balancer, leader, parcel))
            return true;
        return parcel->what == EKI_PARCEL_OFFER ? take_offers(balancer, leader)
                                                : take_opened(balancer, leader);
    }
    const struct eki_section *at = NULL;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        if (!take_given(balancer, leader_of(balancer, at->of), parcel, at))
            return false;
    }
    return true;
}
