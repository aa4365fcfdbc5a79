/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of a unit square, refined where a front is: a forest of quadtrees.
 *
 * All ranks know all blocks, in the order of a Morton curve; only their owners
 * have their cells.
 */
#ifndef AMR_MESH_H
#define AMR_MESH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ROOTS_MOST = 1024,
    LEVELS_MOST = 8
};

/** A circle that moves on a circle. */
struct front {
    double x, y, radius;
};

/** Where it is after @p turn of a turn. */
struct front front_at(double turn);

/** How far a point is from it. */
double front_distance(const struct front *front, double x, double y);

/** A block: one of roots x roots << level squares. */
struct block {
    int level, x, y;
    uint64_t place; /* on the curve, of its lowest corner */
};

struct mesh {
    int roots, levels; /* blocks of level 0 along a side; the finest level */
    int count;
    struct block *blocks; /* [count], along the curve; owned */
};

/** Blocks for a front; to be freed. */
void mesh_make(int roots, int levels, const struct front *front,
               struct mesh *mesh);

void mesh_free(struct mesh *mesh);

/** Length of a side of a block. */
double block_width(const struct mesh *mesh, const struct block *block);

/** The block at a point of the square; -1: it is outside. */
int mesh_at(const struct mesh *mesh, double x, double y);

enum {
    FACES = 8 /* halves of the sides of a block */
};

/** The block beyond half a side; -1: none. */
int mesh_beyond(const struct mesh *mesh, const struct block *block, int face);

#endif
