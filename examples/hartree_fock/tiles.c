/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiles.h"

#include <math.h>
#include <stdlib.h>

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

void triangle_decode(int64_t index, int64_t *row, int64_t *column)
{
    int64_t r = (int64_t)((sqrt(8.0 * (double)index + 1.0) - 1.0) / 2.0);
    while (triangle(r) > index)
        r--;
    while (triangle(r + 1) <= index)
        r++;
    *row = r;
    *column = index - triangle(r);
}

int64_t tiles_tasks(const struct tiles *tiles)
{
    return triangle(tiles->tile_pairs);
}

static void cut_shells(const struct basis *basis, int functions,
                       struct tiles *tiles)
{
    tiles->first_shell = allocate((size_t)basis->shells + 1, sizeof(int));
    int used = 0;
    for (int s = 0; s < basis->shells; s++) {
        if (s == 0 || used + basis->shell[s].functions > functions) {
            tiles->first_shell[tiles->tiles++] = s;
            used = 0;
        }
        used += basis->shell[s].functions;
    }
    tiles->first_shell[tiles->tiles] = basis->shells;
}

static int compare_bounds(const void *left, const void *right)
{
    const struct shell_pair *one = left, *other = right;
    if (one->bound != other->bound)
        return one->bound < other->bound ? 1 : -1;
    if (one->a != other->a)
        return one->a < other->a ? -1 : 1;
    return one->b < other->b ? -1 : one->b > other->b;
}

static double largest_bound(const struct basis *basis,
                            const struct integrals *integrals)
{
    double largest = 0;
    for (int a = 0; a < basis->shells; a++) {
        for (int b = 0; b <= a; b++)
            largest = fmax(largest, integrals_pair(integrals, a, b).bound);
    }
    return largest;
}

/* List the shell pairs of tiles i and j; returns their number. */
static int list_pairs(const struct tiles *tiles, int i, int j,
                      const struct integrals *integrals, double bound_min,
                      struct shell_pair *pair)
{
    int count = 0;
    for (int a = tiles->first_shell[i]; a < tiles->first_shell[i + 1]; a++) {
        for (int b = tiles->first_shell[j];
             b < tiles->first_shell[j + 1] && b <= a; b++) {
            pair[count] = integrals_pair(integrals, a, b);
            if (pair[count].bound >= bound_min)
                count++;
        }
    }
    qsort(pair, (size_t)count, sizeof *pair, compare_bounds);
    return count;
}

void tiles_make(const struct basis *basis, const struct integrals *integrals,
                int functions, double threshold, struct tiles *tiles)
{
    *tiles = (struct tiles){0};
    cut_shells(basis, functions, tiles);
    tiles->tile_pairs = triangle(tiles->tiles);
    tiles->tile_pair =
        allocate((size_t)tiles->tile_pairs, sizeof(struct tile_pair));
    tiles->storage =
        allocate((size_t)triangle(basis->shells), sizeof(struct shell_pair));
    double largest = largest_bound(basis, integrals);
    double bound_min = largest > 0 ? threshold / largest : 0;
    struct shell_pair *next = tiles->storage;
    struct tile_pair *tile_pair = tiles->tile_pair;
    for (int i = 0; i < tiles->tiles; i++) {
        for (int j = 0; j <= i; j++) {
            int count = list_pairs(tiles, i, j, integrals, bound_min, next);
            *tile_pair++ = (struct tile_pair){i, j, count, next,
                                              count > 0 ? next->bound : 0};
            next += count;
        }
    }
}

void tiles_free(struct tiles *tiles)
{
    free(tiles->first_shell);
    free(tiles->tile_pair);
    free(tiles->storage);
    *tiles = (struct tiles){0};
}
