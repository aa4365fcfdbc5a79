/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options and schedules: each line "NAME=VALUE" of an input is a variable
 * EVENKEEL_NAME when the options are resolved, and a field afterwards.
 */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include "base/options.h"

#include <string.h>

enum {
    LINES_MOST = 64
};

/* What all that reads resolved options asks. */
static void look_at(const struct eki_settings *settings)
{
    char text[EKI_OPTION_BYTES];
    for (int option = 0; option < eki_option_count(); option++) {
        for (int part = 0;
             eki_option_part(option, settings, part, text, sizeof text); part++)
            FUZZ_CHECK(memchr(text, '\0', sizeof text) != NULL);
    }
    for (int64_t i = 0; i < 4; i++) {
        eki_schedule_at(&settings->restore, i, 0);
        eki_schedule_at(&settings->steal, INT64_MAX - i, 0);
    }
}

/* Cut TEXT into lines, and these at their '='; how many there are. */
static int cut(char *text, char **names, char **values)
{
    int count = 0;
    while (text && count < LINES_MOST) {
        char *next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        char *value = strchr(text, '=');
        if (value && value != text) {
            *value++ = '\0';
            names[count] = text;
            values[count++] = value;
        }
        text = next;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *names[LINES_MOST], *values[LINES_MOST], variable[256];
    char *text = fuzz_text(data, size);
    int count = cut(text, names, values);
    struct eki_settings settings;
    for (int i = 0; i < count; i++) {
        snprintf(variable, sizeof variable, EKI_VARIABLE_PREFIX "%s", names[i]);
        setenv(variable, values[i], 1);
    }
    eki_settings_warn();
    if (eki_settings_resolve(NULL, &settings) == EK_OK) {
        look_at(&settings);
        for (int i = 0; i < count; i++)
            eki_settings_set(&settings, names[i], values[i]);
        look_at(&settings);
        eki_settings_free(&settings);
    }
    for (int i = 0; i < count; i++) {
        snprintf(variable, sizeof variable, EKI_VARIABLE_PREFIX "%s", names[i]);
        unsetenv(variable);
    }
    free(text);
    return 0;
}
