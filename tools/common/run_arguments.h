/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of the tools that run a workload, and how they show what came of it.
 */
#ifndef COMMON_RUN_ARGUMENTS_H
#define COMMON_RUN_ARGUMENTS_H

#include "workload.h"

#include "cli/command_line.h"
#include "cli/modes.h"

/* First member of what a tool's own options fill. */
struct run_arguments {
    struct workload_source source;
    const char *policy, *steal; /* NULL: the library's choice */
    const char *modes;          /* NULL: those of --compare */
    struct mode_list compared;  /* what that comes to */
    bool has_compare, has_csv, has_json;
    bool may_unfold; /* the tool has --workload; set before */
};

/* To be shared by the command line of a tool, whose struct begins with a struct
 * run_arguments, and with these defaults. */
extern const struct command_line run_command_line;
#define RUN_SOURCE_INIT       \
    {                         \
        .seed = 1, .scale = 1 \
    }

#endif
