/* SPDX-License-Identifier: BSD-3-Clause */
/* What the printed algorithms have in place of ours, and who is asked for. */
#include "printed/printed.h"

#include "printed/vertices.h"

#include <math.h>

/*
 * GROUP: workers of a group where the user names no other number.  A prototype
 * with 52 lognormal tasks for each of 19,200 workers ended up to 2.2 % over the
 * bound in groups of 64 and up to 1.1 % in groups of 256; larger ones give
 * their leader more to decide (docs/explain/balancing.md has 256 beside one
 * group).
 *
 * MANY: workers beyond which EK_RESTORE_AUTO decides in groups.  No run chose
 * it.  One rank decides a million tasks of 2,400 workers within 20 ms as well
 * as can be (ek-bench balance), but on the network of hopper, simulated, it
 * needs three times as long as groups do (ek-sim).
 */
enum {
    GROUP = 256,
    MANY = 1024
};

static void aim_as_printed(const struct eki_balancer *balancer,
                           struct eki_target_told *told)
{
    double mean = (double)told->totals.total / (double)told->totals.workers;
    told->target = (eki_ns)(balancer->wish.printed.shed * mean);
}

int64_t eki_balance_shed_shortest(const eki_ns *ns, int64_t count, eki_ns load,
                                  eki_ns target, int32_t *shed)
{
    int64_t n = 0;
    for (; n < count && load > target; n++) {
        shed[n] = (int32_t)(count - 1 - n);
        load -= ns[shed[n]];
    }
    return n;
}

static bool shed_shortest(struct eki_balancer *balancer,
                          const struct eki_donation *from, int32_t *chosen,
                          int64_t *n)
{
    (void)balancer;
    *n = eki_balance_shed_shortest(from->ns, from->count, from->load,
                                   from->target, chosen);
    return true;
}

bool eki_pool_greedy(struct eki_pool *pool)
{
    const struct eki_children workers = {pool->workers, pool->loads, NULL};
    if (eki_children_fill(&workers, pool->items, pool->count, INFINITY,
                          pool->places) < 0)
        return false;
    EKI_ASSERT_SLOW(eki_pool_check(pool));
    return true;
}

static bool place_greedily(struct eki_balancer *balancer,
                           struct eki_leader *leader)
{
    return eki_pool_greedy(&leader->settle.pool) &&
           eki_leader_finish(balancer, leader);
}

/* One rank decides, to which every rank tells what its workers shed. */
static const struct eki_algorithm by_leader = {.ways = eki_leaders_ways,
                                               .aim = aim_as_printed,
                                               .shed = shed_shortest,
                                               .begin = eki_leaders_begin,
                                               .settle = place_greedily,
                                               .is_done = eki_relay_is_done};

static const struct eki_algorithm by_tree = {.ways = eki_leaves_ways,
                                             .groups = eki_leaves_groups,
                                             .aim = aim_as_printed,
                                             .shed = shed_shortest,
                                             .begin = eki_leaves_begin,
                                             .is_done = eki_leaves_are_done,
                                             .close = eki_vertices_close};

const struct eki_algorithm *
eki_printed_algorithm(const struct eki_hpdc12 *constants)
{
    return constants->is_hierarchical ? &by_tree : &by_leader;
}

/* Algorithm 1 where every worker tells one rank by itself is Algorithm 2 in a
 * tree of one vertex above all workers. */
static struct eki_hpdc12 constants_of(ek_restore_policy policy, int workers,
                                      const struct eki_options *options)
{
    bool is_tree = policy == EK_RESTORE_HIERARCHICAL_HPDC12;
    struct eki_hpdc12_option constants;
    eki_hpdc12_read(options->hpdc12, &constants); /* allowed: it was checked */
    int64_t branching = is_tree       ? constants.branching
                        : workers > 2 ? workers
                                      : 2;
    return (struct eki_hpdc12){constants.c, constants.d, (int32_t)branching,
                               is_tree || constants.gather == EKI_GATHER_CORE};
}

struct eki_balance_wish eki_balance_wish_of(ek_restore_policy policy,
                                            int workers,
                                            const struct eki_options *options)
{
    double eps = (double)options->balance_ppm * 1e-6;
    struct eki_balance_wish wish = {.eps = eps > 0 ? eps : -1,
                                    .is_chosen = policy == EK_RESTORE_AUTO};
    if (policy == EK_RESTORE_HIERARCHICAL ||
        (policy == EK_RESTORE_AUTO && workers > MANY))
        wish.group = options->balance_group > 0
                         ? (int32_t)options->balance_group
                         : GROUP;
    if (policy == EK_RESTORE_CENTRALIZED_HPDC12 ||
        policy == EK_RESTORE_HIERARCHICAL_HPDC12) {
        wish.printed = constants_of(policy, workers, options);
        wish.algorithm = eki_printed_algorithm(&wish.printed);
    }
    return wish;
}
