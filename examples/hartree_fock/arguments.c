/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"
#include "common/command_line.h"

#include <string.h>

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--xyz", "FILE", AT(input.xyz_path), OPTION_TEXT,
     .help = "molecule: atoms and coordinates in angstrom"},
    {"--basis", "FILE", AT(input.basis_path), OPTION_TEXT,
     .help = "basis set in Gaussian94 format"},
    {"--charge", "Q", AT(input.charge), OPTION_INTEGER(-1000, 1000),
     .help = "charge of the molecule (0)"},
    {"--tile", "N", AT(fock.tile), OPTION_INTEGER(1, 10000),
     .help = "basis functions of a tile at most (10); a task is four tiles"},
    {"--schwarz", "T", AT(fock.schwarz), OPTION_NUMBER(1e-30, 1),
     .help = "leave out smaller integrals (1e-12)"},
    {"--density-screening", NULL, AT(fock.is_density_screened), OPTION_FLAG,
     .help = "leave out integrals that are smaller times the density"},
    {"--engine-precision", "P", AT(input.engine_precision),
     OPTION_NUMBER(1e-30, 1),
     .help = "leave out smaller parts of an integral (1e-17)"},
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "original, retain, centralized, hierarchical, counter or static "
             "(retain)"},
    {"--iterations", "N", AT(iterations), OPTION_INTEGER(1, 10000),
     .help = "iterations at most (50)"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all policies and print one table"},
    {"--help", NULL, AT(has_help), OPTION_FLAG, .help = "print this"},
};

static const struct command_line line = {
    .options = options, .count = sizeof options / sizeof *options};

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
    if (!command_line_parse(&line, argv, arguments, message))
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
    command_line_help(&line, stream);
    fprintf(stream,
            "\nWorkers are OpenMP threads of MPI ranks. EVENKEEL_* variables "
            "win over --policy.\n"
            "Exit status: 0 converged or compared, 1 not, 2 bad input.\n");
}
