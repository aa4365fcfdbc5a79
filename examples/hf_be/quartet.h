/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of a task: the share of one tile quartet in the Fock matrix.
 */
#ifndef HF_BE_QUARTET_H
#define HF_BE_QUARTET_H

#include "tiles.h"

#include <evenkeel.h>

/** Room for the tiles of one task. */
struct quartet_room;

struct quartet_room *quartet_room_create(const struct tiles *tiles);

void quartet_room_destroy(struct quartet_room *room);

/** What all tasks read. */
struct quartet_input {
    const struct chain *chain;
    const struct tiles *tiles;
    const struct matrix *bounds; /* Schwarz bounds of pairs of functions */
    const struct matrix *density;
};

/**
 * Do task @p task, which is not null.
 *
 * With g = (ij|kl): fock_ij += g density_kl, fock_ik -= g density_jl / 2.
 *
 * @param[in]     worker  To let messages through now and then.
 * @param[in,out] fock    Two tiles of it are added to.
 *
 * @return Integrals that were evaluated.
 *
 * Threads: Any number, each with a room and a Fock matrix of its own.
 */
int64_t quartet_run(const struct quartet_input *input, int64_t task,
                    ek_worker *worker, struct quartet_room *room,
                    struct matrix *fock);

#endif
