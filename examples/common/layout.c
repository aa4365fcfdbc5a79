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

/* Deal out the tiles of a layout that is cut. */
static bool deal(struct layout *layout, int processes, const int *grid)
{
    int64_t entries = 1;
    int dimensions = layout->dimensions;
    layout->tiles = 1;
    for (int d = 0; d < dimensions; d++) {
        if (entries > INT64_MAX / layout->extent[d])
            return false;
        entries *= layout->extent[d];
        layout->tiles *= layout->blocks[d];
    }
    if (processes < 1)
        return false;
    if (grid)
        memcpy(layout->grid, grid, (size_t)dimensions * sizeof *grid);
    else
        layout_grid(dimensions, layout->blocks, processes, layout->grid);
    return is_grid(dimensions, layout->grid, processes);
}

static bool is_rank(int dimensions)
{
    return dimensions >= 1 && dimensions <= LAYOUT_DIMENSIONS_MAX;
}

bool layout_make(int dimensions, const int64_t *extent, const int64_t *width,
                 int processes, const int *grid, struct layout *layout)
{
    if (!is_rank(dimensions))
        return false;
    *layout = (struct layout){.dimensions = dimensions};
    for (int d = 0; d < dimensions; d++) {
        if (extent[d] < 1 || width[d] < 1)
            return false;
        layout->extent[d] = extent[d];
        layout->width[d] = width[d];
        layout->blocks[d] = (extent[d] - 1) / width[d] + 1;
    }
    return deal(layout, processes, grid);
}

bool layout_make_at(int dimensions, const int64_t *blocks,
                    const int64_t *const *edge, int processes, const int *grid,
                    struct layout *layout)
{
    if (!is_rank(dimensions))
        return false;
    *layout = (struct layout){.dimensions = dimensions};
    for (int d = 0; d < dimensions; d++) {
        if (blocks[d] < 1 || edge[d][0] != 0)
            return false;
        for (int64_t b = 0; b < blocks[d]; b++) {
            if (edge[d][b + 1] <= edge[d][b])
                return false;
        }
        layout->extent[d] = edge[d][blocks[d]];
        layout->blocks[d] = blocks[d];
        layout->edge[d] = edge[d];
    }
    return deal(layout, processes, grid);
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
        const int64_t block = first[d], *edge = layout->edge[d];
        first[d] = edge ? edge[block] : block * layout->width[d];
        int64_t rest = (edge ? edge[block + 1] : layout->extent[d]) - first[d];
        width[d] = edge || rest < layout->width[d] ? rest : layout->width[d];
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
