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

/* As CSV and JSON have it without a second quoting. */
static void print_text(const char *text, FILE *stream)
{
    for (; *text; text++) {
        bool is_control = (unsigned char)*text < ' ';
        char plain = *text == ','    ? ';'
                     : *text == '"'  ? '\''
                     : *text == '\\' ? '/'
                     : is_control    ? ' '
                                     : *text;
        fputc(plain, stream);
    }
}

static void print_label(const struct label *label, FILE *stream)
{
    if (label->text)
        print_text(label->text, stream);
    else if (!label->is_absent)
        fprintf(stream, "%lld", label->number);
}

void labels_csv_head(const struct labels *labels, FILE *stream)
{
    for (int i = 0; i < labels->count; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", labels->label[i].key);
}

void labels_csv(const struct labels *labels, FILE *stream)
{
    for (int i = 0; i < labels->count; i++) {
        if (i > 0)
            fputc(',', stream);
        print_label(&labels->label[i], stream);
    }
}

void columns_csv_head(const struct columns *columns,
                      const struct labels *labels)
{
    labels_csv_head(labels, stdout);
    for (int f = 0; f < columns->count; f++)
        printf(",%s", columns->column[f].key);
    printf("\n");
}

void columns_csv(const struct columns *columns, const struct labels *labels,
                 const double *values)
{
    labels_csv(labels, stdout);
    for (int f = 0; f < columns->count; f++)
        printf(",%.6g", values[f]);
    printf("\n");
}

void columns_json(const struct columns *columns, const struct labels *labels,
                  const double *values)
{
    const char *before = "{";
    for (int i = 0; i < labels->count; i++) {
        if (labels->label[i].is_absent)
            continue;
        const char *quote = labels->label[i].text ? "\"" : "";
        printf("%s\"%s\": %s", before, labels->label[i].key, quote);
        before = ", ";
        print_label(&labels->label[i], stdout);
        printf("%s", quote);
    }
    for (int f = 0; f < columns->count; f++) {
        if (!isnan(values[f]))
            printf(", \"%s\": %.6g", columns->column[f].key, values[f]);
    }
    printf("}\n");
}
