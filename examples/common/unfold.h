/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree that unfolds as its tasks run: one seed, and every other task is
 * spawned.
 *
 * This is where Evenkeel is used, but for the bodies of tasks.  They count into
 * an object of their worker, so that no two workers write the same line; what
 * all ranks have counted is summed afterwards.
 */
#ifndef COMMON_UNFOLD_H
#define COMMON_UNFOLD_H

#include "cli/command_line.h"
#include "common/figures.h"

#include <evenkeel_worker.h>

/** What a tree, or a part of it, comes to. */
struct unfold_counts {
    int64_t nodes;
    int64_t ends;  /* nodes of one kind: leaves, solutions, ... */
    int64_t depth; /* of the deepest node; the root's is 0 */
};

/** A tree. */
struct unfold {
    const char *name; /* of the collection and of what its tasks do */
    const char *ends; /* what these are called */
    bool has_depth;

    const void *root; /* payload of the seed ... */
    size_t root_bytes;
    size_t payload_bytes; /* ... and the largest of all */
    ek_task_fn *task; /* counts into ek_worker_data(), a struct unfold_counts */
    void *context;    /* of @p task and @p visit; borrowed */
    ek_function *function; /* set before a task runs: what it spawns */

    /* The same without tasks; false: no memory.  NULL: not to be had. */
    bool (*visit)(const void *context, struct unfold_counts *counts);
};

/** First member of what a program's own options fill. */
struct unfold_arguments {
    int rounds;
    bool has_sequential; /* in turns with tasks */
};

/** What rounds came to, on rank 0; all ranks have the counts. */
struct unfold_result {
    struct unfold_counts counts;
    int rounds, workers;
    double *tasks_s, *sequential_s; /* [rounds]; the latter may be NULL */
    struct figures figures;         /* of the last round */
};

/** To be shared by a program's own command line. */
extern const struct command_line unfold_command_line;

/** What struct unfold_arguments is set to before a command line is read. */
#define UNFOLD_ARGUMENTS_INIT \
    {                         \
        1, false              \
    }

/** Say what is to be said of a result, and whether it is right; on all ranks.
 */
typedef bool unfold_check_fn(const void *context,
                             const struct unfold_result *result,
                             struct message *message);

/**
 * Run the tree in each round, and all of it sequentially on rank 0, if asked;
 * print counts, times and steals, and check them.
 *
 * @return An exit status; what is wrong has been said.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
int unfold_run(const struct unfold *unfold,
               const struct unfold_arguments *arguments, unfold_check_fn *check,
               const void *context);

/** The least of some seconds, and the one in the middle. */
double unfold_least(const double *seconds, int count);
double unfold_median(const double *seconds, int count);

#endif
