/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports in print, from rank 0: lines, blocks of all figures, and files of
 * tab-separated values, of the job, of its ranks, of its functions.
 *
 * An old file is renamed when one is opened, and what is open already appended
 * to, so that collections that are there at the same time may share one.
 */
#include "report/print.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
    LINE_BYTES = 900,
    ROW_BYTES = 1500, /* of a file */
    COLUMNS = 3,      /* of level 2, each a title and a value */
    TITLE_WIDTH = 11,
    VALUE_WIDTH = 10, /* %.4g never needs more */
    CELL_WIDTH = 2 + TITLE_WIDTH + 1 + VALUE_WIDTH
};

void eki_report_append_name(const struct eki_report *report, char *text,
                            size_t bytes)
{
    /* The name of a collection that was given none. */
    if (strcmp(report->collection, "tasks") != 0)
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
    const struct eki_figures *figures = &report->figures;
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
    const struct eki_figures *figures = &report->figures;
    char text[LINE_BYTES] = "";
    append_head(report, text, sizeof text);
    eki_append(text, sizeof text, ", speed %.1f %%", 100 * figures->speed);
    if (figures->cpu_s > 0)
        eki_append(text, sizeof text, ", processor time %s per worker",
                   eki_seconds(figures->cpu_s / (double)figures->workers).text);
    eki_append(text, sizeof text,
               ", steals %.1f of %.1f per worker, imbalance %.0f %%",
               figures->steals, figures->tries, 100 * figures->imbalance);
    if (figures->failed)
        eki_append(text, sizeof text, ", %" PRId64 " failed", figures->failed);
    if (figures->cancelled)
        eki_append(text, sizeof text, ", %" PRId64 " cancelled",
                   figures->cancelled);
    eki_log(EK_LEVEL_INFO, report->rank, report->size, "report", "%s", text);
}

/* Append the value; reals with that many significant DIGITS. */
static void append_figure(const struct eki_field *field, const void *figures,
                          int digits, char *text, size_t bytes)
{
    if (field->type == EKI_FIELD_CHOICE) {
        const char *name = eki_option_choice_name(
            field->name, *(const int *)eki_field_at(field, figures));
        eki_append(text, bytes, "%s", name ? name : "none");
    } else {
        eki_field_append(field, figures, digits, text, bytes);
    }
}

/* The name of a field without its unit, and "/" and the unit behind it. */
static void append_title(const struct eki_field *field, char *text,
                         size_t bytes)
{
    const char *unit = field->unit;
    size_t suffix = strcmp(unit, "s") == 0   ? strlen("_s")
                    : strcmp(unit, "B") == 0 ? strlen("_bytes")
                                             : 0;
    eki_append(text, bytes, "%.*s%s%s", (int)(strlen(field->name) - suffix),
               field->name, suffix > 0 ? "/" : "", suffix > 0 ? unit : "");
}

/* Append the title and the value of a field, over as many columns as they take;
 * returns how many. */
static int append_cell(const struct eki_field *field,
                       const struct eki_figures *figures, char *text,
                       size_t bytes)
{
    char title[32] = "", value[32] = "";
    append_title(field, title, sizeof title);
    append_figure(field, figures, 4, value, sizeof value);
    int length = (int)strlen(title);
    int title_width = length > TITLE_WIDTH ? length : TITLE_WIDTH;
    int span = title_width > TITLE_WIDTH ? 2 : 1;
    eki_append(text, bytes, "  %-*s %*s", title_width, title,
               span * CELL_WIDTH - title_width - 3, value);
    return span;
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
        char cell[80] = "";
        int span =
            append_cell(&table->fields[i], &report->figures, cell, sizeof cell);
        if (column + span > COLUMNS) {
            eki_report_say(report, text);
            text[0] = '\0';
            column = 0;
        }
        eki_append(text, sizeof text, "%s", cell);
        column += span;
    }
    eki_report_say(report, text);
}

static void close_file(struct eki_report_file *file)
{
    if (file->stream)
        fclose(file->stream);
    eki_free(file->name);
    *file = (struct eki_report_file){0};
}

static void write_titles(FILE *stream, enum eki_rows rows)
{
    const struct eki_report_table *table = eki_report_table_of(rows);
    fprintf(stream, "collection");
    for (int i = 0; i < table->count; i++)
        fprintf(stream, "\t%s", table->fields[i].name);
    fprintf(stream, "\n");
}

/* Nine digits are more than any measurement has. */
static void write_row(const struct eki_report *report, enum eki_rows rows,
                      const void *figures)
{
    const struct eki_report_table *table = eki_report_table_of(rows);
    char text[ROW_BYTES] = "";
    eki_append(text, sizeof text, "%s", report->collection);
    for (int i = 0; i < table->count; i++) {
        eki_append(text, sizeof text, "\t");
        append_figure(&table->fields[i], figures, 9, text, sizeof text);
    }
    fprintf(report->files[rows].stream, "%s\n", text);
}

static void write_rows(const struct eki_report *report, enum eki_rows rows)
{
    const struct {
        const void *first;
        int count;
        size_t bytes;
    } all[EKI_ROWS_KINDS] = {
        [EKI_ROWS_JOB] = {&report->figures, 1, 0},
        [EKI_ROWS_RANKS] = {report->ranks, report->ranks ? report->size : 0,
                            sizeof *report->ranks},
        [EKI_ROWS_FUNCTIONS] = {report->functions, report->function_count,
                                sizeof *report->functions}};
    const char *at = all[rows].first;
    for (int i = 0; i < all[rows].count; i++, at += all[rows].bytes)
        write_row(report, rows, at);
}

/* A file that cannot be written is closed, so that the warning comes once. */
static void write_files(struct eki_report *report)
{
    for (int rows = 0; rows < EKI_ROWS_KINDS; rows++) {
        struct eki_report_file *file = &report->files[rows];
        if (!file->stream)
            continue;
        write_rows(report, (enum eki_rows)rows);
        if (eki_file_flush(file->stream))
            continue;
        eki_log(EK_LEVEL_WARN, report->rank, report->size, "report",
                "cannot write '%s': %s; no more reports go there", file->name,
                strerror(errno));
        close_file(file);
    }
}

static ek_status open_values(const char *name, size_t bytes, enum eki_rows rows,
                             struct eki_report_file *file)
{
    file->name = eki_alloc(bytes + 1, 1);
    if (!file->name)
        return eki_error(EK_ERR_NOMEM, "no memory for the report");
    memcpy(file->name, name, bytes);
    bool is_new;
    ek_status status = eki_file_open(file->name, true, &file->stream, &is_new);
    if (status == EK_OK && is_new)
        write_titles(file->stream, rows);
    if (status == EK_OK && !eki_file_flush(file->stream))
        status = eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", file->name,
                           strerror(errno));
    if (status != EK_OK)
        close_file(file);
    return status;
}

static bool is_open_file(const struct eki_report_file *file, const char *name,
                         size_t bytes)
{
    return file->stream && strlen(file->name) == bytes &&
           memcmp(file->name, name, bytes) == 0;
}

/* Opens new files before it closes old ones, which stay if that fails. */
static ek_status open_files(struct eki_report *report,
                            const struct eki_destination *destination)
{
    struct eki_report_file files[EKI_ROWS_KINDS] = {{0}};
    ek_status status = EK_OK;
    for (int rows = 0; status == EK_OK && rows < EKI_ROWS_KINDS; rows++) {
        const char *name = destination->name[rows];
        size_t bytes = destination->bytes[rows];
        if (name && !is_open_file(&report->files[rows], name, bytes))
            status =
                open_values(name, bytes, (enum eki_rows)rows, &files[rows]);
    }
    for (int rows = 0; rows < EKI_ROWS_KINDS; rows++) {
        struct eki_report_file *old = &report->files[rows];
        if (status != EK_OK) {
            close_file(&files[rows]);
        } else if (!destination->name[rows] || files[rows].stream) {
            close_file(old);
            *old = files[rows];
        }
    }
    return status;
}

ek_status eki_report_open(struct eki_report *report, const char *list)
{
    struct eki_destination destination;
    if (!eki_destination_read(list ? list : "0", &destination))
        return eki_error(EK_ERR_ARG, "reports cannot go to '%.200s'", list);
    report->wants_ranks = destination.name[EKI_ROWS_RANKS] != NULL;
    if (report->rank != 0)
        return EK_OK;
    EKI_TRY(open_files(report, &destination));
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
    write_files(report);
}

void eki_report_close(struct eki_report *report)
{
    for (int rows = 0; rows < EKI_ROWS_KINDS; rows++)
        close_file(&report->files[rows]);
    report->level = 0;
}
