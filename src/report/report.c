/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a report, and its figures by name. */
#include "report/print.h"

#include <string.h>

ek_status eki_report_create(int rank, int size, const char *collection,
                            struct eki_report **made)
{
    struct eki_report *report = eki_alloc(1, sizeof *report);
    *made = report;
    if (!report)
        return eki_error(EK_ERR_NOMEM, "no memory for the report");
    report->inflation = report->stretch = 1;
    report->course.stride = 1;
    report->function_room = -1;
    report->rank = rank;
    report->size = size;
    snprintf(report->collection, sizeof report->collection, "%s", collection);
    return EK_OK;
}

void eki_report_destroy(struct eki_report **made)
{
    struct eki_report *report = *made;
    *made = NULL;
    if (!report)
        return;
    eki_report_close(report);
    eki_free(report->functions);
    eki_free(report->sums);
    eki_free(report->ranks);
    eki_free(report->course.samples);
    eki_free(report->course.ranks);
    eki_free(report);
}

static ek_status check_made(const struct eki_report *report)
{
    if (report && report->is_made)
        return EK_OK;
    return eki_error(EK_ERR_STATE, "no report was made yet: pass one to "
                                   "ek_process() or set EVENKEEL_REPORT");
}

/* A program gets struct_bytes and the first figures. */
#define IS_COPIED(member)                                                     \
    _Static_assert(offsetof(ek_process_report, member) ==                     \
                       sizeof(size_t) + offsetof(struct eki_figures, member), \
                   "the same order")
IS_COPIED(efficiency);
IS_COPIED(imbalance);
IS_COPIED(bound);
IS_COPIED(wall_s);
IS_COPIED(work_s);
IS_COPIED(tasks);
IS_COPIED(stolen);
IS_COPIED(largest_task_s);
IS_COPIED(stopped);

ek_status eki_report_copy(const struct eki_report *report,
                          ek_process_report *figures)
{
    size_t bytes = figures->struct_bytes;
    EKI_TRY(check_made(report));
    if (bytes < offsetof(ek_process_report, imbalance))
        return eki_error(EK_ERR_ARG,
                         "report struct_bytes: %zu is not allowed; initialize "
                         "the report with EK_PROCESS_REPORT_INIT",
                         bytes);
    memcpy(&figures->efficiency, &report->figures,
           (bytes < sizeof *figures ? bytes : sizeof *figures) - sizeof bytes);
    return EK_OK;
}

/* What follows NAME and a dot in TEXT; NULL: it does not start so. */
static const char *after_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || text[length] != '.')
        return NULL;
    return text + length + 1;
}

/* Names of functions may have dots, so a name is compared as a whole instead of
 * being cut out of NAME. */
static bool get_function(const struct eki_report *report, const char *name,
                         double *value)
{
    const char *rest = after_name(name, "function");
    for (int i = 0; rest && i < report->function_count; i++) {
        const struct eki_report_function *function = &report->functions[i];
        const char *figure = after_name(rest, function->name);
        bool is_tasks = figure && strcmp(figure, "tasks") == 0;
        if (!is_tasks && (!figure || strcmp(figure, "work_s") != 0))
            continue;
        *value = is_tasks ? (double)function->tasks : function->work_s;
        return true;
    }
    return false;
}

/* The value of a field of the job, none of which is a text. */
static double number_of(const struct eki_field *field,
                        const struct eki_figures *figures)
{
    const void *at = eki_field_at(field, figures);
    switch (field->type) {
    case EKI_FIELD_INTEGER:
        return (double)*(const int64_t *)at;
    case EKI_FIELD_ID:
        return (double)*(const uint64_t *)at;
    case EKI_FIELD_NUMBER:
    case EKI_FIELD_CHOICE:
        return *(const int *)at;
    default:
        return *(const double *)at;
    }
}

static ek_status unknown_figure(const char *name)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    char allowed[1024] = "";
    for (int i = 0; i < table->count; i++)
        eki_append(allowed, sizeof allowed, "%s, ", table->fields[i].name);
    return eki_error(EK_ERR_ARG,
                     "figure '%.80s' is unknown; allowed: "
                     "%sfunction.NAME.tasks, function.NAME.work_s",
                     name, allowed);
}

ek_status eki_report_get(const struct eki_report *report, const char *name,
                         double *value)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    EKI_TRY(check_made(report));
    for (int i = 0; i < table->count; i++) {
        if (strcmp(name, table->fields[i].name) == 0) {
            *value = number_of(&table->fields[i], &report->figures);
            return EK_OK;
        }
    }
    if (get_function(report, name, value))
        return EK_OK;
    return unknown_figure(name);
}
