/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The range of an index: blocks of an irrep, and with spin of a spin, each cut
 * into tiles.
 *
 * A block has as few tiles as the width allows.  Narrow tiles are slow, so that
 * widths differ by one at most, the wider ones first: 49 entries in tiles of 20
 * are 17, 16 and 16.
 */
#ifndef TENSOR_CONTRACTION_SPACE_H
#define TENSOR_CONTRACTION_SPACE_H

#include "cli/message.h"

#include <stdint.h>

enum {
    IRREPS_MAX = 8, /* of D2h, the largest group without degeneracy */
    BLOCKS_MAX = 2 * IRREPS_MAX,
    LABELS = 64 /* irreps times sums of spins of six indices, rounded up */
};

/** What decides which tiles are there. */
enum symmetry {
    SYMMETRY_NONE,    /* nothing: all are */
    SYMMETRY_SPATIAL, /* the irrep */
    SYMMETRY_SPIN     /* the irrep and the spin; each block is there twice */
};

/**
 * The label of two blocks together.  A *label* is what symmetry sees of a
 * block, or of several: the product of irreps, which is their exclusive or, and
 * the sum of spins.
 */
int label_join(int one, int other);

/** A run of entries of the same symmetry. */
struct block {
    int64_t first, entries;    /* entries of the space */
    int64_t first_tile, tiles; /* tiles of the space */
    int label;
};

struct space {
    struct block block[BLOCKS_MAX];
    int blocks;
    int64_t entries, tiles;
    int64_t width; /* of a tile, at most */
};

/** Entries of each irrep. */
struct irreps {
    int count;
    int64_t entries[IRREPS_MAX];
};

/** Irreps that were given for some letters: "i=240,180,100,210". */
struct irrep_list {
    struct irreps of[128]; /* by letter; count 0: none are given */
};

/** Add those of a word such as "i=240,180,100,210". */
bool irrep_list_add(struct irrep_list *list, const char *word,
                    struct message *message);

/** Those of a letter, or of the last one before it that has some; NULL: none.
 */
const struct irreps *irrep_list_find(const struct irrep_list *list,
                                     char letter);

/** Cut a range into tiles of @p width entries at most. */
void space_make(const struct irreps *irreps, enum symmetry symmetry,
                int64_t width, struct space *space);

/** Number of the block that has a tile. */
int space_block(const struct space *space, int64_t tile);

/** First entry and entries of a tile. */
void space_bounds(const struct space *space, int64_t tile, int64_t *first,
                  int64_t *width);

#endif
