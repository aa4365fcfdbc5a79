/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a contraction: get tiles, multiply them, add the result to C.
 *
 * While one pair of tiles is multiplied the next ones are on their way.
 */
#ifndef TENSOR_CONTRACTION_TASK_H
#define TENSOR_CONTRACTION_TASK_H

#include "common/job.h"
#include "kernel.h"
#include "operands.h"

enum {
    PREFETCH_MAX = 7 /* with the pair itself the 16 transfers of a worker */
};

/** How tasks are run. */
struct task_options {
    int prefetch;         /* pairs on their way while one is multiplied */
    bool has_owner_start; /* a task starts where its tile of C is */
};

/** Tasks over the stores of a contraction. */
struct tensor_job {
    struct job job;
    struct kernel kernel;
    const struct contraction *contraction;
    const struct operands *operands;
    int pairs; /* of tiles that a worker has room for */
};

/**
 * Make a job; null tasks are discarded when they run.
 *
 * @param[out] job  To be closed, also on failure.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
ek_status tensor_job_open(const struct job_setup *setup,
                          const struct contraction *contraction,
                          const struct operands *operands,
                          const struct task_options *options,
                          struct tensor_job *job);
void tensor_job_close(struct tensor_job *job);

/** Bytes of the buffers of a worker. */
int64_t tensor_job_bytes(const struct contraction *contraction,
                         const struct task_options *options);

#endif
