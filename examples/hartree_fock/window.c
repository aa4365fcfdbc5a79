/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Consecutive functions. */
struct range {
    size_t first, end;
};

static int width_of(const struct tiles *tiles, int tile)
{
    return (int)(tiles->edge[tile + 1] - tiles->edge[tile]);
}

void window_make(const struct basis *basis, const struct tiles *tiles,
                 struct window *window)
{
    const int most = tiles->tiles < 4 ? tiles->tiles : 4;
    size_t shells = (size_t)basis->shells, widest = 0;
    for (int t = 0; t < tiles->tiles; t++) {
        size_t width = (size_t)width_of(tiles, t);
        widest = width > widest ? width : widest;
    }
    size_t width = widest * (size_t)most;
    size_t numbers = (size_t)tiles->shells_max * (size_t)most;
    *window = (struct window){.basis = basis, .tiles = tiles};
    window->density = allocate(width * width, sizeof(double));
    window->fock = allocate(width * width, sizeof(double));
    window->weight = allocate(numbers * numbers, sizeof(double));
    window->first = allocate(shells, sizeof(int));
    window->number = allocate(shells, sizeof(int));
    for (int b = 0; b < 6; b++)
        window->block[b] = allocate(widest * widest, sizeof(double));
}

void window_free(struct window *window)
{
    free(window->density);
    free(window->fock);
    free(window->weight);
    free(window->first);
    free(window->number);
    for (int b = 0; b < 6; b++)
        free(window->block[b]);
}

/* Give a tile its place; returns which one it is. */
static int place_tile(struct window *window, int tile)
{
    const struct tiles *tiles = window->tiles;
    for (int t = 0; t < window->count; t++) {
        if (window->tile[t] == tile)
            return t;
    }
    for (int s = tiles->first_shell[tile]; s < tiles->first_shell[tile + 1];
         s++) {
        window->first[s] = window->width;
        window->width += window->basis->shell[s].functions;
        window->number[s] = window->shells++;
    }
    window->tile[window->count] = tile;
    return window->count++;
}

/* The functions of a tile here. */
static struct range range_of(const struct window *window, int place)
{
    const struct tiles *tiles = window->tiles;
    const int tile = window->tile[place];
    size_t first = (size_t)window->first[tiles->first_shell[tile]];
    return (struct range){first, first + (size_t)width_of(tiles, tile)};
}

/* Note the block of two tiles, the higher one as its row, unless it is there.
 */
static void note_block(struct window *window, int row, int column)
{
    if (window->tile[row] < window->tile[column]) {
        int higher = column;
        column = row;
        row = higher;
    }
    for (int b = 0; b < window->blocks; b++) {
        if (window->at[b][0] == row && window->at[b][1] == column)
            return;
    }
    window->at[window->blocks][0] = row;
    window->at[window->blocks++][1] = column;
}

static void list_blocks(const struct window *window,
                        const struct matrix *matrix, struct matrix_tile *list)
{
    for (int b = 0; b < window->blocks; b++)
        list[b] = (struct matrix_tile){matrix, window->tile[window->at[b][0]],
                                       window->tile[window->at[b][1]],
                                       window->block[b]};
}

/* Copy a block to its two places in the density. */
static void spread_block(struct window *window, int b)
{
    const size_t width = (size_t)window->width;
    const struct range row = range_of(window, window->at[b][0]);
    const struct range column = range_of(window, window->at[b][1]);
    const double *value = window->block[b];
    for (size_t i = row.first; i < row.end; i++) {
        for (size_t j = column.first; j < column.end; j++) {
            window->density[i * width + j] = *value;
            window->density[j * width + i] = *value++;
        }
    }
}

/* The other way round: the mean of both places. */
static void collect_block(struct window *window, int b)
{
    const size_t width = (size_t)window->width;
    const struct range row = range_of(window, window->at[b][0]);
    const struct range column = range_of(window, window->at[b][1]);
    double *value = window->block[b];
    for (size_t i = row.first; i < row.end; i++) {
        for (size_t j = column.first; j < column.end; j++)
            *value++ = 0.5 * (window->fock[i * width + j] +
                              window->fock[j * width + i]);
    }
}

ek_status window_open(struct window *window, const struct work *work,
                      const int tile[4])
{
    struct matrix_tile list[6];
    int place[4];
    window->count = window->width = window->shells = window->blocks = 0;
    for (int t = 0; t < 4; t++)
        place[t] = place_tile(window, tile[t]);
    for (int p = 0; p < 4; p++) {
        for (int q = 0; q < p; q++)
            note_block(window, place[p], place[q]);
    }
    list_blocks(window, work->density, list);
    ek_status status = matrix_get(work->worker, list, window->blocks);
    if (status != EK_OK)
        return status;
    for (int b = 0; b < window->blocks; b++)
        spread_block(window, b);
    size_t width = (size_t)window->width;
    memset(window->fock, 0, width * width * sizeof(double));
    return EK_OK;
}

ek_status window_close(struct window *window, const struct work *work)
{
    struct matrix_tile list[6];
    for (int b = 0; b < window->blocks; b++)
        collect_block(window, b);
    list_blocks(window, work->fock, list);
    return matrix_accumulate(work->worker, list, window->blocks);
}

/* The weights of a shell with those of a tile. */
static void weigh_shell(struct window *window, int a, int tile)
{
    const int *first_shell = window->tiles->first_shell;
    const struct shell *shell = window->basis->shell;
    const size_t width = (size_t)window->width;
    double *weight =
        window->weight + (size_t)window->number[a] * (size_t)window->shells;
    for (int b = first_shell[tile]; b < first_shell[tile + 1]; b++) {
        const double *row = window->density + (size_t)window->first[a] * width +
                            window->first[b];
        double largest = 0;
        for (int i = 0; i < shell[a].functions; i++, row += width) {
            for (int j = 0; j < shell[b].functions; j++)
                largest = fmax(largest, fabs(row[j]));
        }
        weight[window->number[b]] = largest;
    }
}

void window_weigh(struct window *window)
{
    const int *first_shell = window->tiles->first_shell;
    for (int t = 0; t < window->count; t++) {
        int tile = window->tile[t];
        for (int a = first_shell[tile]; a < first_shell[tile + 1]; a++) {
            for (int other = 0; other < window->count; other++)
                weigh_shell(window, a, window->tile[other]);
        }
    }
}
