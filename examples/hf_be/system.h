/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an SCF starts from: matrices that do not change, and a first density.
 *
 * Matrices are row-major [n][n], n basis functions, the same on all ranks.
 */
#ifndef HF_BE_SYSTEM_H
#define HF_BE_SYSTEM_H

#include "chain.h"
#include "common/algebra.h"

struct system {
    struct chain chain;
    int occupied;     /* orbitals */
    double repulsion; /* of the nuclei, hartree */
    double *overlap, *core, *guess;
    struct orthogonalizer orthogonalizer;
};

/**
 * Set up a chain; its first density is zero.
 *
 * @return false when LAPACK failed; to be freed all the same.
 */
bool system_make(int atoms, double spacing, struct system *system);

/** Let the first density be that of separate atoms, [15][15] each. */
void system_guess(struct system *system, const double *atom);

void system_free(struct system *system);

#endif
