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
    const char *modes;          /* likewise, of --compare */
    struct mode_list compared;  /* what that comes to */
    bool has_compare, has_csv, has_json;
    bool may_unfold; /* the tool has --workload; set before */
};

/* To be shared by a tool's own command line. */
extern const struct command_line run_command_line;

/*
 * Read a command line that shares run_command_line into ARGUMENTS, which begins
 * with a struct run_arguments; its defaults are set here.  To be freed, also on
 * failure.
 */
bool run_arguments_parse(const struct command_line *line, char **argv,
                         void *arguments, struct message *message);
void run_arguments_free(struct run_arguments *arguments);
/* The options, then the modes. */
void run_arguments_help(const struct command_line *line, FILE *stream);

#endif
