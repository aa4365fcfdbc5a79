/* SPDX-License-Identifier: BSD-3-Clause */
#include "repulsion.h"
#include "digest.h"

#include <math.h>
#include <stdlib.h>

void repulsion_make(struct repulsion *repulsion, const struct basis *basis,
                    const struct integrals *integrals, int functions,
                    double threshold, bool is_density_screened)
{
    *repulsion = (struct repulsion){.basis = basis,
                                    .integrals = integrals,
                                    .threshold = threshold,
                                    .is_density_screened = is_density_screened};
    tiles_make(basis, integrals, functions, threshold, &repulsion->tiles);
    size_t shells = (size_t)basis->shells;
    size_t tiles = (size_t)repulsion->tiles.tiles;
    repulsion->shell_weight = allocate(shells * shells, sizeof(double));
    repulsion->tile_weight = allocate(tiles * tiles, sizeof(double));
}

void repulsion_free(struct repulsion *repulsion)
{
    tiles_free(&repulsion->tiles);
    free(repulsion->shell_weight);
    free(repulsion->tile_weight);
    *repulsion = (struct repulsion){0};
}

static double block_largest(const double *density, int n, const struct shell *a,
                            const struct shell *b)
{
    double largest = 0;
    for (int i = 0; i < a->functions; i++) {
        const double *row =
            density + (size_t)(a->first + i) * (size_t)n + b->first;
        for (int j = 0; j < b->functions; j++)
            largest = fmax(largest, fabs(row[j]));
    }
    return largest;
}

static void weigh_tiles(struct repulsion *repulsion, int i, int j)
{
    const struct tiles *tiles = &repulsion->tiles;
    const struct basis *basis = repulsion->basis;
    size_t shells = (size_t)basis->shells, width = (size_t)tiles->tiles;
    double largest = 0;
    for (int a = tiles->first_shell[i]; a < tiles->first_shell[i + 1]; a++) {
        for (int b = tiles->first_shell[j]; b < tiles->first_shell[j + 1];
             b++) {
            double weight = block_largest(repulsion->density, basis->functions,
                                          &basis->shell[a], &basis->shell[b]);
            repulsion->shell_weight[(size_t)a * shells + (size_t)b] = weight;
            largest = fmax(largest, weight);
        }
    }
    repulsion->tile_weight[(size_t)i * width + (size_t)j] = largest;
}

void repulsion_set_density(struct repulsion *repulsion, const double *density)
{
    repulsion->density = density;
    if (!repulsion->is_density_screened)
        return;
    for (int i = 0; i < repulsion->tiles.tiles; i++) {
        for (int j = 0; j < repulsion->tiles.tiles; j++)
            weigh_tiles(repulsion, i, j);
    }
}

/*
 * Largest density that meets (ij|kl): a Coulomb term takes it fourfold, as
 * J counts twice and (ij) stands for (ji), an exchange term once.
 */
static double quartet_weight(const double *weight, int width, const int at[4])
{
    const double *row_i = weight + (size_t)at[0] * (size_t)width;
    const double *row_j = weight + (size_t)at[1] * (size_t)width;
    const double *row_k = weight + (size_t)at[2] * (size_t)width;
    double coulomb = fmax(row_i[at[1]], row_k[at[3]]);
    double exchange = fmax(fmax(row_i[at[2]], row_i[at[3]]),
                           fmax(row_j[at[2]], row_j[at[3]]));
    return fmax(4 * coulomb, exchange);
}

/* Compute (ab|cd) and add it to the Fock matrix. */
static void run_quartet(const struct repulsion *repulsion,
                        const struct shell_pair *ab,
                        const struct shell_pair *cd, struct quartets *quartets,
                        double *fock)
{
    const double *value = quartets_compute(quartets, ab, cd);
    if (!value)
        return;
    const struct shell *shell = repulsion->basis->shell;
    const struct shell *a = &shell[ab->a], *b = &shell[ab->b];
    const struct shell *c = &shell[cd->a], *d = &shell[cd->b];
    const struct quartet quartet = {
        {a->first, b->first, c->first, d->first},
        {a->functions, b->functions, c->functions, d->functions}};
    double distinct = (a == b ? 1 : 2) * (c == d ? 1 : 2);
    if (a != c || b != d)
        distinct *= 2;
    digest(&quartet, value, distinct, repulsion->density, fock,
           repulsion->basis->functions);
}

static bool is_outweighed(const struct repulsion *repulsion,
                          const struct shell_pair *ab,
                          const struct shell_pair *cd)
{
    const int at[4] = {ab->a, ab->b, cd->a, cd->b};
    double weight =
        quartet_weight(repulsion->shell_weight, repulsion->basis->shells, at);
    return ab->bound * cd->bound * weight < repulsion->threshold;
}

/* All shell pairs of @p ket, up to @p pairs, with one of the other side. */
static int64_t run_pair(const struct repulsion *repulsion,
                        const struct shell_pair *ab,
                        const struct tile_pair *ket, int pairs, double weight,
                        struct quartets *quartets, double *fock)
{
    int64_t done = 0;
    for (int k = 0; k < pairs; k++) {
        const struct shell_pair *cd = &ket->pair[k];
        if (ab->bound * cd->bound * weight < repulsion->threshold)
            break;
        if (repulsion->is_density_screened && is_outweighed(repulsion, ab, cd))
            continue;
        if (ab->momentum <= cd->momentum)
            run_quartet(repulsion, ab, cd, quartets, fock);
        else
            run_quartet(repulsion, cd, ab, quartets, fock);
        done++;
    }
    return done;
}

enum outcome repulsion_run(const struct repulsion *repulsion, int64_t task,
                           struct quartets *quartets, double *fock)
{
    int64_t row, column, done = 0;
    triangle_decode(task, &row, &column);
    const struct tile_pair *bra = &repulsion->tiles.tile_pair[row];
    const struct tile_pair *ket = &repulsion->tiles.tile_pair[column];
    if (bra->bound * ket->bound < repulsion->threshold)
        return OUTCOME_NOTHING_EVER;

    /* A density above 1 brings nothing back that the Schwarz bound removed. */
    double weight = 1;
    if (repulsion->is_density_screened) {
        const int at[4] = {bra->i, bra->j, ket->i, ket->j};
        weight = fmin(1, quartet_weight(repulsion->tile_weight,
                                        repulsion->tiles.tiles, at));
    }
    for (int p = 0; p < bra->pairs; p++) {
        const struct shell_pair *ab = &bra->pair[p];
        if (ab->bound * ket->bound * weight < repulsion->threshold)
            break;
        int pairs = bra == ket ? p + 1 : ket->pairs;
        done += run_pair(repulsion, ab, ket, pairs, weight, quartets, fock);
    }
    return done > 0 ? OUTCOME_DONE : OUTCOME_NOTHING_NOW;
}
