/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an SCF starts from and does not change.  The same on every rank.
 */
#ifndef HARTREE_FOCK_SYSTEM_H
#define HARTREE_FOCK_SYSTEM_H

#include "common/algebra.h"
#include "integrals.h"

#include <mpi.h>

/** What to compute. */
struct input {
    const char *xyz_path;
    const char *basis_path;
    int charge;
    double engine_precision; /* of repulsion integrals over primitives */
};

struct system {
    struct molecule molecule;
    struct basis basis;
    struct integrals *integrals;
    struct orthogonalizer orthogonalizer;
    int occupied;     /* doubly occupied orbitals */
    double repulsion; /* of the nuclei, hartree */
    double *overlap;  /* [n][n] */
    double *core;     /* [n][n], kinetic energy and attraction to the nuclei */
    double *guess;    /* [n][n], half the electrons' density */
};

/**
 * Read the input files and prepare all that is done once.
 *
 * @param[out] system  To be freed, also on failure.
 *
 * Call: Collective.  All ranks return the same.
 */
bool system_load(MPI_Comm comm, const struct input *input,
                 struct system *system, struct message *message);

void system_free(struct system *system);

#endif
