/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned: which tasks of a recorded iteration have spawned which others. */
#ifndef COMMON_SPAWNED_H
#define COMMON_SPAWNED_H

#include "record/record.h"

/*
 * Tasks in generations: SEEDS first, by id, then the children of the first of
 * them, of the second, ..., then the children of these.  So the children of
 * task K are FIRST_CHILD[K] ... FIRST_CHILD[K + 1] - 1.  What was spawned by
 * nobody who is there is a seed.
 */
struct spawned {
    int64_t seeds;
    int64_t *first_child; /* [tasks + 1]; owned */
};

/* A task that took no time. */
static inline bool spawned_is_null(const struct eki_record_task *task)
{
    return task->flags & (EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED) ||
           task->duration_ns == 0;
}

/* In the order of their ids; ids of other programs need not be unique. */
void spawned_sort_ids(struct eki_record_iteration *iteration);
/* Bring the tasks of ITERATION, sorted by ids, in this order.  EK_ERR_ARG:
 * there is none, because tasks have spawned each other. */
ek_status spawned_sort(struct eki_record_iteration *iteration,
                       struct spawned *spawned);
void spawned_free(struct spawned *spawned);

/* The longest chain of tasks of which each has spawned the next: the sum of
 * their SECONDS, and at *GENERATIONS (unless NULL) how many the longest has by
 * number.  PATHS: room for COUNT. */
double spawned_path(const struct spawned *spawned, const float *seconds,
                    int64_t count, double *paths, int *generations);

#endif
