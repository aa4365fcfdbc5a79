/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command_line.h"

#include <evenkeel.h>

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
                           "%s is '%s'; allowed: an integer from %.0f to %.0f",
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
                           "%s is '%s'; allowed: a number from %g to %g",
                           option->name, text, option->least, option->most);
    *target = value;
    return true;
}

static bool is_listed(const char *words, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = words; *at; at += strspn(at, ", ")) {
        size_t word = strcspn(at, ", ");
        if (word == length && strncmp(at, text, length) == 0)
            return true;
        at += word;
    }
    return false;
}

static bool set_word(const struct option *option, const char *text,
                     const char **target, struct message *message)
{
    const char *allowed = option->words();
    if (is_listed(allowed, text)) {
        *target = text;
        return true;
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

/* The option that WORD begins with: all of it, or what is before "=". */
static const struct option *find_option(const struct command_line *line,
                                        const char *word)
{
    size_t length = strcspn(word, "=");
    for (; line; line = line->shared) {
        for (int i = 0; i < line->count; i++) {
            const char *name = line->options[i].name;
            if (strlen(name) == length && strncmp(name, word, length) == 0)
                return &line->options[i];
        }
    }
    return NULL;
}

/* The value behind "=" in WORD, an option; NULL: it is not there. */
static const char *value_within(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals ? equals + 1 : NULL;
}

/* What is no option of ours is one of somebody else's, or an operand. */
static bool take_other(const struct command_line *line, const char *word,
                       void *arguments, struct message *message)
{
    if (line->operand && (word[0] != '-' || word[1] == '\0'))
        return line->operand(word, arguments, message);
    return message_set(message, "unknown option '%s'; see --help", word);
}

static bool read_words(const struct command_line *line, char **argv,
                       void *arguments, struct message *message)
{
    for (char **word = argv + 1; *word; word++) {
        const struct option *option = find_option(line, *word);
        if (!option) {
            if (!take_other(line, *word, arguments, message))
                return false;
            continue;
        }
        const char *value = value_within(*word);
        if (option->kind == KIND_FLAG && value)
            return message_set(message, "%s takes no value", option->name);
        if (option->kind != KIND_FLAG && !value)
            value = *++word;
        if (option->kind != KIND_FLAG && !value)
            return message_set(message, "%s needs a value: %s", option->name,
                               option->help);
        if (!set_option(option, value, arguments, message))
            return false;
    }
    return true;
}

static bool check_together(const struct command_line *line, void *arguments,
                           struct message *message)
{
    return (!line->shared ||
            check_together(line->shared, arguments, message)) &&
           (!line->check || line->check(arguments, message));
}

bool command_line_parse(const struct command_line *line, char **argv,
                        void *arguments, struct message *message)
{
    return read_words(line, argv, arguments, message) &&
           check_together(line, arguments, message);
}

void command_line_release(const struct command_line *line, void *arguments)
{
    for (; line; line = line->shared) {
        if (line->release)
            line->release(arguments);
    }
}

/* Launchers tell a process its rank before MPI does. */
static bool is_launched_first(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                            "PMIX_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *rank = getenv(variables[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

/* The first word that asks for help or the version; NULL: none does. */
static const char *find_question(const struct command_line *line, char **argv)
{
    static const char *const questions[] = {"-h", "--help", "--version"};
    for (char **word = argv + 1; *word; word++) {
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
            if (strcmp(*word, questions[i]) == 0)
                return questions[i];
        }
        const struct option *option = find_option(line, *word);
        if (option && option->kind != KIND_FLAG && !value_within(*word) &&
            !*++word)
            break;
    }
    return NULL;
}

static void print_option(const char *name, const char *value, const char *help,
                         FILE *stream)
{
    fprintf(stream, "  %s %-*s %s\n", name, (int)(22 - strlen(name)), value,
            help);
}

static void print_options(const struct command_line *line, FILE *stream)
{
    for (int i = 0; i < line->count; i++) {
        const struct option *option = &line->options[i];
        print_option(option->name, option->value ? option->value : "",
                     option->help, stream);
    }
    if (line->shared)
        print_options(line->shared, stream);
}

static void print_additions(const struct command_line *line, FILE *stream)
{
    if (line->shared)
        print_additions(line->shared, stream);
    if (line->add)
        line->add(stream);
}

static void print_help(const struct command_line *line, FILE *stream)
{
    fputs(line->head, stream);
    if (line->list)
        line->list(stream);
    print_options(line, stream);
    print_option("-h, --help", "", "print this help", stream);
    print_option("--version", "", "print the version of Evenkeel", stream);
    print_additions(line, stream);
    fputs(line->tail, stream);
}

bool command_line_answer(const struct command_line *line, char **argv)
{
    const char *question = find_question(line, argv);
    if (!question || !is_launched_first())
        return question != NULL;
    if (strcmp(question, "--version") == 0)
        printf("%s %s\n", program_name, ek_version());
    else
        print_help(line, stdout);
    return true;
}

int command_line_main(const struct command_line *line, int argc, char **argv,
                      void *arguments, int (*run)(void *arguments))
{
    struct message message;
    int provided;
    if (command_line_answer(line, argv))
        return end_output(EXIT_GOOD);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    int status = command_line_parse(line, argv, arguments, &message)
                     ? run(arguments)
                     : complain(&message, EXIT_BAD_INPUT);
    command_line_release(line, arguments);
    MPI_Finalize();
    return end_output(status);
}
