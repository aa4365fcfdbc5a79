/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "emulate.h"

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--workers", "W", AT(workers), OPTION_INTEGER(1, 64),
     .help = "workers of each rank (8)"},
    {"--start", "PLACE", AT(start), OPTION_TEXT,
     .help = "record, block or dealt; else record where workers fit, or block"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "of each mode (8)"},
    {"--repeat", "N", AT(rounds), OPTION_INTEGER(1, 1000),
     .help = "with --compare: rounds, each with all modes and a seed (1)"},
};

static const struct command_line line = {OPTION_ROWS(options),
                                         .shared = &run_command_line};

static void print_help(FILE *stream)
{
    fprintf(stream, "A run emulated with more workers than cores: tasks wait "
                    "instead of computing.\n\n"
                    "  ek-emulate --record FILE | --synthetic SPEC [options]\n"
                    "  mpirun -n R ek-emulate ...     R x W workers\n\n");
    run_arguments_help(&line, stream);
    fprintf(stream,
            "\nOnly StealAll runs null tasks, too. EVENKEEL_* variables hold, "
            "but not\nEVENKEEL_WORKERS, and with --compare not "
            "EVENKEEL_RESTORE and EVENKEEL_STEAL.\n\n" DOCUMENTS
            "/emulation.md\nexplains the columns.\n" EXIT_WORDS);
}

bool arguments_answer(char **argv)
{
    return command_line_answer(&line, argv, print_help);
}

bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments = (struct arguments){.workers = 8, .iterations = 8, .rounds = 1};
    if (!run_arguments_parse(&line, argv, arguments, message))
        return false;
    if (arguments->rounds > 1 && !arguments->shared.has_compare)
        return message_set(message, "--repeat needs --compare");
    return true;
}
