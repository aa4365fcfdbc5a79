/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of dense tiles: permutations, and products of matrices by BLAS or
 * libxsmm.
 *
 * The indices that C shares with A are the rows of a matrix, those that it
 * shares with B its columns, and the contracted ones are summed over.  Their
 * order, and whether a matrix is transposed, is chosen so that the fewest
 * entries are permuted.  BLAS and libxsmm run on the calling thread.
 */
#ifndef TENSOR_CONTRACTION_KERNEL_H
#define TENSOR_CONTRACTION_KERNEL_H

#include "contraction.h"

/** A tensor as a matrix. */
struct matrix_order {
    int rank;
    int index[RANK_MAX]; /* numbers, in the order of the tensor */
    bool is_permuted;    /* or else the orders are the same */
    bool is_transposed;  /* the matrix has its second group first */
    int order[RANK_MAX]; /* as permute() wants it: from the tensor to the
                            matrix, of C the other way round */
};

/** How the tiles of a contraction are multiplied. */
struct kernel {
    const struct contraction *contraction;
    struct matrix_order c, a, b; /* groups: rows and columns, rows and
                                    contracted, contracted and columns */
};

/** BLAS uses no threads of its own from now on. */
void kernel_start(void);

/** The better multiplier of those that this program was built with. */
enum multiplier kernel_multiplier(void);

void kernel_make(const struct contraction *contraction, struct kernel *kernel);

/** Room for a product, of one thread. */
struct kernel_room {
    double *a, *b; /* permuted; NULL: they are not */
    double *sum;   /* the matrix of C */
    double *c;     /* permuted; NULL: it is not */
};

void kernel_room_make(const struct kernel *kernel, struct kernel_room *room);
void kernel_room_free(struct kernel_room *room);

/** Called now and then while matrices are multiplied. */
typedef void kernel_pause_fn(void *context);

/**
 * Add a product to the sum, or begin one.
 *
 * @param[in] a,b    Tiles, in the order of their tensors.
 * @param[in] pause  Called with @p context; NULL: not.
 */
void kernel_multiply(const struct kernel *kernel, const struct product *product,
                     const double *a, const double *b, bool is_first,
                     struct kernel_room *room, kernel_pause_fn *pause,
                     void *context);

/** The sum, in the order of C; it is the room's. */
const double *kernel_result(const struct kernel *kernel,
                            const struct product *product,
                            struct kernel_room *room);

#endif
