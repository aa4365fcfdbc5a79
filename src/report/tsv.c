/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of tab-separated values, from rank 0: of the job, of its ranks, of its
 * functions.
 *
 * An old file is renamed when one is opened, and what is open already appended
 * to, so that collections that are there at the same time may share one.
 */
#include "report/print.h"

#include <errno.h>
#include <string.h>

#define LINE_BYTES 1500

static void close_file(struct eki_report_file *file)
{
    if (file->stream)
        fclose(file->stream);
    eki_free(file->name);
    *file = (struct eki_report_file){0};
}

static void write_header(FILE *stream, enum eki_rows rows)
{
    const struct eki_report_table *table = eki_report_table_of(rows);
    fprintf(stream, "collection[1]");
    for (int i = 0; i < table->count; i++)
        fprintf(stream, "\t%s[%s]", table->fields[i].name,
                table->fields[i].unit);
    fprintf(stream, "\n");
}

/* Nine digits are more than any measurement has. */
static void write_row(const struct eki_report *report, FILE *stream,
                      enum eki_rows rows, const void *figures)
{
    const struct eki_report_table *table = eki_report_table_of(rows);
    char text[LINE_BYTES] = "";
    eki_append(text, sizeof text, "%s", report->collection);
    for (int i = 0; i < table->count; i++) {
        eki_append(text, sizeof text, "\t");
        eki_report_append_value(&table->fields[i], figures, 9, text,
                                sizeof text);
    }
    fprintf(stream, "%s\n", text);
}

static void write_rows(struct eki_report *report, enum eki_rows rows)
{
    FILE *stream = report->files[rows].stream;
    switch (rows) {
    case EKI_ROWS_JOB:
        write_row(report, stream, rows, &report->figures);
        break;
    case EKI_ROWS_RANKS:
        for (int r = 0; report->ranks && r < report->size; r++)
            write_row(report, stream, rows, &report->ranks[r]);
        break;
    case EKI_ROWS_FUNCTIONS:
        for (int f = 0; f < report->function_count; f++)
            write_row(report, stream, rows, &report->functions[f]);
        break;
    case EKI_ROWS_KINDS:
        break;
    }
}

/* A file that cannot be written is closed, so that the warning comes once. */
void eki_report_write(struct eki_report *report)
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

static ek_status open_file(const char *name, size_t bytes, enum eki_rows rows,
                           struct eki_report_file *file)
{
    file->name = eki_alloc(bytes + 1, 1);
    if (!file->name)
        return eki_error(EK_ERR_NOMEM, "no memory for the report");
    memcpy(file->name, name, bytes);
    bool is_new;
    ek_status status = eki_file_share(file->name, &file->stream, &is_new);
    if (status == EK_OK && is_new)
        write_header(file->stream, rows);
    if (status == EK_OK && !eki_file_flush(file->stream))
        status = eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", file->name,
                           strerror(errno));
    if (status != EK_OK)
        close_file(file);
    return status;
}

static bool is_open(const struct eki_report_file *file, const char *name,
                    size_t bytes)
{
    return file->stream && strlen(file->name) == bytes &&
           memcmp(file->name, name, bytes) == 0;
}

/* Opens new files before it closes old ones, which stay if that fails. */
ek_status eki_report_open_files(struct eki_report *report,
                                const struct eki_destination *destination)
{
    struct eki_report_file files[EKI_ROWS_KINDS] = {{0}};
    ek_status status = EK_OK;
    for (int rows = 0; status == EK_OK && rows < EKI_ROWS_KINDS; rows++) {
        const char *name = destination->name[rows];
        size_t bytes = destination->bytes[rows];
        if (name && !is_open(&report->files[rows], name, bytes))
            status = open_file(name, bytes, (enum eki_rows)rows, &files[rows]);
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

void eki_report_close(struct eki_report *report)
{
    for (int rows = 0; rows < EKI_ROWS_KINDS; rows++)
        close_file(&report->files[rows]);
    report->level = 0;
}
