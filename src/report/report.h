/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report: the figures of an iteration over the whole job, by name and in print.
 *
 * Reads counters that nobody writes any more and knows no scheduling.
 *
 * Threads: one at a time, while no iteration is open.
 *
 * Times add up: work + overhead + search + end + start + late =
 * workers x wall.  Nothing is left over or counted twice.
 */
#ifndef EKI_REPORT_H
#define EKI_REPORT_H

#include "base/options.h"
#include "engine/engine.h"
#include "report/verdict.h"

#include <evenkeel_report.h>

/*
 * Figures of an iteration over the whole job; job_table (rows.c) says what each
 * of them is.  The first ones are those of ek_process_report, in its order.
 * Many members: each is a figure.
 */
struct eki_figures {
    double efficiency, imbalance, bound, wall_s, work_s;
    int64_t tasks, stolen;
    double largest_task_s;
    int64_t stopped; /* 0 or 1 */

    double speed, inflation;
    int64_t iteration, workers;
    int cores, slowest_rank, latest_rank;
    ek_function largest_task_function; /* -1: no task was timed alone */
    uint64_t largest_task_id;
    ek_restore_policy restore;
    ek_steal_policy steal;
    int64_t null_tasks, spawned, cancelled, failed;
    double tries, tries_deviation, steals, steals_deviation;
    int64_t in_vain, messages, deepest;
    double overhead_s, search_s, stealing_s, end_s, start_s, late_s;
    double restore_s, outside_s;
    double cpu_s, starved_s, starved_in_tasks_s, starved_idle_s;
    double serve_p50_s, serve_p99_s;
    int64_t tile_gets, tile_hits, tile_bytes;
    double tile_wait_s;
    int64_t travelled, data_in_bytes, data_out_bytes, data_held_bytes;
    double data_callback_s, data_wait_s;
    int64_t loads_read, occupied, denied;
    int64_t searches_1, searches_2, searches_3, searches_4, searches_more;
    int64_t grants, cyclic;
    int64_t first_steals;
    double first_steal_s, first_steal_most_s;
    int termination; /* enum eki_detector */
    double save_s;
    int64_t saves_failed;
};

/* Fields of struct eki_figures, eki_report_rank or _function.  A choice is one
 * of the option of the same name. */
struct eki_report_table {
    const struct eki_field *fields; /* [count] */
    int count;
};

const struct eki_report_table *eki_report_table_of(enum eki_rows rows);

struct eki_report_function {
    char name[64];
    int64_t tasks;
    double work_s;
    int64_t iteration;
};

/* What a rank was in an iteration: sums over its workers. */
struct eki_report_rank {
    struct eki_figures figures; /* as if it were the job, but for balance */
    int rank, node;
    double load_s; /* the largest of a worker */
};

struct eki_report_file {
    char *name; /* owned */
    FILE *stream;
};

/* Of an iteration, for medians. */
struct eki_report_sample {
    double wall_s, longest_s;
    ek_function function; /* of the longest task */
};

/* How often a rank was the last or the slowest, and how late in all. */
struct eki_report_rank_course {
    double late_s;
    int64_t slowest;
};

/* The iterations so far.  Samples are those of each STRIDE-th iteration: a
 * bounded number, whatever comes. */
struct eki_report_course {
    struct eki_verdict_run run; /* but for medians and ranks */
    int64_t troubled;           /* iterations that failed ... */
    int64_t failed, cancelled;  /* ... and tasks */
    int64_t best, worst;        /* iterations ... */
    double best_s, worst_s;     /* ... and their wall_s */
    double load_s, mean_load_s; /* sums: of the largest load, of the mean */
    struct eki_report_sample *samples; /* [EKI_REPORT_SAMPLES]; NULL: none */
    int sample_count;
    int64_t stride;
    struct eki_report_rank_course *ranks; /* [size], on rank 0; NULL: none */
};

enum {
    EKI_REPORT_SAMPLES = 1000
};

struct eki_report_sums;

struct eki_report {
    struct eki_figures figures; /* of the last iteration */
    bool is_made;
    struct eki_report_function *functions; /* [function_count] */
    int function_count;
    double inflation; /* product over iterations ... */
    double stretch;   /* ... and of all work */
    struct eki_report_course course;

    int rank, size;
    char collection[64];

    struct eki_report_sums *sums; /* owned */
    int function_room;            /* -1: no memory, not even for no function */

    bool wants_ranks; /* the same on all ranks */

    /* Printing; only rank 0 sets any of it. */
    struct eki_report_rank *ranks; /* [size], where they are wanted */
    int level;                     /* 0, 1, 2 */
    struct eki_report_file files[EKI_ROWS_KINDS];
};

/* A report for the collection of that name. */
ek_status eki_report_create(int rank, int size, const char *collection,
                            struct eki_report **report);
/* Closes the destination, too. */
void eki_report_destroy(struct eki_report **report);

/* What this rank knows and the counters do not say. */
struct eki_report_input {
    int64_t iteration;
    double wall_s;    /* this rank's stay in ek_process() */
    double restore_s; /* in ek_restore() before it */
    double outside_s; /* outside since the last iteration; 0: it is the first */
    double save_s;    /* in saves before it, of which ... */
    int64_t saves_failed; /* ... so many failed, as on all ranks */
    bool has_server_core; /* a thread of its own is the server */
    int cores;            /* that the workers of the job may use ... */
    int cpus, online;     /* ... this rank, and that its host has */
    int nodes;
    const struct eki_handling *handling; /* what is no work of work_ns */
    ek_steal_policy steal;
    /* Before it; EK_RESTORE_DEFAULT: none.  Asked for, and done. */
    ek_restore_policy restored, chosen;
    bool stopped; /* as somebody asked */
    /* Of data that travels: tasks that ran away from it, their inputs and
     * results, the most that was held, and what callbacks took. */
    int64_t travelled, data_in_bytes, data_out_bytes, data_held_bytes;
    int64_t data_lost; /* results: their tasks have failed */
    double data_callback_s;
};

/*
 * Collective: make the report of the phase that ENGINE has left, the same on
 * all ranks.  Functions must agree over ranks, as the phase has checked: not
 * after EK_ERR_ARG or EK_ERR_MPI of the phase.
 *
 * EK_ERR_NOMEM, on all ranks and only after functions were added, leaves the
 * old report.  Five reductions and broadcasts; O(workers + functions).
 */
ek_status eki_report_collect(const struct eki_engine *engine,
                             struct eki_fabric *fabric,
                             const struct eki_report_input *input,
                             struct eki_report *report);

/* Fill the program's struct, which may be shorter: struct_bytes. */
ek_status eki_report_copy(const struct eki_report *report,
                          ek_process_report *figures);

/*
 * A figure by its name, or "function.NAME.tasks", "function.NAME.work_s".
 * REPORT NULL or not made: EK_ERR_STATE.  Unknown name: EK_ERR_ARG.
 */
ek_status eki_report_get(const struct eki_report *report, const char *name,
                         double *value);

/*
 * Say where reports go, as eki_destination_read() takes it; NULL: nowhere.
 * Other ranks than 0 only note what they have to contribute.  Old files are
 * renamed (eki_file_open()), but for those that are open already, here or
 * elsewhere.  EK_ERR_FILE: one cannot be opened; what was open stays so.
 */
ek_status eki_report_open(struct eki_report *report, const char *destination);
/* Print the last report; rank 0. */
void eki_report_print(struct eki_report *report);
void eki_report_close(struct eki_report *report);

/* An iteration has failed; its report, if any, comes before. */
void eki_report_trouble(struct eki_report *report);
/* What is known of the iterations so far, with a report each. */
struct eki_verdict_run eki_report_run(struct eki_report *report);
/*
 * Levels 1 and 2: say what all iterations were, and what limited them.  After
 * the last one OUTSIDE_S and RESTORE_S went by, in no iteration's report.
 */
void eki_report_last(struct eki_report *report, double outside_s,
                     double restore_s, double save_s);

#endif
