/* SPDX-License-Identifier: BSD-3-Clause */
#include "system.h"
#include "integrals.h"

#include <string.h>

static void make_matrices(struct system *system)
{
    const struct chain *chain = &system->chain;
    struct scf_system *scf = &system->scf;
    size_t n = (size_t)chain->functions;
    scf_system_make(scf, chain->functions);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const struct gaussian *a = &chain->gaussian[i];
            const struct gaussian *b = &chain->gaussian[j];
            struct pair pair = pair_make(a, b);
            double overlap = pair_overlap(&pair);
            double core = core_integral(chain, a, b);
            scf->overlap[i * n + j] = scf->overlap[j * n + i] = overlap;
            scf->core[i * n + j] = scf->core[j * n + i] = core;
        }
    }
}

bool system_make(int atoms, double spacing, bool has_matrices,
                 struct system *system)
{
    *system = (struct system){0};
    chain_make(atoms, spacing, &system->chain);
    system->scf.occupied = atoms * CHAIN_ATOM_CHARGE / 2;
    system->scf.occupation = 2;
    system->scf.repulsion = chain_repulsion(&system->chain);
    if (!has_matrices)
        return true;
    make_matrices(system);
    return orthogonalizer_make(system->scf.overlap, system->scf.n,
                               &system->scf.orthogonalizer);
}

void system_guess(struct system *system, const double *atom)
{
    const size_t width = CHAIN_ATOM_FUNCTIONS;
    size_t n = (size_t)system->scf.n;
    for (size_t i = 0; i < n; i++) {
        size_t first = i - i % width;
        memcpy(system->scf.guess + i * n + first, atom + i % width * width,
               width * sizeof(double));
    }
}

void system_free(struct system *system)
{
    chain_free(&system->chain);
    scf_system_free(&system->scf);
    *system = (struct system){0};
}
