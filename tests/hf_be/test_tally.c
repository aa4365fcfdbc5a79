/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tasks would evaluate, against a count of all products, and against the
 * counts that another program made for the chain of the paper.
 */
#include "../unit/check.h"
#include "cli/message.h"
#include "hf_be/tally.h"

const char program_name[] = "test_tally";

/* A chain and what is found out about its tasks. */
struct case_ {
    struct chain chain;
    struct tiles tiles;
    struct tally tally;
};

static void make(struct case_ *made, int atoms, double spacing, int width,
                 double screen)
{
    chain_make(atoms, spacing, &made->chain);
    tiles_make(&made->chain, width, screen, true, &made->tiles);
    tally_make(&made->chain, &made->tiles, &made->tally);
}

static void release(struct case_ *made)
{
    tally_free(&made->tally);
    tiles_free(&made->tiles);
    chain_free(&made->chain);
}

/* The bounds of the functions of a tile pair; how many. */
static int bounds_of(const struct case_ *made, int64_t pair, double *bound)
{
    const struct tiles *tiles = &made->tiles;
    int i = (int)(pair % tiles->tiles), j = (int)(pair / tiles->tiles);
    int count = 0;
    for (int a = 0; a < tiles_width(tiles, i); a++) {
        for (int b = 0; b < tiles_width(tiles, j); b++) {
            struct pair of =
                pair_make(&made->chain.gaussian[i * tiles->width + a],
                          &made->chain.gaussian[j * tiles->width + b]);
            bound[count++] = pair_bound(&of);
        }
    }
    return count;
}

/* As quartet_run() goes through them. */
static struct tally_sum count_all(const struct case_ *made, int64_t task)
{
    double ij[64], kl[64];
    int rows = bounds_of(made, task % made->tiles.pairs, ij);
    int columns = bounds_of(made, task / made->tiles.pairs, kl);
    struct tally_sum sum = {0};
    for (int p = 0; p < rows; p++) {
        if (ij[p] * made->tiles.bound_max < made->tiles.screen)
            continue;
        sum.tests += columns;
        for (int q = 0; q < columns; q++)
            sum.integrals += ij[p] * kl[q] >= made->tiles.screen;
    }
    return sum;
}

/* The last of its eleven tiles is narrower. */
static void every_task_is_counted_as_it_is_run(void)
{
    struct case_ made;
    int64_t wrong = 0, nulls = 0;
    make(&made, 5, 2.6, 7, 1e-6);
    for (int64_t task = 0; task < tiles_tasks(&made.tiles); task++) {
        struct tally_sum sum = tally_task(&made.tally, task);
        struct tally_sum all = count_all(&made, task);
        wrong += sum.integrals != all.integrals || sum.tests != all.tests;
        wrong += (all.integrals == 0) != tiles_is_null(&made.tiles, task);
        nulls += all.integrals == 0;
    }
    CHECK_EQ_INT(wrong, 0);
    CHECK(nulls > 1000);
    release(&made);
}

/* Products that are equal to the threshold count: it is one of them. */
static void products_at_the_threshold_count(void)
{
    struct case_ made;
    int64_t sum = 0, all = 0;
    make(&made, 2, 2.6, 5, 1e-6);
    double bound = made.tiles.bound[3] * made.tiles.bound[2];
    release(&made);
    make(&made, 2, 2.6, 5, bound);
    for (int64_t task = 0; task < tiles_tasks(&made.tiles); task++) {
        sum += tally_task(&made.tally, task).integrals;
        all += count_all(&made, task).integrals;
    }
    CHECK_EQ_INT(sum, all);
    release(&made);
    make(&made, 2, 2.6, 5, nextafter(bound, 1));
    for (int64_t task = 0; task < tiles_tasks(&made.tiles); task++)
        all -= tally_task(&made.tally, task).integrals;
    CHECK(all > 0);
    release(&made);
}

/* FNV-1a, eight bytes at a time. */
static void mix(uint64_t *hash, int64_t number)
{
    *hash = (*hash ^ (uint64_t)number) * UINT64_C(0x100000001b3);
}

static void the_chain_of_the_paper_has_its_counts(void)
{
    struct case_ made;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int64_t tasks = 0, integrals = 0, most = 0;
    make(&made, 256, 2.6, 40, 1e-6);
    for (int64_t task = 0; task < tiles_tasks(&made.tiles); task++) {
        if (tiles_is_null(&made.tiles, task))
            continue;
        struct tally_sum sum = tally_task(&made.tally, task);
        mix(&hash, task);
        mix(&hash, sum.integrals);
        mix(&hash, sum.tests);
        tasks++;
        integrals += sum.integrals;
        most = sum.integrals > most ? sum.integrals : most;
    }
    CHECK_EQ_INT(tasks, 393316);
    CHECK_EQ_INT(integrals, 77331869484);
    CHECK_EQ_INT(most, 2128516);
    CHECK_EQ_INT(hash, UINT64_C(0xd3c488b80dfdfed));
    release(&made);
}

int main(void)
{
    RUN(every_task_is_counted_as_it_is_run);
    RUN(products_at_the_threshold_count);
    RUN(the_chain_of_the_paper_has_its_counts);
    return check_result();
}
