/* SPDX-License-Identifier: BSD-3-Clause */
/* The sequential visit, and what is known. */
#include "workloads/queens.h"

void queens_visit(int n, const struct queens_node *node,
                  struct queens_counts *counts)
{
    counts->nodes++;
    if (node->row == n) {
        counts->solutions++;
        return;
    }
    uint32_t free = queens_free(n, node);
    while (free) {
        struct queens_node child = queens_place(node, &free);
        queens_visit(n, &child, counts);
    }
}

/* OEIS A000170. */
int64_t queens_solutions(int n)
{
    static const int64_t known[QUEENS_MOST + 1] = {
        1,      1,       0,        0,        2,        10,    4,
        40,     92,      352,      724,      2680,     14200, 73712,
        365596, 2279184, 14772512, 95815104, 666090624};
    return n >= 0 && n <= QUEENS_MOST ? known[n] : -1;
}
