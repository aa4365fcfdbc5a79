/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report: the figures of an iteration over the whole job, by name and in print.
 *
 * Reads counters that nobody writes any more and knows no scheduling.
 *
 * Threads: one at a time, while no iteration is open.
 *
 * Times add up: work + overhead + search + termination + start + late =
 * workers x wall.  Nothing is left over or counted twice.
 */
#ifndef EKI_REPORT_H
#define EKI_REPORT_H

#include "engine/engine.h"

enum eki_report_type {
    EKI_REPORT_INTEGER, /* int64_t */
    EKI_REPORT_ID,      /* uint64_t */
    EKI_REPORT_NUMBER,  /* int */
    EKI_REPORT_REAL     /* double */
};

/* One row per field of ek_process_report, in its order. */
struct eki_report_field {
    const char *name;
    size_t offset;
    enum eki_report_type type;
    const char *unit;  /* "1": none */
    const char *title; /* of its column */
    const char *help;
};

int eki_report_field_count(void);
const struct eki_report_field *eki_report_field_at(int field);
size_t eki_report_field_bytes(const struct eki_report_field *field);
double eki_report_field_value(const struct eki_report_field *field,
                              const ek_process_report *figures);

struct eki_report_function {
    char name[64];
    int64_t tasks;
    double work_s;
};

/* Where the time of all iterations so far went, in core seconds. */
struct eki_report_total {
    int64_t iterations, tasks;
    double wall_s;  /* seconds, not core seconds */
    double core_s;  /* cores x wall */
    double least_s; /* with the best balance that the largest tasks allow */
    double work_s, overhead_s, search_s, termination_s, start_s, late_s;
    double coarse_s; /* of search and termination: no balancer avoids it */
    double server_s; /* cores of dedicated servers */
};

struct eki_report_sums;

struct eki_report {
    ek_process_report figures; /* of the last iteration */
    bool is_made;
    struct eki_report_function *functions; /* [function_count] */
    int function_count;
    double inflation; /* product over iterations */
    struct eki_report_total total;

    int rank, size;
    char collection[64];

    struct eki_report_sums *sums; /* owned */
    int function_room;            /* -1: no memory, not even for no function */

    /* Printing; only rank 0 sets any of it. */
    char *destination; /* NULL: closed */
    int level;         /* 0, 1, 2 */
    bool has_header;   /* of level 2 */
    FILE *file;
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
    bool has_server_core; /* a thread of its own is the server */
    int cores;            /* that the workers of the job may use */
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
 * A figure by its field, or "function.NAME.tasks", "function.NAME.work_s".
 * REPORT NULL or not made: EK_ERR_STATE.  Unknown field: EK_ERR_ARG.
 */
ek_status eki_report_get(const struct eki_report *report, const char *field,
                         double *value);

/*
 * Say where reports go: "0" (or NULL) nowhere, "1" a line each, "2" a table,
 * else the name of a file, which is emptied.  Only rank 0 does anything.  The
 * destination that is open already stays as it is.  EK_ERR_FILE: the file
 * cannot be opened; the old destination stays.
 */
ek_status eki_report_open(struct eki_report *report, const char *destination);
/* Print the last report; rank 0. */
void eki_report_print(struct eki_report *report);
/* Levels 1 and 2: say what limited the iterations so far, if anything did. */
void eki_report_last(const struct eki_report *report);
void eki_report_close(struct eki_report *report);

/*
 * Append the largest cause of loss in words; false: nothing, because
 * efficiency is 95 % or better.
 */
bool eki_report_sentence(const struct eki_report_total *total, char *text,
                         size_t bytes);

#endif
