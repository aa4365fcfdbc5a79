/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARTREE_FOCK_GUESS_H
#define HARTREE_FOCK_GUESS_H

#include "integrals.h"

/**
 * First density of a molecule: that of its neutral atoms side by side.
 *
 * Each element gets an SCF of its own in which the electrons of an open shell
 * are spread evenly over its orbitals, so that the atom is spherical.
 *
 * @param[out] density  [functions][functions], half the electrons' density.
 */
bool guess_density(const struct molecule *molecule, const struct basis *basis,
                   double *density, struct message *message);

#endif
