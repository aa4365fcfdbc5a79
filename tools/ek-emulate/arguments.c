/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "emulate.h"

#define AT(field) offsetof(struct arguments, field)
#define AT_SOURCE(field) AT(source.field)

static const struct option options[] = {
    WORKLOAD_OPTIONS(AT_SOURCE),
    {"--start", "PLACE", AT(start), OPTION_TEXT,
     .help = "record, block or dealt; else record where workers fit, or block"},
    {"--workers", "W", AT(workers), OPTION_INTEGER(1, 64),
     .help = "workers of each rank (8)"},
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "of ek_restore() (Evenkeel's own)"},
    {"--steal", "NAME", AT(steal), OPTION_TEXT,
     .help = "whom a worker without work asks (Evenkeel's own)"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all modes, a row for each"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "of each mode (8)"},
    {"--csv", NULL, AT(has_csv), OPTION_FLAG,
     .help = "a line per mode and iteration"},
    {"--json", NULL, AT(has_json), OPTION_FLAG,
     .help = "likewise, one JSON object each; times in seconds"},
    {"--help", NULL, AT(has_help), OPTION_FLAG, .help = "print this"},
};

static const struct command_line line = {
    .options = options, .count = sizeof options / sizeof *options};

static bool check_together(const struct arguments *arguments,
                           struct message *message)
{
    if (!arguments->source.record == !arguments->source.synthetic)
        return message_set(message, "one of --record and --synthetic is "
                                    "needed; see --help");
    if (arguments->has_csv && arguments->has_json)
        return message_set(message, "--csv and --json do not go together");
    if (arguments->has_compare && (arguments->policy || arguments->steal))
        return message_set(message, "--compare has policies of its own: "
                                    "--policy and --steal do not go with it");
    return true;
}

bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments = (struct arguments){
        .workers = 8, .iterations = 8, .source = {.seed = 1, .scale = 1}};
    if (!command_line_parse(&line, argv, arguments, message))
        return false;
    return arguments->has_help || check_together(arguments, message);
}

static void print_modes(FILE *stream)
{
    for (int i = 0; i < compared_count; i++) {
        const struct mode *mode = &compared_modes[i];
        fprintf(stream, "  %-20s %s, %s%s%s\n", mode->name, mode->restore,
                mode->steal, mode->is_anew ? "; all anew each time" : "",
                mode->has_nulls ? ", null tasks included" : "");
    }
}

void arguments_help(FILE *stream)
{
    fprintf(stream, "A run emulated with more workers than cores: tasks wait "
                    "instead of computing.\n\n"
                    "  ek-emulate --record FILE | --synthetic SPEC [options]\n"
                    "  mpirun -n R ek-emulate ...     R x W workers\n\n");
    command_line_help(&line, stream);
    fprintf(stream, "\nKinds of --synthetic: lognormal (cv: deviation / mean), "
                    "exponential, uniform,\nconstant.\n"
                    "\nModes of --compare, and their restore and steal "
                    "policies:\n");
    print_modes(stream);
    fprintf(stream,
            "\nEVENKEEL_* variables hold, but not EVENKEEL_WORKERS, and with "
            "--compare not\nEVENKEEL_RESTORE and EVENKEEL_STEAL. "
            "docs/emulation.md explains the columns.\n"
            "Exit status: 0 good, 1 failed, 2 bad input.\n");
}
