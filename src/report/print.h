/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the report only: lines, and what has gone by. */
#ifndef EKI_REPORT_PRINT_H
#define EKI_REPORT_PRINT_H

#include "report/report.h"

/* Say TEXT; lines that do not fit a terminal go on below, indented. */
void eki_report_say(const struct eki_report *report, const char *text);
/* Append "NAME, " if the collection was given a name. */
void eki_report_append_name(const struct eki_report *report, char *text,
                            size_t bytes);

static inline double eki_report_ratio(double part, double whole,
                                      double otherwise)
{
    return whole > 0 ? part / whole : otherwise;
}

/* Of tasks that were measured before: then and now. */
struct eki_report_changes {
    double before_ns, now_ns;
};

/* Fill inflation and speed of the iteration whose other figures are there, from
 * what has changed since the last one. */
void eki_report_fill_speed(const struct eki_report_changes *changes,
                           struct eki_report *report,
                           struct eki_figures *figures);

/* What a report of the job does not have. */
struct eki_report_extra {
    double servers;    /* cores */
    double load_s;     /* largest of a worker */
    double lateness_s; /* of the rank that entered last */
};

/* Add the iteration whose report was just made. */
void eki_report_add(struct eki_report *report,
                    const struct eki_report_input *input,
                    const struct eki_report_extra *extra);

#endif
