/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands and their arguments. */
#include "tool.h"

#include "cli/command_line.h"

const char program_name[] = "ek-record";

#define AT(field) offsetof(struct tool_arguments, field)

static bool take_file(const char *word, void *context, struct message *message)
{
    struct tool_arguments *arguments = context;
    (void)message; /* read_arguments() counts them */
    if (arguments->file_count < TOOL_FILES)
        arguments->files[arguments->file_count] = word;
    arguments->file_count++;
    return true;
}

static const struct command_line files_line = {.operand = take_file};

static const char *type_words(void)
{
    return "f32, u32";
}

static const struct option import_options[] = {
    {"--function", "NAME", AT(function), OPTION_TEXT,
     .help = "name of the tasks' function (task)"},
    {"--type", "f32|u32", AT(type), OPTION_WORD(type_words),
     .help = "type of the durations (f32)"},
    {"--scale", "NS", AT(scale_ns), OPTION_NUMBER(1e-30, 1e18),
     .help = "nanoseconds per unit (1000: microseconds)"},
    {"--ids", "FILE", AT(ids), OPTION_TEXT,
     .help = "32-bit ids of the tasks (0, 1, 2, ...)"},
    {"--gaps", NULL, AT(has_gaps), OPTION_FLAG,
     .help = "each id is a difference to the one before"},
    {"--nulls", "N", AT(nulls), OPTION_LONG(0, 1e18),
     .help = "number of null tasks besides (0)"},
    {"--every", "K", AT(every), OPTION_LONG(1, UINT32_MAX),
     .help = "take every K-th task, from the first on (1)"},
};

static void print_commands(FILE *stream);

static const struct command_line import_line = {
    OPTION_ROWS(import_options),
    .operand = take_file,
    .shared = &files_line,
    .head = "Summarize, print and import records of tasks and their "
            "durations.\n\nusage: ek-record COMMAND ...\n\n",
    .tail =
        "\nEVENKEEL_RECORD=FILE.ekr makes a program write a "
        "record.\n" DOCUMENTS "/docs/how-to/record.md\ndescribes records and "
        "the columns of the summary.\n" EXIT_WORDS,
    .list = print_commands};

static const struct command {
    const char *name;
    const char *takes; /* in words */
    int files;
    const struct command_line *line;
    int (*run)(const struct tool_arguments *arguments);
    const char *help;
} commands[] = {
    {"summary", "FILE", 1, &files_line, tool_summary,
     "print a table with a row for each iteration"},
    {"text", "FILE", 1, &files_line, tool_text,
     "print the record as text, one line per task"},
    {"csv", "FILE", 1, &files_line, tool_csv,
     "print one row per task, with its worker and its place there"},
    {"binary", "TEXT FILE", 2, &files_line, tool_binary,
     "make a record of the text; TEXT may be -"},
    {"import", "[options] RAW FILE", 2, &import_line, tool_import,
     "make a record of little-endian 32-bit durations: one worker\n            "
     "                 and one iteration; RAW may be -"},
};

enum {
    COMMANDS = sizeof commands / sizeof *commands
};

static void print_commands(FILE *stream)
{
    for (int i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-7s %-18s %s\n", commands[i].name,
                commands[i].takes, commands[i].help);
    fprintf(stream, "\noptions of import, and of all\n");
}

/* NULL, with a message: there is none of that name. */
static const struct command *find_command(const char *name,
                                          struct message *message)
{
    char allowed[256] = "";
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
        eki_append(allowed, sizeof allowed, "%s %s, ", commands[i].name,
                   commands[i].takes);
    }
    if (name[0] == '\0')
        message_set(message, "a command is missing; allowed: %s--help",
                    allowed);
    else
        message_set(message, "'%s' is no command; allowed: %s--help", name,
                    allowed);
    return NULL;
}

static bool read_arguments(const struct command *command, char **argv,
                           struct tool_arguments *arguments,
                           struct message *message)
{
    enum {
        NAME_BYTES = sizeof((struct eki_record_shape *)0)->name
    };
    *arguments = (struct tool_arguments){
        .function = "task", .type = "f32", .scale_ns = 1000, .every = 1};
    if (!command_line_parse(command->line, argv, arguments, message))
        return false;
    if (arguments->file_count < command->files)
        return message_set(message, "%s: a file is missing; allowed: %s %s",
                           command->name, command->name, command->takes);
    if (arguments->file_count > command->files)
        return message_set(message, "%s: %d files; allowed: %s %s",
                           command->name, arguments->file_count, command->name,
                           command->takes);
    /* As ek_register() takes it. */
    size_t length = strlen(arguments->function);
    if (length < 1 || length >= NAME_BYTES)
        return message_set(message,
                           "--function is '%s'; allowed: 1 to %d characters",
                           arguments->function, NAME_BYTES - 1);
    return true;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    struct tool_arguments arguments;
    struct message message;
    if (command_line_answer(&import_line, argv))
        return end_output(EXIT_GOOD);
    const struct command *command = find_command(name, &message);
    if (!command || !read_arguments(command, argv + 1, &arguments, &message)) {
        tool_say("%s", message.text);
        return EXIT_BAD_INPUT;
    }
    return end_output(command->run(&arguments));
}
