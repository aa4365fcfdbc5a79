/* SPDX-License-Identifier: BSD-3-Clause */
#include "positions.h"

struct positions positions_make(const struct workload *workload, int64_t nulls)
{
    int64_t count = workload->count;
    struct positions positions = {.count = count, .total = count + nulls};
    /* Other numbers of null tasks leave no room for the ids, or gaps. */
    if (workload->ids && nulls == workload->nulls)
        positions.ids = workload->ids;
    return positions;
}

int64_t positions_of(const struct positions *positions, int64_t k)
{
    if (positions->ids)
        return positions->ids[k];
    return (int64_t)((__int128)k * positions->total / positions->count);
}

int64_t positions_find(const struct positions *positions, int64_t position)
{
    int64_t count = positions->count, total = positions->total;
    if (!positions->ids)
        return (int64_t)(((__int128)position * count + total - 1) / total);
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (positions->ids[middle] < position)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}
