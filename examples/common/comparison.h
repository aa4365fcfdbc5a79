/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All modes on one problem, in one table, and whether they agree.
 *
 * Every mode runs the same iterations; the first mode says how many.  A
 * program brings a function that runs one mode; it calls trial_begin(), then
 * trial_add() after each iteration, then trial_end().  Rounds take turns, so
 * that what slows the machine for a while slows all modes.
 */
#ifndef COMMON_COMPARISON_H
#define COMMON_COMPARISON_H

#include "cli/message.h"
#include "common/job.h"

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

/**
 * Do the work of an iteration without the library.
 *
 * @param[out] seconds  It took.
 *
 * @return false with a message when it failed.
 *
 * Call: Collective.
 */
typedef bool peer_fn(const void *context, double *seconds,
                     struct message *message);

/** Who does that: a row below the modes. */
struct peer {
    const char *name;
    peer_fn *run; /* NULL: ends a list */
};

/** What is compared. */
struct comparison {
    const char *quantity, *unit; /* that modes agree on: "energy", "hartree" */
    int decimals;                /* of the quantity, where it is shown */
    double tolerance;            /* a larger difference is no rounding */
    const char *work;            /* whose seconds are shown: "Fock builds" */
    int iterations;              /* at most */
    int rounds;                  /* each with all modes */
    double operations;           /* of an iteration, for GF/s; 0: not counted */
    const struct mode_list *modes;
    trial_fn *run;
    const struct peer *peers; /* in each round after the modes; NULL: none */
    const void *context;      /* of all that is run */
};

/** What the rounds of a mode have come to: a row. */
struct samples {
    double *first_s; /* [rounds] seconds of iteration 1 ... */
    double *later_s; /* [later] ... and of the others of all rounds */
    int later;
    struct figures sums;  /* over these others */
    struct figures first; /* of the last round: iteration 1 ... */
    struct figures last;  /* ... and the last one */
};

/** A mode that is run, once. */
struct trial {
    const struct comparison *comparison;
    const struct mode *mode;
    int round;
    bool is_first;
    int iterations; /* the first trial: at most; others: neither more nor less
                     */

    /* The rest is filled by the functions below. */
    struct samples *samples;
    int done;     /* iterations */
    double value; /* of the quantity */
    bool is_converged;
};

/** Say what runs the iterations. */
void trial_begin(struct trial *trial, const struct job *job);

/** Add an iteration, which took @p seconds. */
void trial_add(struct trial *trial, double seconds,
               const struct figures *figures);

/** Say what came out. */
void trial_end(struct trial *trial, double value, bool is_converged);

/**
 * Run every mode, whatever the environment says of policies, in each round and
 * print what each took, in the last one; and where tiles went between nodes, or
 * data of tasks between ranks, how much.
 *
 * @return false with a message when a mode failed or values differ.
 *
 * Call: Collective over MPI_COMM_WORLD.  Rank 0 prints.
 */
bool comparison_run(const struct comparison *comparison,
                    struct message *message);

#endif
