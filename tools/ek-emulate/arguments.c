/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "emulate.h"

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--workers", "W", AT(workers), OPTION_INTEGER(1, 64),
     .help = "workers of each rank (8)"},
    {"--start", "PLACE", AT(start), OPTION_TEXT,
     .help = "record, block or dealt (record if the workers fit, else block)"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "iterations of each mode (8)"},
    {"--repeat", "N", AT(rounds), OPTION_INTEGER(1, 1000),
     .help = "with --compare: rounds, each with all modes and a seed (1)"},
};

static bool check_repeat(void *context, struct message *message)
{
    const struct arguments *arguments = context;
    return arguments->rounds <= 1 || arguments->shared.has_compare ||
           message_set(message, "--repeat needs --compare");
}

const struct command_line arguments_line = {
    OPTION_ROWS(options), .shared = &run_command_line,
    .head = "Emulate a run with more workers than cores: tasks wait instead of "
            "computing.\n\n"
            "  ek-emulate --record FILE | --synthetic SPEC [options]\n"
            "  mpirun -n R ek-emulate ...     R x W workers\n\n",
    .tail = "\nOnly StealAll runs null tasks. EVENKEEL_* variables take "
            "effect, except\nEVENKEEL_WORKERS and, with --compare, "
            "EVENKEEL_RESTORE and EVENKEEL_STEAL.\n\n" DOCUMENTS
            "/docs/how-to/emulate.md\nexplains the results.\n" EXIT_WORDS,
    .check = check_repeat};

const struct arguments arguments_default = {.shared.source = RUN_SOURCE_INIT,
                                            .workers = 8,
                                            .iterations = 8,
                                            .rounds = 1};
