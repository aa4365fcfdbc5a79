/* SPDX-License-Identifier: BSD-3-Clause */
#include "permute.h"

#include <string.h>

/* Of a square that is transposed in one go: its lines stay in the first cache.
 */
#define SQUARE 16

/* A copy in another order, dimensions in that of the target. */
struct copy {
    int rank;
    int64_t width[RANK_MAX];
    int64_t from[RANK_MAX]; /* strides */
    int64_t to[RANK_MAX];
};

/* Neighbors in both orders count as one index, and single entries as none. */
static struct copy simplify(int rank, const int64_t *width, const int *order)
{
    struct copy copy = {0};
    int64_t stride[RANK_MAX], step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= width[d];
    }
    for (int d = 0; d < rank; d++) {
        int64_t of = width[order[d]], from = stride[order[d]];
        int last = copy.rank - 1;
        if (of == 1)
            continue;
        if (last >= 0 && copy.from[last] == from * of) {
            copy.width[last] *= of;
            copy.from[last] = from;
        } else {
            copy.width[copy.rank] = of;
            copy.from[copy.rank++] = from;
        }
    }
    step = 1;
    for (int d = copy.rank - 1; d >= 0; d--) {
        copy.to[d] = step;
        step *= copy.width[d];
    }
    return copy;
}

/* Take out a dimension. */
static void drop(struct copy *copy, int dimension)
{
    copy->rank--;
    for (int d = dimension; d < copy->rank; d++) {
        copy->width[d] = copy->width[d + 1];
        copy->from[d] = copy->from[d + 1];
        copy->to[d] = copy->to[d + 1];
    }
}

/* Go on in the slowest dimensions; false: all were there. */
static bool step(const struct copy *copy, int64_t *index, const double **from,
                 double **to)
{
    for (int d = copy->rank - 1; d >= 0; d--) {
        *from += copy->from[d];
        *to += copy->to[d];
        if (++index[d] < copy->width[d])
            return true;
        *from -= copy->from[d] * copy->width[d];
        *to -= copy->to[d] * copy->width[d];
        index[d] = 0;
    }
    return false;
}

static void copy_rows(struct copy copy, const double *from, double *to)
{
    int64_t index[RANK_MAX] = {0};
    size_t length = (size_t)copy.width[copy.rank - 1];
    drop(&copy, copy.rank - 1);
    do
        memcpy(to, from, length * sizeof *to);
    while (step(&copy, index, &from, &to));
}

static void transpose_square(int64_t rows, int64_t columns, const double *from,
                             int64_t from_stride, double *to, int64_t to_stride)
{
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++)
            to[r * to_stride + c] = from[c * from_stride + r];
    }
}

/* Rows of the target are columns of the source. */
static void transpose(int64_t rows, int64_t columns, const double *from,
                      int64_t from_stride, double *to, int64_t to_stride)
{
    for (int64_t r = 0; r < rows; r += SQUARE) {
        int64_t high = rows - r < SQUARE ? rows - r : SQUARE;
        for (int64_t c = 0; c < columns; c += SQUARE) {
            int64_t wide = columns - c < SQUARE ? columns - c : SQUARE;
            transpose_square(high, wide, from + c * from_stride + r,
                             from_stride, to + r * to_stride + c, to_stride);
        }
    }
}

/* The fastest dimension of the source is FAST, which is not the last. */
static void copy_matrices(struct copy copy, int fast, const double *from,
                          double *to)
{
    int64_t index[RANK_MAX] = {0};
    const int last = copy.rank - 1;
    int64_t rows = copy.width[fast], columns = copy.width[last];
    int64_t from_stride = copy.from[last], to_stride = copy.to[fast];
    drop(&copy, last);
    drop(&copy, fast);
    do
        transpose(rows, columns, from, from_stride, to, to_stride);
    while (step(&copy, index, &from, &to));
}

void permute(int rank, const int64_t *width, const int *order,
             const double *from, double *to)
{
    const struct copy copy = simplify(rank, width, order);
    int fast = 0;
    if (copy.rank == 0) {
        *to = *from;
        return;
    }
    while (copy.from[fast] != 1)
        fast++;
    if (fast == copy.rank - 1)
        copy_rows(copy, from, to);
    else
        copy_matrices(copy, fast, from, to);
}
