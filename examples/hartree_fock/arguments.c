/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_TEXT,
    KIND_INTEGER,
    KIND_NUMBER,
    KIND_POLICY,
    KIND_FLAG
};

/* One option: where its value goes and what is allowed. */
struct option {
    const char *name;
    const char *value; /* what stands for its value in the help */
    enum kind kind;
    size_t offset; /* in struct arguments */
    double least, most;
    const char *help;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
    {"--xyz", "FILE", KIND_TEXT, AT(input.xyz_path), 0, 0,
     "molecule: atoms and coordinates in angstrom"},
    {"--basis", "FILE", KIND_TEXT, AT(input.basis_path), 0, 0,
     "basis set in Gaussian94 format"},
    {"--charge", "Q", KIND_INTEGER, AT(input.charge), -1000, 1000,
     "charge of the molecule (0)"},
    {"--tile", "N", KIND_INTEGER, AT(fock.tile), 1, 10000,
     "basis functions of a tile at most (10); a task is four tiles"},
    {"--schwarz", "T", KIND_NUMBER, AT(fock.schwarz), 1e-30, 1,
     "leave out smaller integrals (1e-12)"},
    {"--density-screening", NULL, KIND_FLAG, AT(fock.is_density_screened), 0, 0,
     "leave out integrals that are smaller times the density"},
    {"--engine-precision", "P", KIND_NUMBER, AT(input.engine_precision), 1e-30,
     1, "leave out smaller parts of an integral (1e-17)"},
    {"--policy", "NAME", KIND_POLICY, AT(fock.scheme), 0, 0,
     "original, retain, counter or static (retain)"},
    {"--iterations", "N", KIND_INTEGER, AT(iterations), 1, 10000,
     "iterations at most (50)"},
    {"--compare", NULL, KIND_FLAG, AT(has_compare), 0, 0,
     "run all policies and print one table"},
    {"--help", NULL, KIND_FLAG, AT(has_help), 0, 0, "print this"},
};

#define OPTIONS (sizeof options / sizeof *options)

static bool set_integer(const struct option *option, const char *text,
                        int *target, struct message *message)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || (double)value < option->least ||
        (double)value > option->most)
        return message_set(message,
                           "%s is '%s'; allowed is an integer from %.0f to "
                           "%.0f",
                           option->name, text, option->least, option->most);
    *target = (int)value;
    return true;
}

static bool set_number(const struct option *option, const char *text,
                       double *target, struct message *message)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= option->least) ||
        !(value <= option->most))
        return message_set(message,
                           "%s is '%s'; allowed is a number from %g to %g",
                           option->name, text, option->least, option->most);
    *target = value;
    return true;
}

static bool set_policy(const char *text, enum scheme *target,
                       struct message *message)
{
    static const struct {
        const char *name;
        enum scheme scheme;
    } policies[] = {{"original", SCHEME_STEAL},
                    {"retain", SCHEME_STEAL_RETAIN},
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
                       "counter and static",
                       text);
}

static bool set_option(const struct option *option, const char *text,
                       struct arguments *arguments, struct message *message)
{
    void *target = (char *)arguments + option->offset;
    switch (option->kind) {
    case KIND_TEXT:
        *(const char **)target = text;
        return true;
    case KIND_INTEGER:
        return set_integer(option, text, target, message);
    case KIND_NUMBER:
        return set_number(option, text, target, message);
    case KIND_POLICY:
        return set_policy(text, target, message);
    case KIND_FLAG:
        break;
    }
    *(bool *)target = true;
    return true;
}

static const struct option *find_option(const char *name)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(name, options[i].name) == 0)
            return &options[i];
    }
    return NULL;
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

bool arguments_parse(int argc, char **argv, struct arguments *arguments,
                     struct message *message)
{
    *arguments = (struct arguments){
        .input = {.engine_precision = 1e-17},
        .fock = {.scheme = SCHEME_STEAL_RETAIN, .tile = 10, .schwarz = 1e-12},
        .iterations = 50};
    for (int i = 1; i < argc; i++) {
        const struct option *option = find_option(argv[i]);
        if (!option)
            return message_set(message, "unknown option '%s'; see --help",
                               argv[i]);
        if (option->kind != KIND_FLAG && i + 1 == argc)
            return message_set(message, "%s needs a value: %s", option->name,
                               option->help);
        const char *text = option->kind == KIND_FLAG ? NULL : argv[++i];
        if (!set_option(option, text, arguments, message))
            return false;
    }
    return check_required(arguments, message);
}

void arguments_help(FILE *stream)
{
    fprintf(stream,
            "Restricted closed-shell Hartree-Fock, balanced by Evenkeel.\n\n"
            "  hartree_fock --xyz FILE --basis FILE [options]\n\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const char *value = options[i].value ? options[i].value : "";
        fprintf(stream, "  %s %-*s %s\n", options[i].name,
                (int)(22 - strlen(options[i].name)), value, options[i].help);
    }
    fprintf(stream,
            "\nWorkers are OpenMP threads of MPI ranks. EVENKEEL_* variables "
            "win over --policy.\n"
            "Exit status: 0 converged or compared, 1 not, 2 bad input.\n");
}
