/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mode_arguments.h"

#include "common/job.h"

#define AT(field) offsetof(struct mode_arguments, field)

static const struct option options[] = {
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "restore policy, or a mode of --compare (retain)"},
    {"--steal", "NAME", AT(steal), OPTION_TEXT,
     .help = "steal policy, instead of the mode's or Evenkeel's"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all modes, and print one table"},
    {"--modes", "A,B,...", AT(modes), OPTION_TEXT, .help = MODES_HELP},
    {"--repeat", "N", AT(rounds), OPTION_INTEGER(1, 1000),
     .help = "with --compare: rounds, each with all modes (1)"},
    {"--record", "FILE", AT(record), OPTION_TEXT,
     .help = "write how long each task takes (.ekr); not with --compare"},
};

/* The library knows the words, and says which. */
static bool check_mode(const struct mode *mode, struct message *message)
{
    return mode->is_anew || job_knows(mode) || message_leave(message);
}

static bool check_together(void *arguments, struct message *message)
{
    struct mode_arguments *shared = arguments;
    shared->has_compare |= shared->modes != NULL;
    if (shared->has_compare && (shared->policy || shared->steal))
        return message_set(message, MODES_OWN_POLICIES);
    if (shared->rounds > 0 && !shared->has_compare)
        return message_set(message, "--repeat needs --compare");
    if (shared->record && shared->has_compare)
        return message_set(message,
                           "--compare and --record do not go together");
    if (shared->resume && shared->has_compare)
        return message_set(message,
                           "--compare and --resume do not go together");
    if (shared->rounds == 0)
        shared->rounds = 1;
    shared->mode =
        mode_find(shared->policy ? shared->policy : "retain", shared->steal);
    if (shared->has_compare && shared->iterations < 2)
        return message_set(message,
                           "--iterations is 1; --compare needs at least 2");
    return modes_read(shared->modes, check_mode, &shared->compared, message);
}

static void release(void *arguments)
{
    modes_free(&((struct mode_arguments *)arguments)->compared);
}

static void print_modes(FILE *stream)
{
    modes_help(stream);
    fprintf(stream,
            "\nWorkers are OpenMP threads of MPI ranks. EVENKEEL_* variables "
            "win over --policy\nand --steal. With --compare EVENKEEL_RESTORE, "
            "EVENKEEL_STEAL and EVENKEEL_DATA have\nno effect.\n");
}

const struct command_line mode_command_line = {
    OPTION_ROWS(options), .add = print_modes, .check = check_together,
    .release = release};
