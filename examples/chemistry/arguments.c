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
     .help = "iterations, an hour each (24)"},
    {"--seed", "N", AT(size.seed), OPTION_LONG(0, 1e15),
     .help = "seed of cities and first concentrations (1)"},
    {"--check", NULL, AT(has_check), OPTION_FLAG,
     .help = "compare with a serial run, to the last bit"},
    {"--resume", "DIR", AT(shared.resume), OPTION_TEXT, .help = RESUME_HELP},
};

static bool find_mechanism(void *context, struct message *message)
{
    struct arguments *arguments = context;
    (void)message;
    arguments->size.mechanism = mechanism_find(arguments->mechanism);
    return true;
}

const struct command_line arguments_line = {
    OPTION_ROWS(options), .shared = &mode_command_line,
    .head = "Chemistry of columns of air, a day/night line and wind: data lies "
            "with owners.\n\n  chemistry [options]\n\n",
    .tail = "\n" EXIT_WORDS, .check = find_mechanism};

const struct arguments arguments_default = {
    .shared.iterations = 24,
    .mechanism = "pollu",
    .size = {.columns = 64, .levels = 16, .seed = 1}};

void arguments_use_modes(void)
{
    modes_use(modes, sizeof modes / sizeof *modes);
}
