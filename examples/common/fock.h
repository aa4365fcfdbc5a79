/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two-electron part of a Fock matrix, built by all workers of a job.
 *
 * Each Hartree-Fock program defines these structs and functions for itself.
 */
#ifndef COMMON_FOCK_H
#define COMMON_FOCK_H

#include "common/job.h"

/** What it is about, and how exactly it is computed. */
struct system;
struct fock_options;

struct fock;

/**
 * @param[in]  system  Borrowed.
 * @param[out] fock    To be destroyed; NULL on failure.
 *
 * @return As job_open(), which has said what failed.
 *
 * Call: Collective.
 */
ek_status fock_create(const struct job_setup *setup,
                      const struct system *system,
                      const struct fock_options *options, struct fock **fock);

void fock_destroy(struct fock **fock);

/** The job that builds it. */
const struct job *fock_job(const struct fock *fock);

/** How a build went. */
struct fock_report {
    double seconds;    /* all of it, on this rank */
    int64_t integrals; /* evaluated, on all ranks, where they are counted */
    ek_process_report process;
};

/**
 * Build the matrix of a density.
 *
 * @param[in]  density  [n][n], the same on all ranks.
 * @param[out] matrix   [n][n], the same on all ranks.
 *
 * Call: Collective.
 */
ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report);

#endif
