/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * positions: where the tasks of a workload lie among null tasks: at their ids,
 * or evenly.
 */
#ifndef COMMON_POSITIONS_H
#define COMMON_POSITIONS_H

#include "workload.h"

struct positions {
    int64_t count, total; /* tasks; with the null ones */
    const int64_t *ids;   /* [count] of the workload; NULL: evenly */
};

/* The tasks of WORKLOAD among NULLS null ones. */
struct positions positions_make(const struct workload *workload, int64_t nulls);

/* Where task K is. */
int64_t positions_of(const struct positions *positions, int64_t k);
/* The first task at POSITION or behind it; count: there is none. */
int64_t positions_find(const struct positions *positions, int64_t position);

#endif
