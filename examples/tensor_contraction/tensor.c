/* SPDX-License-Identifier: BSD-3-Clause */
#include "tensor.h"

#include <stdlib.h>

/* The table of their numbers is 128 MiB then. */
#define COMBINATIONS_MAX (1 << 24)

/* A tile of it is 2 GiB long, and widths of matrices are an int. */
#define LENGTH_MAX (1 << 28)

/* Blocks of each index, the last one fastest. */
static void blocks_of(const struct tensor *tensor, int64_t combination,
                      const struct block **block)
{
    for (int d = tensor->rank - 1; d >= 0; d--) {
        const struct space *space = tensor->space[d];
        block[d] = &space->block[combination % space->blocks];
        combination /= space->blocks;
    }
}

/* Whether the sides of a combination have the same label. */
static bool is_there(const struct tensor *tensor,
                     const struct block *const *block)
{
    int side[2] = {0, 0};
    for (int d = 0; d < tensor->rank; d++) {
        int *of = &side[tensor->is_second[d]];
        *of = label_join(*of, block[d]->label);
    }
    return side[0] == side[1];
}

static void number_tiles(struct tensor *tensor)
{
    const struct block *block[RANK_MAX];
    for (int64_t c = 0; c < tensor->combinations; c++) {
        int64_t tiles = 1, longest = 1;
        double entries = 1;
        blocks_of(tensor, c, block);
        tensor->first_tile[c] = tensor->tiles;
        if (!is_there(tensor, block))
            continue;
        for (int d = 0; d < tensor->rank; d++) {
            int64_t first, width;
            space_bounds(tensor->space[d], block[d]->first_tile, &first,
                         &width);
            tiles *= block[d]->tiles;
            entries *= (double)block[d]->entries;
            longest *= width;
        }
        tensor->tiles += tiles;
        tensor->entries += entries;
        if (longest > tensor->longest)
            tensor->longest = longest;
    }
    tensor->first_tile[tensor->combinations] = tensor->tiles;
}

bool tensor_make(int rank, const struct space *const *space,
                 const bool *is_second, struct tensor *tensor,
                 struct message *message)
{
    int64_t length = 1;
    *tensor = (struct tensor){.rank = rank, .combinations = 1};
    for (int d = 0; d < rank; d++) {
        tensor->space[d] = space[d];
        tensor->is_second[d] = is_second[d];
        tensor->combinations *= space[d]->blocks;
        length *= space[d]->width;
        if (tensor->combinations > COMBINATIONS_MAX)
            return message_set(message,
                               "more than %d combinations of blocks in a "
                               "tensor",
                               COMBINATIONS_MAX);
        if (length > LENGTH_MAX)
            return message_set(message,
                               "tiles of %lld in %d dimensions have more than "
                               "%d entries",
                               (long long)space[d]->width, rank, LENGTH_MAX);
    }
    tensor->first_tile =
        allocate((size_t)tensor->combinations + 1, sizeof *tensor->first_tile);
    number_tiles(tensor);
    return true;
}

void tensor_free(struct tensor *tensor)
{
    free(tensor->first_tile);
    *tensor = (struct tensor){0};
}

int64_t tensor_tile(const struct tensor *tensor, const int64_t *index)
{
    int64_t combination = 0, within = 0;
    for (int d = 0; d < tensor->rank; d++) {
        const struct space *space = tensor->space[d];
        int b = space_block(space, index[d]);
        const struct block *block = &space->block[b];
        combination = combination * space->blocks + b;
        within = within * block->tiles + index[d] - block->first_tile;
    }
    const int64_t *first = &tensor->first_tile[combination];
    return first[1] > first[0] ? first[0] + within : -1;
}

/* The combination whose tiles TILE is one of: the last that begins before. */
static int64_t find_combination(const struct tensor *tensor, int64_t tile)
{
    int64_t low = 0, high = tensor->combinations;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (tensor->first_tile[middle] <= tile)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void tensor_index(const struct tensor *tensor, int64_t tile, int64_t *index)
{
    const struct block *block[RANK_MAX];
    int64_t combination = find_combination(tensor, tile);
    int64_t within = tile - tensor->first_tile[combination];
    blocks_of(tensor, combination, block);
    for (int d = tensor->rank - 1; d >= 0; d--) {
        index[d] = block[d]->first_tile + within % block[d]->tiles;
        within /= block[d]->tiles;
    }
}

void tensor_bounds(const struct tensor *tensor, const int64_t *index,
                   int64_t *first, int64_t *width)
{
    for (int d = 0; d < tensor->rank; d++)
        space_bounds(tensor->space[d], index[d], &first[d], &width[d]);
}

int64_t tensor_length(int64_t tile, void *tensor)
{
    const struct tensor *of = tensor;
    int64_t index[RANK_MAX], first[RANK_MAX], width[RANK_MAX];
    int64_t length = 1;
    tensor_index(of, tile, index);
    tensor_bounds(of, index, first, width);
    for (int d = 0; d < of->rank; d++)
        length *= width[d];
    return length;
}
