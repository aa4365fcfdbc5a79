/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From repulsion integrals to a Fock matrix.
 */
#ifndef HARTREE_FOCK_DIGEST_H
#define HARTREE_FOCK_DIGEST_H

/** Where the functions of four shells lie in a matrix. */
struct quartet {
    int first[4]; /* first function of a, b, c, d */
    int count[4]; /* functions of each */
};

/**
 * Add the integrals (ab|cd) of a shell quartet and of all quartets that are the
 * same by symmetry.
 *
 * @param[in]     value    [a][b][c][d].
 * @param[in]     factor   Number of distinct quartets among the eight: 1 ... 8.
 * @param[in]     density  [n][n], symmetric; half the electrons' density.
 * @param[in,out] fock     [n][n]; becomes 2J - K once averaged with its
 *                         transpose.
 */
void digest(const struct quartet *quartet, const double *value, double factor,
            const double *density, double *fock, int n);

#endif
