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
