/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to say who should own which block, all from the same costs.
 *
 * plan and bytes ask ek_plan() of Evenkeel; the others are what
 * block-structured codes do by themselves: they cut all blocks anew, wherever
 * they are.
 */
#ifndef AMR_SPLIT_H
#define AMR_SPLIT_H

#include "state.h"

#include <evenkeel.h>

/** Collective. @param[out] owner  Of each block, the same on all ranks. */
typedef ek_status split_fn(const struct state *state, int *owner);

struct split {
    const char *name, *help;
    split_fn *run;
};

/** All of them; the last one has no name. */
extern const struct split splits[];

/** Their names: "a, b, c". */
const char *split_words(void);

/** The one of this name, which is there. */
const struct split *split_find(const char *name);

#endif
