/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/layout.h"

#include <string.h>

static int largest_prime_factor(int number)
{
    int largest = 1;
    for (int factor = 2; factor <= number / factor; factor++) {
        while (number % factor == 0) {
            largest = factor;
            number /= factor;
        }
    }
    return number > 1 ? number : largest;
}

void layout_grid(int dimensions, const int64_t *blocks, int processes,
                 int *grid)
{
    for (int d = 0; d < dimensions; d++)
        grid[d] = 1;
    while (processes > 1) {
        int factor = largest_prime_factor(processes), most = 0;
        for (int d = 1; d < dimensions; d++) {
            if (blocks[d] / grid[d] > blocks[most] / grid[most])
                most = d;
        }
        grid[most] *= factor;
        processes /= factor;
    }
}

/* The grid has no more places than there are processes. */
static bool is_grid(int dimensions, const int *grid, int processes)
{
    for (int d = 0; d < dimensions; d++) {
        if (grid[d] < 1 || grid[d] > processes)
            return false;
        processes /= grid[d];
    }
    return true;
}

bool layout_make(int dimensions, const int64_t *extent, const int64_t *width,
                 int processes, const int *grid, struct layout *layout)
{
    int64_t entries = 1;
    if (dimensions < 1 || dimensions > LAYOUT_DIMENSIONS_MAX || processes < 1)
        return false;
    *layout = (struct layout){.dimensions = dimensions, .tiles = 1};
    for (int d = 0; d < dimensions; d++) {
        if (extent[d] < 1 || width[d] < 1 || entries > INT64_MAX / extent[d])
            return false;
        entries *= extent[d];
        layout->extent[d] = extent[d];
        layout->width[d] = width[d];
        layout->blocks[d] = (extent[d] - 1) / width[d] + 1;
        layout->tiles *= layout->blocks[d];
    }
    if (grid)
        memcpy(layout->grid, grid, (size_t)dimensions * sizeof *grid);
    else
        layout_grid(dimensions, layout->blocks, processes, layout->grid);
    return is_grid(dimensions, layout->grid, processes);
}

int64_t layout_tile(const struct layout *layout, const int64_t *index)
{
    int64_t tile = 0;
    for (int d = 0; d < layout->dimensions; d++)
        tile = tile * layout->blocks[d] + index[d];
    return tile;
}

void layout_index(const struct layout *layout, int64_t tile, int64_t *index)
{
    for (int d = layout->dimensions - 1; d >= 0; d--) {
        index[d] = tile % layout->blocks[d];
        tile /= layout->blocks[d];
    }
}

void layout_bounds(const struct layout *layout, int64_t tile, int64_t *first,
                   int64_t *width)
{
    layout_index(layout, tile, first);
    for (int d = 0; d < layout->dimensions; d++) {
        first[d] *= layout->width[d];
        int64_t rest = layout->extent[d] - first[d];
        width[d] = rest < layout->width[d] ? rest : layout->width[d];
    }
}

int64_t layout_length(int64_t tile, void *layout)
{
    const struct layout *of = layout;
    int64_t first[LAYOUT_DIMENSIONS_MAX], width[LAYOUT_DIMENSIONS_MAX];
    int64_t length = 1;
    layout_bounds(of, tile, first, width);
    for (int d = 0; d < of->dimensions; d++)
        length *= width[d];
    return length;
}

int layout_owner(int64_t tile, void *layout)
{
    const struct layout *of = layout;
    int64_t index[LAYOUT_DIMENSIONS_MAX];
    int owner = 0;
    layout_index(of, tile, index);
    for (int d = 0; d < of->dimensions; d++)
        owner = owner * of->grid[d] + (int)(index[d] % of->grid[d]);
    return owner;
}
