/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports in print, from rank 0: lines, blocks of all figures, a file of
 * tab-separated values.
 *
 * A file is emptied when it is opened and then appended to, so that collections
 * that were opened before the first iteration may share one.
 */
#include "report/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LINE_BYTES 900

enum {
    LEVEL_FILE = 3,
    COLUMNS = 3, /* of level 2, each a title and a value */
    TITLE_WIDTH = 11,
    VALUE_WIDTH = 10 /* %.4g never needs more */
};

/* Append what every level says first. */
static void append_head(const struct eki_report *report, char *text,
                        size_t bytes)
{
    const ek_process_report *figures = &report->figures;
    eki_report_append_name(report, text, bytes);
    eki_append(text, bytes, "iteration %" PRId64 ": %" PRId64 " tasks in ",
               figures->iteration, figures->tasks);
    eki_verdict_time(figures->wall_s, text, bytes);
    eki_append(text, bytes, ", efficiency %.1f %%", 100 * figures->efficiency);
}

/* Level 1: one line, however long. */
static void print_line(const struct eki_report *report)
{
    const ek_process_report *figures = &report->figures;
    char text[LINE_BYTES] = "";
    append_head(report, text, sizeof text);
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

/* Append the value; reals with that many significant DIGITS. */
static void append_value(const struct eki_report_field *field,
                         const ek_process_report *figures, int digits,
                         char *text, size_t bytes)
{
    const void *at = (const unsigned char *)figures + field->offset;
    switch (field->type) {
    case EKI_REPORT_INTEGER:
        eki_append(text, bytes, "%" PRId64, *(const int64_t *)at);
        break;
    case EKI_REPORT_ID:
        eki_append(text, bytes, "%" PRIu64, *(const uint64_t *)at);
        break;
    case EKI_REPORT_NUMBER:
        eki_append(text, bytes, "%d", *(const int *)at);
        break;
    case EKI_REPORT_REAL:
        eki_append(text, bytes, "%.*g", digits, *(const double *)at);
        break;
    }
}

/* Append the name and the value of a field, over SPAN columns. */
static void append_cell(const struct eki_report_field *field,
                        const ek_process_report *figures, int span, char *text,
                        size_t bytes)
{
    char title[32] = "", value[32] = "";
    int width = VALUE_WIDTH + (span - 1) * (TITLE_WIDTH + VALUE_WIDTH + 3);
    eki_append(title, sizeof title, "%s%s", field->title,
               strcmp(field->unit, "s") == 0 ? "/s" : "");
    append_value(field, figures, 4, value, sizeof value);
    eki_append(text, bytes, "  %-*s %*s", TITLE_WIDTH, title, width, value);
}

/* All figures, some in a line, each after its name. */
static void print_block(const struct eki_report *report)
{
    char text[LINE_BYTES] = "";
    int column = 0;
    append_head(report, text, sizeof text);
    eki_report_say(report, text);
    text[0] = '\0';
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        int span = field->type == EKI_REPORT_ID ? 2 : 1;
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

/* Whether what was written has arrived. */
static bool is_written(FILE *file)
{
    return fflush(file) == 0 && !ferror(file);
}

/* Nine digits are more than any measurement has.  A file that cannot be written
 * is closed, so that the warning comes once. */
static void write_row(struct eki_report *report)
{
    char text[LINE_BYTES] = "";
    eki_append(text, sizeof text, "%s", report->collection);
    for (int i = 0; i < eki_report_field_count(); i++) {
        eki_append(text, sizeof text, "\t");
        append_value(eki_report_field_at(i), &report->figures, 9, text,
                     sizeof text);
    }
    fprintf(report->file, "%s\n", text);
    if (is_written(report->file))
        return;
    eki_log(EK_LEVEL_WARN, report->rank, report->size, "report",
            "cannot write '%s': %s; no more reports go there",
            report->destination, strerror(errno));
    eki_report_close(report);
}

static void write_header(FILE *file)
{
    fprintf(file, "collection[1]");
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        fprintf(file, "\t%s[%s]", field->name, field->unit);
    }
    fprintf(file, "\n");
}

static ek_status open_file(const char *name, FILE **opened)
{
    FILE *file = fopen(name, "w");
    /* Collections may share the file: appending writes to its end, wherever
     * another collection has left it. */
    if (file)
        file = freopen(name, "a", file);
    if (file) {
        write_header(file);
        if (is_written(file)) {
            *opened = file;
            return EK_OK;
        }
    }
    int reason = errno;
    if (file)
        fclose(file);
    return eki_error(EK_ERR_FILE, "cannot write the report '%s': %s", name,
                     strerror(reason));
}

static int level_of(const char *destination)
{
    if (strlen(destination) == 1 && strchr("012", destination[0]))
        return destination[0] - '0';
    return LEVEL_FILE;
}

/* Opens the new destination before it closes the old one, which stays if that
 * fails. */
ek_status eki_report_open(struct eki_report *report, const char *destination)
{
    FILE *file = NULL;
    if (!destination)
        destination = "0";
    if (report->rank != 0 ||
        (report->destination && strcmp(report->destination, destination) == 0))
        return EK_OK;
    int level = level_of(destination);
    char *copy = eki_copy_string(destination);
    if (!copy)
        return eki_error(EK_ERR_NOMEM, "no memory for the report");
    ek_status status =
        level == LEVEL_FILE ? open_file(destination, &file) : EK_OK;
    if (status != EK_OK) {
        eki_free(copy);
        return status;
    }
    eki_report_close(report);
    report->destination = copy;
    report->level = level;
    report->file = file;
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
    else if (report->level == LEVEL_FILE)
        write_row(report);
}

void eki_report_close(struct eki_report *report)
{
    if (report->file)
        fclose(report->file);
    eki_free(report->destination);
    report->file = NULL;
    report->destination = NULL;
    report->level = 0;
}
