/* SPDX-License-Identifier: BSD-3-Clause */
#include "space.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* So many that sums and products of two are an int64_t. */
#define ENTRIES_MAX 1000000

int label_join(int one, int other)
{
    const int irrep = IRREPS_MAX - 1;
    return ((one ^ other) & irrep) + (one & ~irrep) + (other & ~irrep);
}

/* The number at *AT, which is behind it then; -1: it is none. */
static int64_t read_entries(const char **at)
{
    char *end;
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    if (!isdigit((unsigned char)**at) || errno != 0 || value > ENTRIES_MAX)
        return -1;
    *at = end;
    return value;
}

bool irrep_list_add(struct irrep_list *list, const char *word,
                    struct message *message)
{
    struct irreps read = {0};
    int64_t sum = 0;
    if (!isalpha((unsigned char)word[0]) || word[1] != '=')
        return message_set(message,
                           "'%s' where blocks are wanted, as in "
                           "i=240,180,100,210",
                           word);
    for (const char *at = word + 2;; at++) {
        int64_t entries = read_entries(&at);
        if (entries < 0 || (*at != ',' && *at != '\0'))
            return message_set(message,
                               "blocks '%s', column %d: not a number from 0 "
                               "to %d, followed by a comma or the end",
                               word, (int)(at - word) + 1, ENTRIES_MAX);
        if (read.count == IRREPS_MAX)
            return message_set(message, "blocks '%s': too many; allowed: %d",
                               word, IRREPS_MAX);
        read.entries[read.count++] = entries;
        sum += entries;
        if (*at == '\0')
            break;
    }
    if (sum == 0)
        return message_set(message, "blocks '%s' have no entries", word);
    list->of[(unsigned char)word[0]] = read;
    return true;
}

const struct irreps *irrep_list_find(const struct irrep_list *list, char letter)
{
    for (int at = (unsigned char)letter; at >= 0; at--) {
        if (list->of[at].count > 0)
            return &list->of[at];
    }
    return NULL;
}

static void add_block(struct space *space, int64_t entries, int label)
{
    if (entries == 0)
        return;
    struct block block = {.first = space->entries,
                          .entries = entries,
                          .first_tile = space->tiles,
                          .tiles = (entries - 1) / space->width + 1,
                          .label = label};
    space->block[space->blocks++] = block;
    space->entries += entries;
    space->tiles += block.tiles;
}

void space_make(const struct irreps *irreps, enum symmetry symmetry,
                int64_t width, struct space *space)
{
    int spins = symmetry == SYMMETRY_SPIN ? 2 : 1;
    int64_t widest = 0;
    for (int irrep = 0; irrep < irreps->count; irrep++) {
        if (irreps->entries[irrep] > widest)
            widest = irreps->entries[irrep];
    }
    *space = (struct space){.width = width < widest ? width : widest};
    for (int spin = 0; spin < spins; spin++) {
        for (int irrep = 0; irrep < irreps->count; irrep++) {
            int label =
                symmetry == SYMMETRY_NONE ? 0 : irrep + IRREPS_MAX * spin;
            add_block(space, irreps->entries[irrep], label);
        }
    }
}

int space_block(const struct space *space, int64_t tile)
{
    int block = 0;
    while (tile >= space->block[block].first_tile + space->block[block].tiles)
        block++;
    return block;
}

/* First entry of tile AT of a block; its first tile is the widest one. */
static int64_t begin_of(const struct block *block, int64_t at)
{
    return (block->entries * at + block->tiles - 1) / block->tiles;
}

void space_bounds(const struct space *space, int64_t tile, int64_t *first,
                  int64_t *width)
{
    const struct block *block = &space->block[space_block(space, tile)];
    int64_t at = tile - block->first_tile;
    int64_t begin = begin_of(block, at);
    *first = block->first + begin;
    *width = begin_of(block, at + 1) - begin;
}
