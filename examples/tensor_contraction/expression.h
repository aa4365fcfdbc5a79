/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is contracted: C[i,j,k,l] += A[i,a,j,b] * B[b,k,a,l].
 *
 * Each index is in two of the three tensors: in C and A, in C and B, or, when
 * it is contracted, in A and B.  Indices are numbered: those of C in its order,
 * then the contracted ones in the order of A.
 */
#ifndef TENSOR_CONTRACTION_EXPRESSION_H
#define TENSOR_CONTRACTION_EXPRESSION_H

#include "cli/message.h"

enum {
    RANK_MAX = 6,   /* indices of a tensor ... */
    INDICES_MAX = 9 /* ... and of three */
};

/** Where an index is, beside C or, contracted, A. */
enum role {
    ROLE_A,         /* in C and A */
    ROLE_B,         /* in C and B */
    ROLE_CONTRACTED /* in A and B */
};

/** A tensor of an expression. */
struct term {
    char name[16];
    int rank;
    int index[RANK_MAX]; /* numbers, in the order of its entries */
};

struct expression {
    struct term c, a, b;
    int indices;
    char letter[INDICES_MAX];
    enum role role[INDICES_MAX];
};

/** What is contracted where nothing is said: the paper's. */
#define EXPRESSION_DEFAULT "C[i,j,k,l] += A[i,j,a,b] * B[a,b,k,l]"

/**
 * Read an expression.
 *
 * @return false with a message that names the column, from 1, and the index.
 */
bool expression_parse(const char *text, struct expression *expression,
                      struct message *message);

#endif
