/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaders of groups place what the workers of their group have shed. */
#include "rebalance/balancer.h"

static int rank_of(const struct eki_balancer *balancer, int worker)
{
    return eki_topology_rank(balancer->topology, worker);
}

/* The nodes of the group's workers, from 0 on; false: no memory. */
static bool number_nodes(const struct eki_balancer *balancer,
                         struct eki_pool *pool)
{
    int32_t *nodes = eki_alloc((size_t)pool->workers, sizeof *nodes);
    int32_t least = INT32_MAX, most = 0;
    if (!nodes)
        return false;
    pool->nodes = nodes;
    for (int w = 0; w < pool->workers; w++) {
        nodes[w] = balancer->topology
                       ->node_of_rank[rank_of(balancer, pool->first + w)];
        least = nodes[w] < least ? nodes[w] : least;
        most = nodes[w] > most ? nodes[w] : most;
    }
    for (int w = 0; w < pool->workers; w++)
        nodes[w] -= least;
    pool->node_count = most - least + 1;
    return true;
}

static bool open_leader(const struct eki_balancer *balancer, int group,
                        struct eki_relay *relay)
{
    struct eki_run run = eki_group_run(balancer, group);
    struct eki_leader *leader = eki_alloc(1, sizeof *leader);
    int ranks = relay->last - relay->first + 1;
    relay->leader = leader;
    if (!leader)
        return false;
    struct eki_pool *pool = &leader->settle.pool;
    leader->group = group;
    leader->heard = (struct eki_heard){
        "rank", "ranks", relay->first, ranks,
        eki_alloc((size_t)ranks, sizeof *leader->heard.sections)};
    *pool = (struct eki_pool){.first = run.first,
                              .workers = run.last - run.first + 1,
                              .target = balancer->target,
                              .slack = balancer->slack};
    pool->loads = eki_alloc((size_t)pool->workers, sizeof *pool->loads);
    return leader->heard.sections && pool->loads &&
           number_nodes(balancer, pool);
}

bool eki_leaders_open(struct eki_balancer *balancer)
{
    struct eki_relays *relays = &balancer->relays;
    for (int i = 0; i < relays->count; i++) {
        struct eki_relay *relay = &relays->of_groups[i];
        if (relay->first == relay->rank &&
            !open_leader(balancer, relays->first + i, relay))
            return false;
    }
    return true;
}

void eki_leaders_close(struct eki_balancer *balancer)
{
    for (int i = 0; i < balancer->relays.count; i++) {
        struct eki_leader *leader = balancer->relays.of_groups[i].leader;
        if (!leader)
            continue;
        eki_free(leader->heard.sections);
        eki_free(leader->settle.pool.loads);
        eki_free((void *)leader->settle.pool.nodes);
        eki_settle_free(&leader->settle);
        eki_free(leader);
    }
}

/* A parcel for the group, to this rank, where the tree of the group begins, and
 * one for each rank outside that has shed something.  False: no memory. */
static bool send_empty_plans(struct eki_balancer *balancer,
                             const struct eki_leader *leader,
                             struct eki_deal *deals)
{
    const int64_t head = (int64_t)sizeof(struct eki_section);
    int first = leader->heard.first, end = first + leader->heard.count;
    int64_t bytes = 0;
    for (int r = first; r < end; r++)
        bytes += deals[r].bytes ? head + deals[r].bytes : 0;
    struct eki_parcel *parcel =
        eki_mail_put(&balancer->mail, balancer->topology->rank, EKI_PARCEL_PLAN,
                     leader->group, bytes);
    if (!parcel)
        return false;
    unsigned char *at = parcel->data;
    for (int r = 0; r < balancer->topology->size; r++) {
        if (deals[r].bytes == 0)
            continue;
        if (r >= first && r < end) {
            at = eki_deal_begin(&deals[r], r, at);
            continue;
        }
        parcel = eki_mail_put(&balancer->mail, r, EKI_PARCEL_PLAN,
                              leader->group, head + deals[r].bytes);
        if (!parcel)
            return false;
        eki_deal_begin(&deals[r], r, parcel->data);
    }
    return true;
}

/* Where each item goes, to the rank whose worker has shed it. */
static bool send_plans(struct eki_balancer *balancer,
                       const struct eki_leader *leader)
{
    const struct eki_pool *pool = &leader->settle.pool;
    const size_t bytes = sizeof(struct eki_plan_told);
    struct eki_deal *deals =
        eki_alloc((size_t)balancer->topology->size, sizeof *deals);
    bool done = deals != NULL;
    for (int64_t i = 0; done && i < pool->count; i++)
        deals[rank_of(balancer, pool->items[i].from)].bytes += (int64_t)bytes;
    done = done && send_empty_plans(balancer, leader, deals);
    for (int64_t i = 0; done && i < pool->count; i++) {
        const struct eki_item *item = &pool->items[i];
        struct eki_plan_told *plan =
            eki_deal_put(&deals[rank_of(balancer, item->from)], bytes);
        *plan = (struct eki_plan_told){item->from, item->index,
                                       pool->first + pool->places[i], 0};
    }
    eki_free(deals);
    return done;
}

bool eki_leader_finish(struct eki_balancer *balancer, struct eki_leader *leader)
{
    const struct eki_pool *pool = &leader->settle.pool;
    struct eki_result_told result = {.before = leader->offers.largest,
                                     .after = eki_pool_largest_load(pool),
                                     .fewest = leader->offers.fewest,
                                     .fewest_across =
                                         leader->offers.fewest_across};
    for (int64_t i = 0; i < pool->count; i++)
        eki_result_add(balancer, &pool->items[i], pool->first + pool->places[i],
                       &result);
    leader->stage = EKI_STAGE_OVER;
    return send_plans(balancer, leader) &&
           eki_result_send(balancer, leader->group, &result);
}

/* Ask the ranks of the group for tasks that their workers have kept. */
static bool ask_for_more(struct eki_balancer *balancer,
                         struct eki_leader *leader)
{
    const struct eki_settle *settle = &leader->settle;
    size_t listed =
        settle->opened ? (size_t)settle->opened_count * sizeof(int32_t) : 0;
    struct eki_parcel *parcel = eki_mail_put(
        &balancer->mail, balancer->topology->rank, EKI_PARCEL_OPEN,
        leader->group, (int64_t)(sizeof(struct eki_open_told) + listed));
    leader->stage = EKI_STAGE_OPENED;
    if (!parcel)
        return false;
    struct eki_open_told *told = eki_body_of(parcel);
    *told = (struct eki_open_told){settle->least, settle->most};
    if (listed)
        memcpy(told + 1, settle->opened, listed);
    return true;
}

/* Do what comes next; false: no memory. */
static bool go_on(struct eki_balancer *balancer, struct eki_leader *leader,
                  enum eki_settle_next next)
{
    return next == EKI_SETTLE_DONE
               ? eki_leader_finish(balancer, leader)
               : next == EKI_SETTLE_OPEN && ask_for_more(balancer, leader);
}

bool eki_leader_settle(struct eki_balancer *balancer, struct eki_leader *leader)
{
    return go_on(balancer, leader, eki_settle_begin(&leader->settle));
}

/* Items in an OPENED. */
static int64_t opened_in(const struct eki_section *opened)
{
    return opened->bytes / (int64_t)sizeof(struct eki_item);
}

static bool place_opened(struct eki_balancer *balancer,
                         struct eki_leader *leader)
{
    int64_t count = 0, at = 0;
    for (int r = 0; r < leader->heard.count; r++)
        count += opened_in(leader->heard.sections[r]);
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    for (int r = 0; r < leader->heard.count; r++) {
        int64_t n = opened_in(leader->heard.sections[r]);
        memcpy(items + at, leader->heard.sections[r] + 1,
               (size_t)n * sizeof *items);
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
    struct eki_parcel *parcel = eki_mail_put(
        &balancer->mail, balancer->topology->rank, EKI_PARCEL_LEFT,
        leader->group,
        (int64_t)(sizeof(struct eki_section) + sizeof(struct eki_group)) +
            pool->count * (int64_t)sizeof(struct eki_item));
    int64_t left;
    leader->stage = EKI_STAGE_GIVEN;
    if (!parcel)
        return false;
    struct eki_section *section = eki_body_of(parcel);
    struct eki_group *group = EKI_BEHIND(section);
    if (!eki_settle_share(&leader->settle, EKI_BEHIND(group), &left))
        return false;
    eki_group_describe(pool, group);
    *section = (struct eki_section){
        leader->group,
        (int64_t)sizeof *group + left * (int64_t)sizeof(struct eki_item)};
    parcel->bytes = (int64_t)sizeof *section + section->bytes;
    return true;
}

/* All offers, in the order of the workers: their loads, and the items. */
static void copy_offered(struct eki_leader *leader, struct eki_item *items)
{
    struct eki_offer_told *all = &leader->offers;
    eki_ns *load = leader->settle.pool.loads;
    for (int r = 0; r < leader->heard.count; r++) {
        const struct eki_offer_told *told =
            EKI_BEHIND(leader->heard.sections[r]);
        const eki_ns *loads = EKI_BEHIND(told);
        memcpy(load, loads, (size_t)told->workers * sizeof *loads);
        memcpy(items, loads + told->workers,
               (size_t)told->items * sizeof *items);
        load += told->workers;
        items += told->items;
        all->fewest += told->fewest;
        all->fewest_across += told->fewest_across;
        if (told->largest > all->largest)
            all->largest = told->largest;
    }
}

static bool add_offered(struct eki_leader *leader)
{
    int64_t count = leader->offers.items;
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    copy_offered(leader, items);
    bool done = eki_pool_add(&leader->settle.pool, items, count, false);
    eki_free(items);
    return done;
}

/* The loads that workers keep, and what they shed. */
static bool offer_fits(const struct eki_decode *decode,
                       struct eki_leader *leader,
                       const struct eki_section *section, struct eki_run run)
{
    const struct eki_offer_told *told = EKI_BEHIND(section);
    const eki_ns *loads = EKI_BEHIND(told);
    int64_t workers = run.last - run.first + 1;
    int64_t fewest = INT64_MAX / 4 / decode->engine->topology->size;
    int64_t rest = section->bytes - (int64_t)sizeof *told -
                   workers * (int64_t)sizeof *loads;
    if (!eki_fits(decode, "bytes", rest, 0, INT64_MAX) ||
        !eki_fits_one(decode, "workers", told->workers, workers) ||
        !eki_fits_one(decode, "items", rest,
                      told->items * (int64_t)sizeof(struct eki_item)) ||
        !eki_fits(decode, "fewest", told->fewest, 0, fewest) ||
        !eki_fits(decode, "fewest across nodes", told->fewest_across, 0,
                  fewest) ||
        !eki_fits(decode, "largest load", told->largest, 0, EKI_NS_MOST))
        return false;
    for (int64_t w = 0; w < workers; w++) {
        if (!eki_fits(decode, "load", loads[w], 0, EKI_NS_MOST - leader->sum))
            return false;
        leader->sum += loads[w];
    }
    leader->offers.items += told->items;
    return eki_fits_items(decode, (const struct eki_item *)(loads + workers),
                          rest, run, &leader->sum);
}

/* Items of these workers. */
static bool opened_fits(const struct eki_decode *decode,
                        struct eki_leader *leader,
                        const struct eki_section *section, struct eki_run run)
{
    return eki_fits_items(decode, EKI_BEHIND(section), section->bytes, run,
                          &leader->opened);
}

/* NULL: this rank leads nothing yet. */
static struct eki_leader *leader_of(const struct eki_balancer *balancer,
                                    int64_t group)
{
    const struct eki_relays *relays = &balancer->relays;
    int64_t i = group - relays->first;
    if (relays->count == 0)
        return NULL;
    EKI_ASSERT(i >= 0 && i < relays->count);
    return relays->of_groups[i].leader;
}

typedef bool fits_fn(const struct eki_decode *decode, struct eki_leader *leader,
                     const struct eki_section *section, struct eki_run run);

/* What each rank of the group tells, once, in this STAGE. */
static bool heard_fits(const struct eki_balancer *balancer,
                       struct eki_leader *leader,
                       const struct eki_parcel *parcel,
                       enum eki_leader_stage stage, fits_fn *section_fits)
{
    struct eki_decode decode = parcel->decode;
    struct eki_heard *heard = &leader->heard;
    if (!eki_fits_one(&decode, "stage", leader->stage, stage) ||
        !eki_sections_hear(&decode, parcel, heard))
        return false;
    for (int r = 0; r < heard->count; r++) {
        decode.source = heard->first + r;
        if (!section_fits(
                &decode, leader, heard->sections[r],
                eki_group_on_rank(balancer, leader->group, decode.source)))
            return false;
    }
    return true;
}

bool eki_leader_take_offers(struct eki_balancer *balancer,
                            struct eki_parcel *parcel)
{
    struct eki_leader *leader = leader_of(balancer, parcel->group);
    if (!heard_fits(balancer, leader, parcel, EKI_STAGE_OFFERS, offer_fits))
        return true;
    if (!add_offered(leader))
        return false;
    return balancer->groups == 1 ? balancer->algorithm->settle(balancer, leader)
                                 : tell_left(balancer, leader);
}

bool eki_leader_take_opened(struct eki_balancer *balancer,
                            struct eki_parcel *parcel)
{
    struct eki_leader *leader = leader_of(balancer, parcel->group);
    return !heard_fits(balancer, leader, parcel, EKI_STAGE_OPENED,
                       opened_fits) ||
           place_opened(balancer, leader);
}

/* The root gives tasks of other groups, longest first. */
static bool take_given(struct eki_balancer *balancer,
                       const struct eki_parcel *parcel,
                       const struct eki_section *section)
{
    struct eki_leader *leader = leader_of(balancer, section->of);
    struct eki_item *items = EKI_BEHIND(section);
    if (!eki_fits_one(&parcel->decode, "leader", leader != NULL, true) ||
        !eki_fits_one(&parcel->decode, "stage", leader->stage,
                      EKI_STAGE_GIVEN) ||
        !eki_fits_items(&parcel->decode, items, section->bytes,
                        eki_all_workers(balancer), &leader->sum))
        return true;
    return eki_pool_add(&leader->settle.pool, items,
                        section->bytes / (int64_t)sizeof *items, false) &&
           balancer->algorithm->settle(balancer, leader);
}

bool eki_leader_take_given(struct eki_balancer *balancer,
                           struct eki_parcel *parcel)
{
    const struct eki_section *at = NULL;
    while ((at = eki_section_next(parcel, at)) != NULL) {
        if (!take_given(balancer, parcel, at))
            return false;
    }
    return true;
}
