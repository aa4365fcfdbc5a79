/* SPDX-License-Identifier: BSD-3-Clause */
/* Queens have as many solutions as others have counted; producers and
 * consumers are as many as they say. */
#include "../unit/check.h"
#include "workloads/bouncing.h"
#include "workloads/queens.h"

static void small_boards_have_their_solutions(void)
{
    static const int64_t known[] = {1,  1,  0,   0,   2,    10,   4,
                                    40, 92, 352, 724, 2680, 14200};
    const struct queens_node root = queens_root();
    for (int n = 1; n <= 12; n++) {
        struct queens_counts counts = {0};
        queens_visit(n, &root, &counts);
        CHECK_EQ_INT(counts.solutions, known[n]);
        CHECK_EQ_INT(queens_solutions(n), known[n]);
    }
    CHECK_EQ_INT(queens_solutions(18), 666090624);
    CHECK_EQ_INT(queens_solutions(19), -1);
}

/* What tasks do below a placement, one by one, is what a visit of it counts. */
static void placements_are_visited_one_by_one(void)
{
    const struct queens_node root = queens_root();
    struct queens_counts whole = {0}, parts = {.nodes = 1};
    uint32_t free = queens_free(9, &root);
    int children = 0;
    for (; free; children++) {
        struct queens_node child = queens_place(&root, &free);
        CHECK_EQ_INT(child.row, 1);
        queens_visit(9, &child, &parts);
    }
    queens_visit(9, &root, &whole);
    CHECK_EQ_INT(children, 9);
    CHECK_EQ_INT(parts.nodes, whole.nodes);
    CHECK_EQ_INT(parts.solutions, 352);
}

/* Producers of a tree of that depth, the next one before the consumers. */
static void producers_bounce(void)
{
    const struct bouncing bpc = {.consumers = 3, .depth = 4};
    struct bouncing_node node = bouncing_root(&bpc);
    int64_t tasks = 1;
    for (int64_t left = 4; left > 0; left--) {
        int64_t children = bouncing_children(&bpc, &node);
        CHECK_EQ_INT(node.left, left);
        CHECK_EQ_INT(children, left > 1 ? 4 : 3);
        for (int64_t i = left > 1; i < children; i++) {
            struct bouncing_node consumer = bouncing_child(&node, i);
            CHECK_EQ_INT(bouncing_children(&bpc, &consumer), 0);
        }
        tasks += children;
        node = bouncing_child(&node, 0);
    }
    CHECK_EQ_INT(tasks, 16);
    CHECK_EQ_INT(bouncing_tasks(&bpc), 16);
}

int main(void)
{
    RUN(small_boards_have_their_solutions);
    RUN(placements_are_visited_one_by_one);
    RUN(producers_bounce);
    return check_result();
}
