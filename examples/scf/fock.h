/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two-electron part of a Fock matrix, built by all workers of a job.
 *
 * Each rank has a copy of the density and the sum of what its workers have
 * added to matrices of their own; or both are spread over the ranks, and tasks
 * get and accumulate tiles of them.
 */
#ifndef SCF_FOCK_H
#define SCF_FOCK_H

#include "common/job.h"
#include "scf/kernel.h"

/** Where matrices are. */
struct fock_storage {
    bool is_distributed; /* spread over the ranks */
    double cache_mb;     /* of each worker's density tiles of other nodes */
};

struct fock;

/**
 * @param[in]  system   Borrowed.
 * @param[in]  storage  NULL: a copy on each rank.
 * @param[out] fock     To be destroyed; NULL on failure.
 *
 * @return As job_open(), which has said what failed.
 *
 * Call: Collective.
 */
ek_status fock_create(const struct job_setup *setup,
                      const struct system *system,
                      const struct fock_options *options,
                      const struct fock_storage *storage, struct fock **fock);

void fock_destroy(struct fock **fock);

/**
 * Part of a save from the middle of an iteration: what its tasks have summed
 * up.
 *
 * @param[out] matrix  [n][n] on rank 0; NULL on others.
 *
 * @return false: the iteration has not begun, or its sum lies in tiles, which
 *         saves have anyway.
 *
 * Call: Collective.
 */
bool fock_partial(struct fock *fock, double *matrix);
/** After fock_resume(): whether rank 0 shall set what was saved. */
bool fock_wants_partial(const struct fock *fock);
void fock_set_partial(struct fock *fock, double *matrix);

/**
 * As job_resume(), but tiles are in saves without WRITE.
 *
 * @param[in]  write    Called where each rank has a copy.
 * @param[out] density  [n][n] on rank 0, if it is spread and was loaded; NULL
 *                      on others.
 *
 * Call: Collective, before the first build.
 */
ek_status fock_resume(struct fock *fock, ek_save_fn *write, void *context,
                      double *density);

/** Whether the matrices are tiles. */
bool fock_is_spread(const struct fock *fock);

/** The job that builds it. */
const struct job *fock_job(const struct fock *fock);

/**
 * Bytes of matrices that tasks use, on the rank that has most.
 *
 * Call: Collective.
 */
int64_t fock_bytes(const struct fock *fock);

/** How a build went. */
struct fock_report {
    double seconds;    /* all of it, on this rank */
    int64_t integrals; /* evaluated, on all ranks, where they are counted */
    struct figures figures;
};

/**
 * Build the matrix of a density.
 *
 * @param[in]  density  [n][n] on rank 0; NULL on others.
 * @param[out] matrix   [n][n] on rank 0; NULL on others.
 *
 * Call: Collective.
 */
ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report);

#endif
