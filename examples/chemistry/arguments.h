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

/** What it takes, and what holds where nothing is said. */
extern const struct command_line arguments_line;
extern const struct arguments arguments_default;

/** Before the command line is read. */
void arguments_use_modes(void);

#endif
