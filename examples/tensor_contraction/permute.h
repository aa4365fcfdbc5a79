/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another order of the indices of a dense block.
 */
#ifndef TENSOR_CONTRACTION_PERMUTE_H
#define TENSOR_CONTRACTION_PERMUTE_H

#include "expression.h"

#include <stdint.h>

/**
 * Copy a block with its indices in another order; the last one is the fastest.
 *
 * @param[in]  rank   1 ... RANK_MAX.
 * @param[in]  width  [rank] of the indices of @p from.
 * @param[in]  order  [rank]: index d of @p to is index order[d] of @p from.
 */
void permute(int rank, const int64_t *width, const int *order,
             const double *from, double *to);

#endif
