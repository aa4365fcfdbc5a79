/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as they are resolved, with a variable or without. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/options.h"
#include "check.h"

static const ek_options defaults = EK_OPTIONS_INIT;

/* VARIABLE = VALUE must be refused in these words. */
static inline void expect_refusal(const char *variable, const char *value,
                                  const char *message)
{
    struct eki_settings settings;
    setenv(variable, value, 1);
    CHECK_EQ_INT(eki_settings_resolve(NULL, &settings), EK_ERR_ARG);
    CHECK_EQ_TEXT(ek_error_message(), message);
    CHECK(settings.restore.entries == NULL && settings.steal.entries == NULL);
    unsetenv(variable);
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
