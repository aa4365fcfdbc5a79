/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks, nodes and workers of a job. */
#include "steal/steal.h"

void eki_topology_destroy(struct eki_topology *topology)
{
    eki_free(topology);
}

/* What is broken in the arrays, which all ranks have. */
static const char *check_arrays(const struct eki_topology *topology)
{
    const int *first = topology->first_worker;
    if (first[0] != 0 || first[topology->size] != topology->workers)
        return "the workers of the ranks are not those of the job";
    for (int r = 0; r < topology->size; r++) {
        int node = topology->node_of_rank[r];
        if (first[r + 1] < first[r])
            return "a rank has less than no workers";
        if (node < 0 || node >= topology->nodes)
            return "a rank is on no node";
        if (r < topology->lowest_rank[node] || r > topology->highest_rank[node])
            return "a rank is outside of the ranks of its node";
    }
    for (int n = 0; n < topology->nodes; n++) {
        if (topology->node_of_rank[topology->lowest_rank[n]] != n ||
            topology->node_of_rank[topology->highest_rank[n]] != n)
            return "the first or last rank of a node is elsewhere";
    }
    return NULL;
}

/* What is broken in the view of its rank; O(highest - lowest rank of the
 * node). */
static const char *check_view(const struct eki_topology *view)
{
    const int *first = view->first_worker;
    int ranks = 0, workers = 0, ranks_before = 0, workers_before = 0;
    if (view->rank < 0 || view->rank >= view->size ||
        view->node != view->node_of_rank[view->rank])
        return "the rank of the view is not on its node";
    if (view->workers_here != first[view->rank + 1] - first[view->rank])
        return "the workers here are not those of the rank";
    for (int r = view->lowest_rank[view->node];
         r <= view->highest_rank[view->node]; r++) {
        bool is_ours = view->node_of_rank[r] == view->node;
        int its_workers = is_ours ? first[r + 1] - first[r] : 0;
        ranks += is_ours;
        workers += its_workers;
        ranks_before += is_ours && r < view->rank;
        workers_before += r < view->rank ? its_workers : 0;
    }
    if (view->node_ranks != ranks || view->node_workers != workers)
        return "the ranks or workers of the node are miscounted";
    if (view->node_index != ranks_before || view->node_first != workers_before)
        return "the place of the rank on its node is wrong";
    return NULL;
}

const char *eki_topology_check(const struct eki_topology *topology)
{
    const char *problem = check_arrays(topology);
    return problem ? problem : check_view(topology);
}

void eki_topology_view(const struct eki_topology *topology, int rank,
                       struct eki_topology *view)
{
    const int *first = topology->first_worker;
    int node = topology->node_of_rank[rank];
    *view = *topology;
    view->rank = rank;
    view->node = node;
    view->workers_here = first[rank + 1] - first[rank];
    view->node_workers = view->node_ranks = 0;
    for (int r = topology->lowest_rank[node]; r <= topology->highest_rank[node];
         r++) {
        if (topology->node_of_rank[r] != node)
            continue;
        if (r == rank) {
            view->node_index = view->node_ranks;
            view->node_first = view->node_workers;
        }
        view->node_ranks++;
        view->node_workers += first[r + 1] - first[r];
    }
    /* The arrays are those of TOPOLOGY, checked when it was made. */
    EKI_ASSERT_SLOW(check_view(view));
}

/* Memory for it, with its arrays behind it; NULL: there is none. */
static struct eki_topology *alloc_topology(int size, int nodes)
{
    size_t ranks = (size_t)size, ints = 2 * (ranks + (size_t)nodes) + 1;
    struct eki_topology *topology =
        eki_alloc(1, sizeof *topology + ints * sizeof(int));
    if (!topology)
        return NULL;
    topology->size = size;
    topology->nodes = nodes;
    topology->node_of_rank = (int *)(topology + 1);
    topology->first_worker = topology->node_of_rank + ranks;
    topology->lowest_rank = topology->first_worker + ranks + 1;
    topology->highest_rank = topology->lowest_rank + nodes;
    return topology;
}

ek_status eki_topology_create(int rank, int size, const int *workers,
                              const int *nodes, struct eki_topology **made)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count = nodes[r] >= count ? nodes[r] + 1 : count;
    struct eki_topology *topology = alloc_topology(size, count);
    if (!topology)
        return eki_error(EK_ERR_NOMEM, "no memory for the topology of %d ranks",
                         size);
    for (int r = 0; r < size; r++) {
        topology->node_of_rank[r] = nodes[r];
        topology->highest_rank[nodes[r]] = r;
        topology->first_worker[r + 1] = topology->workers += workers[r];
    }
    for (int r = size - 1; r >= 0; r--)
        topology->lowest_rank[nodes[r]] = r;
    eki_topology_view(topology, rank, topology);
    EKI_ASSERT_SLOW(eki_topology_check(topology));
    *made = topology;
    return EK_OK;
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
