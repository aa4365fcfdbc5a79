/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of matrices and tensors: every entry is in one tile, of one owner. */
#include "../unit/check.h"
#include "common/layout.h"

#include <stdlib.h>

static void a_matrix_is_cut_into_tiles(void)
{
    const int64_t extent[] = {10, 7}, width[] = {4, 3};
    const int grid[] = {2, 2};
    struct layout layout;
    CHECK(layout_make(2, extent, width, 4, grid, &layout));
    CHECK_EQ_INT(layout.tiles, 9);
    CHECK_EQ_INT(layout_tile(&layout, (int64_t[]){1, 2}), 5);
    CHECK_EQ_INT(layout_length(0, &layout), 12);
    CHECK_EQ_INT(layout_length(2, &layout), 4); /* 4 x 1 */
    CHECK_EQ_INT(layout_length(7, &layout), 6); /* 2 x 3 */
    CHECK_EQ_INT(layout_length(8, &layout), 2); /* 2 x 1 */
    const int owners[] = {0, 1, 0, 2, 3, 2, 0, 1, 0};
    for (int64_t tile = 0; tile < layout.tiles; tile++)
        CHECK_EQ_INT(layout_owner(tile, &layout), owners[tile]);
}

/* Its entries, each counted in the tile that has it. */
static int64_t count_entries(struct layout *layout, int processes)
{
    int64_t all = 0;
    for (int64_t tile = 0; tile < layout->tiles; tile++) {
        int64_t index[LAYOUT_DIMENSIONS_MAX], first[LAYOUT_DIMENSIONS_MAX];
        int64_t width[LAYOUT_DIMENSIONS_MAX], length = 1;
        int owner = layout_owner(tile, layout);
        layout_index(layout, tile, index);
        layout_bounds(layout, tile, first, width);
        CHECK_EQ_INT(layout_tile(layout, index), tile);
        for (int d = 0; d < layout->dimensions; d++) {
            CHECK_EQ_INT(first[d], index[d] * layout->width[d]);
            CHECK(width[d] >= 1 && first[d] + width[d] <= layout->extent[d]);
            length *= width[d];
        }
        CHECK_EQ_INT(layout_length(tile, layout), length);
        CHECK(owner >= 0 && owner < processes);
        all += length;
    }
    return all;
}

static void tensors_up_to_rank_6_are_covered(void)
{
    const int64_t extent[] = {5, 3, 8, 2, 7, 4}, width[] = {2, 3, 3, 1, 9, 4};
    int64_t entries = 1;
    for (int d = 1; d <= LAYOUT_DIMENSIONS_MAX; d++) {
        entries *= extent[d - 1];
        for (int processes = 1; processes <= 12; processes++) {
            struct layout layout;
            if (CHECK(layout_make(d, extent, width, processes, NULL, &layout)))
                CHECK_EQ_INT(count_entries(&layout, processes), entries);
        }
    }
}

static void blocks_may_be_cut_at_edges(void)
{
    const int64_t rows[] = {0, 3, 4, 9}, columns[] = {0, 5, 7},
                  no[] = {0, 3, 3};
    const int64_t *const edge[] = {rows, columns}, *const bad[] = {rows, no};
    struct layout layout;
    int64_t first[2], width[2], entries = 0;
    CHECK(layout_make_at(2, (int64_t[]){3, 2}, edge, 2, NULL, &layout));
    CHECK_EQ_INT(layout.tiles, 6);
    layout_bounds(&layout, 5, first, width);
    CHECK_EQ_INT(first[0], 4);
    CHECK_EQ_INT(width[0], 5);
    CHECK_EQ_INT(first[1], 5);
    CHECK_EQ_INT(width[1], 2);
    for (int64_t tile = 0; tile < layout.tiles; tile++)
        entries += layout_length(tile, &layout);
    CHECK_EQ_INT(entries, 63);
    CHECK(!layout_make_at(2, (int64_t[]){3, 2}, bad, 2, NULL, &layout));
    CHECK(!layout_make_at(2, (int64_t[]){3, 0}, edge, 2, NULL, &layout));
}

/* A dimension of one block shares nothing. */
static void grids_follow_the_blocks(void)
{
    int grid[3];
    layout_grid(3, (int64_t[]){1, 40, 10}, 16, grid);
    CHECK_EQ_INT(grid[0], 1);
    CHECK_EQ_INT(grid[1], 8);
    CHECK_EQ_INT(grid[2], 2);
    layout_grid(2, (int64_t[]){12, 12}, 12, grid);
    CHECK_EQ_INT(grid[0], 3);
    CHECK_EQ_INT(grid[1], 4);
    layout_grid(2, (int64_t[]){9, 100}, 7, grid);
    CHECK_EQ_INT(grid[1], 7);
}

/* No owner has two tiles more than another where the grid divides the blocks.
 */
static void tiles_are_dealt_evenly(void)
{
    struct layout layout;
    int owned[6] = {0};
    CHECK(layout_make(2, (int64_t[]){60, 60}, (int64_t[]){10, 10}, 6, NULL,
                      &layout));
    for (int64_t tile = 0; tile < layout.tiles; tile++)
        owned[layout_owner(tile, &layout)]++;
    for (int process = 0; process < 6; process++)
        CHECK_EQ_INT(owned[process], 6);
}

static void bad_shapes_are_refused(void)
{
    const int64_t good[] = {4, 4, 4, 4, 4, 4, 4}, zero[] = {4, 0};
    const int64_t vast[] = {INT64_MAX / 2, 3};
    const int grid[] = {2, 3}, none[] = {0, 1};
    struct layout layout;
    CHECK(layout_make(2, good, good, 6, grid, &layout));
    CHECK(!layout_make(2, good, good, 5, grid, &layout));
    CHECK(!layout_make(2, good, good, 5, none, &layout));
    CHECK(!layout_make(0, good, good, 1, NULL, &layout));
    CHECK(!layout_make(7, good, good, 1, NULL, &layout));
    CHECK(!layout_make(2, zero, good, 1, NULL, &layout));
    CHECK(!layout_make(2, good, zero, 1, NULL, &layout));
    CHECK(!layout_make(2, good, good, 0, NULL, &layout));
    CHECK(!layout_make(2, vast, good, 1, NULL, &layout));
}

int main(void)
{
    RUN(a_matrix_is_cut_into_tiles);
    RUN(tensors_up_to_rank_6_are_covered);
    RUN(blocks_may_be_cut_at_edges);
    RUN(grids_follow_the_blocks);
    RUN(tiles_are_dealt_evenly);
    RUN(bad_shapes_are_refused);
    return check_result();
}
