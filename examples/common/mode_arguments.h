/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of every program that runs iterations with one mode or with all.
 */
#ifndef COMMON_MODE_ARGUMENTS_H
#define COMMON_MODE_ARGUMENTS_H

#include "cli/command_line.h"
#include "cli/modes.h"

/** First member of what a program's own options fill. */
struct mode_arguments {
    const char *policy, *steal; /* mode, by name; NULL: not said */
    struct mode mode;
    const char *modes;         /* of a comparison; NULL: not said */
    struct mode_list compared; /* what that comes to */
    int iterations;            /* at most */
    bool has_compare;
    int rounds;         /* of a comparison */
    const char *record; /* file of durations; NULL: none */
    const char *resume; /* folder of saves; NULL: none */
};

/** To be shared by the command line of a program, whose struct begins with a
 * struct mode_arguments: defaults are 0, but for iterations. */
extern const struct command_line mode_command_line;

/** What --iterations takes: an option of each program, as is its default. */
#define OPTION_ITERATIONS OPTION_INTEGER(1, 10000)
/** Help of --resume, of the programs that have it. */
#define RESUME_HELP                                             \
    "go on from the newest save of a folder, on any number of " \
    "ranks (EVENKEEL_CHECKPOINT writes them); not with --compare"

#endif
