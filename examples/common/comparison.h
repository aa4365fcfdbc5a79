/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All modes on one problem, in one table, and whether they agree.
 *
 * Every mode runs the same iterations; the first mode says how many.  A
 * program brings a function that runs one mode; it calls trial_begin(), then
 * trial_add() after each iteration, then trial_end().
 */
#ifndef COMMON_COMPARISON_H
#define COMMON_COMPARISON_H

#include "common/job.h"
#include "common/message.h"

struct trial;

/**
 * Run a mode.
 *
 * @return false with a message, which need not name the mode, when it failed.
 *
 * Call: Collective.
 */
typedef bool trial_fn(struct trial *trial, const void *context,
                      struct message *message);

/** What is compared. */
struct comparison {
    const char *quantity, *unit; /* that modes agree on: "energy", "hartree" */
    int decimals;                /* of the quantity, where it is shown */
    double tolerance;            /* a larger difference is no rounding */
    const char *work;            /* whose seconds are shown: "Fock builds" */
    int iterations;              /* at most */
    trial_fn *run;
    const void *context; /* of @p run */
};

/** A mode that is run: a row. */
struct trial {
    const struct comparison *comparison;
    const struct mode *mode;
    bool is_first;
    int iterations; /* the first mode: at most; others: neither more nor less */

    /* The rest is filled by the functions below. */
    int done;                 /* iterations */
    double first_s, second_s; /* iterations 1 and 2 */
    double later_s;           /* sums over iterations 2 and more */
    double later_efficiency;
    double attempted_first, successful_first; /* steals per worker */
    double attempted_last, successful_last;
    int64_t tasks_last;
    double value; /* of the quantity */
    bool is_converged;
};

/** Say what runs the iterations. */
void trial_begin(struct trial *trial, const struct job *job);

/** Add an iteration, which took @p seconds. */
void trial_add(struct trial *trial, double seconds,
               const ek_process_report *process);

/** Say what came out. */
void trial_end(struct trial *trial, double value, bool is_converged);

/**
 * Run every mode and print what each took.
 *
 * @return false with a message when a mode failed or values differ.
 *
 * Call: Collective over MPI_COMM_WORLD.  Rank 0 prints.
 */
bool comparison_run(const struct comparison *comparison,
                    struct message *message);

#endif
