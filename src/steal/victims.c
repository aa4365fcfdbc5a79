/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Victim policies.  To `random` a worker elsewhere stands for its node.
 *
 * Papers: Blumofe, Leiserson, JACM 1999; Wagner, Calder, PPoPP 1993, for
 * leapfrogging, which is stated of a task that waits for another: here no task
 * waits, and its worker looks for work.
 */
#include "steal/steal.h"

int eki_victim_in_node(struct eki_thief *thief)
{
    int others = thief->topology->node_workers - 1;
    if (others < 1)
        return -1;
    int victim = (int)eki_random_below(&thief->random, (uint64_t)others);
    return victim + (victim >= thief->local);
}

int eki_victim_node(struct eki_thief *thief)
{
    const struct eki_topology *topology = thief->topology;
    if (topology->nodes < 2)
        return -1;
    /* Elsewhere lies at least one worker; some draws find it, else the next
     * node will do. */
    for (int draws = 0; draws < 16; draws++) {
        int worker =
            (int)eki_random_below(&thief->random, (uint64_t)topology->workers);
        int node = topology->node_of_rank[eki_topology_rank(topology, worker)];
        if (node != topology->node)
            return node;
    }
    return (topology->node + 1) % topology->nodes;
}

/* Uniform over all other workers. */
struct eki_victim eki_victims_random(struct eki_thief *thief)
{
    const struct eki_topology *topology = thief->topology;
    struct eki_victim victim = EKI_VICTIM_NONE;
    if (topology->workers < 2)
        return victim;
    int draw =
        (int)eki_random_below(&thief->random, (uint64_t)topology->workers - 1);
    if (draw < topology->node_workers - 1)
        victim.local = eki_victim_in_node(thief);
    else
        victim.node = eki_victim_node(thief);
    return victim;
}

/* Random workers of the own node; another node only after as many failures as
 * the node has workers. */
struct eki_victim eki_victims_near(struct eki_thief *thief)
{
    uint32_t round = (uint32_t)thief->topology->node_workers;
    struct eki_victim victim = EKI_VICTIM_NONE;
    if (thief->failures % round + 1 == round)
        victim.node = eki_victim_node(thief);
    if (victim.node < 0)
        victim.local = eki_victim_in_node(thief);
    return victim;
}

/* Random workers of the own node, and nobody else. */
struct eki_victim eki_victims_node(struct eki_thief *thief)
{
    return (struct eki_victim){eki_victim_in_node(thief), -1, -1};
}

struct eki_victim eki_victims_leapfrog(struct eki_thief *thief)
{
    /* relaxed: a hint. */
    int robber = atomic_load_explicit(thief->robber, memory_order_relaxed) - 1;
    bool is_first = thief->failures == 0 && robber >= 0;
    return is_first ? (struct eki_victim){robber, -1, -1}
                    : eki_victims_node(thief);
}
