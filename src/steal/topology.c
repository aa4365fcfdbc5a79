/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks, nodes and workers of a job. */
#include "steal/steal.h"

void eki_topology_destroy(struct eki_topology *topology)
{
    if (!topology)
        return;
    eki_free(topology->node_of_rank);
    eki_free(topology->first_worker);
    eki_free(topology->lowest_rank);
    eki_free(topology->rank_of_local);
    eki_free(topology->worker_of_local);
    eki_free(topology);
}

static void count_ranks(struct eki_topology *topology, const int *workers,
                        const int *nodes)
{
    topology->node = nodes[topology->rank];
    topology->workers_here = workers[topology->rank];
    for (int r = 0; r < topology->size; r++) {
        topology->node_of_rank[r] = nodes[r];
        topology->first_worker[r] = topology->workers;
        topology->workers += workers[r];
        if (nodes[r] >= topology->nodes)
            topology->nodes = nodes[r] + 1;
        if (nodes[r] != topology->node)
            continue;
        if (r == topology->rank) {
            topology->node_index = topology->node_ranks;
            topology->node_first = topology->node_workers;
        }
        topology->node_ranks++;
        topology->node_workers += workers[r];
    }
    topology->first_worker[topology->size] = topology->workers;
}

static void number_locals(struct eki_topology *topology)
{
    int local = 0;
    for (int r = topology->size - 1; r >= 0; r--)
        topology->lowest_rank[topology->node_of_rank[r]] = r;
    for (int r = 0; r < topology->size; r++) {
        if (topology->node_of_rank[r] != topology->node)
            continue;
        for (int w = topology->first_worker[r];
             w < topology->first_worker[r + 1]; w++, local++) {
            topology->rank_of_local[local] = r;
            topology->worker_of_local[local] = w;
        }
    }
}

ek_status eki_topology_create(int rank, int size, const int *workers,
                              const int *nodes, struct eki_topology **made)
{
    struct eki_topology *topology = eki_alloc(1, sizeof *topology);
    if (!topology)
        goto no_memory;
    topology->rank = rank;
    topology->size = size;
    topology->node_of_rank = eki_alloc((size_t)size, sizeof(int));
    topology->first_worker = eki_alloc((size_t)size + 1, sizeof(int));
    if (!topology->node_of_rank || !topology->first_worker)
        goto no_memory;
    count_ranks(topology, workers, nodes);
    topology->lowest_rank = eki_alloc((size_t)topology->nodes, sizeof(int));
    topology->rank_of_local =
        eki_alloc((size_t)topology->node_workers, sizeof(int));
    topology->worker_of_local =
        eki_alloc((size_t)topology->node_workers, sizeof(int));
    if (!topology->lowest_rank || !topology->rank_of_local ||
        !topology->worker_of_local)
        goto no_memory;
    number_locals(topology);
    *made = topology;
    return EK_OK;
no_memory:
    eki_topology_destroy(topology);
    return eki_error(EK_ERR_NOMEM, "no memory for the topology of %d ranks",
                     size);
}

int eki_topology_rank(const struct eki_topology *topology, int worker)
{
    int low = 0, high = topology->size - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (topology->first_worker[middle] <= worker)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
