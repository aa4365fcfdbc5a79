/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/command_line.h"

#include <stdlib.h>
#include <string.h>

static bool set_integer(const struct option *option, const char *text,
                        int *target, struct message *message)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || (double)value < option->least ||
        (double)value > option->most)
        return message_set(message,
                           "%s is '%s'; allowed is an integer from %.0f to "
                           "%.0f",
                           option->name, text, option->least, option->most);
    *target = (int)value;
    return true;
}

static bool set_number(const struct option *option, const char *text,
                       double *target, struct message *message)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= option->least) ||
        !(value <= option->most))
        return message_set(message,
                           "%s is '%s'; allowed is a number from %g to %g",
                           option->name, text, option->least, option->most);
    *target = value;
    return true;
}

static bool set_option(const struct option *option, const char *text,
                       void *arguments, struct message *message)
{
    void *target = (char *)arguments + option->offset;
    switch (option->kind) {
    case OPTION_TEXT:
        *(const char **)target = text;
        return true;
    case OPTION_INTEGER:
        return set_integer(option, text, target, message);
    case OPTION_NUMBER:
        return set_number(option, text, target, message);
    case OPTION_FLAG:
        break;
    }
    *(bool *)target = true;
    return true;
}

static const struct option *find_option(const char *name,
                                        const struct option *options, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(name, options[i].name) == 0)
            return &options[i];
    }
    return NULL;
}

bool command_line_parse(char **argv, const struct option *options, int count,
                        void *arguments, struct message *message)
{
    for (char **word = argv + 1; *word; word++) {
        const struct option *option = find_option(*word, options, count);
        if (!option)
            return message_set(message, "unknown option '%s'; see --help",
                               *word);
        if (option->kind != OPTION_FLAG && !*++word)
            return message_set(message, "%s needs a value: %s", option->name,
                               option->help);
        if (!set_option(option, *word, arguments, message))
            return false;
    }
    return true;
}

void command_line_help(FILE *stream, const struct option *options, int count)
{
    for (int i = 0; i < count; i++) {
        const char *value = options[i].value ? options[i].value : "";
        fprintf(stream, "  %s %-*s %s\n", options[i].name,
                (int)(22 - strlen(options[i].name)), value, options[i].help);
    }
}
