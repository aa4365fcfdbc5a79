/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C += A B: the tensors, the tasks, and what each of them does.
 *
 * A *product* is a tile of C, as a place of the dense grid of its tiles, and a
 * tile of each contracted index.  A task is a tile of C with all its products,
 * or one product.  Tasks are numbered over the dense grid, the last index
 * fastest, the contracted ones last: null tasks have numbers, too.
 */
#ifndef TENSOR_CONTRACTION_CONTRACTION_H
#define TENSOR_CONTRACTION_CONTRACTION_H

#include "tensor.h"

/** What one task is. */
enum task_kind {
    TASK_TILE,   /* a tile of C */
    TASK_PRODUCT /* a product of a tile of A and one of B */
};

/** What multiplies matrices. */
enum multiplier {
    MULTIPLIER_BLAS,
    MULTIPLIER_XSMM /* libxsmm, and BLAS where that cannot */
};

/** What is done. */
struct contraction_options {
    const char *expression;
    const struct irrep_list *irreps;
    int64_t tile; /* entries of each index of a tile, at most */
    enum symmetry symmetry;
    enum task_kind task;
    enum multiplier multiplier;
};

/** A product that is not null. */
struct product {
    int64_t a, b, c;            /* numbers of tiles */
    int64_t tile[INDICES_MAX];  /* of each index ... */
    int64_t width[INDICES_MAX]; /* ... and its entries */
};

/** Work of a task, or of all. */
struct work {
    int64_t products;
    int64_t flop;
    int64_t bytes; /* of tiles got and accumulated */
};

struct contraction {
    struct expression expression;
    enum task_kind task;
    enum multiplier multiplier;
    struct space space[INDICES_MAX];
    struct tensor c, a, b;
    int64_t outputs;   /* tiles of C, null ones included ... */
    int64_t terms;     /* ... products of each, null ones included ... */
    int64_t tasks;     /* ... and tasks */
    uint64_t labels;   /* that tiles of contracted indices have, a bit each */
    struct work total; /* of all tasks */
};

/** @param[out] contraction  To be freed, also on failure. */
bool contraction_make(const struct contraction_options *options,
                      struct contraction *contraction, struct message *message);
void contraction_free(struct contraction *contraction);

/** Whether symmetry leaves nothing of a task. */
bool contraction_is_null(const struct contraction *contraction, int64_t task);

/** The products of a task, one after the other. */
struct products {
    const struct contraction *contraction;
    struct product product; /* the current one */
    int label;              /* that contracted indices need to have */
    int64_t next, last;     /* places of the contracted ones to look at */
};

/** Begin with those of a task, which is not null. */
void products_begin(const struct contraction *contraction, int64_t task,
                    struct products *products);

/** Go on to the next one; false: there is none. */
bool products_next(struct products *products);

/** Entries of the tile of a tensor in a product. */
int64_t product_entries(const struct product *product, const struct term *term);

/** What a task does; nothing if it is null. */
struct work contraction_work(const struct contraction *contraction,
                             int64_t task);

/** The task, or the first of the tasks, of a tile of C by its number. */
int64_t contraction_first_task(const struct contraction *contraction,
                               int64_t tile);

#endif
