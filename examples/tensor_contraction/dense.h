/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C without tiles: a dense matrix product for each label, on rank 0.
 */
#ifndef TENSOR_CONTRACTION_DENSE_H
#define TENSOR_CONTRACTION_DENSE_H

#include "contraction.h"

#include <evenkeel_tiles.h>

/** The larger of two errors; what is no number is an infinite one. */
double larger_error(double one, double other);

/** Bytes that rank 0 takes for it. */
double dense_bytes(const struct contraction *contraction);

/**
 * Compare each entry of a store with @p factor times that of A B.
 *
 * @param[out] error  The largest difference beside the root mean square that
 *                    entries have; the same on all ranks.
 *
 * Call: Collective over MPI_COMM_WORLD; no iteration is open.
 */
ek_status dense_compare(const struct contraction *contraction, ek_tiles *c,
                        double factor, double *error);

#endif
