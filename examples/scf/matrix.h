/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Square matrices of which tasks see tiles: each rank has a copy, or the tiles
 * are spread over the ranks in a store.
 */
#ifndef SCF_MATRIX_H
#define SCF_MATRIX_H

#include "common/layout.h"

#include <evenkeel_tiles.h>

/** n^2 is an int. */
struct matrix {
    /* Set by the program: */
    const struct layout *layout; /* of two equal dimensions; borrowed */
    bool is_lower; /* symmetric: only tiles with row >= column are used */
    MPI_Comm comm; /* the ranks */

    double *value;   /* [n][n], the copy of this rank; owned; or else ... */
    ek_tiles *store; /* ... all of it; owned */
};

/** Let each rank have a copy, all 0. */
void matrix_copy(struct matrix *matrix);

/**
 * Spread it over the ranks, all 0.
 *
 * @param[in] matrix       Stays where it is in memory.
 * @param[in] cache_bytes  As of ek_tiles_shape.
 *
 * @return As ek_tiles_create(), which has said what failed.
 *
 * Call: Collective.
 */
ek_status matrix_spread(struct matrix *matrix, ek_collection *tasks,
                        const char *name, int64_t cache_bytes);

/** Call: Collective where it is spread, before its collection is destroyed. */
void matrix_free(struct matrix *matrix);

/** Bytes of its values on this rank. */
int64_t matrix_bytes(const struct matrix *matrix);

/** Tiles, numbered from 0. */
int64_t matrix_tiles(const struct matrix *matrix);

/** Rank that has a tile where it is spread. */
int matrix_owner(const struct matrix *matrix, int64_t tile);

/** As layout_bounds(). */
void matrix_bounds(const struct matrix *matrix, int64_t tile, int64_t *first,
                   int64_t *width);

/**
 * A tile on this rank, between iterations.
 *
 * @param[out] stride  From one of its rows to the next.
 *
 * @return NULL: another rank has it.
 */
double *matrix_here(const struct matrix *matrix, int64_t tile, int64_t *stride);

/** Add a copy to another one. */
void matrix_add(const struct matrix *from, struct matrix *to);

/** Set a copy to 0. */
void matrix_zero(struct matrix *matrix);

/** Set all to 0.  Call: Collective where it is spread. */
ek_status matrix_clear(struct matrix *matrix);

/**
 * Set it.
 *
 * @param[in] value  [n][n] on rank 0; NULL on others.
 *
 * Call: Collective.
 */
ek_status matrix_set(struct matrix *matrix, const double *value);

/**
 * Show rank 0 the sum of the copies, or what is spread.
 *
 * @param[out] value  [n][n] on rank 0; NULL on others.
 *
 * Call: Collective.
 */
ek_status matrix_sum(struct matrix *matrix, double *value);

/** A tile that a running task gets or adds to. */
struct matrix_tile {
    const struct matrix *matrix;
    int row, column;
    double *values; /* its rows follow each other */
};

/** Most tiles of a call of the two below. */
#define MATRIX_TILES_MAX 16

/** Get tiles, all of them under way at the same time. */
ek_status matrix_get(ek_worker *worker, const struct matrix_tile *tile,
                     int count);

/** Add values to tiles, all of them under way at the same time. */
ek_status matrix_accumulate(ek_worker *worker, const struct matrix_tile *tile,
                            int count);

/** Entry of a triangle, row >= column: row (row + 1) / 2 + column. */
int64_t triangle_encode(int64_t row, int64_t column);
void triangle_decode(int64_t index, int64_t *row, int64_t *column);

#endif
