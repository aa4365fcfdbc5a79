/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many tasks are not null, and how fast Evenkeel gets rid of the others;
 * with a record, how long each would take, too.
 */
#ifndef HF_BE_COUNT_H
#define HF_BE_COUNT_H

#include "fock.h"
#include "tally.h"

/** What is recorded. */
struct count_record {
    const char *file;   /* NULL: nothing */
    double integral_ns; /* what an integral takes, ... */
    double test_ns;     /* ... and what a test takes whether it matters */
};

/** What a count came to, on all ranks. */
struct count {
    int64_t tasks;
    int64_t non_null;
    int workers;
    double rate; /* tasks/s per worker */

    /* With a record; 0 without: */
    struct tally_sum sum; /* of all tasks */
    double longest_ns;    /* task */
};

/**
 * Run all tasks once; they discard themselves, or do nothing but say how long
 * they would take.
 *
 * Needs no matrix: memory is O(T^2), the tasks that are not null and, for a
 * record, the bounds that matter.
 *
 * Call: Collective over the ranks of @p setup.
 */
ek_status count_tasks(const struct job_setup *setup, const struct chain *chain,
                      const struct fock_options *options,
                      const struct count_record *record, struct count *count);

/** How long @p sum takes. */
double count_ns(const struct count_record *record, struct tally_sum sum);

#endif
