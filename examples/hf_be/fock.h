/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two-electron part of a Fock matrix, built by all workers of a job.
 */
#ifndef HF_BE_FOCK_H
#define HF_BE_FOCK_H

#include "job.h"
#include "quartet.h"

struct fock_options {
    struct mode mode;
    int width;               /* functions of a tile */
    double screen;           /* integrals with a smaller bound are left out */
    bool ignore_environment; /* do not look at EVENKEEL_* */
};

struct fock;

/**
 * @param[in]  chain  Borrowed.
 * @param[out] fock   To be destroyed; NULL on failure.
 *
 * @return As ek_create() and ek_set(); ek_error_message() has the words.
 *
 * Call: Collective over @p comm.
 */
ek_status fock_create(MPI_Comm comm, const struct chain *chain,
                      const struct fock_options *options, struct fock **fock);

void fock_destroy(struct fock **fock);

/** Tasks of an iteration that nobody has discarded anything of yet. */
int64_t fock_tasks(const struct fock *fock);

/** Workers of the whole job. */
int fock_workers(const struct fock *fock);

/** How a build went. */
struct fock_report {
    double seconds;    /* all of it, on this rank */
    int64_t integrals; /* evaluated, on all ranks */
    ek_process_report process;
};

/**
 * Build the matrix of a density.
 *
 * @param[in]  density  [n][n], of all electrons; the same on all ranks.
 * @param[out] matrix   [n][n], the same on all ranks.
 *
 * Call: Collective.
 */
ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report);

#endif
