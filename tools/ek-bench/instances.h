/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks for the rebalancers of ek-bench. */
#ifndef EK_BENCH_INSTANCES_H
#define EK_BENCH_INSTANCES_H

#include "bench.h"

#include "balance/balance.h"

#define TOTAL_S 115200.0 /* 48 s on 2,400 workers */
#define NS 1e9

/* Tasks by worker, longest first. */
struct instance {
    const char *name;
    int32_t workers;
    int64_t tasks;
    int every, more; /* n and m */
    int64_t *first;
    eki_ns *ns;
};

/* Workers of a node, as on the machine of HPDC'12. */
#define NODE 24

/* What has come of a decision. */
struct judgement {
    eki_ns largest; /* load */
    int64_t moved, fewest;
    int64_t across, fewest_across; /* between nodes */
};

/* The tasks of INSTANCE went to TO; without FEWEST moves TARGET is out of
 * reach.
 */
struct judgement bench_judge(const struct instance *instance, const int32_t *to,
                             eki_ns target);
/* Each task, longest first, stays where that is at most TARGET, else it goes to
 * the least loaded worker. */
void bench_longest_first(const struct instance *instance, eki_ns target,
                         int32_t *to);

/* In (0, 1). */
double bench_uniform(uint64_t *state);
/* Longest first. */
void bench_sort(double *s, int64_t count);
/* Log-normal durations with this sum, none above the largest; longest first. */
double *bench_durations(int64_t count, double total_s);
/* Deal durations, longest first, round-robin to the workers of an instance. */
void bench_deal(struct instance *instance, const double *s);
/* Series of iterations. */
void bench_changes(const struct bench *bench);

#endif
