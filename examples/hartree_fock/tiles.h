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
#include "scf/matrix.h"

/** What a tile pair holds. */
struct tile_pair {
    int pairs;                     /* shell pairs that can matter */
    const struct shell_pair *pair; /* the largest bound first */
    double bound;                  /* of the first */
};

struct tiles {
    int tiles;
    int shells_max;   /* of a tile */
    int *first_shell; /* [tiles + 1] */
    int64_t *edge;    /* [tiles + 1] first function */
    int64_t tile_pairs;
    double *bound;             /* [tile_pairs] */
    int *pairs;                /* [tile_pairs] shell pairs of each: */
    struct shell_pair *list;   /* one tile pair's after the other's ... */
    int64_t *first_pair;       /* [tile_pairs] ... each from here; or else */
    ek_tiles *store;           /* spread over the ranks ... */
    const struct matrix *like; /* ... as this one; borrowed */
};

/**
 * Cut a basis into tiles.
 *
 * @param[in] functions  Of a tile at most; a larger shell is a tile of its own.
 */
void tiles_make(const struct basis *basis, int functions, struct tiles *tiles);

/**
 * List the shell pairs.
 *
 * @param[in] threshold  Pairs whose integrals are all below are left out.
 * @param[in] like       A matrix of tile pairs, whose values do not matter;
 *                       borrowed.
 * @param[in] tasks      Spread the lists as it would be; NULL: all are here.
 *
 * Call: Collective over the ranks of @p like.
 */
ek_status tiles_list(struct tiles *tiles, const struct integrals *integrals,
                     double threshold, const struct matrix *like,
                     ek_collection *tasks);

/** Call: Collective where they are spread. */
void tiles_free(struct tiles *tiles);

/** Bytes of the lists on this rank, and of what is known of them. */
int64_t tiles_bytes(const struct tiles *tiles);

/** Number of tasks. */
int64_t tiles_tasks(const struct tiles *tiles);

/**
 * Get two tile pairs.
 *
 * @param[in]  room  For the shell pairs of two, where lists are spread.
 */
ek_status tiles_get(const struct tiles *tiles, ek_worker *worker,
                    const int64_t index[2], struct shell_pair *const room[2],
                    struct tile_pair pair[2]);

#endif
