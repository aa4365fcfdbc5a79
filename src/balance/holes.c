/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holes are kept by size in bins of 1/256 octave, each a list of workers, with
 * two levels of bits to find the next bin that has some: a placement takes a
 * few steps, whatever the number of workers.
 */
#include "balance/holes.h"

#include <string.h>

bool eki_holes_init(struct eki_holes *holes, const struct eki_pool *pool)
{
    holes->pool = pool;
    memset(holes->bits, 0, sizeof holes->bits);
    memset(holes->top, 0, sizeof holes->top);
    holes->next = eki_alloc(2 * (size_t)pool->workers, sizeof *holes->next);
    holes->previous = holes->next + pool->workers;
    if (!holes->next)
        return false;
    /* Backwards, because each add puts its worker first in the list: of equal
     * holes the lowest worker is found first. */
    for (int32_t w = pool->workers; w-- > 0;)
        eki_holes_add(holes, w);
    return true;
}

void eki_holes_free(struct eki_holes *holes)
{
    eki_free(holes->next);
    holes->next = NULL;
}

void eki_holes_add(struct eki_holes *holes, int32_t worker)
{
    eki_ns hole = eki_hole_of(holes, worker);
    if (hole <= 0)
        return;
    int bin = eki_bin_of((uint64_t)hole);
    int32_t head = eki_holes_head(holes, bin);
    holes->next[worker] = head;
    holes->previous[worker] = -1;
    if (head >= 0)
        holes->previous[head] = worker;
    holes->heads[bin] = worker;
    holes->bits[bin / 64] |= UINT64_C(1) << bin % 64;
    holes->top[bin / 4096] |= UINT64_C(1) << bin / 64 % 64;
}

void eki_holes_remove(struct eki_holes *holes, int32_t worker)
{
    eki_ns hole = eki_hole_of(holes, worker);
    if (hole <= 0)
        return;
    int bin = eki_bin_of((uint64_t)hole);
    int32_t next = holes->next[worker], previous = holes->previous[worker];
    if (next >= 0)
        holes->previous[next] = previous;
    if (previous >= 0)
        holes->next[previous] = next;
    else
        holes->heads[bin] = next;
    if (next >= 0 || previous >= 0)
        return;
    holes->bits[bin / 64] &= ~(UINT64_C(1) << bin % 64);
    if (holes->bits[bin / 64] == 0)
        holes->top[bin / 4096] &= ~(UINT64_C(1) << bin / 64 % 64);
}

/* The first bit of WORDS at FROM or above it, below END; -1: none. */
static int bit_above(const uint64_t *words, int from, int end)
{
    for (; from < end; from = (from / 64 + 1) * 64) {
        uint64_t rest = words[from / 64] >> from % 64;
        if (rest)
            return from + __builtin_ctzll(rest);
    }
    return -1;
}

/* The last one at FROM or below it, from LEAST on. */
static int bit_below(const uint64_t *words, int from, int least)
{
    for (; from >= least; from = from / 64 * 64 - 1) {
        uint64_t rest = words[from / 64] << (63 - from % 64);
        if (rest)
            return from - __builtin_clzll(rest);
    }
    return -1;
}

int eki_holes_above(const struct eki_holes *holes, int bin)
{
    int word = bin / 64, above = bit_above(holes->bits, bin, word * 64 + 64);
    if (above >= 0)
        return above;
    word = bit_above(holes->top, word + 1, EKI_HOLE_WORDS);
    return word < 0 ? -1 : bit_above(holes->bits, word * 64, word * 64 + 64);
}

int eki_holes_below(const struct eki_holes *holes, int bin)
{
    int word = bin / 64, below = bit_below(holes->bits, bin, word * 64);
    if (below >= 0)
        return below;
    word = bit_below(holes->top, word - 1, 0);
    return word < 0 ? -1 : bit_below(holes->bits, word * 64 + 63, word * 64);
}
