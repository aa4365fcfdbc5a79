/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf/algebra.h"
#include "cli/message.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Combinations of basis functions with a smaller overlap eigenvalue go. */
#define OVERLAP_MIN 1e-7

void algebra_start(void)
{
    openblas_set_num_threads(1);
}

static size_t area(int rows, int columns)
{
    return (size_t)rows * (size_t)columns;
}

static double *matrix_new(int rows, int columns)
{
    return allocate(area(rows, columns), sizeof(double));
}

/* c[m][n] = op(a) op(b), k being the inner length. */
static void multiply(CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b,
                     const int size[3], const double *a, const double *b,
                     double *c)
{
    int m = size[0], n = size[1], k = size[2];
    cblas_dgemm(CblasRowMajor, turn_a, turn_b, m, n, k, 1.0, a,
                turn_a == CblasNoTrans ? k : m, b,
                turn_b == CblasNoTrans ? n : k, 0.0, c, n);
}

/* Eigenvectors as columns of a, ascending. */
static bool eigen_solve(double *a, int n, double *values)
{
    return LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'U', n, a, n, values) == 0;
}

bool orthogonalizer_make(const double *overlap, int n,
                         struct orthogonalizer *made)
{
    double *vectors = matrix_new(n, n), *values = matrix_new(n, 1);
    memcpy(vectors, overlap, area(n, n) * sizeof(double));
    *made = (struct orthogonalizer){n, 0, NULL};
    bool is_solved = eigen_solve(vectors, n, values);
    if (is_solved) {
        int skipped = 0;
        while (skipped < n - 1 && values[skipped] < OVERLAP_MIN)
            skipped++;
        made->m = n - skipped;
        made->x = matrix_new(n, made->m);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < made->m; k++)
                made->x[area(i, made->m) + (size_t)k] =
                    vectors[area(i, n) + (size_t)(k + skipped)] /
                    sqrt(values[k + skipped]);
        }
    }
    free(vectors);
    free(values);
    return is_solved;
}

void orthogonalizer_free(struct orthogonalizer *made)
{
    free(made->x);
    *made = (struct orthogonalizer){0, 0, NULL};
}

/* result[m][m] = x^T a x */
static void transform(const struct orthogonalizer *made, const double *a,
                      double *result)
{
    int n = made->n, m = made->m;
    double *half = matrix_new(n, m);
    multiply(CblasNoTrans, CblasNoTrans, (int[]){n, m, n}, a, made->x, half);
    multiply(CblasTrans, CblasNoTrans, (int[]){m, m, n}, made->x, half, result);
    free(half);
}

bool orbitals_solve(const struct orthogonalizer *made, const double *fock,
                    double *energies, double *orbitals)
{
    int n = made->n, m = made->m;
    double *vectors = matrix_new(m, m);
    transform(made, fock, vectors);
    bool is_solved = eigen_solve(vectors, m, energies);
    if (is_solved)
        multiply(CblasNoTrans, CblasNoTrans, (int[]){n, m, m}, made->x, vectors,
                 orbitals);
    free(vectors);
    return is_solved;
}

void density_make(const double *orbitals, int n, int m, int count,
                  const double *occupation, double *density)
{
    double *filled = matrix_new(n, count), *weighted = matrix_new(n, count);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < count; k++) {
            double c = orbitals[area(i, m) + (size_t)k];
            filled[area(i, count) + (size_t)k] = c;
            weighted[area(i, count) + (size_t)k] =
                occupation ? c * occupation[k] : c;
        }
    }
    multiply(CblasNoTrans, CblasTrans, (int[]){n, n, count}, weighted, filled,
             density);
    free(filled);
    free(weighted);
}

double matrix_dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (size_t i = 0; i < area(n, n); i++)
        sum += a[i] * b[i];
    return sum;
}

struct diis {
    const struct orthogonalizer *made;
    const double *overlap;
    int depth;      /* remembered at most */
    int used;       /* remembered now, oldest first */
    double **fock;  /* [depth] of [n][n] */
    double **error; /* [depth] of [m][m] */
};

struct diis *diis_create(const struct orthogonalizer *made,
                         const double *overlap, int depth)
{
    struct diis *diis = allocate(1, sizeof *diis);
    diis->made = made;
    diis->overlap = overlap;
    diis->depth = depth;
    diis->fock = allocate((size_t)depth, sizeof(double *));
    diis->error = allocate((size_t)depth, sizeof(double *));
    for (int i = 0; i < depth; i++) {
        diis->fock[i] = matrix_new(made->n, made->n);
        diis->error[i] = matrix_new(made->m, made->m);
    }
    return diis;
}

void diis_destroy(struct diis *diis)
{
    for (int i = 0; i < diis->depth; i++) {
        free(diis->fock[i]);
        free(diis->error[i]);
    }
    free(diis->fock);
    free(diis->error);
    free(diis);
}

void diis_clear(struct diis *diis)
{
    diis->used = 0;
}

static void diis_forget_oldest(struct diis *diis)
{
    double *fock = diis->fock[0], *error = diis->error[0];
    size_t others = (size_t)diis->depth - 1;
    memmove(diis->fock, diis->fock + 1, others * sizeof(double *));
    memmove(diis->error, diis->error + 1, others * sizeof(double *));
    diis->fock[others] = fock;
    diis->error[others] = error;
    diis->used--;
}

/* error = x^T (FDS - SDF) x */
static double diis_error(const struct diis *diis, const double *fock,
                         const double *density, double *error)
{
    int n = diis->made->n, m = diis->made->m;
    const int square[3] = {n, n, n};
    double *fd = matrix_new(n, n), *fds = matrix_new(n, n);
    multiply(CblasNoTrans, CblasNoTrans, square, fock, density, fd);
    multiply(CblasNoTrans, CblasNoTrans, square, fd, diis->overlap, fds);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            size_t ij = area(i, n) + (size_t)j, ji = area(j, n) + (size_t)i;
            double difference = fds[ij] - fds[ji];
            fds[ij] = difference;
            fds[ji] = -difference;
        }
    }
    transform(diis->made, fds, error);
    double largest = 0;
    for (size_t i = 0; i < area(m, m); i++)
        largest = fmax(largest, fabs(error[i]));
    free(fd);
    free(fds);
    return largest;
}

double diis_add(struct diis *diis, const double *fock, const double *density)
{
    int n = diis->made->n;
    if (diis->used == diis->depth)
        diis_forget_oldest(diis);
    int last = diis->used++;
    memcpy(diis->fock[last], fock, area(n, n) * sizeof(double));
    return diis_error(diis, fock, density, diis->error[last]);
}

/*
 * Coefficients c with sum 1 that minimize the norm of sum c_i error_i.
 *
 * With B_ij = <error_i, error_j> they are proportional to B^-1 1.  Errors
 * shrink by many orders, so B is scaled to a unit diagonal first.
 */
static bool diis_coefficients(const struct diis *diis, double *c)
{
    int k = diis->used, m = diis->made->m;
    double *b = matrix_new(k, k), *scale = matrix_new(k, 1);
    for (int i = 0; i < k; i++) {
        double norm = matrix_dot(diis->error[i], diis->error[i], m);
        scale[i] = norm > 0 ? 1 / sqrt(norm) : 1;
        c[i] = scale[i];
    }
    for (int i = 0; i < k; i++) {
        for (int j = 0; j <= i; j++) {
            double product = matrix_dot(diis->error[i], diis->error[j], m);
            b[i * k + j] = b[j * k + i] = product * scale[i] * scale[j];
        }
        b[i * k + i] += 1e-13;
    }
    bool is_solved =
        LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', k, 1, b, k, c, 1) == 0;
    double sum = 0;
    for (int i = 0; i < k; i++) {
        c[i] *= scale[i];
        sum += c[i];
    }
    for (int i = 0; i < k; i++)
        c[i] /= sum;
    free(b);
    free(scale);
    return is_solved && isfinite(1 / sum);
}

void diis_extrapolate(struct diis *diis, double *fock)
{
    size_t size = area(diis->made->n, diis->made->n);
    double *c = matrix_new(diis->depth, 1);
    while (diis->used > 1 && !diis_coefficients(diis, c))
        diis_forget_oldest(diis);
    if (diis->used == 1)
        c[0] = 1;
    memset(fock, 0, size * sizeof(double));
    for (int i = 0; i < diis->used; i++)
        cblas_daxpy((int)size, c[i], diis->fock[i], 1, fock, 1);
    free(c);
}
