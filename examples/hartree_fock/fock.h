/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two-electron part of a Fock matrix, built by all workers of a job.
 *
 * This is where Evenkeel is used.
 */
#ifndef HARTREE_FOCK_FOCK_H
#define HARTREE_FOCK_FOCK_H

#include "system.h"

#include <evenkeel.h>

/** Who does which task. */
enum scheme {
    SCHEME_STATIC,       /* everyone its own tasks */
    SCHEME_COUNTER,      /* everyone the next number of a shared counter; all
                            tasks anew in every iteration, as such codes do */
    SCHEME_STEAL_ALL,    /* stealing; all tasks anew in every iteration */
    SCHEME_STEAL,        /* stealing; empty tasks gone, the rest as at first */
    SCHEME_STEAL_RETAIN, /* stealing; every task starts where it last ran */
    SCHEME_CENTRALIZED,  /* no stealing; rebalanced between iterations, by rank
                            0 ... */
    SCHEME_HIERARCHICAL  /* ... or by groups of workers */
};

#define SCHEMES 7

/** Name of a scheme, such as "StealRet". */
const char *scheme_name(enum scheme scheme);

struct fock_options {
    enum scheme scheme;
    int tile;                 /* functions of a tile at most */
    double schwarz;           /* smaller contributions are left out */
    bool is_density_screened; /* times the density they meet */
    bool ignore_environment;  /* do not look at EVENKEEL_* */
};

struct fock;

/**
 * @param[in]  system  Borrowed.
 * @param[out] fock    To be destroyed; NULL on failure.
 *
 * @return As ek_create(); ek_error_message() has the words.
 *
 * Call: Collective over @p comm.
 */
ek_status fock_create(MPI_Comm comm, const struct system *system,
                      const struct fock_options *options, struct fock **fock);

void fock_destroy(struct fock **fock);

/** Tasks of an iteration that nobody has discarded anything of yet. */
int64_t fock_tasks(const struct fock *fock);

/** Workers of the whole job. */
int fock_workers(const struct fock *fock);

/** How a build went. */
struct fock_report {
    double seconds; /* all of it, on this rank */
    ek_process_report process;
};

/**
 * matrix = 2J - K.
 *
 * @param[in]  density  [n][n], half the electrons' density; the same on all
 *                      ranks.
 * @param[out] matrix   [n][n], the same on all ranks.
 *
 * Call: Collective.
 */
ek_status fock_build(struct fock *fock, const double *density, double *matrix,
                     struct fock_report *report);

#endif
