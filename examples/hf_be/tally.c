/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"
#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

static int larger_first(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first < second) - (first > second);
}

/* Collect in @p room the bounds of a tile pair that may matter. */
static int collect(const struct chain *chain, const struct tiles *tiles, int i,
                   int j, double *room)
{
    const struct gaussian *row = chain->gaussian + i * tiles->width;
    const struct gaussian *column = chain->gaussian + j * tiles->width;
    int count = 0;
    for (int a = 0; a < tiles_width(tiles, i); a++) {
        for (int b = 0; b < tiles_width(tiles, j); b++) {
            struct pair pair = pair_make(&row[a], &column[b]);
            double bound = pair_bound(&pair);
            if (bound * tiles->bound_max >= tiles->screen)
                room[count++] = bound;
        }
    }
    return count;
}

static struct tally_list list_of(const struct chain *chain,
                                 const struct tiles *tiles, int i, int j,
                                 double *room)
{
    int64_t ij = i + (int64_t)tiles->tiles * j;
    if (tiles->bound[ij] * tiles->bound_max < tiles->screen)
        return (struct tally_list){0};
    int count = collect(chain, tiles, i, j, room);
    size_t bytes = (size_t)count * sizeof *room;
    qsort(room, (size_t)count, sizeof *room, larger_first);
    double *bound = allocate((size_t)count, sizeof *bound);
    memcpy(bound, room, bytes);
    return (struct tally_list){bound, count};
}

void tally_make(const struct chain *chain, const struct tiles *tiles,
                struct tally *tally)
{
    size_t area = (size_t)tiles->width * (size_t)tiles->width;
    double *room = allocate(area, sizeof *room);
    tally->tiles = tiles;
    tally->list = allocate((size_t)tiles->pairs, sizeof *tally->list);
    for (int j = 0; j < tiles->tiles; j++) {
        for (int i = j; i < tiles->tiles; i++) {
            struct tally_list list = list_of(chain, tiles, i, j, room);
            tally->list[i + (int64_t)tiles->tiles * j] = list;
            tally->list[j + (int64_t)tiles->tiles * i] = list;
        }
    }
    free(room);
}

void tally_free(struct tally *tally)
{
    for (int j = 0; tally->list && j < tally->tiles->tiles; j++) {
        for (int i = j; i < tally->tiles->tiles; i++)
            free(tally->list[i + (int64_t)tally->tiles->tiles * j].bound);
    }
    free(tally->list);
    *tally = (struct tally){0};
}

/* Products of one bound of each list that are large enough.  Products are
 * rounded monotonically, so a bound that is too small for an (ij) is so for all
 * smaller ones. */
static int64_t count_products(const struct tally_list *ij,
                              const struct tally_list *kl, double screen)
{
    int64_t sum = 0;
    int left = kl->count;
    for (int p = 0; p < ij->count && left > 0; p++) {
        while (left > 0 && ij->bound[p] * kl->bound[left - 1] < screen)
            left--;
        sum += left;
    }
    return sum;
}

struct tally_sum tally_task(const struct tally *tally, int64_t task)
{
    const struct tiles *tiles = tally->tiles;
    int64_t kl = task / tiles->pairs, ij = task % tiles->pairs;
    int k = (int)(kl % tiles->tiles), l = (int)(kl / tiles->tiles);
    return (struct tally_sum){
        .integrals =
            count_products(&tally->list[ij], &tally->list[kl], tiles->screen),
        .tests = (int64_t)tally->list[ij].count * tiles_width(tiles, k) *
                 tiles_width(tiles, l)};
}
