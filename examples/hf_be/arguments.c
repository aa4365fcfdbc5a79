/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"
#include "common/command_line.h"

/* So many that n^2 entries of a matrix are an int, and T^4 tasks an int64_t. */
#define ATOMS_MAX 3000

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--atoms", "N", OPTION_INTEGER, AT(atoms), 1, ATOMS_MAX,
     "beryllium atoms in a straight chain (4)"},
    {"--spacing", "BOHR", OPTION_NUMBER, AT(spacing), 0.5, 1000,
     "between neighbours (4.0)"},
    {"--tile", "N", OPTION_INTEGER, AT(fock.width), 1, 1000,
     "basis functions of a tile, 15 per atom (10); a task is four tiles"},
    {"--screen", "TOL", OPTION_NUMBER, AT(fock.screen), 1e-30, 1,
     "leave out smaller integrals (1e-6)"},
    {"--converge", "TOL", OPTION_NUMBER, AT(converge), 1e-14, 1,
     "stop when the density changes by less (5e-4)"},
    {"--iterations", "N", OPTION_INTEGER, AT(iterations), 1, 10000,
     "iterations at most (50)"},
    {"--policy", "NAME", OPTION_TEXT, AT(policy), 0, 0,
     "an ek_restore() policy or a name of --compare (retain)"},
    {"--steal", "NAME", OPTION_TEXT, AT(steal), 0, 0,
     "instead of what the policy or Evenkeel chooses"},
    {"--compare", NULL, OPTION_FLAG, AT(has_compare), 0, 0,
     "run all modes and print one table"},
    {"--count", NULL, OPTION_FLAG, AT(has_count), 0, 0,
     "only count the tasks that are not null"},
    {"--help", NULL, OPTION_FLAG, AT(has_help), 0, 0, "print this"},
};

#define OPTIONS ((int)(sizeof options / sizeof *options))

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
    if (!command_line_parse(argv, options, OPTIONS, arguments, message))
        return false;
    arguments->fock.mode = mode_find(arguments->policy, arguments->steal);
    return check_together(arguments, message);
}

void arguments_help(FILE *stream)
{
    fprintf(stream, "Hartree-Fock on a chain of beryllium atoms, the benchmark "
                    "of HPDC 2012.\n\n"
                    "  hf_be [options]\n\n");
    command_line_help(stream, options, OPTIONS);
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
