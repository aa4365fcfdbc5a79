/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restricted closed-shell self-consistent field.
 */
#ifndef HF_BE_SCF_H
#define HF_BE_SCF_H

#include "common/message.h"
#include "fock.h"
#include "system.h"

/** One iteration. */
struct scf_row {
    int iteration; /* from 1 */
    double energy; /* hartree */
    double change; /* largest change of an entry of the density */
    struct fock_report fock;
};

typedef void scf_row_fn(const struct scf_row *row, void *context);

struct scf_options {
    int iterations;   /* at most */
    double converge;  /* converged when the density changes by less */
    bool is_unending; /* go on when converged */
    scf_row_fn *row;  /* called after each iteration, on every rank */
    void *row_context;
};

struct scf_result {
    double energy;
    int iterations;
    bool is_converged;
};

/**
 * Iterate from the guess of the system.
 *
 * @param[in,out] density  [n][n], of all electrons: the guess, then the last.
 *
 * Call: Collective over @p comm.  All ranks return the same.
 */
bool scf_run(MPI_Comm comm, const struct system *system, struct fock *fock,
             const struct scf_options *options, double *density,
             struct scf_result *result, struct message *message);

/**
 * Begin with the density of separate atoms.
 *
 * An atom is a chain of its own, whose SCF begins with the core Hamiltonian;
 * each rank does it for itself.
 */
bool scf_guess(struct system *system, struct message *message);

#endif
