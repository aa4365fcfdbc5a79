/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

/* So many that n^2 entries of a matrix are an int, and T^4 tasks an int64_t. */
#define ATOMS_MAX 3000

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--atoms", "N", AT(atoms), OPTION_INTEGER(1, ATOMS_MAX),
     .help = "beryllium atoms in a straight chain (4)"},
    {"--spacing", "BOHR", AT(spacing), OPTION_NUMBER(0.5, 1000),
     .help = "bohr between neighboring atoms (4.0)"},
    {"--tile", "N", AT(fock.width), OPTION_INTEGER(1, 1000),
     .help =
         "basis functions of a tile, 15 per atom (10); a task is four tiles"},
    {"--screen", "TOL", AT(fock.screen), OPTION_NUMBER(1e-30, 1),
     .help = "leave out smaller integrals (1e-6)"},
    {"--converge", "TOL", AT(converge), OPTION_NUMBER(1e-14, 1),
     .help = "stop when the density changes by less (5e-4)"},
    {"--null-by-get", NULL, AT(fock.is_null_by_get), OPTION_FLAG,
     .help = "with --distributed: get bounds to find the null tasks"},
    {"--count", NULL, AT(has_count), OPTION_FLAG,
     .help = "only count the tasks that are not null"},
    {"--integral-ns", "NS", AT(cost.integral_ns), OPTION_NUMBER(0, 1e9),
     .help = "with --count and --record: time of an integral (31) ..."},
    {"--test-ns", "NS", AT(cost.test_ns), OPTION_NUMBER(0, 1e9),
     .help = "... and of a test whether it matters (1)"},
};

static bool check_together(void *context, struct message *message)
{
    const struct arguments *arguments = context;
    const struct problem_arguments *shared = &arguments->shared;
    if (shared->modes.has_compare && arguments->has_count)
        return message_set(message, "--compare and --count do not go together");
    if (shared->storage.is_distributed && arguments->has_count)
        return message_set(message, "--count needs no matrix to distribute");
    if (arguments->fock.is_null_by_get && !shared->storage.is_distributed)
        return message_set(message, "--null-by-get needs --distributed");
    return true;
}

const struct command_line arguments_line = {
    OPTION_ROWS(options), .shared = &problem_command_line,
    .head = "Hartree-Fock on a chain of beryllium atoms, the benchmark of HPDC "
            "2012.\n\n  hf_be [options]\n\n",
    .tail = "A calculation that does not converge is a failure.\n" EXIT_WORDS,
    .check = check_together};

const struct arguments arguments_default = {
    .shared = PROBLEM_ARGUMENTS_INIT,
    .atoms = 4,
    .spacing = 4.0,
    .converge = 5e-4,
    .fock = {.width = 10, .screen = 1e-6},
    .cost = {.integral_ns = 31, .test_ns = 1}};
