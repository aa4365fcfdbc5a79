/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spaces and tensors: tiles, and their numbers, against a walk over all.
 */
#include "../unit/check.h"
#include "tensor_contraction/tensor.h"

const char program_name[] = "test_tensor";

static struct irreps read_irreps(const char *word)
{
    static struct irrep_list list;
    struct message message = {""};
    CHECK(irrep_list_add(&list, word, &message));
    return *irrep_list_find(&list, word[0]);
}

static void tiles_of_a_block_are_as_wide_as_each_other(void)
{
    static const int64_t widths[] = {17, 16, 16, 13, 12};
    const struct irreps irreps = read_irreps("i=49,0,25");
    struct space space;
    int64_t sum = 0;
    space_make(&irreps, SYMMETRY_SPATIAL, 20, &space);
    CHECK_EQ_INT(space.blocks, 2);
    CHECK_EQ_INT(space.tiles, 5);
    CHECK_EQ_INT(space.entries, 74);
    for (int64_t tile = 0; tile < space.tiles; tile++) {
        int64_t first, width;
        space_bounds(&space, tile, &first, &width);
        CHECK_EQ_INT(first, sum);
        CHECK_EQ_INT(width, widths[tile]);
        sum += width;
    }
    CHECK_EQ_INT(space.block[1].label, 2);
}

static void tiles_are_no_wider_than_blocks(void)
{
    const struct irreps irreps = read_irreps("i=3,7");
    struct space space;
    space_make(&irreps, SYMMETRY_SPATIAL, 10000, &space);
    CHECK_EQ_INT(space.width, 7);
    CHECK_EQ_INT(space.tiles, 2);
}

static void spin_has_each_block_twice(void)
{
    const struct irreps irreps = read_irreps("i=3,4");
    struct space space;
    space_make(&irreps, SYMMETRY_SPIN, 2, &space);
    CHECK_EQ_INT(space.blocks, 4);
    CHECK_EQ_INT(space.entries, 14);
    CHECK_EQ_INT(space.block[3].label, IRREPS_MAX + 1);
    CHECK_EQ_INT(label_join(space.block[3].label, space.block[2].label),
                 2 * IRREPS_MAX + 1);
}

static void letters_have_the_blocks_of_those_before(void)
{
    struct irrep_list list = {0};
    struct message message;
    CHECK(irrep_list_add(&list, "c=1", &message));
    CHECK(irrep_list_add(&list, "i=2", &message));
    CHECK(!irrep_list_find(&list, 'b'));
    CHECK_EQ_INT(irrep_list_find(&list, 'h')->entries[0], 1);
    CHECK_EQ_INT(irrep_list_find(&list, 'z')->entries[0], 2);
}

static void bad_blocks_have_a_place(void)
{
    static const struct {
        const char *word, *message;
    } cases[] = {
        {"20,24", "'20,24' where blocks are wanted"},
        {"i=", "column 3: not a number"},
        {"i=20,,24", "column 6: not a number"},
        {"i=20,-1", "column 6: not a number"},
        {"i=20,x", "column 6: not a number"},
        {"i=20x", "column 5: not a number"},
        {"i=1000001", "column 3: not a number from 0 to 1000000"},
        {"i=99999999999999999999", "column 3: not a number"},
        {"i=0,0", "have no entries"},
        {"i=1,1,1,1,1,1,1,1,1", "too many; allowed: 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct irrep_list list = {0};
        struct message message = {""};
        CHECK(!irrep_list_add(&list, cases[i].word, &message));
        CHECK_HAS_TEXT(message.text, cases[i].message);
    }
}

/* Walk over all tiles: those that are there are numbered in this order by
 * combinations of blocks, and each number once. */
static void check_tensor(const struct tensor *tensor, int64_t expected)
{
    int64_t all = 1, there = 0;
    double entries = 0;
    for (int d = 0; d < tensor->rank; d++)
        all *= tensor->space[d]->tiles;
    for (int64_t number = 0; number < all; number++) {
        int64_t index[RANK_MAX], back[RANK_MAX], rest = number;
        int side[2] = {0, 0};
        for (int d = tensor->rank - 1; d >= 0; d--) {
            const struct space *space = tensor->space[d];
            index[d] = rest % space->tiles;
            rest /= space->tiles;
            int *of = &side[tensor->is_second[d]];
            *of = label_join(*of,
                             space->block[space_block(space, index[d])].label);
        }
        int64_t tile = tensor_tile(tensor, index);
        CHECK((tile >= 0) == (side[0] == side[1]));
        if (tile < 0)
            continue;
        there++;
        CHECK(tile < tensor->tiles);
        tensor_index(tensor, tile, back);
        CHECK(memcmp(index, back, (size_t)tensor->rank * sizeof *index) == 0);
        entries += (double)tensor_length(tile, (void *)tensor);
        CHECK(tensor_length(tile, (void *)tensor) <= tensor->longest);
    }
    CHECK_EQ_INT(there, expected);
    CHECK_EQ_INT(tensor->tiles, expected);
    CHECK_NEAR(tensor->entries, entries, 0);
}

static void numbers_and_tiles_go_both_ways(void)
{
    static const struct {
        enum symmetry symmetry;
        int64_t tiles; /* counted by hand */
    } cases[] = {
        {SYMMETRY_NONE, 320}, {SYMMETRY_SPATIAL, 74}, {SYMMETRY_SPIN, 222}};
    const struct irreps wide = read_irreps("i=9,0,6,4,1");
    const struct irreps narrow = read_irreps("a=5,2,2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct space outer, inner;
        struct tensor tensor;
        struct message message;
        space_make(&wide, cases[i].symmetry, 3, &outer);
        space_make(&narrow, cases[i].symmetry, 2, &inner);
        const struct space *const spaces[] = {&outer, &inner, &outer};
        const bool is_second[] = {false, true, true};
        CHECK(tensor_make(3, spaces, is_second, &tensor, &message));
        check_tensor(&tensor, cases[i].tiles);
        tensor_free(&tensor);
    }
}

int main(void)
{
    RUN(tiles_of_a_block_are_as_wide_as_each_other);
    RUN(tiles_are_no_wider_than_blocks);
    RUN(spin_has_each_block_twice);
    RUN(letters_have_the_blocks_of_those_before);
    RUN(bad_blocks_have_a_place);
    RUN(numbers_and_tiles_go_both_ways);
    return check_result();
}
