/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of an iteration: values that a table of columns describes, in
 * rows for people, as CSV and as JSON.
 */
#ifndef COMMON_COLUMNS_H
#define COMMON_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

struct column {
    const char *key;         /* in CSV and JSON, with the unit */
    const char *top, *title; /* above the rows; NULL: not there */
    int width, decimals;
    double scale; /* ... of values that are so much larger */
};

struct columns {
    const struct column *column; /* [count] */
    int count;
};

/* The value of a cell; "-": NaN. */
void column_print(const struct column *column, double value);
/* The two lines of titles, each after what the caller has printed. */
void columns_print_tops(const struct columns *columns);
void columns_print_titles(const struct columns *columns);
/* Values [columns->count] of a row, each after what the caller has printed. */
void columns_print(const struct columns *columns, const double *values);

/* What tells a row of CSV or JSON from others, before its values. */
struct label {
    const char *key;
    const char *text; /* NULL: the number */
    long long number;
    bool is_absent; /* empty in CSV, left out in JSON */
};

struct labels {
    const struct label *label; /* [count] */
    int count;
};

/* Texts have neither commas nor quotes: there they have ; and '. */
void labels_csv_head(const struct labels *labels, FILE *stream);
void labels_csv(const struct labels *labels, FILE *stream);

void columns_csv_head(const struct columns *columns,
                      const struct labels *labels);
void columns_csv(const struct columns *columns, const struct labels *labels,
                 const double *values);
/* Values that are NaN are left out. */
void columns_json(const struct columns *columns, const struct labels *labels,
                  const double *values);

#endif
