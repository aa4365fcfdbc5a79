/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek-emulate: what its parts share.  Every rank has the same arguments and the
 * same workload; rank 0 prints.
 *
 * A function that returns false has written a message.
 */
#ifndef EMULATE_H
#define EMULATE_H

#include "common/job.h"
#include "run_arguments.h"
#include "verdicts.h"

#include <evenkeel.h>

struct arguments {
    struct run_arguments shared;
    const char *start; /* NULL: as fits the record */
    int workers;       /* per rank */
    int iterations;
    int rounds; /* of a comparison */
};

/* What it takes, and what holds where nothing is said. */
extern const struct command_line arguments_line;
extern const struct arguments arguments_default;

/* A rank among the workers. */
struct place {
    const struct workload *workload;
    int first_worker, workers_here, workers;
};

/* Take a task; false: that failed. */
typedef bool add_fn(int64_t task, void *context);

/* Where tasks start. */
struct start {
    const char *name, *words;
    /* Call ADD for each task of a rank; false: ADD has failed. */
    bool (*run)(const struct place *place, add_fn *add, void *context);
};

/* What the arguments ask for, or what fits the record; NULL, with a message:
 * there is no such start. */
const struct start *start_find(const struct arguments *arguments,
                               const struct workload *workload, int workers,
                               struct message *message);

/* What is known of an iteration. */
enum field {
    FIELD_MAKESPAN,
    FIELD_IDEAL,
    FIELD_BEST,
    FIELD_EFFICIENCY,
    FIELD_EFFICIENCY_BEST,
    FIELD_TRIES,
    FIELD_STEALS,
    FIELD_STOLEN,
    FIELD_MOVED,
    FIELD_RESTORE,
    FIELD_OVERSHOOT,
    FIELD_CORES_USED,
    FIELD_PAUSE_SHARE,
    FIELD_PAUSE,
    FIELD_IN_VAIN,
    FIELD_MESSAGES,
    FIELD_STEALING,
    FIELD_DEEPEST,
    FIELD_TRAVELLED, /* from here on those of data */
    FIELD_DATA_BYTES,
    FIELD_DATA_WAIT,
    FIELD_DATA_HELD,
    FIELDS
};

struct row {
    const struct mode *mode;
    int iteration; /* from 1 */
    double values[FIELDS];
};

/* What all modes of a run have in common. */
struct run {
    const struct arguments *arguments;
    struct workload *workload;
    const struct start *start;
    struct compared *compared;       /* what is known of the modes so far */
    struct eki_verdict_run *verdict; /* of the mode that has run last */
    int rank, ranks, cpus;
};

/*
 * Run all iterations of a mode in a round: ROWS [iterations].  Returns an exit
 * status; the message is there unless it is 0.
 */
int emulate(const struct run *run, const struct mode *mode, int round,
            struct row *rows, struct message *message);

/* What is run, before the first row. */
void print_head(const struct run *run);
/* The rows [iterations] of a mode that has run in ROUND, from 0; IS_FIRST: with
 * titles. */
void print_mode(const struct run *run, const struct row *rows, int round,
                bool is_first);
/* A mode that has run in all rounds: ROWS [rounds][iterations]. */
void print_compared(const struct run *run, const struct row *rows,
                    bool is_first);
/* What follows from the modes that were compared. */
void print_verdict(const struct run *run);

#endif
