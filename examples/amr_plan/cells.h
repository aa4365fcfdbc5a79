/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is in a block: cells with some species, more of them on the finest
 * level, and the work of a step, which is most where the front is.
 *
 * A step is a function of the cells and of what is beyond the block alone: it
 * does not matter who does it.
 */
#ifndef AMR_CELLS_H
#define AMR_CELLS_H

#include "mesh.h"

#include <stddef.h>

enum {
    SIDE = 8, /* cells along a side of a block */
    CELLS = SIDE * SIDE,
    SPECIES_FEW = 2,
    SPECIES_MANY = 12
};

/** Doubles of a block, species by species. */
size_t cells_length(const struct mesh *mesh, const struct block *block);

/** What a block begins with. */
void cells_start(size_t length, double *values);

/**
 * Do a step.
 *
 * @param[in] outside  What is beyond the block, on average.
 *
 * @return How many values were updated: the cost.
 */
double cells_step(const struct mesh *mesh, const struct block *block,
                  const struct front *front, double outside, double *values);

/** What a step will cost. */
double cells_cost(const struct mesh *mesh, const struct block *block,
                  const struct front *front);

/** The mean of the first species. */
double cells_mean(const double *values);

/** Fill the cells of a block from those of another mesh's block, which covers
 * it, or is a part of it: then only the cells that it covers. */
void cells_copy(const struct mesh *from_mesh, const struct block *from,
                const double *from_values, const struct mesh *mesh,
                const struct block *block, double *values);

#endif
