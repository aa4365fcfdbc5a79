/* SPDX-License-Identifier: BSD-3-Clause */
#include "count/count.h"

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
