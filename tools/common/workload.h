/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload: tasks and how long each takes, from a record or drawn.
 *
 * A function that returns false has written a message.
 */
#ifndef COMMON_WORKLOAD_H
#define COMMON_WORKLOAD_H

#include "cli/message.h"
#include "spawned.h"

#include <stdint.h>

#define WORKLOAD_TASKS_MOST 100000000

/* Where durations come from; one of record, synthetic and tree. */
struct workload_source {
    const char *record, *synthetic;
    const char *tree; /* that unfolds as its tasks run: they are not here */
    /* Of the record: "0,3-5,7-", or "median": of a task over all.  NULL: that,
     * but of records with spawned tasks "0". */
    const char *iterations;
    int seed;
    double scale;
    double drift, noise; /* percent */
    const char *change;  /* one of change_words(); NULL: none */
    const char *bytes;   /* of their data; NULL: as the record says */
    bool has_nulls;      /* null tasks are run, too: ids are of interest */
};

/* Tasks in the order of their ids, or of their generations, and how long each
 * takes. */
struct workload {
    char name[128];
    int64_t count;          /* tasks that take time */
    int64_t seeds;          /* of these, the first ones, which start it all */
    struct spawned spawned; /* what they spawn; first_child NULL: nothing */
    int64_t nulls;          /* others */
    int workers;            /* of the record; 0: there is none */
    int *ran_on;            /* [count] worker of the record; NULL: none */
    int64_t *ids;           /* [count] among all, null ones too; NULL: those
                               of the record are not 0, 1, 2, ... */
    int iterations;         /* that follow each other in turn */
    /* [count] of their data; NULL: none of them has any. */
    uint32_t *input_bytes, *result_bytes;
    float *base_s;    /* [iterations][count] as recorded, scaled */
    float *drift;     /* [count] factor by now; NULL: none */
    float *changed_s; /* [count] with changes; NULL: there are none */
    bool is_steady;   /* durations are the same in all iterations */
    float *now_s;     /* [count] in this iteration ... */
    /* ... and of all tasks, or of the longest chain that spawn each other. */
    double sum_s, longest_s;
    double *paths; /* [count] room for that; NULL: there are none */
};

/* Read or draw the tasks; what was made is to be freed, also on failure. */
bool workload_make(const struct workload_source *source,
                   struct workload *workload, struct message *message);
void workload_free(struct workload *workload);
/* Durations of iteration 0, 1, 2, ..., one after the other. */
void workload_step(struct workload *workload,
                   const struct workload_source *source, int iteration);

static inline bool workload_spawns(const struct workload *workload)
{
    return workload->spawned.first_child != NULL;
}

/* How durations change from iteration to iteration, "alternate, ...". */
const char *change_words(void);

#endif
