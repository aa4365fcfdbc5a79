/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef HARTREE_FOCK_ARGUMENTS_H
#define HARTREE_FOCK_ARGUMENTS_H

#include "fock.h"
#include "scf/problem.h"
#include "system.h"

struct arguments {
    struct problem_arguments shared;
    struct input input;
    struct fock_options fock;
};

/** What it takes, and what holds where nothing is said. */
extern const struct command_line arguments_line;
extern const struct arguments arguments_default;

#endif
