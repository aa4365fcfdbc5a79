/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All schemes on one molecule, in one table.
 */
#ifndef HARTREE_FOCK_COMPARE_H
#define HARTREE_FOCK_COMPARE_H

#include "arguments.h"
#include "scf.h"

/**
 * Run every scheme, from the same guess and for as many iterations, and print
 * what each took.
 *
 * @return false with a message when a scheme failed or energies differ.
 *
 * Call: Collective.  Rank 0 prints.
 */
bool compare_schemes(MPI_Comm comm, const struct system *system,
                     const struct arguments *arguments,
                     struct message *message);

#endif
