/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef HARTREE_FOCK_ARGUMENTS_H
#define HARTREE_FOCK_ARGUMENTS_H

#include "fock.h"

#include <stdio.h>

struct arguments {
    struct input input;
    struct fock_options fock;
    const char *policy; /* fock.scheme, by name */
    int iterations;
    bool has_compare;
    bool has_help;
};

/** Read a command line. */
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

/** Say what is allowed. */
void arguments_help(FILE *stream);

#endif
