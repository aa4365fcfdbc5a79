/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integrals over basis functions: a C view of libint2.
 *
 * Matrices are [functions][functions], symmetric.  A set of integrals is
 * read-only once prepared and may be shared by threads; a struct quartets is
 * for one thread at a time.
 */
#ifndef HARTREE_FOCK_INTEGRALS_H
#define HARTREE_FOCK_INTEGRALS_H

#include "basis.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Start and stop libint2; once per process, on its first thread. */
void integrals_start(void);
void integrals_stop(void);

/** The integrals of some shells. */
struct integrals;

/** Computes repulsion integrals for one thread. */
struct quartets;

/**
 * Prepare the integrals of consecutive shells of a basis.
 *
 * @param[in] shell      The first shell; its first function becomes number 0.
 * @param[in] shells     Their number, at least 1.
 * @param[in] precision  Repulsion integrals of primitives below it are left
 *                       out.
 * @return To be destroyed; NULL with a message when libint2 cannot do it.
 */
struct integrals *integrals_create(const struct molecule *molecule,
                                   const struct shell *shell, int shells,
                                   double precision, struct message *message);

void integrals_destroy(struct integrals *integrals);

void integrals_overlap(const struct integrals *integrals, double *matrix);

void integrals_kinetic(const struct integrals *integrals, double *matrix);

/** Attraction to the nuclei of some atoms. */
void integrals_attraction(const struct integrals *integrals,
                          const struct atom *atom, int atoms, double *matrix);

/** Two shells whose product is one side of a repulsion integral. */
struct shell_pair {
    int a, b;     /* shells; a has the higher angular momentum */
    int momentum; /* sum of the two */
    double bound; /* Schwarz: |(ab|cd)| <= bound(ab) bound(cd) */
};

/** The pair of shells @p i and @p j, in any order. */
struct shell_pair integrals_pair(const struct integrals *integrals, int i,
                                 int j);

/** To be destroyed.  Ends the process when there is no memory. */
struct quartets *quartets_create(const struct integrals *integrals)
#ifdef __cplusplus
    noexcept
#endif
    ;

void quartets_destroy(struct quartets *quartets);

/**
 * Compute the integrals (ab|cd) of two pairs, in chemists' order.
 *
 * @param[in] ab,cd  cd has no lower a momentum than ab.
 * @return [a][b][c][d], valid until the next call; NULL: all negligible.
 */
const double *quartets_compute(struct quartets *quartets,
                               const struct shell_pair *ab,
                               const struct shell_pair *cd);

#ifdef __cplusplus
}
#endif
#endif
