/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports in print, from rank 0: lines, and blocks of all figures. */
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

#define LINE_BYTES 900

enum {
    COLUMNS = 3, /* of level 2, each a title and a value */
    TITLE_WIDTH = 11,
    VALUE_WIDTH = 10 /* %.4g never needs more */
};

/* The name of a collection that was given none. */
static const char default_name[] = "tasks";

void eki_report_append_name(const struct eki_report *report, char *text,
                            size_t bytes)
{
    if (strcmp(report->collection, default_name) != 0)
        eki_append(text, bytes, "%s, ", report->collection);
}

void eki_report_say(const struct eki_report *report, const char *text)
{
    eki_log_lines(EK_LEVEL_INFO, report->rank, report->size, "report", text);
}

/* Append what every level says first. */
static void append_head(const struct eki_report *report, char *text,
                        size_t bytes)
{
    const ek_process_report *figures = &report->figures;
    eki_report_append_name(report, text, bytes);
    eki_append(text, bytes,
               "iteration %" PRId64 ": %" PRId64 " tasks in %s, efficiency "
               "%.1f %%",
               figures->iteration, figures->tasks,
               eki_seconds(figures->wall_s).text, 100 * figures->efficiency);
}

/* Level 1: one line, however long. */
static void print_line(const struct eki_report *report)
{
    const ek_process_report *figures = &report->figures;
    char text[LINE_BYTES] = "";
    append_head(report, text, sizeof text);
    eki_append(text, sizeof text, ", speed %.1f %%", 100 * figures->speed);
    if (figures->cpu_s > 0)
        eki_append(text, sizeof text, ", processor time %s per worker",
                   eki_seconds(figures->cpu_s / (double)figures->workers).text);
    eki_append(text, sizeof text,
               ", steals %.1f of %.1f per worker, imbalance %.0f %%",
               figures->successful_mean, figures->attempted_mean,
               100 * figures->imbalance);
    if (figures->failed)
        eki_append(text, sizeof text, ", %" PRId64 " failed", figures->failed);
    if (figures->cancelled)
        eki_append(text, sizeof text, ", %" PRId64 " cancelled",
                   figures->cancelled);
    eki_log(EK_LEVEL_INFO, report->rank, report->size, "report", "%s", text);
}

/* Append the name and the value of a field, over SPAN columns. */
static void append_cell(const struct eki_field *field,
                        const ek_process_report *figures, int span, char *text,
                        size_t bytes)
{
    char title[32] = "", value[32] = "";
    int width = VALUE_WIDTH + (span - 1) * (TITLE_WIDTH + VALUE_WIDTH + 3);
    eki_append(title, sizeof title, "%s%s", field->title,
               strcmp(field->unit, "s") == 0 ? "/s" : "");
    eki_report_append_value(field, figures, 4, value, sizeof value);
    eki_append(text, bytes, "  %-*s %*s", TITLE_WIDTH, title, width, value);
}

/* All figures, some in a line, each after its name. */
static void print_block(const struct eki_report *report)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    char text[LINE_BYTES] = "";
    int column = 0;
    append_head(report, text, sizeof text);
    eki_report_say(report, text);
    text[0] = '\0';
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *field = &table->fields[i];
        int span = field->type == EKI_FIELD_ID ? 2 : 1;
        if (column + span > COLUMNS) {
            eki_report_say(report, text);
            text[0] = '\0';
            column = 0;
        }
        append_cell(field, &report->figures, span, text, sizeof text);
        column += span;
    }
    eki_report_say(report, text);
}

ek_status eki_report_open(struct eki_report *report, const char *list)
{
    struct eki_destination destination;
    if (!eki_destination_read(list ? list : "0", &destination))
        return eki_error(EK_ERR_ARG, "reports cannot go to '%.200s'", list);
    report->wants_ranks = destination.name[EKI_ROWS_RANKS] != NULL;
    if (report->rank != 0)
        return EK_OK;
    EKI_TRY(eki_report_open_files(report, &destination));
    report->level = destination.level;
    return EK_OK;
}

void eki_report_print(struct eki_report *report)
{
    if (!report->is_made)
        return;
    if (report->level == 1)
        print_line(report);
    else if (report->level == 2)
        print_block(report);
    eki_report_write(report);
}
