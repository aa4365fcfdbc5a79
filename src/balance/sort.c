/* SPDX-License-Identifier: BSD-3-Clause */
/* Items by duration: a radix sort, stable, so that ties keep their order. */
#include "balance/balance.h"

#include <string.h>

enum {
    DIGIT_BITS = 11,
    DIGITS = 6, /* of 64 bits */
    VALUES = 1 << DIGIT_BITS,
    FEW = 128
};

static unsigned digit_of(const struct eki_item *item, int digit)
{
    /* The complement sorts the longest first. */
    return (VALUES - 1) & ~(unsigned)((uint64_t)item->ns >> digit * DIGIT_BITS);
}

/* Move FROM to TO by one digit; false: all have the same, nothing was moved. */
static bool sort_digit(const struct eki_item *from, struct eki_item *to,
                       int64_t count, int digit)
{
    int64_t starts[VALUES] = {0};
    for (int64_t i = 0; i < count; i++)
        starts[digit_of(&from[i], digit)]++;
    if (starts[digit_of(&from[0], digit)] == count)
        return false;
    int64_t at = 0;
    for (int v = 0; v < VALUES; v++) {
        int64_t n = starts[v];
        starts[v] = at;
        at += n;
    }
    for (int64_t i = 0; i < count; i++)
        to[starts[digit_of(&from[i], digit)]++] = from[i];
    return true;
}

/* Insertion sort: for few items clearing the counts would take longest. */
static void sort_few(struct eki_item *items, int64_t count)
{
    /* Unsigned, as in the digits: ek_gather() sorts distances of indices. */
    for (int64_t i = 1; i < count; i++) {
        struct eki_item item = items[i];
        int64_t at = i;
        for (; at > 0 && (uint64_t)items[at - 1].ns < (uint64_t)item.ns; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

bool eki_items_sort(struct eki_item *items, int64_t count)
{
    if (count <= FEW) {
        sort_few(items, count);
        return true;
    }
    struct eki_item *other = eki_alloc((size_t)count, sizeof *other);
    if (!other)
        return false;
    struct eki_item *from = items, *to = other;
    for (int digit = 0; digit < DIGITS; digit++) {
        if (!sort_digit(from, to, count, digit))
            continue;
        struct eki_item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items)
        memcpy(items, from, (size_t)count * sizeof *items);
    eki_free(other);
    return true;
}
