/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three tensors of a contraction, in stores of tiles.
 *
 * They belong to a collection of their own, so that they outlive the jobs that
 * work on them.  The entries of A and B are numbers from -1 to 1 that follow
 * from their indices: any program has the same.
 */
#ifndef TENSOR_CONTRACTION_OPERANDS_H
#define TENSOR_CONTRACTION_OPERANDS_H

#include "contraction.h"

#include <evenkeel_tiles.h>

struct operands {
    ek_collection *home;
    ek_tiles *a, *b, *c; /* tile t belongs to rank t modulo ranks */
};

/** What entries follow from, beside their indices. */
enum seed {
    SEED_A = 1,
    SEED_B,
    SEED_VECTOR
};

/**
 * Make the collection, whose workers are those of all jobs.
 *
 * @param[out] operands  To be closed, also on failure.
 *
 * @return As the calls of Evenkeel, which have said what failed.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
ek_status operands_open(struct operands *operands);

/**
 * Make the tensors: A and B with their entries, C with zeros.
 *
 * @param[in] cache_bytes  Of each worker and store.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
ek_status operands_make(const struct contraction *contraction,
                        int64_t cache_bytes, struct operands *operands);
void operands_close(struct operands *operands);

/** An entry, given its @p rank indices: from -1 to 1. */
double operands_entry(enum seed seed, int rank, const int64_t *index);

/** All entries of a tile. */
void operands_values(enum seed seed, const struct tensor *tensor, int64_t tile,
                     double *values);

#endif
