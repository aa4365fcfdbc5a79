/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of a step: who owns which, what each costs; and how they migrate,
 * which is MPI of the program's own.
 */
#ifndef AMR_STATE_H
#define AMR_STATE_H

#include "cells.h"

#include <mpi.h>

struct state {
    MPI_Comm comm;
    int rank, size;
    struct mesh mesh;
    struct front front;
    bool knows; /* what blocks will cost: else they cost what they did */
    /* Of each block of the mesh, and known to all ranks: */
    int *owner;
    double *cost; /* of its next step, as far as that is known */
    double *mean; /* of its cells */
    /* Of own blocks, else NULL: */
    double **values;
};

/** What has changed its owner. */
struct moved {
    int64_t blocks, bytes;
};

/** Equal runs of blocks along the curve on all ranks. */
void state_open(MPI_Comm comm, int roots, int levels, bool knows,
                struct state *state);

void state_close(struct state *state);

/** Give each block to the owner that @p owner says; collective. */
struct moved state_move(struct state *state, const int *owner);

/** Refine and coarsen as the front is now: a block stays with whoever owned
 * what it was, its first part where it was several; collective. */
void state_adapt(struct state *state, const struct front *front);

/** Do a step with all own blocks; all ranks know its costs then.
 *
 * @return Seconds that this rank computed.
 */
double state_step(struct state *state);

/** Bytes of a block. */
size_t state_bytes(const struct state *state, int block);

/** Tell all ranks a value of each block, which its owner knows; collective. */
void state_share(const struct state *state, MPI_Datatype type, void *values);

#endif
