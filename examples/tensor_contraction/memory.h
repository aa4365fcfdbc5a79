/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a contraction fits: how much memory it wants and how much there is.
 */
#ifndef TENSOR_CONTRACTION_MEMORY_H
#define TENSOR_CONTRACTION_MEMORY_H

#include "contraction.h"

/** Read a size such as "500M" or "24G", powers of 1,024 bytes. */
bool memory_read(const char *text, double *bytes, struct message *message);

/** Bytes of the three tensors. */
double memory_of_tensors(const struct contraction *contraction);

/**
 * Refuse what does not fit.
 *
 * @param[in] rank_bytes  What this rank wants beside its share of the tensors.
 * @param[in] limit       Bytes for each rank; 0: what the node has, shared by
 *                        its ranks.
 *
 * @return false with a message, which says how many ranks would do.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
bool memory_check(const struct contraction *contraction, double rank_bytes,
                  double limit, struct message *message);

#endif
