/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports in print, from rank 0: lines, a table, a file of tab-separated
 * values, and what limited the iterations in words.
 *
 * A file is emptied when it is opened and then appended to, so that collections
 * that were opened before the first iteration may share one.
 */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LINE_BYTES 900

/* An efficiency from which on the loss is not worth a sentence. */
#define GOOD_EFFICIENCY 0.95

enum {
    LEVEL_FILE = 3,
    COLUMN_WIDTH = 10, /* %.4g never needs more */
    ID_WIDTH = 20
};

/* The name of a collection that was given none. */
static const char default_name[] = "tasks";

static void say(const struct eki_report *report, const char *text)
{
    eki_log(EK_LEVEL_INFO, report->rank, report->size, "report", "%s", text);
}

/* Append the name of the collection, if it was given one. */
static void append_collection(const struct eki_report *report, char *text,
                              size_t bytes)
{
    if (strcmp(report->collection, default_name) != 0)
        eki_append(text, bytes, "%s, ", report->collection);
}

static void append_time(char *text, size_t bytes, double seconds)
{
    if (seconds >= 1 || seconds == 0)
        eki_append(text, bytes, "%.4g s", seconds);
    else if (seconds >= 1e-3)
        eki_append(text, bytes, "%.4g ms", seconds * 1e3);
    else
        eki_append(text, bytes, "%.4g us", seconds * 1e6);
}

static void print_line(const struct eki_report *report)
{
    const ek_process_report *figures = &report->figures;
    char text[LINE_BYTES] = "";
    append_collection(report, text, sizeof text);
    eki_append(text, sizeof text,
               "iteration %" PRId64 ": %" PRId64 " tasks in ",
               figures->iteration, figures->tasks);
    append_time(text, sizeof text, figures->wall_s);
    eki_append(text, sizeof text,
               ", efficiency %.1f %%, steals %.1f of %.1f per worker, "
               "imbalance %.0f %%",
               100 * figures->efficiency, figures->successful_mean,
               figures->attempted_mean, 100 * figures->imbalance);
    if (figures->failed)
        eki_append(text, sizeof text, ", %" PRId64 " failed", figures->failed);
    if (figures->cancelled)
        eki_append(text, sizeof text, ", %" PRId64 " cancelled",
                   figures->cancelled);
    say(report, text);
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

static int width_of(const struct eki_report_field *field)
{
    return field->type == EKI_REPORT_ID ? ID_WIDTH : COLUMN_WIDTH;
}

static void print_header(const struct eki_report *report)
{
    char text[LINE_BYTES] = "";
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        char title[32] = "";
        eki_append(title, sizeof title, "%s%s", field->title,
                   strcmp(field->unit, "s") == 0 ? "/s" : "");
        eki_append(text, sizeof text, "%s%*s", i ? " " : "", width_of(field),
                   title);
    }
    eki_append(text, sizeof text, "  collection");
    say(report, text);
}

/* The header comes with the first row after the opening. */
static void print_row(struct eki_report *report)
{
    char text[LINE_BYTES] = "";
    if (!report->has_header)
        print_header(report);
    report->has_header = true;
    for (int i = 0; i < eki_report_field_count(); i++) {
        const struct eki_report_field *field = eki_report_field_at(i);
        char value[32] = "";
        append_value(field, &report->figures, 4, value, sizeof value);
        eki_append(text, sizeof text, "%s%*s", i ? " " : "", width_of(field),
                   value);
    }
    eki_append(text, sizeof text, "  %s", report->collection);
    say(report, text);
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
        print_row(report);
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
    report->has_header = false;
}

/* Causes of loss; of equal losses the first is told. */
enum cause {
    CAUSE_IDLE,
    CAUSE_COARSE,
    CAUSE_OVERHEAD,
    CAUSE_START,
    CAUSE_LATE,
    CAUSE_SERVER,
    CAUSES
};

/* Idleness that coarse tasks explain counts for them alone. */
static enum cause largest_cause(const struct eki_report_total *total)
{
    const double lost_s[CAUSES] = {
        [CAUSE_COARSE] = total->coarse_s,
        [CAUSE_IDLE] = total->search_s + total->termination_s - total->coarse_s,
        [CAUSE_OVERHEAD] = total->overhead_s,
        [CAUSE_START] = total->start_s,
        [CAUSE_LATE] = total->late_s,
        [CAUSE_SERVER] = total->server_s};
    int largest = 0;
    for (int cause = 1; cause < CAUSES; cause++) {
        if (lost_s[cause] > lost_s[largest])
            largest = cause;
    }
    return (enum cause)largest;
}

static double percent(double part_s, double whole_s)
{
    return 100 * part_s / whole_s;
}

static void append_coarse(const struct eki_report_total *total, char *text,
                          size_t bytes)
{
    eki_append(text, bytes,
               "tasks are too coarse: the largest is %.1f x the mean load; "
               "no balancer can beat %.0f %%",
               total->least_s / total->work_s,
               percent(total->work_s, total->least_s));
}

static void append_overhead(const struct eki_report_total *total, char *text,
                            size_t bytes)
{
    eki_append(text, bytes, "%.0f %% of the time went by between tasks",
               percent(total->overhead_s, total->core_s));
    if (total->tasks > 0) {
        eki_append(text, bytes, "; a task takes ");
        append_time(text, bytes, total->work_s / (double)total->tasks);
        eki_append(text, bytes, " on average");
    }
}

static void append_start(const struct eki_report_total *total, char *text,
                         size_t bytes)
{
    eki_append(text, bytes,
               "%.0f %% of the time went into starting and leaving "
               "iterations; one takes ",
               percent(total->start_s, total->core_s));
    append_time(text, bytes, total->wall_s / (double)total->iterations);
    eki_append(text, bytes, " on average");
}

static void append_cause(enum cause cause, const struct eki_report_total *total,
                         char *text, size_t bytes)
{
    switch (cause) {
    case CAUSE_COARSE:
        append_coarse(total, text, bytes);
        break;
    case CAUSE_OVERHEAD:
        append_overhead(total, text, bytes);
        break;
    case CAUSE_START:
        append_start(total, text, bytes);
        break;
    case CAUSE_LATE:
        eki_append(text, bytes,
                   "ranks entered late: %.0f %% of the time was lost outside "
                   "Evenkeel",
                   percent(total->late_s, total->core_s));
        break;
    case CAUSE_SERVER:
        eki_append(text, bytes,
                   "dedicated server threads take %.0f %% of the cores",
                   percent(total->server_s, total->core_s));
        break;
    case CAUSE_IDLE:
    case CAUSES:
        eki_append(text, bytes,
                   "workers were without tasks for %.0f %% of the time before "
                   "they found some, and for %.0f %% until the end",
                   percent(total->search_s, total->core_s),
                   percent(total->termination_s, total->core_s));
        break;
    }
}

bool eki_report_sentence(const struct eki_report_total *total, char *text,
                         size_t bytes)
{
    if (total->core_s <= 0 || total->work_s >= GOOD_EFFICIENCY * total->core_s)
        return false;
    append_cause(largest_cause(total), total, text, bytes);
    return true;
}

void eki_report_last(const struct eki_report *report)
{
    const struct eki_report_total *total = &report->total;
    char text[LINE_BYTES] = "", sentence[LINE_BYTES / 2] = "";
    if (report->level != 1 && report->level != 2)
        return;
    if (!eki_report_sentence(total, sentence, sizeof sentence))
        return;
    append_collection(report, text, sizeof text);
    eki_append(text, sizeof text,
               "efficiency %.1f %% over %" PRId64 " iteration%s: %s",
               percent(total->work_s, total->core_s), total->iterations,
               total->iterations == 1 ? "" : "s", sentence);
    say(report, text);
}
