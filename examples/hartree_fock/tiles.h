/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the two-electron work is cut into tasks.
 *
 * A *tile* is a run of consecutive shells, a *tile pair* two tiles I >= J with
 * the shell pairs of both, and a task is two tile pairs a >= b: all repulsion
 * integrals (IJ|KL) that symmetry leaves distinct.
 */
#ifndef HARTREE_FOCK_TILES_H
#define HARTREE_FOCK_TILES_H

#include "integrals.h"

#include <stdint.h>

/** Two tiles and what they hold. */
struct tile_pair {
    int i, j;                      /* tiles, i >= j */
    int pairs;                     /* shell pairs that can matter */
    const struct shell_pair *pair; /* the largest bound first */
    double bound;                  /* of the first */
};

struct tiles {
    int tiles;
    int *first_shell; /* [tiles + 1] */
    int64_t tile_pairs;
    struct tile_pair *tile_pair;
    struct shell_pair *storage;
};

/**
 * Cut a basis into tiles.
 *
 * @param[in] functions  Of a tile at most; a larger shell is a tile of its own.
 * @param[in] threshold  Shell pairs whose integrals are all below are left out.
 */
void tiles_make(const struct basis *basis, const struct integrals *integrals,
                int functions, double threshold, struct tiles *tiles);

void tiles_free(struct tiles *tiles);

/** Number of tasks. */
int64_t tiles_tasks(const struct tiles *tiles);

/** Row r >= column c of entry @p index of a triangle: r(r + 1)/2 + c. */
void triangle_decode(int64_t index, int64_t *row, int64_t *column);

#endif
