/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Victim policy `near`: random workers of the own node; another node only after
 * as many failures as the node has workers.
 */
#include "steal/steal.h"

static struct eki_victim choose(struct eki_thief *thief)
{
    uint32_t round = (uint32_t)thief->topology->node_workers;
    struct eki_victim victim = {-1, -1};
    if (thief->failures % round + 1 < round)
        victim.local = eki_victim_in_node(thief);
    else
        victim.node = eki_victim_node(thief);
    if (victim.node < 0 && victim.local < 0)
        victim.local = eki_victim_in_node(thief);
    return victim;
}

const struct eki_victim_policy eki_victims_near = {"near", choose};
