/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many tasks are not null, and what there is to do: operations and bytes,
 * and how long they would take, also in a record.
 */
#ifndef TENSOR_CONTRACTION_COUNT_H
#define TENSOR_CONTRACTION_COUNT_H

#include "common/job.h"
#include "contraction.h"

/** How long tasks would take. */
struct count_cost {
    double flop_ns; /* what an operation takes, ... */
    double byte_ns; /* ... and what a byte that is got or accumulated */
};

/**
 * Count and print; as count_run().
 *
 * Needs no tensor: memory is that of the tasks that are not null.
 */
int count_tasks(const struct job_setup *setup,
                const struct contraction *contraction,
                const struct count_cost *cost);

#endif
