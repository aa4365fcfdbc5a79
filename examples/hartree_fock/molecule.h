/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A molecule: atoms and where they are, from an XYZ file.
 */
#ifndef HARTREE_FOCK_MOLECULE_H
#define HARTREE_FOCK_MOLECULE_H

#include "cli/message.h"

/** Heaviest known element: krypton. */
#define ELEMENT_MAX 36

/** Symbol of element 1 ... ELEMENT_MAX. */
const char *element_symbol(int number);

/** Number of an element, whatever its case; 0: unknown. */
int element_number(const char *symbol);

struct atom {
    int element;
    double position[3]; /* bohr */
};

struct molecule {
    int atoms;
    struct atom *atom; /* [atoms], owned */
};

/**
 * Read an XYZ text: the number of atoms, a comment, and for each atom its
 * symbol and three coordinates in angstrom.
 *
 * @param[in]  path      For messages.
 * @param[out] molecule  To be freed by molecule_free().
 */
bool molecule_parse(const char *text, const char *path,
                    struct molecule *molecule, struct message *message);

void molecule_free(struct molecule *molecule);

/** Sum of the nuclear charges. */
int molecule_protons(const struct molecule *molecule);

/** Repulsion of the nuclei, hartree. */
double molecule_repulsion(const struct molecule *molecule);

#endif
