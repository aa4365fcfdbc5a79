/* SPDX-License-Identifier: BSD-3-Clause */
/* What one worker needs without tasks. */
#include "tools/peers/peer.h"

void peer_start(int workers)
{
    (void)workers;
}

int64_t peer_count(const struct peer_problem *problem)
{
    if (problem->is_uts) {
        struct uts_counts counts = {0};
        struct uts_node root;
        uts_root(&problem->tree, &root);
        return uts_visit(&problem->tree, &root, &counts) ? counts.nodes : -1;
    }
    struct queens_counts counts = {0};
    struct queens_node root = queens_root();
    queens_visit(problem->rows, &root, &counts);
    return counts.solutions;
}

void peer_stop(void)
{
}
