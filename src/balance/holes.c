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
    holes->next = eki_alloc((size_t)pool->workers, sizeof *holes->next);
    holes->previous = eki_alloc((size_t)pool->workers, sizeof *holes->previous);
    if (!holes->next || !holes->previous) {
        eki_holes_free(holes);
        return false;
    }
    /* Backwards, because each add puts its worker first in the list: of equal
     * holes the lowest worker is found first. */
    for (int32_t w = pool->workers; w-- > 0;)
        eki_holes_add(holes, w);
    return true;
}

void eki_holes_free(struct eki_holes *holes)
{
    eki_free(holes->next);
    eki_free(holes->previous);
    holes->next = holes->previous = NULL;
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

/* The lowest bit of WORD from FROM on, or the highest up to it; -1: none. */
static int bit_above(uint64_t word, int from)
{
    uint64_t rest = from < 64 ? word >> from << from : 0;
    return rest ? __builtin_ctzll(rest) : -1;
}

static int bit_below(uint64_t word, int from)
{
    uint64_t rest = from >= 0 ? word << (63 - from) >> (63 - from) : 0;
    return rest ? 63 - __builtin_clzll(rest) : -1;
}

int eki_holes_above(const struct eki_holes *holes, int bin)
{
    if (bin >= EKI_BIN_COUNT)
        return -1;
    int word = bin / 64, bit = bit_above(holes->bits[word], bin % 64);
    if (bit >= 0)
        return word * 64 + bit;
    int from = word % 64 + 1;
    for (int top = word / 64; top < EKI_HOLE_TOPS; top++, from = 0) {
        bit = bit_above(holes->top[top], from);
        if (bit < 0)
            continue;
        word = top * 64 + bit;
        return word * 64 + bit_above(holes->bits[word], 0);
    }
    return -1;
}

int eki_holes_below(const struct eki_holes *holes, int bin)
{
    if (bin < 0)
        return -1;
    int word = bin / 64, bit = bit_below(holes->bits[word], bin % 64);
    if (bit >= 0)
        return word * 64 + bit;
    int from = word % 64 - 1;
    for (int top = word / 64; top >= 0; top--, from = 63) {
        bit = bit_below(holes->top[top], from);
        if (bit < 0)
            continue;
        word = top * 64 + bit;
        return word * 64 + bit_below(holes->bits[word], 63);
    }
    return -1;
}
