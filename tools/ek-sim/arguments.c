/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and help. */
#include "ek_sim.h"

#include <string.h>

#define AT(field) offsetof(struct arguments, field)
#define AT_SOURCE(field) AT(source.field)

static const struct option options[] = {
    WORKLOAD_OPTIONS(AT_SOURCE),
    {"--machine", "NAME", OPTION_TEXT, AT(machine), 0, 0,
     "a preset or a machine file (hopper)"},
    {"--cores", "P", OPTION_INTEGER, AT(cores), 1, EKI_ACTORS_MOST,
     "of the job (one node)"},
    {"--node-cores", "N", OPTION_INTEGER, AT(node_cores), 1, EKI_ACTORS_MOST,
     "of a node, instead of the machine's"},
    {"--ranks-per-node", "R", OPTION_INTEGER, AT(ranks_per_node), 1, 1024,
     "instead of the machine's"},
    {"--progress", "HOW", OPTION_TEXT, AT(progress), 0, 0,
     "server or polling, instead of the machine's"},
    {"--policy", "NAME", OPTION_TEXT, AT(policy), 0, 0,
     "of ek_restore() (retain)"},
    {"--steal", "NAME", OPTION_TEXT, AT(steal), 0, 0,
     "whom a worker without work asks (random)"},
    {"--order", "NAME", OPTION_TEXT, AT(order), 0, 0,
     "of restored tasks: longest or executed (longest)"},
    {"--compare", NULL, OPTION_FLAG, AT(has_compare), 0, 0,
     "run all ways to balance, some rows for each"},
    {"--start", "PLACE", OPTION_TEXT, AT(start), 0, 0,
     "record, block, dealt, uneven:N:M (record where workers fit, or block)"},
    {"--iterations", "N", OPTION_INTEGER, AT(iterations), 1, 10000,
     "of each (5)"},
    {"--mode", "HOW", OPTION_TEXT, AT(mode), 0, 0,
     "exact, sampled: steals that fail are drawn, or auto (auto)"},
    {"--deque", "KIND", OPTION_TEXT, AT(deque), 0, 0,
     "atomic or locked (atomic)"},
    {"--buffer-slots", "N", OPTION_INTEGER, AT(buffer_slots), 2, 4096,
     "of each of a worker's two buffers (256, fewer in large jobs)"},
    {"--balance-group", "N", OPTION_INTEGER, AT(balance_group), 0, 1000000,
     "workers of a group; 0: 256 (0)"},
    {"--balance-ppm", "N", OPTION_INTEGER, AT(balance_ppm), 0, 1000000,
     "tolerance of a rebalance; 0: Evenkeel chooses (0)"},
    {"--expected", "N", OPTION_INTEGER, AT(iterations_expected), 0, 1000000000,
     "iterations of the run, for auto; 0: as many as done (0)"},
    {"--csv", NULL, OPTION_FLAG, AT(has_csv), 0, 0, "a line per iteration"},
    {"--json", NULL, OPTION_FLAG, AT(has_json), 0, 0,
     "likewise, one JSON object each; times in seconds"},
    {"--help", NULL, OPTION_FLAG, AT(has_help), 0, 0, "print this"},
};

#define OPTIONS ((int)(sizeof options / sizeof *options))

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
    if (!command_line_parse(argv, options, OPTIONS, arguments, message))
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
    command_line_help(stream, options, OPTIONS);
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
