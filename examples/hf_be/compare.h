/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All modes on one chain, in one table.
 */
#ifndef HF_BE_COMPARE_H
#define HF_BE_COMPARE_H

#include "arguments.h"
#include "scf.h"

/**
 * Run every mode, from the same guess and for as many iterations, and print
 * what each took.
 *
 * @return false with a message when a mode failed or energies differ.
 *
 * Call: Collective.  Rank 0 prints.
 */
bool compare_modes(MPI_Comm comm, const struct system *system,
                   const struct arguments *arguments, struct message *message);

#endif
