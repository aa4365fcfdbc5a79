/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the two-electron work is cut into tasks.
 *
 * The basis functions are cut into T *tiles* of consecutive functions.  A task
 * is an ordered quartet of tiles (ij|kl), number i + T(j + T(k + T l)); equal
 * integrals are not merged.
 */
#ifndef HF_BE_TILES_H
#define HF_BE_TILES_H

#include "integrals.h"

#include <stdbool.h>
#include <stdint.h>

struct tiles {
    int functions; /* of the basis */
    int width;     /* functions of each tile but the last */
    int tiles;     /* T */
    int64_t pairs; /* T^2 */
    double screen; /* an integral with a smaller Schwarz bound is left out */
    double *bound; /* [pairs] largest Schwarz bound, i + T j; owned; or NULL */
    double bound_max;
};

/** @param[in] has_bounds  Keep those of each pair, not just the largest. */
void tiles_make(const struct chain *chain, int width, double screen,
                bool has_bounds, struct tiles *tiles);

void tiles_free(struct tiles *tiles);

/** Number of tasks, T^4. */
int64_t tiles_tasks(const struct tiles *tiles);

/** Functions of a tile. */
int tiles_width(const struct tiles *tiles, int tile);

/**
 * Find out whether a task has no integral that matters.
 *
 * The largest bounds of its two tile pairs belong to one of its integrals, so
 * the answer is exact.
 */
static inline bool tiles_is_null(const struct tiles *tiles, int64_t task)
{
    int64_t kl = task / tiles->pairs, ij = task - kl * tiles->pairs;
    return tiles->bound[ij] * tiles->bound[kl] < tiles->screen;
}

#endif
