/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes by name: the paper's, and smaller ones with the same blocks.
 */
#ifndef TENSOR_CONTRACTION_PRESETS_H
#define TENSOR_CONTRACTION_PRESETS_H

#include "space.h"

#include <stdio.h>

struct preset {
    const char *name;
    const char *outer, *contracted; /* irreps, as irrep_list_add() wants them */
    int64_t tile;
    enum symmetry symmetry;
    const char *what;
};

/** A size by its name; NULL: there is none. */
const struct preset *preset_find(const char *name);

/** All names: "a, b, c". */
const char *preset_names(void);

/** A line for each. */
void presets_help(FILE *stream);

#endif
