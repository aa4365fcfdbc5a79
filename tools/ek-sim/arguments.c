/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "ek_sim.h"

#include <string.h>

#define AT(field) offsetof(struct arguments, field)
#define AT_SOURCE(field) AT(source.field)

static const struct option options[] = {
    WORKLOAD_OPTIONS(AT_SOURCE),
    {"--machine", "NAME", AT(machine), OPTION_TEXT,
     .help = "a preset or a machine file (hopper)"},
    {"--cores", "P", AT(cores), OPTION_INTEGER(1, EKI_ACTORS_MOST),
     .help = "of the job (one node)"},
    {"--node-cores", "N", AT(node_cores), OPTION_INTEGER(1, EKI_ACTORS_MOST),
     .help = "of a node, instead of the machine's"},
    {"--ranks-per-node", "R", AT(ranks_per_node), OPTION_INTEGER(1, 1024),
     .help = "instead of the machine's"},
    {"--progress", "HOW", AT(progress), OPTION_TEXT,
     .help = "server or polling, instead of the machine's"},
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "of ek_restore() (retain)"},
    {"--steal", "NAME", AT(steal), OPTION_TEXT,
     .help = "whom a worker without work asks (random)"},
    {"--order", "NAME", AT(order), OPTION_TEXT,
     .help = "of restored tasks: longest or executed (longest)"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all ways to balance, some rows for each"},
    {"--start", "PLACE", AT(start), OPTION_TEXT,
     .help = "record, block, dealt, uneven:N:M (record where workers fit, or "
             "block)"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "of each (5)"},
    {"--mode", "HOW", AT(mode), OPTION_TEXT,
     .help = "exact, sampled: steals that fail are drawn, or auto (auto)"},
    {"--deque", "KIND", AT(deque), OPTION_TEXT,
     .help = "atomic or locked (atomic)"},
    {"--buffer-slots", "N", AT(buffer_slots), OPTION_INTEGER(2, 4096),
     .help = "of each of a worker's two buffers (256, fewer in large jobs)"},
    {"--balance-group", "N", AT(balance_group), OPTION_INTEGER(0, 1000000),
     .help = "workers of a group; 0: 256 (0)"},
    {"--balance-ppm", "N", AT(balance_ppm), OPTION_INTEGER(0, 1000000),
     .help = "tolerance of a rebalance; 0: Evenkeel chooses (0)"},
    {"--expected", "N", AT(iterations_expected), OPTION_INTEGER(0, 1000000000),
     .help = "iterations of the run, for auto; 0: as many as done (0)"},
    {"--csv", NULL, AT(has_csv), OPTION_FLAG, .help = "a line per iteration"},
    {"--json", NULL, AT(has_json), OPTION_FLAG,
     .help = "likewise, one JSON object each; times in seconds"},
    {"--help", NULL, AT(has_help), OPTION_FLAG, .help = "print this"},
};

static const struct command_line line = {
    .options = options, .count = sizeof options / sizeof *options};

/* Whether TEXT is none, or one of the words of ALLOWED. */
static bool is_word(const char *text, const char *allowed)
{
    size_t length = text ? strlen(text) : 0;
    if (!text)
        return true;
    for (const char *at = allowed; *at; at += strcspn(at, ", ")) {
        at += strspn(at, ", ");
        if (strcspn(at, ", ") == length && strncmp(at, text, length) == 0)
            return true;
    }
    return false;
}

static bool check_words(const struct arguments *arguments,
                        struct message *message)
{
    const struct {
        const char *name, *value, *allowed;
    } words[] = {{"--progress", arguments->progress, "server, polling"},
                 {"--order", arguments->order, "longest, executed"},
                 {"--mode", arguments->mode, "exact, sampled, auto"},
                 {"--deque", arguments->deque, "atomic, locked"},
                 {"--policy", arguments->policy,
                  "original, retain, centralized, hierarchical, "
                  "centralized-hpdc12, hierarchical-hpdc12, auto"},
                 {"--steal", arguments->steal, "random, near, none, counter"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!is_word(words[i].value, words[i].allowed))
            return message_set(message, "%s is '%s'; allowed: %s",
                               words[i].name, words[i].value, words[i].allowed);
    }
    return true;
}

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
    return check_words(arguments, message);
}

bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments = (struct arguments){.source = {.seed = 1, .scale = 1},
                                    .machine = "hopper",
                                    .mode = "auto",
                                    .iterations = 5};
    if (!command_line_parse(&line, argv, arguments, message))
        return false;
    return arguments->has_help || check_together(arguments, message);
}

void arguments_help(FILE *stream)
{
    fprintf(stream,
            "What a run would do on a machine with so many cores: the same "
            "scheduling, stealing\nand rebalancing code in virtual time.\n\n"
            "ek-sim --record FILE | --synthetic SPEC [--machine NAME|FILE] "
            "[--cores P] ...\n\n");
    command_line_help(&line, stream);
    fprintf(stream,
            "\nMachines: %s.\n`ek-bench machine` writes a machine file for "
            "yours.\n\nKinds of --synthetic: lognormal (cv: deviation / "
            "mean), exponential, uniform,\nconstant.\n\nModes of --compare, "
            "and their restore and steal policies:\n",
            eki_machine_presets());
    for (int i = 0; i < compared_count; i++)
        fprintf(stream, "  %-14s %s, %s\n", compared_modes[i].name,
                compared_modes[i].restore, compared_modes[i].steal);
    fprintf(stream, "\ndocs/simulation.md explains the model and the columns."
                    "\nExit status: 0 good, 1 failed, 2 bad input.\n");
}
