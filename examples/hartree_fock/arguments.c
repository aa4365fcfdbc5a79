/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"
#include "common/command_line.h"

#include <string.h>

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--xyz", "FILE", OPTION_TEXT, AT(input.xyz_path), 0, 0,
     "molecule: atoms and coordinates in angstrom"},
    {"--basis", "FILE", OPTION_TEXT, AT(input.basis_path), 0, 0,
     "basis set in Gaussian94 format"},
    {"--charge", "Q", OPTION_INTEGER, AT(input.charge), -1000, 1000,
     "charge of the molecule (0)"},
    {"--tile", "N", OPTION_INTEGER, AT(fock.tile), 1, 10000,
     "basis functions of a tile at most (10); a task is four tiles"},
    {"--schwarz", "T", OPTION_NUMBER, AT(fock.schwarz), 1e-30, 1,
     "leave out smaller integrals (1e-12)"},
    {"--density-screening", NULL, OPTION_FLAG, AT(fock.is_density_screened), 0,
     0, "leave out integrals that are smaller times the density"},
    {"--engine-precision", "P", OPTION_NUMBER, AT(input.engine_precision),
     1e-30, 1, "leave out smaller parts of an integral (1e-17)"},
    {"--policy", "NAME", OPTION_TEXT, AT(policy), 0, 0,
     "original, retain, centralized, hierarchical, counter or static "
     "(retain)"},
    {"--iterations", "N", OPTION_INTEGER, AT(iterations), 1, 10000,
     "iterations at most (50)"},
    {"--compare", NULL, OPTION_FLAG, AT(has_compare), 0, 0,
     "run all policies and print one table"},
    {"--help", NULL, OPTION_FLAG, AT(has_help), 0, 0, "print this"},
};

#define OPTIONS ((int)(sizeof options / sizeof *options))

static bool set_policy(const char *text, enum scheme *target,
                       struct message *message)
{
    static const struct {
        const char *name;
        enum scheme scheme;
    } policies[] = {{"original", SCHEME_STEAL},
                    {"retain", SCHEME_STEAL_RETAIN},
                    {"centralized", SCHEME_CENTRALIZED},
                    {"hierarchical", SCHEME_HIERARCHICAL},
                    {"counter", SCHEME_COUNTER},
                    {"static", SCHEME_STATIC}};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (strcmp(text, policies[i].name) == 0) {
            *target = policies[i].scheme;
            return true;
        }
    }
    return message_set(message,
                       "--policy is '%s'; allowed are original, retain, "
                       "centralized, hierarchical, counter and static",
                       text);
}

static bool check_required(const struct arguments *arguments,
                           struct message *message)
{
    if (arguments->has_help)
        return true;
    if (!arguments->input.xyz_path)
        return message_set(message, "--xyz FILE is missing; see --help");
    if (!arguments->input.basis_path)
        return message_set(message, "--basis FILE is missing; see --help");
    if (arguments->has_compare && arguments->iterations < 2)
        return message_set(message,
                           "--iterations is 1; --compare needs at least 2");
    return true;
}

bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments = (struct arguments){.input = {.engine_precision = 1e-17},
                                    .fock = {.tile = 10, .schwarz = 1e-12},
                                    .policy = "retain",
                                    .iterations = 50};
    if (!command_line_parse(argv, options, OPTIONS, arguments, message))
        return false;
    if (!set_policy(arguments->policy, &arguments->fock.scheme, message))
        return false;
    return check_required(arguments, message);
}

void arguments_help(FILE *stream)
{
    fprintf(stream,
            "Restricted closed-shell Hartree-Fock, balanced by Evenkeel.\n\n"
            "  hartree_fock --xyz FILE --basis FILE [options]\n\n");
    command_line_help(stream, options, OPTIONS);
    fprintf(stream,
            "\nWorkers are OpenMP threads of MPI ranks. EVENKEEL_* variables "
            "win over --policy.\n"
            "Exit status: 0 converged or compared, 1 not, 2 bad input.\n");
}
