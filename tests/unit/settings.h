/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as they are resolved, with a variable or without. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/options.h"
#include "check.h"

/* What is allowed of some options. */
#define STEALS                                                 \
    "random, near, node, none, counter, counter:1...1048576, " \
    "counter:guided, hpdc12, hpdc12-one, dvs, leapfrog, "      \
    "load, load:read, success, success:acyclic, lifeline, "    \
    "sws, sdc"
#define RESTORES                                    \
    "original, retain, centralized, hierarchical, " \
    "centralized-hpdc12, hierarchical-hpdc12, auto"
#define REPORTS                                                            \
    "0, 1, 2, FILE.tsv, ranks:FILE.tsv, functions:FILE.tsv, or a list of " \
    "them, each file once (at most 1023 characters)"

/* The last error refuses a WORD for NAME. */
static inline void check_allowed(const char *name, const char *word,
                                 const char *allowed)
{
    char message[400];
    snprintf(message, sizeof message, "%s: %s is not allowed; allowed: %s",
             name, word, allowed);
    CHECK_EQ_TEXT(ek_error_message(), message);
}

/* VARIABLE = VALUE must be refused for its PART. */
static inline void expect_refusal_of(const char *variable, const char *value,
                                     const char *part, const char *allowed)
{
    struct eki_settings settings;
    char word[100];
    snprintf(word, sizeof word, "'%s'", part);
    setenv(variable, value, 1);
    CHECK_EQ_INT(eki_settings_resolve(NULL, &settings), EK_ERR_ARG);
    check_allowed(variable, word, allowed);
    CHECK(settings.restore.entries == NULL && settings.steal.entries == NULL);
    unsetenv(variable);
}

static inline void expect_refusal(const char *variable, const char *value,
                                  const char *allowed)
{
    expect_refusal_of(variable, value, value, allowed);
}

/* Resolve for the collection NAME with VARIABLE = VALUE. */
static inline void resolve_with(const char *variable, const char *value,
                                const char *name, struct eki_settings *settings)
{
    ek_options options = EK_OPTIONS_INIT;
    options.name = name;
    setenv(variable, value, 1);
    if (!CHECK_OK(eki_settings_resolve(&options, settings)))
        fprintf(stderr, "%s\n", ek_error_message());
    unsetenv(variable);
}

static inline int option_called(const char *name)
{
    int option = 0;
    while (strcmp(eki_option_at(option)->field.name, name) != 0)
        option++;
    return option;
}

#endif
