/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hours, each an iteration, with one mode or with all.
 */
#ifndef CHEMISTRY_RUN_H
#define CHEMISTRY_RUN_H

#include "arguments.h"

/**
 * Run what the command line says, and print it.
 *
 * @return how the program ends.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
int run_hours(const struct arguments *arguments);

#endif
