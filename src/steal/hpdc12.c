/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing as printed: a thief draws one worker of the job, near or far; a
 * worker shows half of its local tasks when it shows none, and takes back half
 * of what it shows when it has no other.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3.  The part that
 * is taken back is at least 1 task; the print has "at most 1".  The print
 * leaves open whether at least 1 is released, too: there are two rules.
 */
#include "steal/steal.h"

struct eki_victim eki_victim_of(const struct eki_topology *topology, int worker)
{
    int rank = eki_topology_rank(topology, worker);
    int node = topology->node_of_rank[rank];
    int local = worker - topology->first_worker[rank];
    if (node != topology->node)
        return (struct eki_victim){-1, node, worker};
    for (int r = topology->lowest_rank[node]; r < rank; r++) {
        if (topology->node_of_rank[r] == node)
            local += topology->first_worker[r + 1] - topology->first_worker[r];
    }
    return (struct eki_victim){local, -1, -1};
}

struct eki_victim eki_victims_worker(struct eki_thief *thief)
{
    const struct eki_topology *topology = thief->topology;
    if (topology->workers < 2)
        return EKI_VICTIM_NONE;
    int first = topology->first_worker[topology->rank];
    int self = first + thief->local - topology->node_first;
    int worker =
        (int)eki_random_below(&thief->random, (uint64_t)topology->workers - 1);
    worker += worker >= self;
    return eki_victim_of(topology, worker);
}

static int64_t half_of(int64_t tasks)
{
    return tasks / 2;
}

static int64_t half_or_one(int64_t tasks)
{
    return tasks < 2 ? tasks : tasks / 2;
}

const struct eki_publishing eki_publishing_half = {half_of, half_or_one};
const struct eki_publishing eki_publishing_half_or_one = {half_or_one,
                                                          half_or_one};
