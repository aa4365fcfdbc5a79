/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef HF_BE_ARGUMENTS_H
#define HF_BE_ARGUMENTS_H

#include "count.h"
#include "scf/problem.h"

struct arguments {
    struct problem_arguments shared;
    int atoms;
    double spacing; /* bohr */
    double converge;
    struct fock_options fock;
    bool has_count;
    struct count_cost cost;
};

/** As command_line_answer(). */
bool arguments_answer(char **argv);

/** Read a command line. */
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

#endif
