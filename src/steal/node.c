/* SPDX-License-Identifier: BSD-3-Clause */
/* Victim policy `node`: random workers of the own node, and nobody else. */
#include "steal/steal.h"

static struct eki_victim choose(struct eki_thief *thief)
{
    return (struct eki_victim){eki_victim_in_node(thief), -1};
}

const struct eki_victim_policy eki_victims_node = {"node", choose};
