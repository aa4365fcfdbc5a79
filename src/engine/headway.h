/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * headway: how far a process has come, for whoever watches it meanwhile (option
 * status).
 *
 * While somebody does, workers store their sums in each step, and not only when
 * they run out of tasks.  Rank 0 sees those of its node.  The lowest rank of
 * each other node tells its parent in the tree of nodes (wave.h), with what it
 * has heard itself, now and then.
 */
#ifndef EKI_ENGINE_HEADWAY_H
#define EKI_ENGINE_HEADWAY_H

#include "base/base.h"

struct eki_engine;
struct eki_look;
struct ek_worker;

/* So often. */
#define EKI_HEADWAY_NS UINT64_C(250000000)

/* Of ranks that are in the process. */
struct eki_headway {
    uint64_t done, known; /* tasks that have run; these and all others */
    uint64_t work_ns;     /* what those that have run took */
    uint64_t last_tasks, last_ns; /* of the last process: tasks, their work */
    int64_t workers, idle;
    int64_t slowest;     /* the rank with the most left; -1: none has any */
    uint64_t slowest_ns; /* ... for each of its workers, about */
};

/* Of the ranks of this node. */
struct eki_headway eki_headway_here(const struct eki_engine *engine);
void eki_headway_add(struct eki_headway *sum, const struct eki_headway *other);
/* What is left takes so long, about; below 0: not known. */
double eki_headway_left_s(const struct eki_headway *headway, double elapsed_s);
/* Append "iteration 12 [######..] 71 % of ...", ELAPSED_S after the phase of
 * LOOK began. */
void eki_headway_append(const struct eki_look *look,
                        const struct eki_headway *headway, double elapsed_s,
                        char *text, size_t bytes);
/* Somebody watches from the next process on, or no more; outside of phases. */
void eki_engine_watch(struct eki_engine *engine, uint64_t watch_ns);
/* A process is entered: note what there was before. */
EKI_COLD void eki_headway_enter(struct eki_engine *engine);
/* In each step of a worker. */
EKI_COLD void eki_headway_store(struct ek_worker *worker);

#endif
