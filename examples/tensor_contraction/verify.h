/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether C is what it must be.
 *
 * By a vector: C x = A (B x) for a random x over the indices of C and B.  It
 * costs about as many operations as there are entries, and no rank needs more
 * than its own tiles and four vectors.  Or by a reference that knows no tiles:
 * rank 0 multiplies a dense matrix for each label, and compares every entry.
 * Both make the entries of A and B from their indices, whatever the stores say.
 */
#ifndef TENSOR_CONTRACTION_VERIFY_H
#define TENSOR_CONTRACTION_VERIFY_H

#include "operands.h"

enum verify {
    VERIFY_VECTOR,
    VERIFY_DENSE,
    VERIFY_NONE
};

/** A larger relative error is no rounding. */
#define VERIFY_ERROR_MAX 1e-12

/** Bytes that a check takes on rank 0, or on each rank. */
double verify_bytes(const struct contraction *contraction, enum verify how);

/**
 * Compare C with a multiple of A B.
 *
 * @param[in]  factor  How many times A B has been added to C.
 * @param[out] error   The largest difference of an entry of C x, or of C,
 *                     beside the root mean square that such entries have; the
 *                     same on all ranks.
 *
 * Call: Collective over MPI_COMM_WORLD; no iteration is open.
 */
ek_status verify_run(const struct contraction *contraction,
                     const struct operands *operands, enum verify how,
                     double factor, double *error);

#endif
