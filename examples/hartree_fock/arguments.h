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

/** As command_line_answer(). */
bool arguments_answer(char **argv);

/** Read a command line. */
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

#endif
