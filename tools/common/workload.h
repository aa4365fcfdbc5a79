/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload: tasks and how long each takes, from a record or drawn.
 *
 * A function that returns false has written a message.
 */
#ifndef COMMON_WORKLOAD_H
#define COMMON_WORKLOAD_H

#include "common/command_line.h"

#include <stdint.h>

/* Where durations come from; one of record and synthetic. */
struct workload_source {
    const char *record, *synthetic;
    int iteration; /* of the record */
    int seed;
    double scale;
    double drift, noise; /* percent */
};

/* Options for the fields of a source; AT(field) is where one lies. */
#define WORKLOAD_OPTIONS(AT)                                                  \
    {"--record", "FILE", AT(record), OPTION_TEXT,                             \
     .help = "tasks and durations of a run (EVENKEEL_RECORD)"},               \
        {"--iteration", "K", AT(iteration), OPTION_INTEGER(0, 1000000000),    \
         .help = "the K-th iteration in it, from 0 (0)"},                     \
        {"--synthetic", "SPEC", AT(synthetic), OPTION_TEXT,                   \
         .help = "instead: KIND:n=N,mean=SECONDS[,cv=X][,longest=SECONDS]"    \
                 "[,nulls=N]"},                                               \
        {"--scale", "X", AT(scale), OPTION_NUMBER(1e-6, 1e6),                 \
         .help = "lengthen every task (1)"},                                  \
        {"--drift", "P", AT(drift), OPTION_NUMBER(0, 100),                    \
         .help =                                                              \
             "durations change by P percent per iteration, and stay so (0)"}, \
        {"--noise", "P", AT(noise), OPTION_NUMBER(0, 100),                    \
         .help = "durations vary by P percent around that (0)"},              \
    {                                                                         \
        "--seed", "S", AT(seed), OPTION_INTEGER(0, 2147483647),               \
            .help = "of durations and of Evenkeel (1)"                        \
    }

/* Tasks in the order of their ids, and how long each takes. */
struct workload {
    char name[128];
    int64_t count;           /* tasks that take time */
    int64_t nulls;           /* others */
    int workers;             /* of the record; 0: there is none */
    int *ran_on;             /* [count] worker of the record; NULL: none */
    float *base_s;           /* [count] as recorded, scaled */
    float *drift;            /* [count] factor by now; NULL: none */
    float *now_s;            /* [count] in this iteration ... */
    double sum_s, longest_s; /* ... and of all tasks */
};

/* Read or draw the tasks; what was made is to be freed, also on failure. */
bool workload_make(const struct workload_source *source,
                   struct workload *workload, struct message *message);
void workload_free(struct workload *workload);
/* Durations of iteration 0, 1, 2, ..., one after the other. */
void workload_step(struct workload *workload,
                   const struct workload_source *source, int iteration);

#endif
