/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, the table, and JSON lines. */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 160
};

static struct bench_row *rows[ROWS_MAX];
static int row_count;

struct bench_row *bench_row_new(const char *bench, const char *against,
                                const char *format, ...)
{
    struct bench_row *row = calloc(1, sizeof *row);
    if (!row || row_count == ROWS_MAX) {
        fprintf(stderr, "ek-bench: no memory for a row\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    row->bench = bench;
    row->against = against;
    row->unit = "ns";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->name, sizeof row->name, format, arguments);
    va_end(arguments);
    rows[row_count++] = row;
    return row;
}

void bench_row_add(struct bench_row *row, double value, double baseline)
{
    if (row->count == BENCH_REPETITIONS_MAX)
        return;
    row->values[row->count] = value;
    row->baselines[row->count++] = baseline;
}

/* Minima and medians; the ratio of the minima and the median of the ratios. */
struct summary {
    double value, value_median, value_max;
    double baseline, baseline_median;
    double ratio, ratio_median;
};

static struct summary summarize(struct bench_row *row)
{
    struct summary sum;
    double ratios[BENCH_REPETITIONS_MAX];
    for (int i = 0; i < row->count; i++)
        ratios[i] = row->against ? row->values[i] / row->baselines[i] : NAN;
    sum.ratio_median = bench_median(ratios, row->count);
    sum.value = bench_minimum(row->values, row->count);
    sum.value_median = bench_median(row->values, row->count);
    sum.value_max = bench_maximum(row->values, row->count);
    sum.baseline = bench_minimum(row->baselines, row->count);
    sum.baseline_median = bench_median(row->baselines, row->count);
    sum.ratio = row->against ? sum.value / sum.baseline : NAN;
    return sum;
}

/* A number of JSON, or null. */
static void print_number(const char *key, double value)
{
    if (isnan(value) || isinf(value))
        printf(", \"%s\": null", key);
    else
        printf(", \"%s\": %.6g", key, value);
}

static void print_json(struct bench_row *row)
{
    struct summary sum = summarize(row);
    printf("{\"bench\": \"%s\", \"case\": \"%s\"", row->bench, row->name);
    print_number("value", sum.value);
    printf(", \"unit\": \"%s\"", row->unit);
    print_number("baseline", sum.baseline);
    print_number("ratio", sum.ratio);
    print_number("value_median", sum.value_median);
    print_number("value_max", sum.value_max);
    print_number("baseline_median", sum.baseline_median);
    print_number("ratio_median", sum.ratio_median);
    if (row->against)
        printf(", \"against\": \"%s\"", row->against);
    if (row->target_ratio > 0)
        print_number("target_ratio", row->target_ratio);
    if (row->target > 0)
        print_number("target", row->target);
    printf(", \"repetitions\": %d}\n", row->count);
}

static void print_row(struct bench_row *row)
{
    struct summary sum = summarize(row);
    char target[32] = "";
    if (row->target_ratio > 0)
        snprintf(target, sizeof target, "<= %.3g x", row->target_ratio);
    else if (row->target > 0)
        snprintf(target, sizeof target, "<= %.6g %s", row->target, row->unit);
    printf("%-11s %-40s %9.2f %9.2f %9.2f", row->bench, row->name, sum.value,
           sum.value_median, sum.value_max);
    if (row->against)
        printf("  %9.2f %9.2f %6.2f %6.2f  %-10s  %s\n", sum.baseline,
               sum.baseline_median, sum.ratio, sum.ratio_median, target,
               row->against);
    else
        printf("  %9s %9s %6s %6s  %s\n", "", "", "", "", target);
}

void bench_table_print(const struct bench *bench)
{
    static bool has_head;
    bool is_first = bench->rank == 0;
    if (is_first && !bench->json && !has_head && row_count > 0) {
        printf("%-11s %-40s %9s %9s %9s  %9s %9s %6s %6s  %-10s  %s\n", "bench",
               "case (ns)", "min", "median", "max", "base min", "median",
               "ratio", "median", "target", "base");
        has_head = true;
    }
    for (int i = 0; i < row_count; i++) {
        if (is_first && rows[i]->count > 0) {
            if (bench->json)
                print_json(rows[i]);
            else
                print_row(rows[i]);
        }
        free(rows[i]);
    }
    row_count = 0;
    fflush(stdout);
}

void bench_note(const struct bench *bench, const char *format, ...)
{
    if (bench->rank != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    fputs("ek-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}
