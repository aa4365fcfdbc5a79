/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tensors of a contraction as matrices: C is one of ROLE_A times ROLE_B, A
 * of ROLE_A times ROLE_CONTRACTED, B of ROLE_CONTRACTED times ROLE_B.
 *
 * All indices of a role are one then, the last one fastest.
 */
#ifndef TENSOR_CONTRACTION_MATRIX_H
#define TENSOR_CONTRACTION_MATRIX_H

#include "contraction.h"

/** Rows or columns. */
struct side {
    int64_t entries;
    int64_t stride[INDICES_MAX]; /* of each index; 0: of another role */
};

struct side side_of(const struct contraction *contraction, enum role role);

struct matrix {
    const struct term *term;
    const struct tensor *tensor;
    struct side rows, columns;
};

struct matrix matrix_c(const struct contraction *contraction);
struct matrix matrix_a(const struct contraction *contraction);
struct matrix matrix_b(const struct contraction *contraction);

/** A tile, a run of entries of its last index at a time. */
struct walk {
    int rank;
    int64_t width[RANK_MAX], at[RANK_MAX];
    int64_t row_stride[RANK_MAX], column_stride[RANK_MAX];
    int64_t row, column;           /* of the first entry of the run ... */
    int64_t run;                   /* ... its entries ... */
    int64_t next_row, next_column; /* ... and from one to the next */
};

struct walk walk_begin(const struct matrix *matrix, int64_t tile);

/** Go on to the next run; false: there is none. */
bool walk_next(struct walk *walk);

#endif
