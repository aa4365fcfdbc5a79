/* SPDX-License-Identifier: BSD-3-Clause */
#include "chain.h"
#include "cli/message.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* Functions on the nucleus. */
static const double exponents[] = {1741,  262.1, 60.33,  17.62,  5.933,
                                   2.185, 0.859, 0.1806, 0.05835};

#define ON_NUCLEUS ((int)(sizeof exponents / sizeof *exponents))

/* Six more stand for p functions: so far from the nucleus along each axis. */
#define BESIDE_EXPONENT 0.3
#define BESIDE_BOHR 1.6

_Static_assert(sizeof exponents / sizeof *exponents + 6 == CHAIN_ATOM_FUNCTIONS,
               "functions of an atom");

void chain_nucleus(const struct chain *chain, int atom, double position[3])
{
    position[0] = atom * chain->spacing;
    position[1] = 0;
    position[2] = 0;
}

/* Function @p index of an atom. */
static struct gaussian gaussian_of(const struct chain *chain, int atom,
                                   int index)
{
    struct gaussian made;
    int beside = index - ON_NUCLEUS;
    chain_nucleus(chain, atom, made.center);
    if (beside >= 0)
        made.center[beside / 2] += beside % 2 ? -BESIDE_BOHR : BESIDE_BOHR;
    made.exponent = beside >= 0 ? BESIDE_EXPONENT : exponents[index];
    /* To the power of 3/4, with what is the same on every machine. */
    double root = sqrt(2 * made.exponent / PI);
    made.norm = root * sqrt(root);
    return made;
}

void chain_make(int atoms, double spacing, struct chain *chain)
{
    chain->atoms = atoms;
    chain->functions = atoms * CHAIN_ATOM_FUNCTIONS;
    chain->spacing = spacing;
    chain->gaussian =
        allocate((size_t)chain->functions, sizeof *chain->gaussian);
    for (int i = 0; i < chain->functions; i++)
        chain->gaussian[i] = gaussian_of(chain, i / CHAIN_ATOM_FUNCTIONS,
                                         i % CHAIN_ATOM_FUNCTIONS);
}

void chain_free(struct chain *chain)
{
    free(chain->gaussian);
    *chain = (struct chain){0};
}

double chain_repulsion(const struct chain *chain)
{
    double sum = 0;
    for (int apart = 1; apart < chain->atoms; apart++)
        sum += (chain->atoms - apart) *
               (double)(CHAIN_ATOM_CHARGE * CHAIN_ATOM_CHARGE) /
               (apart * chain->spacing);
    return sum;
}
