/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count: what a worker counts during an iteration, written by it alone and read
 * when the iteration has ended.
 */
#ifndef EKI_COUNT_H
#define EKI_COUNT_H

#include "base/base.h"

/* Tasks and time of one function; batches of short tasks count for the function
 * of their last task. */
struct eki_function_counts {
    int64_t tasks;
    uint64_t work_ns;
};

/* Many members: each is a figure of the report. */
struct eki_counts {
    int64_t tasks, nulls, spawned, cancelled, failed;
    int64_t tries, steals, stolen;
    int64_t deepest_bytes;   /* most of the stack that was seen in use */
    uint64_t work_ns;        /* running tasks */
    uint64_t search_ns;      /* idle, until work was found */
    uint64_t stealing_ns;    /* of search_ns: in steals that brought it */
    uint64_t end_ns;         /* idle, until the end */
    uint64_t first_steal_ns; /* until a steal brought the first tasks; 0: no */
    uint64_t first_ns;       /* clock at the first step; 0: none */
    uint64_t done_ns;        /* clock at the end */
    /* Of tasks measured before: then and now. */
    double before_ns, now_ns;
    uint64_t largest_ns, largest_id;
    int largest_function;
    uint64_t null_ns;    /* of work_ns: discarded indices of ranges */
    uint64_t cpu_ns;     /* processor time of its thread; 0: not measured */
    uint64_t starved_ns; /* its thread had no core; 0: not measured */
    uint64_t held_ns;    /* of work_ns and starved_ns: in tasks */
    int64_t batches;     /* of tasks ... */
    int64_t indices;     /* ... that are none of these */
    int64_t tile_gets, tile_hits, tile_bytes; /* of tiles of other nodes */
    uint64_t tile_wait_ns;                    /* of work_ns */
    uint64_t data_wait_ns; /* for inputs of tasks, between them */
};

/* What handing out tasks takes at least, of WORK_NS. */
struct eki_handling {
    double task_ns;  /* of a batch ... */
    double batch_ns; /* ... and for the batch */
    double index_ns; /* of a range ... */
    double null_ns;  /* ... and where it was discarded */
};

/* Add what an EARLIER part of the iteration has counted, but for what was
 * cancelled, which has run since: as if the parts had followed each other. */
void eki_counts_add(struct eki_counts *counts,
                    const struct eki_counts *earlier);

/* The time in tasks alone. */
uint64_t eki_work_ns(const struct eki_counts *counts,
                     const struct eki_handling *handling);

/* Times in quarter octaves from 16 ns on. */
#define EKI_HISTOGRAM_BINS 160

struct eki_histogram {
    int64_t bins[EKI_HISTOGRAM_BINS];
};

void eki_histogram_add(struct eki_histogram *histogram, uint64_t ns);
/* Add what an EARLIER one has. */
void eki_histogram_join(struct eki_histogram *histogram,
                        const struct eki_histogram *earlier);
/* Time that a share Q (0 ... 1) of the entries does not exceed; none: 0. */
double eki_histogram_quantile(const struct eki_histogram *histogram, double q);

#endif
