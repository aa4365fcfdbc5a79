/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP tasks without a join: the barrier of the region waits for all. */
#include "tools/peers/peer.h"

#include <omp.h>

static struct peer_count counts[PEER_WORKERS_MOST];
static int threads;

void peer_start(int workers)
{
    threads = workers;
}

static void visit(const struct uts_tree *tree, const struct uts_node *node)
{
    int32_t children = uts_children(tree, node);
    struct uts_parent parent;
    counts[omp_get_thread_num()].count++;
    if (children == 0)
        return;
    uts_open(node, &parent);
    for (int32_t i = 0; i < children; i++) {
        struct uts_node child;
        uts_child(tree, &parent, i, &child);
#pragma omp task default(none) firstprivate(tree, child)
        visit(tree, &child);
    }
}

static void place(int n, const struct queens_node *node)
{
    uint32_t free = queens_free(n, node);
    if (node->row == n) {
        counts[omp_get_thread_num()].count++;
        return;
    }
    while (free) {
        struct queens_node child = queens_place(node, &free);
#pragma omp task default(none) firstprivate(n, child)
        place(n, &child);
    }
}

int64_t peer_count(const struct peer_problem *problem)
{
#pragma omp parallel num_threads(threads) default(none) shared(problem)
#pragma omp single
    if (problem->is_uts) {
        struct uts_node root;
        uts_root(&problem->tree, &root);
        visit(&problem->tree, &root);
    } else {
        struct queens_node root = queens_root();
        place(problem->rows, &root);
    }
    return peer_sum(counts);
}

void peer_stop(void)
{
}
