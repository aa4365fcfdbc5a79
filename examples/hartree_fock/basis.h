/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The basis functions of a molecule, from a basis-set file in Gaussian94
 * format.
 */
#ifndef HARTREE_FOCK_BASIS_H
#define HARTREE_FOCK_BASIS_H

#include "molecule.h"

/** Highest angular momentum: h. */
#define MOMENTUM_MAX 5

/** A contracted shell. */
struct shell {
    int atom;
    int momentum;
    bool is_spherical; /* 2l + 1 functions; else (l + 1)(l + 2)/2 */
    int primitives;
    const double *exponent;    /* [primitives], in basis.numbers */
    const double *coefficient; /* [primitives], of normalized primitives */
    int first;                 /* its first function */
    int functions;
};

struct basis {
    int functions;
    int shells;
    struct shell *shell; /* [shells], atom by atom; owned */
    double *numbers;     /* of all shells; owned */
    int *first_of_atom;  /* [atoms + 1], first shell of an atom; owned */
};

/**
 * Put the shells of a basis-set text on the atoms of a molecule.
 *
 * SP shells are split.  A comment "native function type: cartesian" (or
 * spherical, the default) says what shells of d and more consist of.
 *
 * @param[in]  path   For messages.
 * @param[out] basis  To be freed by basis_free().
 */
bool basis_parse(const char *text, const char *path,
                 const struct molecule *molecule, struct basis *basis,
                 struct message *message);

void basis_free(struct basis *basis);

#endif
