/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A straight chain of beryllium atoms and its basis functions.
 */
#ifndef HF_BE_CHAIN_H
#define HF_BE_CHAIN_H

/** Basis functions of an atom. */
#define CHAIN_ATOM_FUNCTIONS 15

/** Electrons and protons of an atom. */
#define CHAIN_ATOM_CHARGE 4

/** A normalized s-type Gaussian, norm * exp(-exponent |r - center|^2). */
struct gaussian {
    double exponent; /* 1 / bohr^2 */
    double norm;
    double center[3]; /* bohr */
};

struct chain {
    int atoms;
    int functions;
    double spacing;            /* bohr */
    struct gaussian *gaussian; /* [functions], atom by atom; owned */
};

/** Place the atoms along the first axis. */
void chain_make(int atoms, double spacing, struct chain *chain);

void chain_free(struct chain *chain);

/** Where an atom is, bohr. */
void chain_nucleus(const struct chain *chain, int atom, double position[3]);

/** Repulsion of the nuclei, hartree. */
double chain_repulsion(const struct chain *chain);

#endif
