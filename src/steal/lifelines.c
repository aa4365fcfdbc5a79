/* SPDX-License-Identifier: BSD-3-Clause */
#include "steal/lifelines.h"

/* Each digit of PLACE lowered by one, and on, until there is such a place;
 * without another one the digit has no lifeline. */
static int lower_digits(int radix, int places, int place, int *victims)
{
    int count = 0;
    for (int64_t unit = 1; unit < places; unit *= radix) {
        int64_t digit = place / unit % radix, lower = digit, victim;
        do {
            lower = (lower + radix - 1) % radix;
            victim = place + (lower - digit) * unit;
        } while (victim >= places);
        if (victim != place)
            victims[count++] = (int)victim;
    }
    return count;
}

int eki_lifelines(const struct eki_lifeline_option *option, int places,
                  int place, int *victims)
{
    enum {
        FEW_PLACES = 64 /* up to which lifelines to log2 of them are few, too */
    };
    int graph = option->graph, count = 0;
    if (graph == EKI_GRAPH_AUTO)
        graph = places <= FEW_PLACES ? EKI_GRAPH_OFFSETS : EKI_GRAPH_HYPERCUBE;
    if (graph == EKI_GRAPH_HYPERCUBE)
        return lower_digits((int)option->radix, places, place, victims);
    int64_t end = graph == EKI_GRAPH_RING && places > 1 ? 2 : places;
    for (int64_t step = 1; step < end; step *= 2) {
        int64_t victim =
            graph == EKI_GRAPH_XOR ? place ^ step : (place + step) % places;
        if (victim < places)
            victims[count++] = (int)victim;
    }
    return count;
}
