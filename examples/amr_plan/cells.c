/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include <math.h>

/* Steps that chemistry cuts a step into at the front, and elsewhere. */
#define STEPS_MOST 40
#define STEPS_LEAST 1
#define FRONT_WIDTH 0.01

size_t cells_length(const struct mesh *mesh, const struct block *block)
{
    return (size_t)CELLS *
           (block->level == mesh->levels ? SPECIES_MANY : SPECIES_FEW);
}

void cells_start(size_t length, double *values)
{
    for (size_t i = 0; i < length; i++)
        values[i] = 0.1 / (double)(1 + i / CELLS);
}

static int steps_at(const struct front *front, double x, double y)
{
    double far = front_distance(front, x, y) / FRONT_WIDTH;
    return STEPS_LEAST + (int)(STEPS_MOST / (1 + far * far));
}

/* Each species is made from the one before; the first one grows. */
static void react(double *values, int species, double time)
{
    double *u = values;
    double before = *u;
    *u += time * *u * (1 - *u);
    for (int s = 1; s < species; s++) {
        double *v = values + s * CELLS;
        double old = *v;
        *v += time * (before - old) / (1 + s);
        before = old;
    }
}

/* Steps of a cell of a block. */
static int steps_in(const struct mesh *mesh, const struct block *block,
                    const struct front *front, int cell)
{
    double width = block_width(mesh, block) / SIDE;
    double x = (block->x * SIDE + cell % SIDE + 0.5) * width;
    double y = (block->y * SIDE + cell / SIDE + 0.5) * width;
    return steps_at(front, x, y);
}

static int species_of(const struct mesh *mesh, const struct block *block)
{
    return (int)(cells_length(mesh, block) / CELLS);
}

double cells_cost(const struct mesh *mesh, const struct block *block,
                  const struct front *front)
{
    double steps = 0;
    for (int cell = 0; cell < CELLS; cell++)
        steps += steps_in(mesh, block, front, cell);
    return steps * species_of(mesh, block);
}

double cells_step(const struct mesh *mesh, const struct block *block,
                  const struct front *front, double outside, double *values)
{
    int species = species_of(mesh, block);
    double mean = cells_mean(values), updates = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        int steps = steps_in(mesh, block, front, cell);
        values[cell] += 0.1 * (outside - mean);
        for (int step = 0; step < steps; step++)
            react(values + cell, species, 0.1 / steps);
        updates += steps * species;
    }
    return updates;
}

double cells_mean(const double *values)
{
    double sum = 0;
    for (int cell = 0; cell < CELLS; cell++)
        sum += values[cell];
    return sum / CELLS;
}

/* Part of a cell where it is looked at: on no border of finer or coarser ones.
 */
#define INSIDE 0.3

/* The cell of BLOCK at a point; -1: it is outside. */
static int cell_at(const struct mesh *mesh, const struct block *block, double x,
                   double y)
{
    double width = block_width(mesh, block) / SIDE;
    double column = floor(x / width) - block->x * SIDE;
    double row = floor(y / width) - block->y * SIDE;
    if (column < 0 || column >= SIDE || row < 0 || row >= SIDE)
        return -1;
    return (int)row * SIDE + (int)column;
}

void cells_copy(const struct mesh *from_mesh, const struct block *from,
                const double *from_values, const struct mesh *mesh,
                const struct block *block, double *values)
{
    int given = species_of(from_mesh, from), species = species_of(mesh, block);
    double width = block_width(mesh, block) / SIDE;
    for (int cell = 0; cell < CELLS; cell++) {
        double x = (block->x * SIDE + cell % SIDE + INSIDE) * width;
        double y = (block->y * SIDE + cell / SIDE + INSIDE) * width;
        int at = cell_at(from_mesh, from, x, y);
        if (at < 0)
            continue;
        for (int s = 0; s < species; s++)
            values[s * CELLS + cell] =
                s < given ? from_values[s * CELLS + at] : 0;
    }
}
