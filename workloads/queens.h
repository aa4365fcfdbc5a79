/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ways to place N queens on a board of N rows so that none attacks another,
 * row by row: a node is the rows that are filled.
 *
 * Threads: any.
 */
#ifndef WORKLOADS_QUEENS_H
#define WORKLOADS_QUEENS_H

#include <stdint.h>

enum {
    QUEENS_MOST = 18 /* rows */
};

/* The payload of a task: what is attacked in the next row, a bit a column. */
struct queens_node {
    uint32_t columns, left, right;
    int32_t row; /* rows that are filled */
};

static inline struct queens_node queens_root(void)
{
    return (struct queens_node){0, 0, 0, 0};
}

/* Columns of the next row of N that are free; 0: no way on, or all is filled.
 */
static inline uint32_t queens_free(int n, const struct queens_node *node)
{
    return ~(node->columns | node->left | node->right) & ((1u << n) - 1);
}

/* Put a queen into the lowest of the FREE columns, and take it from them. */
static inline struct queens_node queens_place(const struct queens_node *node,
                                              uint32_t *free)
{
    uint32_t bit = *free & -*free;
    *free ^= bit;
    return (struct queens_node){node->columns | bit, (node->left | bit) << 1,
                                (node->right | bit) >> 1, node->row + 1};
}

struct queens_counts {
    int64_t nodes; /* placements, and the root */
    int64_t solutions;
};
/* Visit NODE and all below, and add what they come to. */
void queens_visit(int n, const struct queens_node *node,
                  struct queens_counts *counts);

/* Solutions of N rows, as published; -1: N is beyond QUEENS_MOST. */
int64_t queens_solutions(int n);

#endif
