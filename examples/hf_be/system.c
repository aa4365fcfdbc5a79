/* SPDX-License-Identifier: BSD-3-Clause */
#include "system.h"
#include "common/message.h"
#include "integrals.h"

#include <stdlib.h>
#include <string.h>

static void make_matrices(struct system *system)
{
    const struct chain *chain = &system->chain;
    size_t n = (size_t)chain->functions;
    system->overlap = allocate(n * n, sizeof(double));
    system->core = allocate(n * n, sizeof(double));
    system->guess = allocate(n * n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const struct gaussian *a = &chain->gaussian[i];
            const struct gaussian *b = &chain->gaussian[j];
            struct pair pair = pair_make(a, b);
            double overlap = pair_overlap(&pair);
            double core = core_integral(chain, a, b);
            system->overlap[i * n + j] = system->overlap[j * n + i] = overlap;
            system->core[i * n + j] = system->core[j * n + i] = core;
        }
    }
}

bool system_make(int atoms, double spacing, struct system *system)
{
    *system = (struct system){0};
    chain_make(atoms, spacing, &system->chain);
    system->occupied = atoms * CHAIN_ATOM_CHARGE / 2;
    system->repulsion = chain_repulsion(&system->chain);
    make_matrices(system);
    return orthogonalizer_make(system->overlap, system->chain.functions,
                               &system->orthogonalizer);
}

void system_guess(struct system *system, const double *atom)
{
    const size_t width = CHAIN_ATOM_FUNCTIONS;
    size_t n = (size_t)system->chain.functions;
    for (size_t i = 0; i < n; i++) {
        size_t first = i - i % width;
        memcpy(system->guess + i * n + first, atom + i % width * width,
               width * sizeof(double));
    }
}

void system_free(struct system *system)
{
    chain_free(&system->chain);
    free(system->overlap);
    free(system->core);
    free(system->guess);
    orthogonalizer_free(&system->orthogonalizer);
    *system = (struct system){0};
}
