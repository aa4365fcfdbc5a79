/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the SCF of a chain starts from; densities are of all electrons.
 */
#ifndef HF_BE_SYSTEM_H
#define HF_BE_SYSTEM_H

#include "chain.h"
#include "scf/scf.h"

struct system {
    struct chain chain;
    struct scf_system scf;
};

/**
 * Set up a chain; its first density is zero.
 *
 * @param[in] has_matrices  This is a rank that does linear algebra.
 *
 * @return false when LAPACK failed; to be freed all the same.
 */
bool system_make(int atoms, double spacing, bool has_matrices,
                 struct system *system);

/** Let the first density be that of separate atoms, [15][15] each. */
void system_guess(struct system *system, const double *atom);

void system_free(struct system *system);

#endif
