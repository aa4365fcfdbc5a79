/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same work without Evenkeel, to be compared with: a static loop over the
 * tiles of C, and one matrix product of as many operations.
 */
#ifndef TENSOR_CONTRACTION_PLAIN_H
#define TENSOR_CONTRACTION_PLAIN_H

#include "contraction.h"

/** Bytes that a rank takes for either, at most. */
double plain_bytes(const struct contraction *contraction);

/**
 * Compute C, each thread of each rank an equal share of its tiles.
 *
 * All tiles of A and B lie in the memory of each rank, and those of C with who
 * computes them.
 *
 * @param[in]  threads  Of this rank.
 * @param[out] seconds  Of the slowest rank, tiles being there.
 * @param[out] norm     Of C.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
void plain_loop(const struct contraction *contraction, int threads,
                double *seconds, double *norm);

/**
 * Multiply two square matrices on rank 0, while the others sleep.
 *
 * @param[in]  flop     Operations; the time of the largest matrices that fit
 *                      1.5 GiB is scaled to more.
 * @param[in]  threads  Of BLAS.
 * @param[out] seconds  The same on all ranks.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
void plain_product(double flop, int threads, double *seconds);

#endif
