/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of fields: what a report says, in the order of its structs. */
#include "report/internal.h"

#include <inttypes.h>
#include <math.h>

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
     "(work_s - starved_tasks_s) / (workers' and servers' cores x wall_s)"},
    {FIELD(bound), EKI_REPORT_REAL, "1", "bound",
     "best efficiency the largest task allows"},
    {FIELD(cpu_s), EKI_REPORT_REAL, "s", "cpu",
     "sum over workers: processor time; 0: not measured"},
    {FIELD(starved_s), EKI_REPORT_REAL, "s", "starved",
     "sum over workers: ready to run, without a core"},
    {FIELD(speed), EKI_REPORT_REAL, "1", "speed",
     "work at first measured durations / (these cores x wall_s)"},
    {FIELD(cores), EKI_REPORT_NUMBER, "1", "cores",
     "that the workers may use, in the whole job"},
    {FIELD(latest_rank), EKI_REPORT_NUMBER, "1", "latest",
     "rank that entered last"},
    {FIELD(restore), EKI_REPORT_POLICY, "1", "restored",
     "how tasks were restored before"},
    {FIELD(steal), EKI_REPORT_POLICY, "1", "steal", "whom workers stole from"},
    {FIELD(tile_gets), EKI_REPORT_INTEGER, "1", "tile-gets",
     "tiles of other nodes that tasks got"},
    {FIELD(tile_hits), EKI_REPORT_INTEGER, "1", "tile-hits",
     "of these, from a cache"},
    {FIELD(tile_bytes), EKI_REPORT_INTEGER, "B", "tile-bytes",
     "of tiles that went between nodes"},
    {FIELD(tile_wait_s), EKI_REPORT_REAL, "s", "tile-wait",
     "of work_s: waiting for tiles"},
    {FIELD(travelled), EKI_REPORT_INTEGER, "1", "travelled",
     "tasks that ran away from their data"},
    {FIELD(data_in_bytes), EKI_REPORT_INTEGER, "B", "data-in", "their inputs"},
    {FIELD(data_out_bytes), EKI_REPORT_INTEGER, "B", "data-out",
     "their results"},
    {FIELD(data_held_bytes), EKI_REPORT_INTEGER, "B", "data-held",
     "most that a rank held for others"},
    {FIELD(data_callback_s), EKI_REPORT_REAL, "s", "data-calls",
     "sum over ranks: in callbacks of data that travels"},
    {FIELD(data_wait_s), EKI_REPORT_REAL, "s", "data-wait",
     "of overhead_s: waiting for inputs"},
    {FIELD(failed_across), EKI_REPORT_INTEGER, "1", "in-vain",
     "requests to other nodes that brought no task"},
    {FIELD(messages), EKI_REPORT_INTEGER, "1", "messages",
     "sent between nodes"},
    {FIELD(steal_s), EKI_REPORT_REAL, "s", "stealing",
     "of search_s: in steals that brought tasks"},
    {FIELD(deepest), EKI_REPORT_INTEGER, "1", "deepest",
     "most tasks on a worker's stack, seen now and then"},
    {FIELD(starved_tasks_s), EKI_REPORT_REAL, "s", "in-tasks",
     "of starved_s and work_s: in tasks"},
    {FIELD(starved_idle_s), EKI_REPORT_REAL, "s", "in-idle",
     "of starved_s, search_s and termination_s: without tasks"},
};

#undef FIELD
#define FIELD(field) #field, offsetof(struct eki_report_rank, field)

static const struct eki_report_field rank_table[] = {
    {FIELD(iteration), EKI_REPORT_INTEGER, "1", "iteration",
     "number of this ek_process(), from 0"},
    {FIELD(rank), EKI_REPORT_NUMBER, "1", "rank", "of the job"},
    {FIELD(node), EKI_REPORT_NUMBER, "1", "node", "that it is on"},
    {FIELD(workers), EKI_REPORT_INTEGER, "1", "workers", "of the rank"},
    {FIELD(tasks), EKI_REPORT_INTEGER, "1", "tasks", "executed here"},
    {FIELD(null_tasks), EKI_REPORT_INTEGER, "1", "null",
     "of these, skipped or discarded"},
    {FIELD(spawned), EKI_REPORT_INTEGER, "1", "spawned", "created by tasks"},
    {FIELD(cancelled), EKI_REPORT_INTEGER, "1", "cancelled",
     "not run after a failure or ek_stop()"},
    {FIELD(failed), EKI_REPORT_INTEGER, "1", "failed", "tasks that failed"},
    {FIELD(stolen), EKI_REPORT_INTEGER, "1", "stolen",
     "tasks that stealing brought"},
    {FIELD(attempted), EKI_REPORT_INTEGER, "1", "tries", "steals attempted"},
    {FIELD(successful), EKI_REPORT_INTEGER, "1", "steals",
     "of these, successful"},
    {FIELD(wall_s), EKI_REPORT_REAL, "s", "wall", "stay in ek_process()"},
    {FIELD(work_s), EKI_REPORT_REAL, "s", "work",
     "sum over workers, as those below: running tasks"},
    {FIELD(overhead_s), EKI_REPORT_REAL, "s", "overhead", "between tasks"},
    {FIELD(search_s), EKI_REPORT_REAL, "s", "search",
     "without work, before finding some"},
    {FIELD(termination_s), EKI_REPORT_REAL, "s", "end",
     "without work, until the end"},
    {FIELD(start_s), EKI_REPORT_REAL, "s", "start", "waking, hooks, leaving"},
    {FIELD(late_s), EKI_REPORT_REAL, "s", "late", "the rank had not entered"},
    {FIELD(cpu_s), EKI_REPORT_REAL, "s", "cpu", "processor time"},
    {FIELD(starved_s), EKI_REPORT_REAL, "s", "starved",
     "ready to run, without a core"},
    {FIELD(restore_s), EKI_REPORT_REAL, "s", "restore",
     "the rank's ek_restore() before it"},
    {FIELD(outside_s), EKI_REPORT_REAL, "s", "outside",
     "outside since the last iteration"},
    {FIELD(load_s), EKI_REPORT_REAL, "s", "load", "largest of a worker"},
    {FIELD(largest_task_s), EKI_REPORT_REAL, "s", "largest", "longest task"},
    {FIELD(largest_task_id), EKI_REPORT_ID, "1", "largest-id", "its id"},
    {FIELD(failed_across), EKI_REPORT_INTEGER, "1", "in-vain",
     "requests to other nodes that brought no task"},
    {FIELD(messages), EKI_REPORT_INTEGER, "1", "messages",
     "sent to other nodes"},
    {FIELD(steal_s), EKI_REPORT_REAL, "s", "stealing",
     "of search: in steals that brought tasks"},
    {FIELD(deepest), EKI_REPORT_INTEGER, "1", "deepest",
     "most tasks on a worker's stack"},
};

#undef FIELD
#define FIELD(field) #field, offsetof(struct eki_report_function, field)

static const struct eki_report_field function_table[] = {
    {FIELD(iteration), EKI_REPORT_INTEGER, "1", "iteration",
     "number of this ek_process(), from 0"},
    {FIELD(name), EKI_REPORT_TEXT, "1", "function", "its name"},
    {FIELD(tasks), EKI_REPORT_INTEGER, "1", "tasks",
     "executed; a batch counts for the function of its last task"},
    {FIELD(work_s), EKI_REPORT_REAL, "s", "work", "running them"},
};

#define COUNT(table) (int)(sizeof(table) / sizeof(table)[0])

const struct eki_report_table *eki_report_table_of(enum eki_rows rows)
{
    static const struct eki_report_table tables[EKI_ROWS_KINDS] = {
        [EKI_ROWS_JOB] = {table, COUNT(table)},
        [EKI_ROWS_RANKS] = {rank_table, COUNT(rank_table)},
        [EKI_ROWS_FUNCTIONS] = {function_table, COUNT(function_table)}};
    return &tables[rows];
}

int eki_report_field_count(void)
{
    return COUNT(table);
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
    case EKI_REPORT_POLICY:
        return sizeof(int);
    case EKI_REPORT_TEXT:
        return sizeof(((struct eki_report_function *)0)->name);
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
    case EKI_REPORT_POLICY:
        return *(const int *)at;
    case EKI_REPORT_TEXT:
        return (double)NAN;
    case EKI_REPORT_REAL:
        break;
    }
    return *(const double *)at;
}

void eki_report_append_value(const struct eki_report_field *field,
                             const void *figures, int digits, char *text,
                             size_t bytes)
{
    const void *at = (const unsigned char *)figures + field->offset;
    const char *name;
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
    case EKI_REPORT_POLICY:
        name = eki_option_choice_name(field->name, *(const int *)at);
        eki_append(text, bytes, "%s", name ? name : "none");
        break;
    case EKI_REPORT_TEXT:
        eki_append(text, bytes, "%s", (const char *)at);
        break;
    case EKI_REPORT_REAL:
        eki_append(text, bytes, "%.*g", digits, *(const double *)at);
        break;
    }
}
