/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/command_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool set_integer(const struct option *option, const char *text,
                        void *target, struct message *message)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno != 0 || value < (long long)option->least ||
        value > (long long)option->most)
        return message_set(message,
                           "%s is '%s'; allowed is an integer from %.0f to "
                           "%.0f",
                           option->name, text, option->least, option->most);
    if (option->kind == KIND_INTEGER)
        *(int *)target = (int)value;
    else
        *(int64_t *)target = value;
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

static bool set_word(const struct option *option, const char *text,
                     const char **target, struct message *message)
{
    const char *allowed = option->words();
    size_t length = strlen(text);
    for (const char *at = allowed; *at; at += strspn(at, ", ")) {
        size_t word = strcspn(at, ", ");
        if (word == length && strncmp(at, text, length) == 0) {
            *target = text;
            return true;
        }
        at += word;
    }
    return message_set(message, "%s is '%s'; allowed: %s", option->name, text,
                       allowed);
}

static bool set_option(const struct option *option, const char *text,
                       void *arguments, struct message *message)
{
    void *target = (char *)arguments + option->offset;
    switch (option->kind) {
    case KIND_TEXT:
        *(const char **)target = text;
        return true;
    case KIND_WORD:
        return set_word(option, text, target, message);
    case KIND_INTEGER:
    case KIND_LONG:
        return set_integer(option, text, target, message);
    case KIND_NUMBER:
        return set_number(option, text, target, message);
    case KIND_FLAG:
        break;
    }
    *(bool *)target = true;
    return true;
}

static const struct option *find_option(const struct command_line *line,
                                        const char *name)
{
    for (; line; line = line->shared) {
        for (int i = 0; i < line->count; i++) {
            if (strcmp(name, line->options[i].name) == 0)
                return &line->options[i];
        }
    }
    return NULL;
}

/* What is no option of ours is one of somebody else's, or an operand. */
static bool take_other(const struct command_line *line, const char *word,
                       void *arguments, struct message *message)
{
    if (line->operand && strncmp(word, "--", 2) != 0)
        return line->operand(word, arguments, message);
    return message_set(message, "unknown option '%s'; see --help", word);
}

bool command_line_parse(const struct command_line *line, char **argv,
                        void *arguments, struct message *message)
{
    for (char **word = argv + 1; *word; word++) {
        const struct option *option = find_option(line, *word);
        if (!option) {
            if (!take_other(line, *word, arguments, message))
                return false;
            continue;
        }
        if (option->kind != KIND_FLAG && !*++word)
            return message_set(message, "%s needs a value: %s", option->name,
                               option->help);
        if (!set_option(option, *word, arguments, message))
            return false;
    }
    return true;
}

void command_line_help(const struct command_line *line, FILE *stream)
{
    for (int i = 0; i < line->count; i++) {
        const struct option *option = &line->options[i];
        fprintf(stream, "  %s %-*s %s\n", option->name,
                (int)(22 - strlen(option->name)),
                option->value ? option->value : "", option->help);
    }
    if (line->shared)
        command_line_help(line->shared, stream);
}
