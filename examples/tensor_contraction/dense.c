/* SPDX-License-Identifier: BSD-3-Clause */
#include "dense.h"
#include "matrix.h"
#include "operands.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

/* The entries of a side, sorted by their labels. */
struct sorted {
    struct side side;
    int *label;                /* [entries] */
    int64_t *place;            /* [entries] among those of the same label */
    int64_t *entry;            /* [entries] in the order of the labels */
    int64_t first[LABELS + 1]; /* of each label in that order */
};

/* C of all labels: rows of one label times columns of the same. */
struct dense {
    const struct contraction *contraction;
    struct matrix a, b, c;
    struct sorted rows, columns, inner;
    int64_t first[LABELS]; /* of each label */
    double *values;
    double factor;
    int64_t left; /* entries that no tile has shown */
    double most;  /* that an entry is off */
};

static int64_t of_label(const struct sorted *sorted, int label)
{
    return sorted->first[label + 1] - sorted->first[label];
}

static int label_of(const struct space *space, int64_t entry)
{
    const struct block *block = space->block;
    while (entry >= block->first + block->entries)
        block++;
    return block->label;
}

/* The entry of an index, given that of its side. */
static int64_t entry_of(const struct contraction *contraction,
                        const struct side *side, int index, int64_t entry)
{
    return entry / side->stride[index] % contraction->space[index].entries;
}

static int label_join_all(const struct contraction *contraction,
                          const struct side *side, int64_t entry)
{
    int all = 0;
    for (int i = 0; i < contraction->expression.indices; i++) {
        if (side->stride[i] != 0)
            all = label_join(all,
                             label_of(&contraction->space[i],
                                      entry_of(contraction, side, i, entry)));
    }
    return all;
}

static void sorted_make(const struct contraction *contraction, struct side side,
                        struct sorted *sorted)
{
    int64_t next[LABELS] = {0};
    *sorted = (struct sorted){.side = side};
    sorted->label = allocate((size_t)side.entries, sizeof *sorted->label);
    sorted->place = allocate((size_t)side.entries, sizeof *sorted->place);
    sorted->entry = allocate((size_t)side.entries, sizeof *sorted->entry);
    for (int64_t e = 0; e < side.entries; e++) {
        int label = label_join_all(contraction, &side, e);
        sorted->label[e] = label;
        sorted->place[e] = next[label]++;
    }
    for (int i = 0; i < LABELS; i++)
        sorted->first[i + 1] = sorted->first[i] + next[i];
    for (int64_t e = 0; e < side.entries; e++)
        sorted->entry[sorted->first[sorted->label[e]] + sorted->place[e]] = e;
}

static void sorted_free(struct sorted *sorted)
{
    free(sorted->label);
    free(sorted->place);
    free(sorted->entry);
}

/* The part of A or B that has a label, row by row. */
static double *part_make(const struct dense *dense, enum seed seed,
                         const struct matrix *matrix, const struct sorted *rows,
                         const struct sorted *columns, int label)
{
    int64_t height = of_label(rows, label), width = of_label(columns, label);
    double *values = allocate((size_t)(height * width), sizeof *values);
    double *value = values;
    for (int64_t r = 0; r < height; r++) {
        for (int64_t c = 0; c < width; c++) {
            int64_t row = rows->entry[rows->first[label] + r];
            int64_t column = columns->entry[columns->first[label] + c];
            int64_t index[RANK_MAX];
            for (int d = 0; d < matrix->term->rank; d++) {
                int i = matrix->term->index[d];
                bool is_row = rows->side.stride[i] != 0;
                index[d] = entry_of(dense->contraction,
                                    is_row ? &rows->side : &columns->side, i,
                                    is_row ? row : column);
            }
            *value++ = operands_entry(seed, matrix->term->rank, index);
        }
    }
    return values;
}

static void multiply_label(struct dense *dense, int label)
{
    int64_t rows = of_label(&dense->rows, label);
    int64_t columns = of_label(&dense->columns, label);
    int64_t inner = of_label(&dense->inner, label);
    if (rows == 0 || columns == 0 || inner == 0)
        return;
    double *a =
        part_make(dense, SEED_A, &dense->a, &dense->rows, &dense->inner, label);
    double *b = part_make(dense, SEED_B, &dense->b, &dense->inner,
                          &dense->columns, label);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows,
                (int)columns, (int)inner, 1, a, (int)inner, b, (int)columns, 0,
                dense->values + dense->first[label], (int)columns);
    free(a);
    free(b);
}

static void dense_make(const struct contraction *contraction,
                       struct dense *dense)
{
    int64_t entries = 0;
    dense->a = matrix_a(contraction);
    dense->b = matrix_b(contraction);
    dense->c = matrix_c(contraction);
    sorted_make(contraction, dense->c.rows, &dense->rows);
    sorted_make(contraction, dense->c.columns, &dense->columns);
    sorted_make(contraction, dense->a.columns, &dense->inner);
    for (int i = 0; i < LABELS; i++) {
        dense->first[i] = entries;
        entries += of_label(&dense->rows, i) * of_label(&dense->columns, i);
    }
    dense->left = entries;
    dense->values = allocate((size_t)entries, sizeof *dense->values);
    for (int i = 0; i < LABELS; i++)
        multiply_label(dense, i);
}

static void dense_free(struct dense *dense)
{
    sorted_free(&dense->rows);
    sorted_free(&dense->columns);
    sorted_free(&dense->inner);
    free(dense->values);
}

double larger_error(double one, double other)
{
    return isnan(other) ? INFINITY : fmax(one, other);
}

/* What C must have at a place; 0 where rows and columns differ in label. */
static double expected_at(const struct dense *dense, int64_t row,
                          int64_t column)
{
    int label = dense->rows.label[row];
    if (dense->columns.label[column] != label)
        return 0;
    int64_t width = of_label(&dense->columns, label);
    return dense->factor *
           dense->values[dense->first[label] + dense->rows.place[row] * width +
                         dense->columns.place[column]];
}

static void compare_tile(int64_t tile, const double *values, int64_t length,
                         void *context)
{
    struct dense *dense = context;
    struct walk walk = walk_begin(&dense->c, tile);
    dense->left -= length;
    do {
        for (int64_t i = 0; i < walk.run; i++) {
            double expected = expected_at(dense, walk.row + i * walk.next_row,
                                          walk.column + i * walk.next_column);
            dense->most = larger_error(dense->most, fabs(*values++ - expected));
        }
    } while (walk_next(&walk));
}

/* Beside what entries are: numbers from -1 to 1 have a variance of a third. */
static double error_of(const struct dense *dense)
{
    double products = (double)dense->contraction->total.flop / 2;
    if (dense->left != 0)
        return INFINITY;
    return dense->most /
           (dense->factor * sqrt(products / 9 / dense->contraction->c.entries));
}

double dense_bytes(const struct contraction *contraction)
{
    double sides = (double)side_of(contraction, ROLE_A).entries +
                   (double)side_of(contraction, ROLE_B).entries +
                   (double)side_of(contraction, ROLE_CONTRACTED).entries;
    return sizeof(double) * (contraction->a.entries + contraction->b.entries +
                             contraction->c.entries) +
           sides * (sizeof(int) + 2 * sizeof(int64_t));
}

ek_status dense_compare(const struct contraction *contraction, ek_tiles *c,
                        double factor, double *error)
{
    struct dense dense = {.contraction = contraction, .factor = factor};
    if (is_first_rank())
        dense_make(contraction, &dense);
    ek_status status = ek_tiles_gather(c, compare_tile, &dense);
    *error = is_first_rank() ? error_of(&dense) : 0;
    MPI_Bcast(error, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (is_first_rank())
        dense_free(&dense);
    return status;
}
