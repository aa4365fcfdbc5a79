/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "emulate.h"

#define AT(field) offsetof(struct arguments, field)
#define AT_SOURCE(field) AT(source.field)

static const struct option options[] = {
    WORKLOAD_OPTIONS(AT_SOURCE),
    {"--start", "PLACE", OPTION_TEXT, AT(start), 0, 0,
     "record, block or dealt; else record where workers fit, or block"},
    {"--workers", "W", OPTION_INTEGER, AT(workers), 1, 64,
     "workers of each rank (8)"},
    {"--policy", "NAME", OPTION_TEXT, AT(policy), 0, 0,
     "of ek_restore() (Evenkeel's own)"},
    {"--steal", "NAME", OPTION_TEXT, AT(steal), 0, 0,
     "whom a worker without work asks (Evenkeel's own)"},
    {"--compare", NULL, OPTION_FLAG, AT(has_compare), 0, 0,
     "run all modes, a row for each"},
    {"--iterations", "N", OPTION_INTEGER, AT(iterations), 1, 10000,
     "of each mode (8)"},
    {"--csv", NULL, OPTION_FLAG, AT(has_csv), 0, 0,
     "a line per mode and iteration"},
    {"--json", NULL, OPTION_FLAG, AT(has_json), 0, 0,
     "likewise, one JSON object each; times in seconds"},
    {"--help", NULL, OPTION_FLAG, AT(has_help), 0, 0, "print this"},
};

#define OPTIONS ((int)(sizeof options / sizeof *options))

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
    if (!command_line_parse(argv, options, OPTIONS, arguments, message))
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
    command_line_help(stream, options, OPTIONS);
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
