/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of tasks alone, and a histogram of times in quarter octaves. */
#include "count/count.h"

#include <math.h>

enum {
    FIRST_OCTAVE = 4,
    PER_OCTAVE = 4
};

static int bin_of(uint64_t ns)
{
    if (ns < 1u << FIRST_OCTAVE)
        return 0;
    int octave = 63 - __builtin_clzll(ns);
    int quarter = (int)(ns >> (octave - 2)) & 3;
    int bin = (octave - FIRST_OCTAVE) * PER_OCTAVE + quarter;
    return bin < EKI_HISTOGRAM_BINS ? bin : EKI_HISTOGRAM_BINS - 1;
}

void eki_histogram_add(struct eki_histogram *histogram, uint64_t ns)
{
    histogram->bins[bin_of(ns)]++;
}

double eki_histogram_quantile(const struct eki_histogram *histogram, double q)
{
    int64_t total = 0, seen = 0;
    for (int bin = 0; bin < EKI_HISTOGRAM_BINS; bin++)
        total += histogram->bins[bin];
    if (total == 0)
        return 0;
    int bin = 0;
    for (; bin < EKI_HISTOGRAM_BINS - 1; bin++) {
        seen += histogram->bins[bin];
        if ((double)seen >= q * (double)total)
            break;
    }
    int octave = bin / PER_OCTAVE + FIRST_OCTAVE;
    return ldexp(1.0 + (bin % PER_OCTAVE + 0.5) / PER_OCTAVE, octave) * 1e-9;
}

uint64_t eki_work_ns(const struct eki_counts *counts,
                     const struct eki_handling *handling)
{
    int64_t indices = counts->indices;
    int64_t nulls = counts->nulls < indices ? counts->nulls : indices;
    double handled_ns = (double)(counts->tasks - indices) * handling->task_ns +
                        (double)counts->batches * handling->batch_ns +
                        (double)(indices - nulls) * handling->index_ns +
                        (double)nulls * handling->null_ns;
    uint64_t work_ns = counts->work_ns;
    return handled_ns < (double)work_ns ? work_ns - (uint64_t)handled_ns : 0;
}

/* The figures that are sums; times as the parts would have followed each
 * other. */
static void add_sums(struct eki_counts *counts,
                     const struct eki_counts *earlier)
{
    counts->tasks += earlier->tasks;
    counts->nulls += earlier->nulls;
    counts->spawned += earlier->spawned;
    counts->failed += earlier->failed;
    counts->tries += earlier->tries;
    counts->steals += earlier->steals;
    counts->stolen += earlier->stolen;
    counts->work_ns += earlier->work_ns;
    counts->search_ns += earlier->search_ns;
    counts->stealing_ns += earlier->stealing_ns;
    counts->end_ns += earlier->end_ns;
    counts->before_ns += earlier->before_ns;
    counts->now_ns += earlier->now_ns;
    counts->null_ns += earlier->null_ns;
    counts->cpu_ns += earlier->cpu_ns;
    counts->starved_ns += earlier->starved_ns;
    counts->held_ns += earlier->held_ns;
    counts->batches += earlier->batches;
    counts->indices += earlier->indices;
    counts->tile_gets += earlier->tile_gets;
    counts->tile_hits += earlier->tile_hits;
    counts->tile_bytes += earlier->tile_bytes;
    counts->tile_wait_ns += earlier->tile_wait_ns;
    counts->data_wait_ns += earlier->data_wait_ns;
}

void eki_counts_add(struct eki_counts *counts, const struct eki_counts *earlier)
{
    uint64_t stayed = earlier->done_ns - earlier->first_ns;
    add_sums(counts, earlier);
    if (counts->first_steal_ns != 0)
        counts->first_steal_ns += stayed;
    if (earlier->first_steal_ns != 0)
        counts->first_steal_ns = earlier->first_steal_ns;
    counts->first_ns -= stayed;
    if (earlier->deepest_bytes > counts->deepest_bytes)
        counts->deepest_bytes = earlier->deepest_bytes;
    if (earlier->largest_ns <= counts->largest_ns)
        return;
    counts->largest_ns = earlier->largest_ns;
    counts->largest_id = earlier->largest_id;
    counts->largest_function = earlier->largest_function;
}

void eki_histogram_join(struct eki_histogram *histogram,
                        const struct eki_histogram *earlier)
{
    for (int bin = 0; bin < EKI_HISTOGRAM_BINS; bin++)
        histogram->bins[bin] += earlier->bins[bin];
}
