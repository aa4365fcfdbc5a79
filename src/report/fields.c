/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of fields: what a report says, in the order of its struct. */
#include "report/report.h"

#define FIELD(field) #field, offsetof(ek_process_report, field)

static const struct eki_report_field table[] = {
    {FIELD(iteration), EKI_REPORT_INTEGER, "1", "iteration",
     "number of this ek_process(), from 0"},
    {FIELD(workers), EKI_REPORT_INTEGER, "1", "workers", "in the whole job"},
    {FIELD(tasks), EKI_REPORT_INTEGER, "1", "tasks",
     "executed, spawned ones included"},
    {FIELD(null_tasks), EKI_REPORT_INTEGER, "1", "null",
     "of these, skipped or discarded"},
    {FIELD(spawned), EKI_REPORT_INTEGER, "1", "spawned", "created by tasks"},
    {FIELD(cancelled), EKI_REPORT_INTEGER, "1", "cancelled",
     "not run after a failure or ek_stop()"},
    {FIELD(failed), EKI_REPORT_INTEGER, "1", "failed", "tasks that failed"},
    {FIELD(stolen), EKI_REPORT_INTEGER, "1", "stolen",
     "tasks moved by stealing"},
    {FIELD(attempted_mean), EKI_REPORT_REAL, "1", "tries",
     "steals attempted per worker"},
    {FIELD(attempted_deviation), EKI_REPORT_REAL, "1", "tries-sd",
     "their standard deviation over workers"},
    {FIELD(successful_mean), EKI_REPORT_REAL, "1", "steals",
     "successful steals per worker"},
    {FIELD(successful_deviation), EKI_REPORT_REAL, "1", "steals-sd",
     "their standard deviation over workers"},
    {FIELD(wall_s), EKI_REPORT_REAL, "s", "wall",
     "longest stay of a rank in ek_process()"},
    {FIELD(work_s), EKI_REPORT_REAL, "s", "work",
     "sum over workers: running tasks"},
    {FIELD(overhead_s), EKI_REPORT_REAL, "s", "overhead",
     "sum over workers: between tasks"},
    {FIELD(search_s), EKI_REPORT_REAL, "s", "search",
     "sum over workers: without work, before finding some"},
    {FIELD(termination_s), EKI_REPORT_REAL, "s", "end",
     "sum over workers: without work, until the end"},
    {FIELD(start_s), EKI_REPORT_REAL, "s", "start",
     "sum over workers: waking, hooks, leaving"},
    {FIELD(late_s), EKI_REPORT_REAL, "s", "late",
     "sum over workers: their rank had not entered"},
    {FIELD(restore_s), EKI_REPORT_REAL, "s", "restore",
     "longest ek_restore() before it"},
    {FIELD(outside_s), EKI_REPORT_REAL, "s", "outside",
     "longest time outside since the last iteration"},
    {FIELD(inflation), EKI_REPORT_REAL, "1", "inflation",
     "time of tasks against their first, a chain of ratios"},
    {FIELD(service_p50_s), EKI_REPORT_REAL, "s", "serve-50",
     "time to serve a request of another node: median"},
    {FIELD(service_p99_s), EKI_REPORT_REAL, "s", "serve-99",
     "... that 99 % do not exceed"},
    {FIELD(largest_task_s), EKI_REPORT_REAL, "s", "largest", "longest task"},
    {FIELD(largest_task_id), EKI_REPORT_ID, "1", "largest-id", "its id"},
    {FIELD(largest_task_function), EKI_REPORT_NUMBER, "1", "function",
     "its function; -1: no task was timed alone"},
    {FIELD(slowest_rank), EKI_REPORT_NUMBER, "1", "slowest",
     "rank with the largest load per worker"},
    {FIELD(imbalance), EKI_REPORT_REAL, "1", "imbalance",
     "largest load of a worker / mean - 1"},
    {FIELD(efficiency), EKI_REPORT_REAL, "1", "efficiency",
     "speed / workers, servers' cores included"},
    {FIELD(bound), EKI_REPORT_REAL, "1", "bound",
     "best efficiency the largest task allows"},
    {FIELD(cpu_s), EKI_REPORT_REAL, "s", "cpu",
     "sum over workers: processor time; 0: not measured"},
    {FIELD(starved_s), EKI_REPORT_REAL, "s", "starved",
     "of work_s and overhead_s: waiting for a core"},
    {FIELD(speed), EKI_REPORT_REAL, "1", "speed",
     "workers' worth: (work_s - starved_s) / wall_s"},
    {FIELD(cores), EKI_REPORT_NUMBER, "1", "cores",
     "that the workers may use, in the whole job"},
    {FIELD(latest_rank), EKI_REPORT_NUMBER, "1", "latest",
     "rank that entered last"},
};

int eki_report_field_count(void)
{
    return (int)(sizeof table / sizeof table[0]);
}

const struct eki_report_field *eki_report_field_at(int field)
{
    return &table[field];
}

size_t eki_report_field_bytes(const struct eki_report_field *field)
{
    switch (field->type) {
    case EKI_REPORT_INTEGER:
        return sizeof(int64_t);
    case EKI_REPORT_ID:
        return sizeof(uint64_t);
    case EKI_REPORT_NUMBER:
        return sizeof(int);
    case EKI_REPORT_REAL:
        break;
    }
    return sizeof(double);
}

double eki_report_field_value(const struct eki_report_field *field,
                              const ek_process_report *figures)
{
    const void *at = (const unsigned char *)figures + field->offset;
    switch (field->type) {
    case EKI_REPORT_INTEGER:
        return (double)*(const int64_t *)at;
    case EKI_REPORT_ID:
        return (double)*(const uint64_t *)at;
    case EKI_REPORT_NUMBER:
        return *(const int *)at;
    case EKI_REPORT_REAL:
        break;
    }
    return *(const double *)at;
}
