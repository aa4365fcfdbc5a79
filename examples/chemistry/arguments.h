/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef CHEMISTRY_ARGUMENTS_H
#define CHEMISTRY_ARGUMENTS_H

#include "common/mode_arguments.h"
#include "field.h"

struct arguments {
    struct mode_arguments shared;
    const char *mechanism; /* by name */
    struct field_size size;
    bool has_check; /* compare with a serial run */
};

/** Print the help or the version if asked for; whether it was. */
bool arguments_answer(char **argv);

/** @param[out] arguments  Its shared ones are to be freed, also on failure. */
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

#endif
