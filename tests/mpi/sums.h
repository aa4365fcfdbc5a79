/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran, as sums over its keys: equal where each ran just as often. */
#ifndef SUMS_H
#define SUMS_H

#include "job.h"

/* A multiset of tasks. */
struct sums {
    int64_t n;
    uint64_t first, second;
};

static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline void add(struct sums *sums, uint64_t key)
{
    sums->n++;
    sums->first += mix(key);
    sums->second += mix(key ^ 0x5555555555555555u);
}

static inline void join(struct sums *sums, const struct sums *other, int sign)
{
    sums->n += sign * other->n;
    sums->first += (uint64_t)sign * other->first;
    sums->second += (uint64_t)sign * other->second;
}

/* Of all ranks. */
static inline struct sums whole(struct sums sums)
{
    MPI_Allreduce(MPI_IN_PLACE, &sums, 3, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return sums;
}

#endif
