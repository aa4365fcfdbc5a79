/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines of options, each with a value or a flag.
 */
#ifndef COMMON_COMMAND_LINE_H
#define COMMON_COMMAND_LINE_H

#include "common/message.h"

#include <stdio.h>

enum option_kind {
    OPTION_TEXT,    /* const char *, borrowed from the command line */
    OPTION_INTEGER, /* int */
    OPTION_NUMBER,  /* double */
    OPTION_FLAG     /* bool; takes no value */
};

/** One option: where its value goes and what is allowed. */
struct option {
    const char *name;
    const char *value; /* what stands for its value in the help */
    enum option_kind kind;
    size_t offset;      /* in the struct that is filled */
    double least, most; /* of integers and numbers */
    const char *help;
};

/**
 * Read a command line.
 *
 * @param[in]     options    [count].
 * @param[in,out] arguments  The struct to fill; options that are not given
 *                           leave it as it is.
 */
bool command_line_parse(char **argv, const struct option *options, int count,
                        void *arguments, struct message *message);

/** Print a line for each option. */
void command_line_help(FILE *stream, const struct option *options, int count);

#endif
