/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of the pigeonhole: of the k W + 1 longest tasks some worker has
 * k + 1, and no less than the shortest k + 1 of them.  It decides where tasks
 * are few and of like length: 500 equal ones on 480 workers.
 */
#include "balance/balance.h"
#include "task/task.h"

_Static_assert(EKI_SIZES == EKI_BIN_COUNT / EKI_SIZE_BINS + 1,
               "every duration has a class");

void eki_sizes_add(struct eki_sizes *sizes, eki_ns ns)
{
    eki_sizes_merge(sizes, eki_bin_of((uint64_t)ns) / EKI_SIZE_BINS, 1, ns);
}

void eki_sizes_merge(struct eki_sizes *sizes, int size, int64_t count,
                     eki_ns shortest)
{
    if (sizes->counts[size] == 0 || shortest < sizes->shortest[size])
        sizes->shortest[size] = shortest;
    sizes->counts[size] += count;
}

/* The shortest COUNT of LEFT tasks of class SIZE and all longer ones: no less
 * than this. */
static eki_ns sum_shortest(const struct eki_sizes *sizes, int size,
                           int64_t left, int64_t count)
{
    eki_ns sum = 0;
    while (count > 0) {
        int64_t n = left < count ? left : count;
        sum += n * sizes->shortest[size];
        count -= n;
        do
            size++;
        while (count > 0 && sizes->counts[size] == 0);
        left = sizes->counts[size];
    }
    return sum;
}

eki_ns eki_sizes_bound(const struct eki_sizes *sizes, int64_t workers)
{
    int size = EKI_SIZES;
    int64_t longer = 0, above = 0; /* tasks from SIZE on, and beyond it */
    eki_ns most = 0;
    for (int64_t k = 1; k <= EKI_CROWD; k++) {
        while (longer < k * workers + 1 && size > 0) {
            above = longer;
            longer += sizes->counts[--size];
        }
        if (longer < k * workers + 1)
            break;
        eki_ns sum = sum_shortest(sizes, size, k * workers + 1 - above, k + 1);
        most = sum > most ? sum : most;
    }
    return most;
}
