/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decide: a whole decision in one place, over arrays: what ranks do by messages
 * (src/rebalance, src/printed), with the same functions.  For ek-bench, which
 * measures it, and for tests, which hold the messages against it.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include "printed/printed.h"

/* Tasks of all workers: those of worker w are [first[w], first[w + 1]), longest
 * first. */
struct decide_input {
    int32_t workers;
    const int64_t *first;
    const eki_ns *ns;
    const size_t *bytes; /* that move with each task, or NULL */
    double eps;
    int32_t group;                    /* workers of a group; 0: centralized */
    const struct eki_hpdc12 *printed; /* decide as HPDC'12 printed, or NULL */
    const int32_t *nodes;             /* [workers], or NULL */
    int32_t node_count;
};

struct decision {
    eki_ns target;
    double before, after;  /* largest load / mean load - 1 */
    int64_t moved, fewest; /* tasks */
    int64_t descriptors;   /* that arrive at the busiest place */
    uint64_t hash;         /* of all destinations */
    uint64_t critical_ns;  /* compute time that nothing else overlaps */
};

/* TO [first[workers]]: the worker of each task.  False: no memory. */
bool decide_arrays(const struct decide_input *input, int32_t *to,
                   struct decision *decision);

#endif
