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
    int64_t counted;    /* ... by a counter that deals one at a time ... */
    int64_t anew;       /* ... after a restore as original ... */
    int64_t rebalanced; /* ... after a rebalance */
    int workers, nodes;
    int cores;        /* that the workers may use */
    int cpus, online; /* that one rank may use, and that its host has */
    double wall_s, restore_s, outside_s, save_s; /* seconds, not core seconds */
    double core_s;                               /* workers' and servers' */
    double work_s, overhead_s, search_s, end_s, start_s, late_s;
    double cpu_s;
    double starved_s; /* without a core: in tasks, between them, without any */
    double starved_in_tasks_s, starved_idle_s;
    double data_s;   /* of overhead: waiting for data of tasks */
    double tiles_s;  /* of work: waiting for tiles */
    double first_s;  /* work at first measured durations; 0: not known */
    double server_s; /* cores of dedicated servers */
    /* Of search and termination, at most: for want of a rank that was late. */
    double awaiting_s;
    /* Seconds, medians over iterations. */
    double iteration_s, longest_s;
    const char *function; /* of the longest task; NULL: not known */
    int busiest_rank;     /* most often the one with the largest load */
    double busiest;       /* largest load of a worker / mean; 0: not known */
    int latest_rank;
    double lateness_s; /* mean, of that rank */
};

/* Count an iteration, by its policies. */
void eki_verdict_count(struct eki_verdict_run *run, ek_restore_policy restore,
                       ek_steal_policy steal);

/* Efficiency of the iterations, 0 ... 1. */
double eki_verdict_efficiency(const struct eki_verdict_run *run);
/* Core seconds in all, inside and restoring: losses are parts of them. */
double eki_verdict_whole_s(const struct eki_verdict_run *run);

/* Seconds of an iteration with its restore, on average. */
double eki_verdict_each_s(const struct eki_verdict_run *run);
/* Part of the workers' time in which others had their cores, if that is so much
 * that no figure stands for the run; else 0. */
double eki_verdict_busy(const struct eki_verdict_run *run);

/* A kind of loss; of equal ones the first counts. */
enum eki_verdict_cause {
    EKI_VERDICT_STARVED,
    EKI_VERDICT_IDLE,
    EKI_VERDICT_OVERHEAD,
    EKI_VERDICT_DATA,
    EKI_VERDICT_START,
    EKI_VERDICT_LATE,
    EKI_VERDICT_SERVER,
    EKI_VERDICT_RESTORE,
    EKI_VERDICT_COARSE, /* idle, but the longest task alone explains it */
    EKI_VERDICT_TILES,  /* this one and the next are parts of work */
    EKI_VERDICT_SLOWER,
    EKI_VERDICT_CAUSES
};
enum {
    EKI_VERDICT_NAMED = 3 /* causes, at most, that sentences name */
};

struct eki_verdict_loss {
    enum eki_verdict_cause cause;
    double lost_s; /* core seconds of all iterations */
    double gain_s; /* by which an iteration would be shorter without it */
};

/* The word of a cause in a list. */
const char *eki_verdict_word(enum eki_verdict_cause cause);
/* Fill LOSSES with all that cost anything, the largest gain first; how many
 * they are. */
int eki_verdict_rank(const struct eki_verdict_run *run,
                     struct eki_verdict_loss losses[EKI_VERDICT_CAUSES]);
/* Append the K-th cause that costs 5 % of the time or more (slower tasks: 10
 * %), its remedy and its gain; false: there is none.  On a busy machine the
 * first says so, and there is no other. */
bool eki_verdict_run(const struct eki_verdict_run *run, int k, char *text,
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
