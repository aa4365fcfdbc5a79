/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrices and tensors, cut into tiles that are dealt out block-cyclically.
 *
 * Each dimension is cut into *blocks*, of equal width, of which the last may be
 * narrower, or at given edges, and a *tile* is a block of each dimension.
 * Processes form a grid: block b of a dimension belongs to place b modulo the
 * processes of the grid in that dimension.  Tiles, as places of the grid, are
 * numbered with the last index fastest, and so are the entries within a tile.
 *
 *     layout_make(2, extents, widths, size, NULL, &layout);
 *     shape.count = layout.tiles;
 *     shape.length_of = layout_length;
 *     shape.owner_of = layout_owner;
 *     shape.context = &layout;
 */
#ifndef COMMON_LAYOUT_H
#define COMMON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LAYOUT_DIMENSIONS_MAX = 6
};

/** A tensor, or a matrix, which has two dimensions. */
struct layout {
    int dimensions;
    int64_t extent[LAYOUT_DIMENSIONS_MAX]; /* entries ... */
    int64_t width[LAYOUT_DIMENSIONS_MAX];  /* ... of each block but the last */
    int64_t blocks[LAYOUT_DIMENSIONS_MAX];
    const int64_t *edge[LAYOUT_DIMENSIONS_MAX]; /* NULL: blocks of a width */
    int grid[LAYOUT_DIMENSIONS_MAX];            /* processes */
    int64_t tiles;
};

/**
 * Cut a tensor.
 *
 * @param[in]  dimensions  1 ... LAYOUT_DIMENSIONS_MAX.
 * @param[in]  extent      Entries of each dimension, 1 or more.
 * @param[in]  width       Entries of a block of each dimension, 1 or more.
 * @param[in]  processes   Numbered 0 ... processes - 1.
 * @param[in]  grid        Processes in each dimension, of which those beyond
 *                         their product own nothing; NULL: layout_grid().
 *
 * @return false: one of them is out of range, or there are too many entries to
 *         count them.
 */
bool layout_make(int dimensions, const int64_t *extent, const int64_t *width,
                 int processes, const int *grid, struct layout *layout);

/**
 * Cut a tensor at edges.
 *
 * @param[in]  blocks  Of each dimension, 1 or more.
 * @param[in]  edge    [blocks + 1] of each dimension: first entries of its
 *                     blocks, from 0, and all its entries; increasing.
 *                     Borrowed.
 *
 * @return As layout_make().
 */
bool layout_make_at(int dimensions, const int64_t *blocks,
                    const int64_t *const *edge, int processes, const int *grid,
                    struct layout *layout);

/**
 * Choose a grid: prime factors of @p processes, the largest first, each in the
 * dimension in which a place has most blocks.
 */
void layout_grid(int dimensions, const int64_t *blocks, int processes,
                 int *grid);

/** Number of the tile with block @p index [dimensions]. */
int64_t layout_tile(const struct layout *layout, const int64_t *index);

/** The blocks of a tile, of which layout_tile() is the number. */
void layout_index(const struct layout *layout, int64_t tile, int64_t *index);

/** First entry and entries of a tile in each dimension. */
void layout_bounds(const struct layout *layout, int64_t tile, int64_t *first,
                   int64_t *width);

/** Entries of a tile; as ek_tiles_shape wants it, with the layout as context.
 */
int64_t layout_length(int64_t tile, void *layout);

/** Process that owns a tile; as ek_tiles_shape wants it, too. */
int layout_owner(int64_t tile, void *layout);

#endif
