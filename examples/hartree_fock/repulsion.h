/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two-electron work of one task: which integrals of a tile quartet matter,
 * and their share of the Fock matrix.
 */
#ifndef HARTREE_FOCK_REPULSION_H
#define HARTREE_FOCK_REPULSION_H

#include "tiles.h"

/** What a task came to. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_NOTHING_NOW, /* the present density makes all negligible */
    OUTCOME_NOTHING_EVER /* all integrals are negligible */
};

struct repulsion {
    const struct basis *basis;         /* borrowed */
    const struct integrals *integrals; /* borrowed */
    struct tiles tiles;
    double threshold; /* smaller contributions are left out */
    bool is_density_screened;
    const double *density; /* [n][n], half the electrons' density; borrowed */
    double *shell_weight;  /* [shells][shells] largest |density| */
    double *tile_weight;   /* [tiles][tiles] the same of tiles */
};

/**
 * @param[in] functions            Of a tile at most.
 * @param[in] threshold            An integral is left out when its Schwarz
 *                                 bound is below ...
 * @param[in] is_density_screened  ... or times the density it meets.
 */
void repulsion_make(struct repulsion *repulsion, const struct basis *basis,
                    const struct integrals *integrals, int functions,
                    double threshold, bool is_density_screened);

void repulsion_free(struct repulsion *repulsion);

/** Use another density; it is borrowed until the next one. */
void repulsion_set_density(struct repulsion *repulsion, const double *density);

/**
 * Do one task.
 *
 * @param[in]     task  0 ... tiles_tasks() - 1.
 * @param[in,out] fock  [n][n]; see digest().
 *
 * Threads: Any number, each with quartets and a Fock matrix of its own.
 */
enum outcome repulsion_run(const struct repulsion *repulsion, int64_t task,
                           struct quartets *quartets, double *fock);

#endif
