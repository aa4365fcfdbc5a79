/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many tasks are not null, and how fast Evenkeel gets rid of the others;
 * with a record, how long each would take, too.
 */
#ifndef HF_BE_COUNT_H
#define HF_BE_COUNT_H

#include "chain.h"
#include "fock.h"

/** How long tasks would take, for a record. */
struct count_cost {
    double integral_ns; /* what an integral takes, ... */
    double test_ns;     /* ... and what a test takes whether it matters */
};

/**
 * Count and print; as count_run().
 *
 * Needs no matrix: memory is O(T^2), the tasks that are not null and, for a
 * record, the bounds that matter.
 */
int count_tasks(const struct job_setup *setup, const struct chain *chain,
                const struct fock_options *options,
                const struct count_cost *cost);

#endif
