/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of decisions draw and sort. */
#ifndef DRAW_H
#define DRAW_H

#include "balance/balance.h"

static struct eki_random random_state;

static inline int64_t below(int64_t n)
{
    return (int64_t)(eki_random_next(&random_state) % (uint64_t)n);
}

static inline int descending(const void *a, const void *b)
{
    eki_ns x = *(const eki_ns *)a, y = *(const eki_ns *)b;
    return (x < y) - (x > y);
}

#endif
