/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

/* The ways to balance that have names here. */
static const struct mode modes[] = {
    {.name = "static", .restore = "original", .steal = "none"},
    {.name = "counter",
     .restore = "original",
     .steal = "counter",
     .is_anew = true},
    {.name = "pool",
     .restore = "original",
     .steal = "none",
     .is_by_hand = true},
    {.name = "Steal", .restore = "original", .steal = "random"},
    {.name = "StealRet", .restore = "retain", .steal = "random"},
    {.name = "centralized", .restore = "centralized", .steal = "none"},
    {.name = "hierarchical", .restore = "hierarchical", .steal = "none"},
    {.name = "auto", .restore = "auto", .steal = "random"},
    {.name = "follow",
     .restore = "retain",
     .steal = "random",
     .has_follow = true},
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--columns", "N", AT(size.columns), OPTION_INTEGER(1, 1000000),
     .help = "columns around a circle of latitude (64)"},
    {"--levels", "N", AT(size.levels), OPTION_INTEGER(1, 1000),
     .help = "levels of a column (16)"},
    {"--mechanism", "NAME", AT(mechanism), OPTION_WORD(mechanism_names),
     .help = "pollu, robertson (pollu)"},
    {"--iterations", "N", AT(shared.iterations), OPTION_ITERATIONS,
     .help = "hours, each an iteration (24)"},
    {"--seed", "N", AT(size.seed), OPTION_LONG(0, 1e15),
     .help = "of cities and first concentrations (1)"},
    {"--check", NULL, AT(has_check), OPTION_FLAG,
     .help = "compare with a serial run, to the last bit"},
};

static const struct command_line line = {OPTION_ROWS(options),
                                         .shared = &mode_command_line};

static void print_help(FILE *stream)
{
    fprintf(stream, "Chemistry of columns of air, a day/night line and wind: "
                    "data lies with owners.\n\n"
                    "  chemistry [options]\n\n");
    mode_arguments_help(&line, stream);
    fprintf(stream, "\n" EXIT_WORDS);
}

bool arguments_answer(char **argv)
{
    modes_use(modes, sizeof modes / sizeof *modes);
    return command_line_answer(&line, argv, print_help);
}

bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments =
        (struct arguments){.shared.iterations = 24,
                           .mechanism = "pollu",
                           .size = {.columns = 64, .levels = 16, .seed = 1}};
    if (!mode_arguments_parse(&line, argv, arguments, message))
        return false;
    arguments->size.mechanism = mechanism_find(arguments->mechanism);
    return true;
}
