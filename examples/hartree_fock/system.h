/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the SCF of a molecule starts from; densities are of half the electrons.
 */
#ifndef HARTREE_FOCK_SYSTEM_H
#define HARTREE_FOCK_SYSTEM_H

#include "integrals.h"
#include "scf/scf.h"

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
    struct scf_system scf;
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
