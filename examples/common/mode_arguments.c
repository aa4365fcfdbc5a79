/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mode_arguments.h"

#define AT(field) offsetof(struct mode_arguments, field)

static const struct option options[] = {
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "an ek_restore() policy or a name of --compare (retain)"},
    {"--steal", "NAME", AT(steal), OPTION_TEXT,
     .help = "instead of what the policy or Evenkeel chooses"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "iterations at most (50)"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all modes and print one table"},
};

const struct command_line mode_command_line = {OPTION_ROWS(options)};

bool mode_arguments_parse(const struct command_line *line, char **argv,
                          void *arguments, struct message *message)
{
    struct mode_arguments *shared = arguments;
    shared->iterations = 50;
    if (!command_line_parse(line, argv, arguments, message))
        return false;
    if (shared->has_compare && (shared->policy || shared->steal))
        return message_set(message, MODES_OWN_POLICIES);
    shared->mode =
        mode_find(shared->policy ? shared->policy : "retain", shared->steal);
    if (shared->has_compare && shared->iterations < 2)
        return message_set(message,
                           "--iterations is 1; --compare needs at least 2");
    return true;
}

void mode_arguments_help(const struct command_line *line, FILE *stream)
{
    command_line_help(line, stream);
    modes_help(stream, true);
    fprintf(stream,
            "\nWorkers are OpenMP threads of MPI ranks. EVENKEEL_* variables "
            "win over --policy\nand --steal.\n");
}
