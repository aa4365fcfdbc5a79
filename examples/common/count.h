/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job whose tasks do not do their work: they say whether they are null, and
 * how much there would be to do.
 *
 * How much is counted in units of two kinds of work; what a unit of each takes
 * is how long a task would run, in a record as well.
 */
#ifndef COMMON_COUNT_H
#define COMMON_COUNT_H

#include "common/job.h"

enum {
    COUNT_KINDS = 2
};

/** Work of a task, or of all. */
struct count_work {
    int64_t units[COUNT_KINDS];
};

/** What is counted. */
struct count_options {
    const char *function; /* what the tasks do, in a record */
    int64_t total;        /* tasks, numbered 0 ... total - 1 */
    ek_task_fn *task;     /* discards null tasks; count_add() for others */
    void *context;        /* of @p task; borrowed */

    bool has_work;                  /* count_add() is called */
    const char *kinds[COUNT_KINDS]; /* names of the units */
    double unit_ns[COUNT_KINDS];    /* what one of them takes */
};

/** Say how much the running task would have to do. */
void count_add(ek_worker *worker, const struct count_work *work);

/**
 * Run all tasks once, and print how many are not null, how fast they were
 * gone through, and how much there is to do; a record of @p setup says how
 * long each would take.
 *
 * @return how the program ends.
 *
 * Call: Collective over the ranks of @p setup.
 */
int count_run(const struct job_setup *setup,
              const struct count_options *options);

#endif
