/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Six blocks of the density are read and six of the Fock matrix are written.
 * Those of c and d are gathered once per quartet; for each a and b the exchange
 * sums stay in registers.
 */
#include "digest.h"

#include <stddef.h>

/* Shells of up to h have at most this many functions. */
#define FUNCTIONS_MAX 21

/* The blocks of c and d, the inner two indices. */
struct inner {
    size_t c, d; /* first functions */
    int nc;
    double density[FUNCTIONS_MAX * FUNCTIONS_MAX];
    double fock[FUNCTIONS_MAX * FUNCTIONS_MAX];
};

/* All integrals of one a and b, whose rows of the two matrices are given. */
static inline double digest_row(struct inner *restrict inner,
                                const double *restrict value, double d_ab,
                                double exchange,
                                const double *const density_row[2],
                                double *const fock_row[2], int nd)
{
    double d_ad[FUNCTIONS_MAX], d_bd[FUNCTIONS_MAX];
    double f_ad[FUNCTIONS_MAX], f_bd[FUNCTIONS_MAX];
    double f_ab = 0;
    for (int d = 0; d < nd; d++) {
        d_ad[d] = exchange * density_row[0][inner->d + (size_t)d];
        d_bd[d] = exchange * density_row[1][inner->d + (size_t)d];
        f_ad[d] = 0;
        f_bd[d] = 0;
    }
    for (int c = 0; c < inner->nc; c++) {
        const size_t column = inner->c + (size_t)c;
        const double d_ac = exchange * density_row[0][column];
        const double d_bc = exchange * density_row[1][column];
        double f_ac = 0, f_bc = 0;
        for (int d = 0; d < nd; d++) {
            const double v = value[c * nd + d];
            f_ab += v * inner->density[c * nd + d];
            inner->fock[c * nd + d] += v * d_ab;
            f_ac += v * d_bd[d];
            f_bc += v * d_ad[d];
            f_ad[d] += v * d_bc;
            f_bd[d] += v * d_ac;
        }
        fock_row[0][column] += f_ac;
        fock_row[1][column] += f_bc;
    }
    for (int d = 0; d < nd; d++) {
        fock_row[0][inner->d + (size_t)d] += f_ad[d];
        fock_row[1][inner->d + (size_t)d] += f_bd[d];
    }
    return f_ab;
}

/* nd is a constant wherever this is inlined, so that loops over d unroll. */
static inline void digest_block(const struct quartet *quartet,
                                const double *value, double factor,
                                const double *density, double *fock, size_t n,
                                int nd)
{
    const int *first = quartet->first, *count = quartet->count;
    struct inner inner;
    inner.c = (size_t)first[2];
    inner.d = (size_t)first[3];
    inner.nc = count[2];
    for (int c = 0; c < inner.nc; c++) {
        const double *row = density + (inner.c + (size_t)c) * n + inner.d;
        for (int d = 0; d < nd; d++) {
            inner.density[c * nd + d] = factor * row[d];
            inner.fock[c * nd + d] = 0;
        }
    }
    for (int a = first[0]; a < first[0] + count[0]; a++) {
        for (int b = first[1]; b < first[1] + count[1]; b++) {
            const double *density_row[2] = {density + (size_t)a * n,
                                            density + (size_t)b * n};
            double *fock_row[2] = {fock + (size_t)a * n, fock + (size_t)b * n};
            fock_row[0][b] +=
                digest_row(&inner, value, factor * density_row[0][b],
                           -0.25 * factor, density_row, fock_row, nd);
            value += inner.nc * nd;
        }
    }
    for (int c = 0; c < inner.nc; c++) {
        double *row = fock + (inner.c + (size_t)c) * n + inner.d;
        for (int d = 0; d < nd; d++)
            row[d] += inner.fock[c * nd + d];
    }
}

void digest(const struct quartet *quartet, const double *value, double factor,
            const double *density, double *fock, int n)
{
    const size_t width = (size_t)n;
    switch (quartet->count[3]) {
    case 1:
        digest_block(quartet, value, factor, density, fock, width, 1);
        break;
    case 3:
        digest_block(quartet, value, factor, density, fock, width, 3);
        break;
    case 5:
        digest_block(quartet, value, factor, density, fock, width, 5);
        break;
    case 6:
        digest_block(quartet, value, factor, density, fock, width, 6);
        break;
    default:
        digest_block(quartet, value, factor, density, fock, width,
                     quartet->count[3]);
    }
}
