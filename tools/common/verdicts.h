/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts of the library below a tool's rows: what the tasks allow, and which
 * mode to use.
 */
#ifndef COMMON_VERDICTS_H
#define COMMON_VERDICTS_H

#include "cli/modes.h"
#include "workload.h"

#include "report/verdict.h"

/* Print TEXT after an empty line, in lines that fit a terminal. */
void verdict_print(const char *text);

/* The verdict on durations [count], in seconds, for so many workers, after
 * PREFIX; nothing where they allow all. */
void verdict_print_tasks(const char *prefix, const float *seconds,
                         int64_t count, int workers);

/* The causes of RUN that are worth a sentence, each after PREFIX. */
void verdict_print_run(const char *prefix, const struct eki_verdict_run *run);

/* The lower median of VALUES [n], which are sorted; n > 0. */
double verdict_median(double *values, int n);

/* A way to balance; medians over its iterations, so that one task which the
 * system held up does not decide. */
struct compared_mode {
    const char *name, *restore, *steal;
    double iteration_s, restore_s;
    struct eki_verdict_run run; /* all zero: not known */
};

/* Modes side by side. */
struct compared {
    struct compared_mode *modes; /* [count] */
    int count;
    int64_t room;
    double bound_s; /* of an iteration */
};

/* What is known of the iterations of a mode: what each took, what restoring
 * took, what none can do without. */
enum {
    COMPARED_ITERATION,
    COMPARED_RESTORE,
    COMPARED_BOUND,
    COMPARED_FIGURES
};

/* Add a mode, of which RUN is known, by SECONDS [COMPARED_FIGURES][iterations].
 * The first iteration does not count where there are more. */
void compared_add(struct compared *compared, const struct mode *mode,
                  const struct eki_verdict_run *run, double *seconds,
                  int iterations);
/* Append which of the modes to use, and what the others are worth; returns that
 * mode, or NULL: there is no other. */
const struct compared_mode *compared_append(const struct compared *compared,
                                            char *text, size_t bytes);
/* Print the verdict on them, and on the run of the mode to use, and forget the
 * modes. */
void compared_end(struct compared *compared);

#endif
