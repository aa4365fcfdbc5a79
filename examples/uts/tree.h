/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which tree: by its name, or by the options of the reference program.
 */
#ifndef UTS_TREE_H
#define UTS_TREE_H

#include "cli/message.h"
#include "workloads/uts.h"

#include <stdio.h>

/** What the command line says; below 0: nothing. */
struct tree_arguments {
    const char *name; /* NULL: none */
    int type, shape, depth, children, seed, granularity;
    double root_children, probability, shift;
};

#define TREE_ARGUMENTS_INIT                       \
    {                                             \
        NULL, -1, -1, -1, -1, -1, -1, -1, -1, -1, \
    }

/** Make it ready; false, with a message: it would have no end, or the like. */
bool tree_make(const struct tree_arguments *arguments, struct uts_tree *tree,
               struct message *message);

/** How many nodes it must have; -1: nobody knows. */
int64_t tree_nodes(const struct tree_arguments *arguments);

/** All names: "T1, T2, ...". */
const char *tree_names(void);

/** A line for each of them. */
void tree_help(FILE *stream);

#endif
