/* SPDX-License-Identifier: BSD-3-Clause */
/* ek-sim: what its parts share. */
#ifndef EK_SIM_H
#define EK_SIM_H

#include "common/modes.h"
#include "run_arguments.h"
#include "sim/sim.h"

struct arguments {
    struct run_arguments shared;
    const char *machine, *start, *order, *mode, *deque;
    const char *cores;                   /* a list; NULL: one node */
    const char *rank_workers, *slowness; /* likewise; NULL: all, equally fast */
    int node_cores, ranks_per_node;      /* 0: as the machine says */
    const char *progress;
    const char *utilization, *loads; /* files; NULL: none */
    int iterations, buffer_slots, seeds;
    int balance_group, balance_ppm, iterations_expected;
    double balance_c, balance_d; /* 0: as the library has them */
    int balance_branching;       /* likewise */
    const char *gather;          /* likewise: NULL */
    int backoff_ns;              /* -1: the library's */
};

/* As command_line_answer(). */
bool arguments_answer(char **argv);
bool arguments_parse(char **argv, struct arguments *arguments,
                     struct message *message);

enum field {
    FIELD_MAKESPAN,
    FIELD_IDEAL,
    FIELD_BOUND,
    FIELD_EFFICIENCY,
    FIELD_EFFICIENCY_BOUND,
    FIELD_EFFICIENCY_CORES,
    FIELD_EFFICIENCY_BEST,
    FIELD_TRIED,
    FIELD_TRIED_DEVIATION,
    FIELD_SUCCESSFUL,
    FIELD_SUCCESSFUL_DEVIATION,
    FIELD_STOLEN,
    FIELD_MOVED,
    FIELD_WORKING,
    FIELD_SEARCHING,
    FIELD_ENDING,
    FIELD_SERVER,
    FIELD_TERMINATION,
    FIELD_RESTORE,
    FIELD_DECISION,
    FIELD_IMBALANCE,
    FIELDS
};

struct row {
    const struct mode *mode;
    int iteration; /* from 1 */
    double values[FIELDS];
};

/* Of rows of several seeds. */
enum statistic {
    STATISTIC_MEAN,
    STATISTIC_DEVIATION,
    STATISTIC_CI95, /* half the width of the mean's 95 % confidence interval */
    STATISTICS
};

/* From ROWS [seeds][count] fill SUMMARY [STATISTICS][count]. */
void summarize(const struct row *rows, int seeds, int count,
               struct row *summary);

enum start {
    START_BLOCK,
    START_DEALT,
    START_RECORD
};

/* NULL: not asked for. */
struct observer {
    struct curve *curve;
    struct loads *loads;
};

/* What all modes of a run on so many cores have in common. */
struct run {
    const struct arguments *arguments;
    struct workload *workload;
    struct workload_source *source; /* with the seed of now */
    struct observer *observer;
    struct eki_machine machine;
    int cores, nodes, ranks, workers;
    int *rank_workers, *node_of_rank; /* [ranks] */
    double *slowness;                 /* [nodes]; a task takes so much longer */
    double speed; /* of all workers: tasks of 1 s in a second */
    enum start start;
    int buffer_slots;
    bool is_sampled;
    bool is_first, is_last; /* of the sweep */
    int64_t events;
    double real_s; /* that they took */
};

/* A run for each entry of --cores. */
struct sweep {
    struct run *runs; /* [count] */
    int count;
};

/* Place every job of --cores on the machine; to be freed, also on failure. */
bool sweep_place(const struct arguments *arguments, struct sweep *sweep,
                 struct message *message);
void sweep_free(struct sweep *sweep);

/* Choose where the tasks start; the last run forgets where they ran. */
bool choose_start(struct run *run, struct message *message);

/* Durations of iteration 0, 1, 2, ..., one after the other. */
void step_workload(const struct run *run, int iteration);

/* What no makespan is shorter than, without and with regard to the longest
 * task.
 */
double ideal_s(const struct run *run);
double bound_s(const struct run *run);

/* Run all iterations of a mode: ROWS [iterations].  Returns an exit status; the
 * message is there unless it is 0. */
int simulate(struct run *run, const struct mode *mode, struct row *rows,
             struct message *message);

/* What is run, before the first row. */
void print_head(const struct run *run);
/* Rows [seeds][modes][iterations]; fills in what compares modes. */
void print_modes(const struct run *run, struct row *rows, int modes);

#endif
