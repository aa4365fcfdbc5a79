/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

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
};

static bool check_files(void *context, struct message *message)
{
    const struct arguments *arguments = context;
    if (!arguments->input.xyz_path)
        return message_set(message, "--xyz FILE is missing; see --help");
    if (!arguments->input.basis_path)
        return message_set(message, "--basis FILE is missing; see --help");
    return true;
}

const struct command_line arguments_line = {
    OPTION_ROWS(options), .shared = &problem_command_line,
    .head = "Restricted closed-shell Hartree-Fock, balanced by Evenkeel.\n\n"
            "  hartree_fock --xyz FILE --basis FILE [options]\n\n",
    .tail = "A calculation that does not converge is a failure.\n" EXIT_WORDS,
    .check = check_files};

const struct arguments arguments_default = {
    .shared = PROBLEM_ARGUMENTS_INIT,
    .input = {.engine_precision = 1e-17},
    .fock = {.tile = 10, .schwarz = 1e-12}};
