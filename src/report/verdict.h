/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verdict: figures of a run, or of its tasks, in a sentence, with what to do
 * about them.
 *
 * Pure functions.  Where a figure comes from several iterations it is their
 * median, so that one task which the system held up does not decide.
 */
#ifndef EKI_VERDICT_H
#define EKI_VERDICT_H

#include "base/base.h"

/* What is known of the iterations of a run; core seconds unless said otherwise.
 * Many members: each is a figure that a sentence weighs. */
struct eki_verdict_run {
    int64_t iterations, tasks;
    int64_t unstolen;   /* iterations without stealing ... */
    int64_t anew;       /* ... after a restore as original ... */
    int64_t rebalanced; /* ... after a rebalance */
    int workers, nodes;
    int cores;        /* that the workers may use */
    int cpus, online; /* that one rank may use, and that its host has */
    double wall_s, restore_s, outside_s; /* seconds, not core seconds */
    double core_s;                       /* workers' and servers' */
    double work_s, overhead_s, search_s, end_s, start_s, late_s;
    double cpu_s;
    double starved_s; /* without a core: in tasks, between them, without any */
    double starved_in_tasks_s, starved_idle_s;
    double data_s;   /* of overhead: waiting for data of tasks */
    double first_s;  /* work at first measured durations */
    double server_s; /* cores of dedicated servers */
    /* Of search and termination, at most: for want of a rank that was late. */
    double awaiting_s;
    /* Seconds, medians over iterations. */
    double iteration_s, longest_s;
    const char *function; /* of the longest task; NULL: not known */
    int busiest_rank;     /* most often the one with the largest load */
    double busiest;       /* largest load of a worker / mean */
    int latest_rank;
    double lateness_s; /* mean, of that rank */
};

/* Efficiency of the iterations, 0 ... 1. */
double eki_verdict_efficiency(const struct eki_verdict_run *run);
/* Core seconds in all, inside and restoring: losses are parts of them. */
double eki_verdict_whole_s(const struct eki_verdict_run *run);

/* A kind of loss; of equal ones the first counts. */
enum eki_verdict_cause {
    EKI_VERDICT_IDLE,
    EKI_VERDICT_COARSE, /* idle, but the longest task alone explains it */
    EKI_VERDICT_STARVED,
    EKI_VERDICT_OVERHEAD,
    EKI_VERDICT_DATA,
    EKI_VERDICT_START,
    EKI_VERDICT_LATE,
    EKI_VERDICT_SERVER,
    EKI_VERDICT_RESTORE,
    EKI_VERDICT_CAUSES
};

/* The word of a cause in a list. */
const char *eki_verdict_word(enum eki_verdict_cause cause);
/* Core seconds lost to each cause. */
void eki_verdict_losses(const struct eki_verdict_run *run,
                        double lost_s[EKI_VERDICT_CAUSES]);
/* Append the largest loss and its remedy; false: nothing, because all losses
 * together are below 5 %. */
bool eki_verdict_run(const struct eki_verdict_run *run, char *text,
                     size_t bytes);

/* Tasks of an iteration, to be run by so many workers. */
struct eki_verdict_tasks {
    int64_t tasks;
    int workers;
    double sum_s, longest_s;
    int64_t above;        /* tasks longer than sum / workers; -1: not known */
    const char *function; /* of the longest; NULL: not known */
};

/* Append how far these tasks can be balanced, and what to cut; false: their
 * longest is below the ideal time, and there are enough of them. */
bool eki_verdict_tasks(const struct eki_verdict_tasks *tasks, char *text,
                       size_t bytes);

/* "1.234 ms" and the like. */
struct eki_seconds {
    char text[24];
};
struct eki_seconds eki_seconds(double seconds);

#endif
