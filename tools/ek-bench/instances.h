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
