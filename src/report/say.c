/* SPDX-License-Identifier: BSD-3-Clause */
/* What lines of a report have in common. */
#include "report/internal.h"

#include <string.h>

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
