/* SPDX-License-Identifier: BSD-3-Clause */
/* Queens: a task a placement, and below the cut-off one for all of them. */
#include "unfold_kind.h"

#include "workloads/queens.h"

#include <stdlib.h>

struct board {
    double cutoff;
    int n;
};

static bool read(const char *text, void *tree)
{
    static const struct unfold_key keys[] = {{"cutoff",
                                              offsetof(struct board, cutoff), 0,
                                              QUEENS_MOST, UNFOLD_WHOLE}};
    struct board *board = tree;
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || n < 1 || n > QUEENS_MOST ||
        (*end == ',' ? *++end == '\0' : *end != '\0'))
        return false;
    *board = (struct board){.n = (int)n, .cutoff = QUEENS_MOST};
    return unfold_read_keys(end, keys, sizeof keys / sizeof *keys, board);
}

static void root(const void *tree, void *node)
{
    (void)tree;
    *(struct queens_node *)node = queens_root();
}

static bool is_whole(const struct board *board, const struct queens_node *node)
{
    return node->row >= board->cutoff || node->row == board->n;
}

static double visit(const void *tree, const void *node, double node_ns,
                    struct unfold_sums *sums)
{
    const struct board *board = tree;
    const struct queens_node *from = node;
    struct queens_counts counts = {.nodes = 1};
    if (is_whole(board, from)) {
        counts.nodes = 0;
        queens_visit(board->n, from, &counts);
    }
    sums->depth = from->row > sums->depth ? from->row : sums->depth;
    sums->nodes += counts.nodes;
    sums->found += counts.solutions;
    return (double)counts.nodes * node_ns;
}

static void spawn(const void *tree, const void *node,
                  struct unfold_parent *parent)
{
    const struct board *board = tree;
    if (is_whole(board, node))
        return;
    uint32_t free = queens_free(board->n, node);
    while (free) {
        *(struct queens_node *)(void *)parent->child.node =
            queens_place(node, &free);
        if (!unfold_spawn(parent))
            return;
    }
}

const struct unfold_kind unfold_queens = {
    .name = "nqueens",
    .allowed = "N[,cutoff=C], N from 1 to 18, C from 0 to 18: from row C on "
               "one task visits everything below (18)",
    .nodes = "nodes",
    .found = "solutions",
    .node_bytes = sizeof(struct queens_node),
    .tree_bytes = sizeof(struct board),
    .node_ns = 5,
    .read = read,
    .root = root,
    .visit = visit,
    .spawn = spawn};
