/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many tasks are not null, and how fast Evenkeel gets rid of the others.
 */
#ifndef HF_BE_COUNT_H
#define HF_BE_COUNT_H

#include "fock.h"

/** What a count came to, on all ranks. */
struct count {
    int64_t tasks;
    int64_t non_null;
    int workers;
    double rate; /* tasks/s per worker */
};

/**
 * Run all tasks once; they discard themselves or do nothing.
 *
 * Needs no matrix: memory is O(T^2) and the tasks that are not null.
 *
 * Call: Collective over the ranks of @p setup.
 */
ek_status count_tasks(const struct job_setup *setup, const struct chain *chain,
                      const struct fock_options *options, struct count *count);

#endif
