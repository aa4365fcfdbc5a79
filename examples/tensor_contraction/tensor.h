/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block-sparse tensor: which tiles symmetry leaves, and their numbers.
 *
 * A tile is a tile of each index.  The indices have two sides: those that a
 * tensor shares with one of the other two, and those that it shares with the
 * other one.  A tile is there where both sides have the same label.
 *
 * Tiles that are there are numbered, 0 ... tiles - 1: combinations of blocks
 * one after the other, the last index fastest, and so the tiles in each of them
 * and the entries in a tile.  There is a number for each combination of blocks,
 * and no table of tiles.
 */
#ifndef TENSOR_CONTRACTION_TENSOR_H
#define TENSOR_CONTRACTION_TENSOR_H

#include "expression.h"
#include "space.h"

struct tensor {
    int rank;
    const struct space *space[RANK_MAX];
    bool is_second[RANK_MAX]; /* the side of each index */
    int64_t combinations;     /* of blocks */
    int64_t *first_tile;      /* [combinations + 1] */
    int64_t tiles;
    int64_t longest; /* entries of a tile, at most */
    double entries;
};

/**
 * Number the tiles of a tensor.
 *
 * @param[in]  space      [rank]; borrowed.
 * @param[in]  is_second  [rank]
 * @param[out] tensor     To be freed, also on failure.
 *
 * @return false with a message: there are too many combinations of blocks, or a
 *         tile is too long.
 */
bool tensor_make(int rank, const struct space *const *space,
                 const bool *is_second, struct tensor *tensor,
                 struct message *message);
void tensor_free(struct tensor *tensor);

/** Number of a tile, given the tile of each index; -1: it is not there. */
int64_t tensor_tile(const struct tensor *tensor, const int64_t *index);

/** The tile of each index of a tile. */
void tensor_index(const struct tensor *tensor, int64_t tile, int64_t *index);

/** First entry and entries of a tile in each dimension. */
void tensor_bounds(const struct tensor *tensor, const int64_t *index,
                   int64_t *first, int64_t *width);

/** Entries of a tile; as ek_tiles_shape wants it, the tensor as context. */
int64_t tensor_length(int64_t tile, void *tensor);

#endif
