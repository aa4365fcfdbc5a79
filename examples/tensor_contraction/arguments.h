/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef TENSOR_CONTRACTION_ARGUMENTS_H
#define TENSOR_CONTRACTION_ARGUMENTS_H

#include "common/mode_arguments.h"
#include "contraction.h"
#include "count.h"
#include "task.h"
#include "verify.h"

struct arguments {
    struct mode_arguments shared;
    /* As said; NULL: not said. */
    const char *preset, *symmetry, *task, *start, *memory, *check, *multiply;
    bool has_blocks; /* or else those of the preset */
    int64_t tile;    /* 0: not said */
    struct irrep_list irreps;
    int64_t cache_mb;
    bool has_peers;
    bool has_count;
    struct count_cost cost;

    /* What they come to. */
    struct contraction_options contraction;
    struct task_options options;
    enum verify verify;
    double memory_bytes; /* of a rank; 0: not said */
};

/** What it takes, and what holds where nothing is said. */
extern const struct command_line arguments_line;
extern const struct arguments arguments_default;

#endif
