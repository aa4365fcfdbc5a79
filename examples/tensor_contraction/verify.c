/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify.h"
#include "dense.h"
#include "matrix.h"

#include <math.h>
#include <stdlib.h>

/* Doubles of one call of MPI, which counts in int. */
#define REDUCED_MAX (INT64_C(1) << 24)

/* x, B x, C x and A B x. */
struct vectors {
    int64_t rows, columns, inner;
    double *x, *inner_sum, *found, *expected;
};

static void vectors_make(const struct contraction *contraction,
                         struct vectors *vectors)
{
    vectors->rows = side_of(contraction, ROLE_A).entries;
    vectors->columns = side_of(contraction, ROLE_B).entries;
    vectors->inner = side_of(contraction, ROLE_CONTRACTED).entries;
    vectors->x = allocate((size_t)vectors->columns, sizeof(double));
    vectors->inner_sum = allocate((size_t)vectors->inner, sizeof(double));
    vectors->found = allocate((size_t)vectors->rows, sizeof(double));
    vectors->expected = allocate((size_t)vectors->rows, sizeof(double));
    /* None near 0, which would hide a bad entry of its column of C. */
    for (int64_t i = 0; i < vectors->columns; i++) {
        double entry = operands_entry(SEED_VECTOR, 1, &i);
        vectors->x[i] = copysign((1 + fabs(entry)) / 2, entry);
    }
}

static void vectors_free(struct vectors *vectors)
{
    free(vectors->x);
    free(vectors->inner_sum);
    free(vectors->found);
    free(vectors->expected);
}

/* rows += tile * columns */
static void multiply_tile(const struct matrix *matrix, int64_t tile,
                          const double *values, const double *columns,
                          double *rows)
{
    struct walk walk = walk_begin(matrix, tile);
    do {
        double *row = rows + walk.row;
        const double *column = columns + walk.column;
        for (int64_t i = 0; i < walk.run; i++)
            row[i * walk.next_row] += *values++ * column[i * walk.next_column];
    } while (walk_next(&walk));
}

/* rows += the tiles that this rank owns * columns; as they must be. */
static void multiply_operand(enum seed seed, const struct matrix *matrix,
                             const ek_tiles *tiles, const double *columns,
                             double *rows)
{
    int rank;
    double *values = allocate((size_t)matrix->tensor->longest, sizeof *values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int64_t tile = 0; tile < matrix->tensor->tiles; tile++) {
        if (ek_tiles_owner(tiles, tile) != rank)
            continue;
        operands_values(seed, matrix->tensor, tile, values);
        multiply_tile(matrix, tile, values, columns, rows);
    }
    free(values);
}

/* The same, as they are in the store. */
static ek_status multiply_stored(const struct matrix *matrix, ek_tiles *tiles,
                                 const double *columns, double *rows)
{
    ek_status status = EK_OK;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int64_t tile = 0; status == EK_OK && tile < matrix->tensor->tiles;
         tile++) {
        double *values;
        int64_t length;
        if (ek_tiles_owner(tiles, tile) != rank)
            continue;
        status = ek_tiles_local(tiles, tile, &values, &length);
        if (status == EK_OK)
            multiply_tile(matrix, tile, values, columns, rows);
    }
    return status;
}

static void sum_over_ranks(double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i += REDUCED_MAX) {
        int64_t left = count - i;
        MPI_Allreduce(MPI_IN_PLACE, values + i,
                      (int)(left < REDUCED_MAX ? left : REDUCED_MAX),
                      MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* The largest difference of an entry beside what entries are: one bad entry of
 * C is not lost among many good ones.  Each multiplication of A and B is one of
 * three numbers here: those of A and B, from -1 to 1, have a variance of 1/3,
 * and x, of 1/2 to 1 and either sign, one of 7/12. */
static double relative_error(const struct contraction *contraction,
                             const struct vectors *vectors, double factor)
{
    double most = 0, products = (double)contraction->total.flop / 2;
    for (int64_t i = 0; i < vectors->rows; i++)
        most = larger_error(
            most, fabs(vectors->found[i] - factor * vectors->expected[i]));
    return most / (factor * sqrt(products * 7 / 108 / (double)vectors->rows));
}

static ek_status verify_vector(const struct contraction *contraction,
                               const struct operands *operands, double factor,
                               double *error)
{
    struct matrix a = matrix_a(contraction), b = matrix_b(contraction);
    struct matrix c = matrix_c(contraction);
    struct vectors vectors;
    vectors_make(contraction, &vectors);
    multiply_operand(SEED_B, &b, operands->b, vectors.x, vectors.inner_sum);
    sum_over_ranks(vectors.inner_sum, vectors.inner);
    multiply_operand(SEED_A, &a, operands->a, vectors.inner_sum,
                     vectors.expected);
    ek_status status =
        multiply_stored(&c, operands->c, vectors.x, vectors.found);
    sum_over_ranks(vectors.expected, vectors.rows);
    sum_over_ranks(vectors.found, vectors.rows);
    *error = relative_error(contraction, &vectors, factor);
    vectors_free(&vectors);
    return status;
}

double verify_bytes(const struct contraction *contraction, enum verify how)
{
    if (how == VERIFY_VECTOR)
        return sizeof(double) *
               (2.0 * (double)side_of(contraction, ROLE_A).entries +
                (double)side_of(contraction, ROLE_B).entries +
                (double)side_of(contraction, ROLE_CONTRACTED).entries);
    return how == VERIFY_DENSE ? dense_bytes(contraction) : 0;
}

ek_status verify_run(const struct contraction *contraction,
                     const struct operands *operands, enum verify how,
                     double factor, double *error)
{
    *error = 0;
    if (how == VERIFY_VECTOR)
        return verify_vector(contraction, operands, factor, error);
    if (how == VERIFY_DENSE)
        return dense_compare(contraction, operands->c, factor, error);
    return EK_OK;
}
