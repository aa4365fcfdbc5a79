/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef HF_BE_ARGUMENTS_H
#define HF_BE_ARGUMENTS_H

#include "common/message.h"
#include "fock.h"

#include <stdio.h>

struct arguments {
    int atoms;
    double spacing; /* bohr */
    double converge;
    int iterations;
    const char *policy, *steal; /* fock.mode, by name */
    struct fock_options fock;
    bool has_compare;
    bool has_count;
    bool has_help;
};

/** Read a command line. */
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

/** Say what is allowed. */
void arguments_help(FILE *stream);

#endif
