/* SPDX-License-Identifier: BSD-3-Clause */
#include "steal/lifelines.h"

/* Each digit of NODE lowered by one, and on, until there is such a node;
 * without another one the digit has no lifeline. */
static int lower_digits(int radix, int nodes, int node, int *victims)
{
    int count = 0;
    for (int64_t unit = 1; unit < nodes; unit *= radix) {
        int64_t digit = node / unit % radix, lower = digit, victim;
        do {
            lower = (lower + radix - 1) % radix;
            victim = node + (lower - digit) * unit;
        } while (victim >= nodes);
        if (victim != node)
            victims[count++] = (int)victim;
    }
    return count;
}

int eki_lifelines(const struct eki_lifeline_option *option, int nodes, int node,
                  int *victims)
{
    enum {
        FEW_NODES = 64 /* up to which lifelines to log2 of them are few, too */
    };
    int graph = option->graph, count = 0;
    if (graph == EKI_GRAPH_AUTO)
        graph = nodes <= FEW_NODES ? EKI_GRAPH_OFFSETS : EKI_GRAPH_HYPERCUBE;
    if (graph == EKI_GRAPH_HYPERCUBE)
        return lower_digits((int)option->radix, nodes, node, victims);
    int64_t end = graph == EKI_GRAPH_RING && nodes > 1 ? 2 : nodes;
    for (int64_t step = 1; step < end; step *= 2) {
        int64_t victim =
            graph == EKI_GRAPH_XOR ? node ^ step : (node + step) % nodes;
        if (victim < nodes)
            victims[count++] = (int)victim;
    }
    return count;
}
