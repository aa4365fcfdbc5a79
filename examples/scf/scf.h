/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restricted closed-shell self-consistent field, whoever builds its Fock
 * matrices.
 *
 * Matrices are row-major [n][n], n basis functions.  Rank 0 has them and does
 * all linear algebra.
 */
#ifndef SCF_SCF_H
#define SCF_SCF_H

#include "cli/message.h"
#include "scf/algebra.h"
#include "scf/fock.h"

/** What an SCF starts from and does not change; matrices on rank 0 alone. */
struct scf_system {
    int n;             /* basis functions */
    int occupied;      /* orbitals */
    double occupation; /* of an orbital: 2 where densities are of all electrons,
                          1 where they are of half of them */
    double repulsion;  /* of the nuclei, hartree */
    double *overlap;
    double *core; /* kinetic energy and attraction to the nuclei */
    double *guess;
    struct orthogonalizer orthogonalizer;
};

/** Make room for the matrices of @p n functions, all zero. */
void scf_system_make(struct scf_system *system, int n);

void scf_system_free(struct scf_system *system);

/** One iteration. */
struct scf_row {
    int iteration; /* from 1 */
    double energy; /* hartree */
    double error;  /* largest entry of the DIIS error */
    double change; /* largest change of an entry of the density */
    struct fock_report fock;
};

typedef void scf_row_fn(const struct scf_row *row, void *context);

struct scf_options {
    int iterations; /* at most */
    /* The field is self-consistent when both are smaller; INFINITY: the other
     * one says it alone. */
    double error_max, change_max;
    bool is_unending; /* go on when converged */
    scf_row_fn *row;  /* called after each iteration, on every rank, or NULL */
    void *row_context;
};

struct scf_result {
    double energy;
    bool is_converged;
};

/**
 * Iterate from the guess of the system.
 *
 * @param[out] density  The last one, on rank 0; or NULL.
 *
 * Call: Collective over the ranks of @p fock.  All ranks return the same.
 */
bool scf_run(const struct scf_system *system, struct fock *fock,
             const struct scf_options *options, struct scf_result *result,
             double *density, struct message *message);

#endif
