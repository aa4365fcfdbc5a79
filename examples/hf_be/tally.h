/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a task would evaluate, without evaluating it.
 *
 * The Schwarz bounds of each pair of tiles are sorted once; then one walk
 * through two of the lists counts the products that are large enough, with the
 * very comparison that quartet_run() makes for each of them.
 */
#ifndef HF_BE_TALLY_H
#define HF_BE_TALLY_H

#include "tiles.h"

/** Bounds of the functions of a tile pair that pass the first test, by size. */
struct tally_list {
    double *bound; /* [count], the largest first; owned */
    int count;
};

struct tally {
    const struct tiles *tiles; /* borrowed */
    struct tally_list *list; /* [tiles->pairs], (i,j) and (j,i) alike; owned */
};

/** What a task does. */
struct tally_sum {
    int64_t integrals; /* evaluated */
    int64_t tests;     /* of a (kl) with an (ij) that may matter */
};

/**
 * Sort the bounds.
 *
 * Cost: n functions: O(n^2) pairs; memory for those that matter.
 */
void tally_make(const struct chain *chain, const struct tiles *tiles,
                struct tally *tally);

void tally_free(struct tally *tally);

/** Count for one task. */
struct tally_sum tally_task(const struct tally *tally, int64_t task);

#endif
