/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiles.h"
#include "cli/message.h"

#include <stdlib.h>

int tiles_width(const struct tiles *tiles, int tile)
{
    int rest = tiles->functions - tile * tiles->width;
    return rest < tiles->width ? rest : tiles->width;
}

static double largest_bound(const struct chain *chain,
                            const struct tiles *tiles, int i, int j)
{
    double largest = 0;
    const struct gaussian *row = chain->gaussian + i * tiles->width;
    const struct gaussian *column = chain->gaussian + j * tiles->width;
    for (int a = 0; a < tiles_width(tiles, i); a++) {
        for (int b = 0; b < tiles_width(tiles, j); b++) {
            struct pair pair = pair_make(&row[a], &column[b]);
            largest = fmax(largest, pair_bound(&pair));
        }
    }
    return largest;
}

void tiles_make(const struct chain *chain, int width, double screen,
                bool has_bounds, struct tiles *tiles)
{
    int count = (chain->functions + width - 1) / width;
    *tiles = (struct tiles){.functions = chain->functions,
                            .width = width,
                            .tiles = count,
                            .pairs = (int64_t)count * count,
                            .screen = screen};
    if (has_bounds)
        tiles->bound = allocate((size_t)tiles->pairs, sizeof(double));
    for (int i = 0; i < count; i++) {
        for (int j = 0; j <= i; j++) {
            double bound = largest_bound(chain, tiles, i, j);
            tiles->bound_max = fmax(tiles->bound_max, bound);
            if (!has_bounds)
                continue;
            tiles->bound[i + (int64_t)count * j] = bound;
            tiles->bound[j + (int64_t)count * i] = bound;
        }
    }
}

void tiles_free(struct tiles *tiles)
{
    free(tiles->bound);
    *tiles = (struct tiles){0};
}

int64_t tiles_tasks(const struct tiles *tiles)
{
    return tiles->pairs * tiles->pairs;
}
