/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense symmetric linear algebra of an SCF, on one core.
 *
 * Matrices are row-major.  n is the number of basis functions, m <= n that of
 * the linearly independent combinations that an orthogonalizer [n][m] keeps.
 */
#ifndef SCF_ALGEBRA_H
#define SCF_ALGEBRA_H

#include <stdbool.h>
#include <stddef.h>

/** Keep BLAS from using threads of its own. */
void algebra_start(void);

struct orthogonalizer {
    int n, m;
    double *x; /* [n][m], x^T S x = 1; owned */
};

/** Make it from an overlap matrix [n][n]; false when LAPACK failed. */
bool orthogonalizer_make(const double *overlap, int n,
                         struct orthogonalizer *made);

void orthogonalizer_free(struct orthogonalizer *made);

/**
 * Solve F c = e S c.
 *
 * @param[out] energies  [m], ascending.
 * @param[out] orbitals  [n][m], columns.
 * @return false when LAPACK failed.
 */
bool orbitals_solve(const struct orthogonalizer *made, const double *fock,
                    double *energies, double *orbitals);

/** density = sum over the first @p count orbitals of occupation[k] c_k c_k^T,
 * [n][n]; an occupation of NULL stands for ones. */
void density_make(const double *orbitals, int n, int m, int count,
                  const double *occupation, double *density);

/** Sum over all entries of a[n][n] b[n][n]. */
double matrix_dot(const double *a, const double *b, int n);

/** Pulay's extrapolation over the last few Fock matrices. */
struct diis;

struct diis *diis_create(const struct orthogonalizer *made,
                         const double *overlap, int depth);

void diis_destroy(struct diis *diis);

/**
 * Remember a Fock matrix and its error x^T (FDS - SDF) x.
 *
 * @return Largest entry of the error.
 */
double diis_add(struct diis *diis, const double *fock, const double *density);

/** Forget what diis_add() remembered. */
void diis_clear(struct diis *diis);

/** The combination of remembered Fock matrices with the smallest error. */
void diis_extrapolate(struct diis *diis, double *fock);

#endif
