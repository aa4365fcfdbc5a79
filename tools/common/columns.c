/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns.h"

#include <math.h>
#include <stdio.h>

void column_print(const struct column *column, double value)
{
    if (isnan(value))
        printf(" %*s", column->width, "-");
    else
        printf(" %*.*f", column->width, column->decimals,
               value * column->scale);
}

void columns_print_tops(const struct columns *columns)
{
    for (int f = 0; f < columns->count; f++) {
        if (columns->column[f].top)
            printf(" %*s", columns->column[f].width, columns->column[f].top);
    }
    printf("\n");
}

void columns_print_titles(const struct columns *columns)
{
    for (int f = 0; f < columns->count; f++) {
        if (columns->column[f].top)
            printf(" %*s", columns->column[f].width, columns->column[f].title);
    }
    printf("\n");
}

void columns_print(const struct columns *columns, const double *values)
{
    for (int f = 0; f < columns->count; f++) {
        if (columns->column[f].top)
            column_print(&columns->column[f], values[f]);
    }
    printf("\n");
}

void columns_csv_head(const struct columns *columns)
{
    printf("mode,iteration");
    for (int f = 0; f < columns->count; f++)
        printf(",%s", columns->column[f].key);
    printf("\n");
}

void columns_csv(const struct columns *columns, const char *mode, int iteration,
                 const double *values)
{
    printf("%s,%d", mode, iteration);
    for (int f = 0; f < columns->count; f++)
        printf(",%.6g", values[f]);
    printf("\n");
}

void columns_json(const struct columns *columns, const char *mode,
                  int iteration, const double *values)
{
    printf("{\"mode\": \"%s\", \"iteration\": %d", mode, iteration);
    for (int f = 0; f < columns->count; f++) {
        if (!isnan(values[f]))
            printf(", \"%s\": %.6g", columns->column[f].key, values[f]);
    }
    printf("}\n");
}
