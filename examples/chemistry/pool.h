/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pooling by hand, as chemistry codes without a library do it: columns go from
 * ranks with much to do to others by MPI_Alltoallv(), are integrated in a
 * parallel loop, and return by a second one.  What columns took in the last
 * hour says who gives what.
 */
#ifndef CHEMISTRY_POOL_H
#define CHEMISTRY_POOL_H

#include "common/figures.h"
#include "hour.h"

struct pool {
    struct field *field;
    int workers;    /* threads of this rank */
    int size;       /* ranks */
    double *costs;  /* [columns] seconds in the last hour; 0: none yet */
    int *runners;   /* [columns] ranks that integrate them in this hour */
    int *counts[2]; /* [size] doubles to send and to receive ... */
    int *starts[2]; /* [size + 1] ... and where */
    double *buffers[2];
    double first_work_s; /* seconds of all columns in the first hour */
};

/** @param[out] pool  To be freed; it borrows @p field. */
void pool_make(struct field *field, int workers, struct pool *pool);
void pool_free(struct pool *pool);

/**
 * The chemistry of an hour.
 *
 * @param[out] figures  What it knows: tasks, workers, seconds and bytes.
 *
 * @return 0, or on all ranks what CVODE returned on one.
 *
 * Call: Collective.
 */
int pool_run(struct pool *pool, const struct hour *hour,
             struct figures *figures);

#endif
