/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of saves: the first ranks of the job save, or load. */
#ifndef SOME_H
#define SOME_H

#include "job.h"

static MPI_Comm some; /* the ranks that save, or load */
static bool is_in;    /* this one is among them */

static int savers(void)
{
    return job_size < 3 ? job_size : 3;
}

/* The first N ranks do what follows. */
static void take_ranks(int n)
{
    is_in = job_rank < n;
    MPI_Comm_split(MPI_COMM_WORLD, is_in, job_rank, &some);
}

static void leave_ranks(ek_collection **tasks)
{
    ek_destroy(tasks);
    MPI_Comm_free(&some);
}

/* This must fail on all ranks that are in it, and say PART. */
#define FAILS(call, status, part)                      \
    do {                                               \
        JOB_STATUS(is_in ? (call) : (status), status); \
        if (is_in)                                     \
            CHECK_HAS_TEXT(ek_error_message(), part);  \
        MPI_Barrier(MPI_COMM_WORLD);                   \
    } while (0)

#endif
