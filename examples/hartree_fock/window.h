/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the density and of the Fock matrix that meet in one task: small
 * matrices of the functions of its tiles, at most four.
 */
#ifndef HARTREE_FOCK_WINDOW_H
#define HARTREE_FOCK_WINDOW_H

#include "scf/kernel.h"
#include "tiles.h"

struct window {
    const struct basis *basis; /* borrowed, as are ... */
    const struct tiles *tiles; /* ... these */
    int tile[4];               /* those of the task, each once */
    int count;
    int width;       /* functions of them */
    double *density; /* [width][width], symmetric where it was got */
    double *fock;    /* [width][width]; 2J - K once averaged with its transpose
                      */
    int *first;      /* [shells] first function here of a shell that is here */

    double *weight; /* [shells][shells] largest |density| of those here */
    int shells;     /* in all of them */
    int *number;    /* [shells] number here of a shell that is here */

    double *block[6]; /* tiles, on their way */
    int blocks;
    int at[6][2]; /* which of the tiles is their row, and their column */
};

void window_make(const struct basis *basis, const struct tiles *tiles,
                 struct window *window);

void window_free(struct window *window);

/** Get what the density is between the tiles of (ij|kl). */
ek_status window_open(struct window *window, const struct work *work,
                      const int tile[4]);

/** Add what has come to the Fock matrix. */
ek_status window_close(struct window *window, const struct work *work);

/** Find the weights. */
void window_weigh(struct window *window);

#endif
