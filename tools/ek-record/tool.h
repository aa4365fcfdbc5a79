/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek-record: what its commands share.  A command returns the program's exit
 * status and has said on stderr why it is not 0.
 */
#ifndef TOOL_H
#define TOOL_H

#include "cli/message.h"
#include "record/record.h"
#include "task/task.h"

/* A line to stderr. */
void tool_say(const char *format, ...) EKI_PRINTF(1, 2);
/* The exit status of a command that ends with STATUS, having said why it is not
 * EK_OK.  EK_ERR_ARG: what it was given is bad. */
int tool_end(ek_status status);
/* Open a record, whose warning goes to stderr, and load an iteration of it; a
 * bad one is EK_ERR_ARG. */
ek_status tool_open(const char *path, struct eki_record **record);
ek_status tool_load(struct eki_record *record, int64_t number,
                    struct eki_record_iteration *iteration);
/* Close an input, which may be standard input. */
void tool_close(FILE *file);
/* Open an input; "-": standard input.  NULL, with a message: it cannot be. */
FILE *tool_open_input(const char *path);
/* Whether OUTPUT may be written while INPUT is read: not the same file. */
bool tool_is_other(const char *input, const char *output);

/* The whole of WORD as a number; false: it is none, or above MOST. */
bool tool_number(const char *word, uint64_t most, uint64_t *value);

/* The words of a text line, each a field of struct eki_record_head. */
struct tool_policy {
    const char *key, *option; /* in the text, in the option table */
    size_t offset;
};
enum {
    TOOL_POLICIES = 4
};
extern const struct tool_policy tool_policies[TOOL_POLICIES];

/* The word for a policy's value; NULL: it has none. */
const char *tool_policy_name(const struct tool_policy *policy, int value);
/* The value of a word, or of its number; false: it is unknown. */
bool tool_policy_value(const struct tool_policy *policy, const char *word,
                       int *value);

/* Print the name of a function: what would end the line or mislead the eye
 * becomes \xHH. */
void tool_print_name(const char *name);

/* The letters of flags. */
extern const char tool_flag_letters[];
/* The bytes of its payload, two digits each; none: nothing. */
void tool_print_payload(const struct eki_record_iteration *iteration,
                        int64_t task);
void tool_print_flags(int flags);

enum {
    TOOL_FILES = 2 /* that a command takes at most */
};

/* What a command is given. */
struct tool_arguments {
    const char *files[TOOL_FILES]; /* in their order */
    int file_count;
    /* Of import: */
    const char *function;
    const char *type; /* "f32" or "u32" */
    const char *ids;  /* NULL: 0, 1, 2, ... */
    bool has_gaps;    /* ids are differences */
    double scale_ns;  /* of the unit */
    int64_t nulls;    /* not listed */
    int64_t every;    /* take each so many */
};

int tool_summary(const struct tool_arguments *arguments);
int tool_text(const struct tool_arguments *arguments);
int tool_csv(const struct tool_arguments *arguments);
int tool_binary(const struct tool_arguments *arguments);
int tool_import(const struct tool_arguments *arguments);

#endif
