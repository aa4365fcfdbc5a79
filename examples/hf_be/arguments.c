/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"
#include "common/command_line.h"

/* So many that n^2 entries of a matrix are an int, and T^4 tasks an int64_t. */
#define ATOMS_MAX 3000

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--atoms", "N", AT(atoms), OPTION_INTEGER(1, ATOMS_MAX),
     .help = "beryllium atoms in a straight chain (4)"},
    {"--spacing", "BOHR", AT(spacing), OPTION_NUMBER(0.5, 1000),
     .help = "between neighbours (4.0)"},
    {"--tile", "N", AT(fock.width), OPTION_INTEGER(1, 1000),
     .help =
         "basis functions of a tile, 15 per atom (10); a task is four tiles"},
    {"--screen", "TOL", AT(fock.screen), OPTION_NUMBER(1e-30, 1),
     .help = "leave out smaller integrals (1e-6)"},
    {"--converge", "TOL", AT(converge), OPTION_NUMBER(1e-14, 1),
     .help = "stop when the density changes by less (5e-4)"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "iterations at most (50)"},
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "an ek_restore() policy or a name of --compare (retain)"},
    {"--steal", "NAME", AT(steal), OPTION_TEXT,
     .help = "instead of what the policy or Evenkeel chooses"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all modes and print one table"},
    {"--count", NULL, AT(has_count), OPTION_FLAG,
     .help = "only count the tasks that are not null"},
    {"--help", NULL, AT(has_help), OPTION_FLAG, .help = "print this"},
};

static const struct command_line line = {
    .options = options, .count = sizeof options / sizeof *options};

static bool check_together(const struct arguments *arguments,
                           struct message *message)
{
    if (arguments->has_compare && arguments->has_count)
        return message_set(message, "--compare and --count do not go together");
    if (arguments->has_compare && arguments->iterations < 2)
        return message_set(message,
                           "--iterations is 1; --compare needs at least 2");
    return true;
}

bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments = (struct arguments){.atoms = 4,
                                    .spacing = 4.0,
                                    .converge = 5e-4,
                                    .iterations = 50,
                                    .policy = "retain",
                                    .fock = {.width = 10, .screen = 1e-6}};
    if (!command_line_parse(&line, argv, arguments, message))
        return false;
    arguments->fock.mode = mode_find(arguments->policy, arguments->steal);
    return check_together(arguments, message);
}

void arguments_help(FILE *stream)
{
    fprintf(stream, "Hartree-Fock on a chain of beryllium atoms, the benchmark "
                    "of HPDC 2012.\n\n"
                    "  hf_be [options]\n\n");
    command_line_help(&line, stream);
    fprintf(stream, "\nModes of --compare, and their restore and steal "
                    "policies:\n");
    for (int i = 0; i < compared_count; i++) {
        const struct mode *mode = &compared_modes[i];
        fprintf(stream, "  %-20s %s, %s%s\n", mode->name, mode->restore,
                mode->steal ? mode->steal : "default",
                mode->is_anew ? "; all tasks anew in each iteration" : "");
    }
    fprintf(stream,
            "\nWorkers are OpenMP threads of MPI ranks. EVENKEEL_* variables "
            "win over --policy\nand --steal.\n"
            "Exit status: 0 converged, compared or counted, 1 not, 2 bad "
            "input.\n");
}
