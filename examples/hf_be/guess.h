/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HF_BE_GUESS_H
#define HF_BE_GUESS_H

#include "system.h"

/**
 * Begin with the density of separate atoms.
 *
 * An atom is a chain of its own, whose SCF begins with the core Hamiltonian.
 *
 * Call: Local.
 */
bool guess_make(struct system *system, struct message *message);

#endif
