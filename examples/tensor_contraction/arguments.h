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
    const char *preset, *symmetry, *task, *start, *memory, *check;
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

/** Print the help or the version if asked for; whether it was. */
bool arguments_answer(char **argv);

/** @param[out] arguments  Its shared ones are to be freed, also on failure; it
 *                         stays where it is. */
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

#endif
