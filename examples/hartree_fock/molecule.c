/* SPDX-License-Identifier: BSD-3-Clause */
#include "molecule.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CODATA 2014, as the reference energies use. */
#define ANGSTROM_PER_BOHR 0.52917721067

/* Nuclei closer than this are a mistake in the file. */
#define DISTANCE_MIN_BOHR 0.1

/* Farther out is one, too: 0.1 mm. */
#define COORDINATE_MAX 1e6

static const char *const symbols[ELEMENT_MAX + 1] = {
    "",   "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",
    "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl", "Ar", "K",
    "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu",
    "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr"};

const char *element_symbol(int number)
{
    return symbols[number];
}

static bool is_same_symbol(const char *one, const char *other)
{
    while (*one &&
           toupper((unsigned char)*one) == toupper((unsigned char)*other))
        one++, other++;
    return toupper((unsigned char)*one) == toupper((unsigned char)*other);
}

int element_number(const char *symbol)
{
    for (int number = 1; number <= ELEMENT_MAX; number++) {
        if (is_same_symbol(symbol, symbols[number]))
            return number;
    }
    return 0;
}

/* The line at *cursor without its end, cut to the buffer; moves to the next. */
static bool next_line(const char **cursor, char *line, size_t bytes)
{
    if (**cursor == '\0')
        return false;
    size_t length = strcspn(*cursor, "\n");
    snprintf(line, bytes, "%.*s", (int)length, *cursor);
    line[strcspn(line, "\r")] = '\0';
    *cursor += length + ((*cursor)[length] == '\n');
    return true;
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t")] == '\0';
}

static bool parse_count(const char *line, const char *path, int *atoms,
                        struct message *message)
{
    char *end;
    long count = strtol(line, &end, 10);
    if (end == line || !is_blank(end) || count < 1 || count > 1000000)
        return message_set(message,
                           "%s: line 1 is '%.40s'; it must be the number of "
                           "atoms, 1 to 1000000",
                           path, line);
    *atoms = (int)count;
    return true;
}

static bool parse_atom(const char *line, const char *path, int number,
                       struct atom *atom, struct message *message)
{
    char symbol[16];
    double angstrom[3];
    int used = 0;
    if (sscanf(line, "%15s %lf %lf %lf %n", symbol, &angstrom[0], &angstrom[1],
               &angstrom[2], &used) != 4)
        return message_set(message,
                           "%s: line %d is '%.60s'; it must be a symbol and "
                           "three coordinates in angstrom",
                           path, number, line);
    atom->element = element_number(symbol);
    if (atom->element == 0)
        return message_set(message,
                           "%s: line %d: unknown element '%s'; allowed: the "
                           "symbols from %s to %s",
                           path, number, symbol, symbols[1],
                           symbols[ELEMENT_MAX]);
    for (int axis = 0; axis < 3; axis++) {
        if (!(fabs(angstrom[axis]) <= COORDINATE_MAX))
            return message_set(
                message,
                "%s: line %d: a coordinate is %g; allowed: %g to %g angstrom",
                path, number, angstrom[axis], -COORDINATE_MAX, COORDINATE_MAX);
        atom->position[axis] = angstrom[axis] / ANGSTROM_PER_BOHR;
    }
    return true;
}

static double atom_distance(const struct atom *one, const struct atom *other)
{
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        double step = one->position[axis] - other->position[axis];
        square += step * step;
    }
    return sqrt(square);
}

static bool check_distances(const struct molecule *molecule, const char *path,
                            struct message *message)
{
    for (int i = 0; i < molecule->atoms; i++) {
        for (int j = 0; j < i; j++) {
            double distance =
                atom_distance(&molecule->atom[i], &molecule->atom[j]);
            if (distance < DISTANCE_MIN_BOHR)
                return message_set(message,
                                   "%s: atoms %d and %d are %.3f bohr apart; "
                                   "at least %.1f is allowed",
                                   path, j + 1, i + 1, distance,
                                   DISTANCE_MIN_BOHR);
        }
    }
    return true;
}

static bool parse_atoms(const char *cursor, const char *path,
                        struct molecule *molecule, struct message *message)
{
    char line[256];
    int found = 0;
    for (int number = 3; next_line(&cursor, line, sizeof line); number++) {
        if (is_blank(line))
            continue;
        if (found < molecule->atoms &&
            !parse_atom(line, path, number, &molecule->atom[found], message))
            return false;
        found++;
    }
    if (found != molecule->atoms)
        return message_set(message,
                           "%s: line 1 says %d atoms, but %d lines of atoms "
                           "follow",
                           path, molecule->atoms, found);
    return check_distances(molecule, path, message);
}

bool molecule_parse(const char *text, const char *path,
                    struct molecule *molecule, struct message *message)
{
    char line[256];
    const char *cursor = text;
    *molecule = (struct molecule){0, NULL};
    if (!next_line(&cursor, line, sizeof line))
        return message_set(message, "%s: the file is empty", path);
    if (!parse_count(line, path, &molecule->atoms, message))
        return false;
    if (!next_line(&cursor, line, sizeof line))
        return message_set(message, "%s: line 2, the comment, is missing",
                           path);
    molecule->atom = allocate((size_t)molecule->atoms, sizeof(struct atom));
    if (parse_atoms(cursor, path, molecule, message))
        return true;
    molecule_free(molecule);
    return false;
}

void molecule_free(struct molecule *molecule)
{
    free(molecule->atom);
    *molecule = (struct molecule){0, NULL};
}

int molecule_protons(const struct molecule *molecule)
{
    int protons = 0;
    for (int i = 0; i < molecule->atoms; i++)
        protons += molecule->atom[i].element;
    return protons;
}

double molecule_repulsion(const struct molecule *molecule)
{
    double energy = 0;
    for (int i = 0; i < molecule->atoms; i++) {
        for (int j = 0; j < i; j++)
            energy += molecule->atom[i].element * molecule->atom[j].element /
                      atom_distance(&molecule->atom[i], &molecule->atom[j]);
    }
    return energy;
}
