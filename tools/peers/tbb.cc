/* SPDX-License-Identifier: BSD-3-Clause */
/* oneTBB: a task_group per node, which waits for its children. */
#include <math.h>
#include <memory>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "tools/peers/peer.h"

static struct peer_count counts[PEER_WORKERS_MOST];
static std::unique_ptr<tbb::global_control> threads;
static std::unique_ptr<tbb::task_arena> arena;

static void count_one()
{
    counts[tbb::this_task_arena::current_thread_index()].count++;
}

void peer_start(int workers)
{
    /* Otherwise there are no more than cores. */
    threads.reset(new tbb::global_control(
        tbb::global_control::max_allowed_parallelism, workers));
    arena.reset(new tbb::task_arena(workers));
}

static void visit(const struct uts_tree *tree, const struct uts_node &node)
{
    int32_t children = uts_children(tree, &node);
    count_one();
    if (children == 0)
        return;
    struct uts_parent parent;
    tbb::task_group group;
    uts_open(&node, &parent);
    for (int32_t i = 0; i < children; i++) {
        struct uts_node child;
        uts_child(tree, &parent, i, &child);
        group.run([tree, child] { visit(tree, child); });
    }
    group.wait();
}

static void place(int n, const struct queens_node &node)
{
    if (node.row == n) {
        count_one();
        return;
    }
    uint32_t free = queens_free(n, &node);
    if (free == 0)
        return;
    tbb::task_group group;
    while (free) {
        struct queens_node child = queens_place(&node, &free);
        group.run([n, child] { place(n, child); });
    }
    group.wait();
}

int64_t peer_count(const struct peer_problem *problem)
{
    arena->execute([problem] {
        if (problem->is_uts) {
            struct uts_node root;
            uts_root(&problem->tree, &root);
            visit(&problem->tree, root);
        } else {
            place(problem->rows, queens_root());
        }
    });
    return peer_sum(counts);
}

void peer_stop(void)
{
    arena.reset();
    threads.reset();
}
