/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restricted closed-shell self-consistent field.
 */
#ifndef HARTREE_FOCK_SCF_H
#define HARTREE_FOCK_SCF_H

#include "fock.h"

/** The field is self-consistent when the DIIS error is below. */
#define SCF_ERROR_MAX 1e-8

/** One iteration. */
struct scf_row {
    int iteration; /* from 1 */
    double energy; /* hartree */
    double error;  /* largest entry of the DIIS error */
    struct fock_report fock;
};

typedef void scf_row_fn(const struct scf_row *row, void *context);

struct scf_options {
    int iterations;   /* at most */
    bool is_unending; /* go on when converged */
    scf_row_fn *row;  /* called after each iteration, on every rank */
    void *row_context;
};

struct scf_result {
    double energy;
    double error;
    int iterations;
    bool is_converged;
};

/**
 * Iterate from the guess of the system.
 *
 * Call: Collective over @p comm.  All ranks return the same.
 */
bool scf_run(MPI_Comm comm, const struct system *system, struct fock *fock,
             const struct scf_options *options, struct scf_result *result,
             struct message *message);

#endif
