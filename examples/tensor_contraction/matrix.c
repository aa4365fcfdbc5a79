/* SPDX-License-Identifier: BSD-3-Clause */
#include "matrix.h"

struct side side_of(const struct contraction *contraction, enum role role)
{
    struct side side = {.entries = 1};
    for (int i = contraction->expression.indices; i-- > 0;) {
        if (contraction->expression.role[i] != role)
            continue;
        side.stride[i] = side.entries;
        side.entries *= contraction->space[i].entries;
    }
    return side;
}

struct matrix matrix_c(const struct contraction *contraction)
{
    return (struct matrix){&contraction->expression.c, &contraction->c,
                           side_of(contraction, ROLE_A),
                           side_of(contraction, ROLE_B)};
}

struct matrix matrix_a(const struct contraction *contraction)
{
    return (struct matrix){&contraction->expression.a, &contraction->a,
                           side_of(contraction, ROLE_A),
                           side_of(contraction, ROLE_CONTRACTED)};
}

struct matrix matrix_b(const struct contraction *contraction)
{
    return (struct matrix){&contraction->expression.b, &contraction->b,
                           side_of(contraction, ROLE_CONTRACTED),
                           side_of(contraction, ROLE_B)};
}

struct walk walk_begin(const struct matrix *matrix, int64_t tile)
{
    struct walk walk = {.rank = matrix->term->rank};
    int64_t index[RANK_MAX], first[RANK_MAX];
    int last = walk.rank - 1;
    tensor_index(matrix->tensor, tile, index);
    tensor_bounds(matrix->tensor, index, first, walk.width);
    for (int d = 0; d < walk.rank; d++) {
        walk.row_stride[d] = matrix->rows.stride[matrix->term->index[d]];
        walk.column_stride[d] = matrix->columns.stride[matrix->term->index[d]];
        walk.row += first[d] * walk.row_stride[d];
        walk.column += first[d] * walk.column_stride[d];
    }
    walk.run = walk.width[last];
    walk.next_row = walk.row_stride[last];
    walk.next_column = walk.column_stride[last];
    return walk;
}

bool walk_next(struct walk *walk)
{
    for (int d = walk->rank - 1; d-- > 0;) {
        walk->row += walk->row_stride[d];
        walk->column += walk->column_stride[d];
        if (++walk->at[d] < walk->width[d])
            return true;
        walk->row -= walk->width[d] * walk->row_stride[d];
        walk->column -= walk->width[d] * walk->column_stride[d];
        walk->at[d] = 0;
    }
    return false;
}
