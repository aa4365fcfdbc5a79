/* SPDX-License-Identifier: BSD-3-Clause */
/* Lace: tasks on the stack of their worker, joined in reverse order. */
#include "tools/peers/peer.h"

#include <lace.h>

TASK_2(int64_t, visit, const struct uts_tree *, tree, struct uts_node, node)
{
    int32_t children = uts_children(tree, &node);
    int64_t count = 1;
    if (children == 0)
        return count;
    struct uts_parent parent;
    uts_open(&node, &parent);
    for (int32_t i = 0; i < children; i++) {
        struct uts_node child;
        uts_child(tree, &parent, i, &child);
        SPAWN(visit, tree, child);
    }
    for (int32_t i = 0; i < children; i++)
        count += SYNC(visit);
    return count;
}

TASK_2(int64_t, place, int, n, struct queens_node, node)
{
    if (node.row == n)
        return 1;
    uint32_t free = queens_free(n, &node);
    int64_t count = 0;
    int children = 0;
    for (; free; children++) {
        struct queens_node child = queens_place(&node, &free);
        SPAWN(place, n, child);
    }
    while (children-- > 0)
        count += SYNC(place);
    return count;
}

void peer_start(int workers)
{
    lace_start((unsigned)workers, 0);
}

int64_t peer_count(const struct peer_problem *problem)
{
    if (problem->is_uts) {
        struct uts_node root;
        uts_root(&problem->tree, &root);
        return RUN(visit, &problem->tree, root);
    }
    return RUN(place, problem->rows, queens_root());
}

void peer_stop(void)
{
    lace_stop();
}
