/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines: options, each with a value or a flag, and other words.
 *
 * A row per option drives reading, checks, messages and the help.
 */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include "cli/message.h"

#include <stdint.h>
#include <stdio.h>

enum option_kind {
    KIND_TEXT,    /* const char *, borrowed from the command line */
    KIND_WORD,    /* as KIND_TEXT, one of some words */
    KIND_INTEGER, /* int */
    KIND_LONG,    /* int64_t */
    KIND_NUMBER,  /* double */
    KIND_FLAG     /* bool; takes no value */
};

/** One option: where its value goes and what is allowed. */
struct option {
    const char *name;
    const char *value; /* what stands for its value in the help */
    size_t offset;     /* in the struct that is filled */

    /* One of the macros below. */
    enum option_kind kind;
    double least, most;
    const char *(*words)(void); /* gives all that are allowed: "a, b, c" */

    const char *help;
};

#define OPTION_TEXT .kind = KIND_TEXT
#define OPTION_WORD(words_) .kind = KIND_WORD, .words = (words_)
#define OPTION_INTEGER(least_, most_) \
    .kind = KIND_INTEGER, .least = (least_), .most = (most_)
#define OPTION_LONG(least_, most_) \
    .kind = KIND_LONG, .least = (least_), .most = (most_)
#define OPTION_NUMBER(least_, most_) \
    .kind = KIND_NUMBER, .least = (least_), .most = (most_)
#define OPTION_FLAG .kind = KIND_FLAG

/** All rows of a table. */
#define OPTION_ROWS(rows) \
    .options = (rows), .count = sizeof(rows) / sizeof *(rows)

/** Take a word that is no option; false, with a message: it is not allowed. */
typedef bool operand_fn(const char *word, void *arguments,
                        struct message *message);

/** What a program takes, and what it says of that.  NULL, each: nothing. */
struct command_line {
    const struct option *options; /* [count] */
    int count;
    operand_fn *operand; /* NULL: options only */
    /* Options that programs share; their struct is the first member of that of
     * the others. */
    const struct command_line *shared;

    /* The help, of whom it is asked: options stand between HEAD, with what LIST
     * prints, and what ADD prints, after that of SHARED; TAIL ends it. */
    const char *head, *tail;
    void (*list)(FILE *stream), (*add)(FILE *stream);

    /* Whether what was said goes together, after the check of SHARED. */
    bool (*check)(void *arguments, struct message *message);
    /* Free what CHECK has made, also when it has failed. */
    void (*release)(void *arguments);
};

/**
 * Read a command line.
 *
 * @param[in]     argv       What begins with "-" after argv[0] is an option;
 *                           its value follows, or stands behind "=".
 * @param[in,out] arguments  The struct to fill; options that are not given
 *                           leave it as it is.  To be released, also on
 *                           failure.
 */
bool command_line_parse(const struct command_line *line, char **argv,
                        void *arguments, struct message *message);
void command_line_release(const struct command_line *line, void *arguments);

/**
 * Print the help or the version if the command line asks for one of them, by
 * the first process of a job alone.
 *
 * @return whether it does: then the program has no more to do.
 *
 * Call: Before MPI_Init(), which a question does not need.
 */
bool command_line_answer(const struct command_line *line, char **argv);

/**
 * What main() returns: answer questions, or start MPI, read the command line on
 * each rank, run with what it says, and end MPI.
 *
 * @param[in,out] arguments  Defaults, for @p run.
 * @param[in]     run        Gives the exit status.
 */
int command_line_main(const struct command_line *line, int argc, char **argv,
                      void *arguments, int (*run)(void *arguments));

/** Ends a help. */
#define EXIT_WORDS \
    "Exit status: 0 success, 1 failure, 2 wrong usage or input.\n"

#endif
