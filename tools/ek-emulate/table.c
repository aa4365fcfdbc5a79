/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as a table, as CSV and as JSON. */
#include "emulate.h"

#include "columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --compare takes the iterations from this one on together. */
#define SETTLED 5

enum {
    SPREAD_WIDTH = 17
};

static const struct column column[FIELDS] = {
    [FIELD_MAKESPAN] = {"makespan_s", "makespan", "s", 9, 4, 1},
    [FIELD_IDEAL] = {"ideal_s", "ideal", "s", 8, 4, 1},
    [FIELD_BEST] = {"best_s", "best", "s", 8, 4, 1},
    [FIELD_EFFICIENCY] = {"efficiency", "ideal", "%", 6, 1, 100},
    [FIELD_EFFICIENCY_BEST] = {"efficiency_best", "best", "%", 6, 1, 100},
    [FIELD_TRIES] = {"tries", "mean", "tries", 9, 1, 1},
    [FIELD_STEALS] = {"steals", "mean", "steals", 8, 1, 1},
    [FIELD_STOLEN] = {"stolen", "tasks", "stolen", 7, 0, 1},
    [FIELD_MOVED] = {"moved", "", "moved", 7, 0, 1},
    [FIELD_RESTORE] = {"restore_s", "restore", "ms", 8, 2, 1e3},
    [FIELD_OVERSHOOT] = {"overshoot_s", "overshoot", "us", 9, 1, 1e6},
    [FIELD_CORES_USED] = {"cores_used", "cores", "used", 6, 2, 1},
    [FIELD_PAUSE_SHARE] = {"pause_share", NULL, NULL, 0, 0, 1},
    [FIELD_PAUSE] = {"pause_s", NULL, NULL, 0, 0, 1},
    [FIELD_IN_VAIN] = {"in_vain", NULL, NULL, 0, 0, 1},
    [FIELD_MESSAGES] = {"messages", NULL, NULL, 0, 0, 1},
    [FIELD_STEALING] = {"stealing_s", NULL, NULL, 0, 0, 1},
    [FIELD_DEEPEST] = {"deepest", NULL, NULL, 0, 0, 1},
    [FIELD_TRAVELLED] = {"travelled", "", "travelled", 9, 0, 1},
    [FIELD_DATA_BYTES] = {"data_bytes", "data", "MB", 9, 1, 1e-6},
    [FIELD_DATA_WAIT] = {"data_wait_s", "data", "wait s", 8, 4, 1},
    [FIELD_DATA_HELD] = {"data_held_bytes", NULL, NULL, 0, 0, 1}};

static const struct columns columns = {column, FIELDS};

/* For people: those of data where there are any. */
static struct columns columns_of(const struct run *run)
{
    return (struct columns){
        column, run->workload->input_bytes ? FIELDS : FIELD_TRAVELLED};
}

static void print_value(enum field field, double value)
{
    column_print(&column[field], value);
}

/* Of the iterations FIRST, ... */
static double mean_from(const struct run *run, const struct row *rows,
                        int first, enum field field)
{
    int count = run->arguments->iterations - first + 1;
    double sum = 0;
    for (int i = first - 1; i < run->arguments->iterations; i++)
        sum += rows[i].values[field];
    return count > 0 ? sum / count : NAN;
}

/* A row per iteration. */
static void print_rows(const struct run *run, const struct row *rows)
{
    const struct columns shown = columns_of(run);
    printf("\n%3s", "it");
    columns_print_tops(&shown);
    printf("%3s", "");
    columns_print_titles(&shown);
    for (int i = 0; i < run->arguments->iterations; i++) {
        printf("%3d", rows[i].iteration);
        columns_print(&shown, rows[i].values);
    }
    printf("\ncores used: %.2f of %d; mean overshoot of a task: %.1f us\n",
           mean_from(run, rows, 1, FIELD_CORES_USED), run->cpus,
           1e6 * mean_from(run, rows, 1, FIELD_OVERSHOOT));
    verdict_print_run("", run->verdict);
}

struct sample {
    double *values; /* [count], in order */
    int count;
    double median; /* NaN: there are none */
};

/* Take a field of iterations FIRST ... LAST, from 1, of all rounds. */
static struct sample sample_take(const struct run *run, const struct row *rows,
                                 int first, int last, enum field field)
{
    const struct arguments *arguments = run->arguments;
    struct sample sample = {.median = NAN};
    sample.values = allocate(
        (size_t)(arguments->rounds * arguments->iterations), sizeof(double));
    for (int round = 0; round < arguments->rounds; round++) {
        for (int i = first; i <= last && i <= arguments->iterations; i++)
            sample.values[sample.count++] =
                rows[round * arguments->iterations + i - 1].values[field];
    }
    if (sample.count > 0) {
        sample.median = verdict_median(sample.values, sample.count);
        sample.median = (sample.median + sample.values[sample.count / 2]) / 2;
    }
    return sample;
}

static double median_of(const struct run *run, const struct row *rows,
                        int first, int last, enum field field)
{
    struct sample sample = sample_take(run, rows, first, last, field);
    free(sample.values);
    return sample.median;
}

/* Of a mode: iteration 1, 2, the last, and those that have settled. */
static void print_course(const struct run *run, const struct row *rows,
                         enum field field)
{
    int last = run->arguments->iterations;
    print_value(field, median_of(run, rows, 1, 1, field));
    print_value(field, median_of(run, rows, 2, 2, field));
    print_value(field, median_of(run, rows, last, last, field));
    print_value(field, median_of(run, rows, SETTLED, last, field));
}

/* The shortest and the longest of those that have settled. */
static void print_spread(const struct run *run, const struct row *rows)
{
    struct sample sample = sample_take(
        run, rows, SETTLED, run->arguments->iterations, FIELD_MAKESPAN);
    char text[40] = "-";
    if (sample.count > 0)
        snprintf(text, sizeof text, "%.4f-%.4f", sample.values[0],
                 sample.values[sample.count - 1]);
    printf(" %*s", SPREAD_WIDTH, text);
    free(sample.values);
}

/* What the compared modes show of the last iteration, and of the mean. */
static const enum field of_last[] = {FIELD_TRIES, FIELD_STEALS, FIELD_STOLEN,
                                     FIELD_MOVED, FIELD_RESTORE};
static const enum field of_all[] = {FIELD_OVERSHOOT, FIELD_CORES_USED,
                                    FIELD_DATA_BYTES, FIELD_DATA_WAIT};

enum {
    OF_LAST = sizeof of_last / sizeof *of_last,
    OF_ALL = sizeof of_all / sizeof *of_all,
    OF_DATA = 2 /* the last ones */
};

/* Those without data have none of it. */
static int of_all_count(const struct run *run)
{
    return run->workload->input_bytes ? OF_ALL : OF_ALL - OF_DATA;
}

static void print_course_titles(enum field field)
{
    int width = column[field].width;
    printf(" %*s %*s %*s %*s", width, "it 1", width, "it 2", width, "last",
           width, ">= 5");
}

/* Of the names of modes. */
static int name_width(const struct run *run)
{
    const struct mode_list *list = &run->arguments->shared.compared;
    int width = 12;
    for (int i = 0; i < list->count; i++) {
        int length = (int)strlen(list->modes[i].name);
        width = length > width ? length : width;
    }
    return width;
}

static void print_titles(const struct run *run)
{
    int width = name_width(run);
    printf("\n%-*s %39s %*s %27s %25s %23s\n%-*s", width, "", "makespan, s",
           SPREAD_WIDTH, ">= 5", "% of the best possible", "last: steals",
           "last: tasks", width, "mode");
    print_course_titles(FIELD_MAKESPAN);
    printf(" %*s", SPREAD_WIDTH, "least-most");
    print_course_titles(FIELD_EFFICIENCY_BEST);
    for (int i = 0; i < OF_LAST; i++)
        printf(" %*s", column[of_last[i]].width, column[of_last[i]].title);
    for (int i = 0; i < of_all_count(run); i++)
        printf(" %*s", column[of_all[i]].width, column[of_all[i]].title);
    printf("\n");
}

static void print_summary(const struct run *run, const struct row *rows)
{
    int last = run->arguments->iterations;
    printf("%-*s", name_width(run), rows->mode->name);
    print_course(run, rows, FIELD_MAKESPAN);
    print_spread(run, rows);
    print_course(run, rows, FIELD_EFFICIENCY_BEST);
    for (int i = 0; i < OF_LAST; i++)
        print_value(of_last[i], median_of(run, rows, last, last, of_last[i]));
    for (int i = 0; i < of_all_count(run); i++)
        print_value(of_all[i], median_of(run, rows, 1, last, of_all[i]));
    printf("\n");
}

/* As CSV or JSON. */
static void print_values(const struct run *run, const struct row *rows,
                         int round, bool is_first)
{
    bool has_csv = run->arguments->shared.has_csv;
    for (int i = 0; i < run->arguments->iterations; i++) {
        const struct label label[] = {
            {.key = "round", .number = round + 1},
            {.key = "mode", .text = rows[i].mode->name},
            {.key = "iteration", .number = rows[i].iteration}};
        struct labels labels = {label, sizeof label / sizeof *label};
        if (has_csv && is_first && i == 0)
            columns_csv_head(&columns, &labels);
        if (has_csv)
            columns_csv(&columns, &labels, rows[i].values);
        else
            columns_json(&columns, &labels, rows[i].values);
    }
}

void print_head(const struct run *run)
{
    const struct arguments *arguments = run->arguments;
    const struct workload *workload = run->workload;
    if (arguments->shared.has_csv || arguments->shared.has_json)
        return;
    workload_step(run->workload, &arguments->shared.source, 0);
    printf("%s, times %g: %" PRId64 " tasks, %.4g s, longest %s%.4g s; %" PRId64
           " null\n%d workers on %d ranks and %d cores, start: %s\n",
           workload->name, arguments->shared.source.scale, workload->count,
           workload->sum_s, workload_spawns(workload) ? "chain " : "",
           workload->longest_s, workload->nulls,
           run->ranks * arguments->workers, run->ranks, run->cpus,
           run->start->words);
}

/* By medians over rounds of each iteration. */
static void compare_mode(const struct run *run, const struct row *rows)
{
    static const enum field fields[COMPARED_FIGURES] = {
        FIELD_MAKESPAN, FIELD_RESTORE, FIELD_BEST};
    int n = run->arguments->iterations;
    double *values = allocate((size_t)(COMPARED_FIGURES * n), sizeof *values);
    for (int f = 0; f < COMPARED_FIGURES; f++) {
        for (int i = 0; i < n; i++)
            values[f * n + i] = median_of(run, rows, i + 1, i + 1, fields[f]);
    }
    compared_add(run->compared, rows->mode, run->verdict, values, n);
    free(values);
}

void print_verdict(const struct run *run)
{
    const struct run_arguments *shared = &run->arguments->shared;
    const struct workload *workload = run->workload;
    if (shared->has_csv || shared->has_json)
        return;
    workload_step(run->workload, &shared->source, 0);
    verdict_print_tasks("", workload->now_s, workload->count,
                        run->ranks * run->arguments->workers);
    compared_end(run->compared);
}

void print_mode(const struct run *run, const struct row *rows, int round,
                bool is_first)
{
    const struct run_arguments *shared = &run->arguments->shared;
    if (shared->has_csv || shared->has_json)
        print_values(run, rows, round, is_first);
    else if (!shared->has_compare)
        print_rows(run, rows);
    fflush(stdout);
}

void print_compared(const struct run *run, const struct row *rows,
                    bool is_first)
{
    const struct run_arguments *shared = &run->arguments->shared;
    if (shared->has_csv || shared->has_json)
        return;
    if (is_first)
        print_titles(run);
    print_summary(run, rows);
    compare_mode(run, rows);
    fflush(stdout);
}
