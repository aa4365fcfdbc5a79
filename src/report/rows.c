/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of fields: what a report says, in the order of its structs. */
#include "report/print.h"

#define ROW_AT(name_, member_, type_, unit_, title_, help_)            \
    {                                                                  \
        .name = (name_), .offset = offsetof(OWNER, member_),           \
        .type = EKI_FIELD_##type_, .unit = (unit_), .title = (title_), \
        .help = (help_)                                                \
    }
#define ROW(field_, type_, unit_, title_, help_) \
    ROW_AT(#field_, field_, type_, unit_, title_, help_)
/* What a rank has as the job has it. */
#define FIGURE(field_, type_, unit_, title_, help_) \
    ROW_AT(#field_, figures.field_, type_, unit_, title_, help_)
#define OWNER ek_process_report

static const struct eki_field table[] = {
    ROW(iteration, INTEGER, "1", "iteration",
        "number of this ek_process(), from 0"),
    ROW(workers, INTEGER, "1", "workers", "in the whole job"),
    ROW(tasks, INTEGER, "1", "tasks", "executed, spawned ones included"),
    ROW(null_tasks, INTEGER, "1", "null", "of these, skipped or discarded"),
    ROW(spawned, INTEGER, "1", "spawned", "created by tasks"),
    ROW(cancelled, INTEGER, "1", "cancelled",
        "not run after a failure or ek_stop()"),
    ROW(failed, INTEGER, "1", "failed", "tasks that failed"),
    ROW(stolen, INTEGER, "1", "stolen", "tasks moved by stealing"),
    ROW(attempted_mean, REAL, "1", "tries", "steals attempted per worker"),
    ROW(attempted_deviation, REAL, "1", "tries-sd",
        "their standard deviation over workers"),
    ROW(successful_mean, REAL, "1", "steals", "successful steals per worker"),
    ROW(successful_deviation, REAL, "1", "steals-sd",
        "their standard deviation over workers"),
    ROW(wall_s, REAL, "s", "wall", "longest stay of a rank in ek_process()"),
    ROW(work_s, REAL, "s", "work", "sum over workers: running tasks"),
    ROW(overhead_s, REAL, "s", "overhead", "sum over workers: between tasks"),
    ROW(search_s, REAL, "s", "search",
        "sum over workers: without work, before finding some"),
    ROW(termination_s, REAL, "s", "end",
        "sum over workers: without work, until the end"),
    ROW(start_s, REAL, "s", "start",
        "sum over workers: waking, hooks, leaving"),
    ROW(late_s, REAL, "s", "late",
        "sum over workers: their rank had not entered"),
    ROW(restore_s, REAL, "s", "restore", "longest ek_restore() before it"),
    ROW(outside_s, REAL, "s", "outside",
        "longest time outside since the last iteration"),
    ROW(inflation, REAL, "1", "inflation",
        "time of tasks against their first, a chain of ratios"),
    ROW(service_p50_s, REAL, "s", "serve-50",
        "time to serve a request of another node: median"),
    ROW(service_p99_s, REAL, "s", "serve-99", "... that 99 % do not exceed"),
    ROW(largest_task_s, REAL, "s", "largest", "longest task"),
    ROW(largest_task_id, ID, "1", "largest-id", "its id"),
    ROW(largest_task_function, NUMBER, "1", "function",
        "its function; -1: no task was timed alone"),
    ROW(slowest_rank, NUMBER, "1", "slowest",
        "rank with the largest load per worker"),
    ROW(imbalance, REAL, "1", "imbalance",
        "largest load of a worker / mean - 1"),
    ROW(efficiency, REAL, "1", "efficiency",
        "(work_s - starved_tasks_s) / (workers' and servers' cores x wall_s)"),
    ROW(bound, REAL, "1", "bound", "best efficiency the largest task allows"),
    ROW(cpu_s, REAL, "s", "cpu",
        "sum over workers: processor time; 0: not measured"),
    ROW(starved_s, REAL, "s", "starved",
        "sum over workers: ready to run, without a core"),
    ROW(speed, REAL, "1", "speed",
        "work at first measured durations / (these cores x wall_s)"),
    ROW(cores, NUMBER, "1", "cores",
        "that the workers may use, in the whole job"),
    ROW(latest_rank, NUMBER, "1", "latest", "rank that entered last"),
    ROW(restore, CHOICE, "1", "restored", "how tasks were restored before"),
    ROW(steal, CHOICE, "1", "steal", "whom workers stole from"),
    ROW(tile_gets, INTEGER, "1", "tile-gets",
        "tiles of other nodes that tasks got"),
    ROW(tile_hits, INTEGER, "1", "tile-hits", "of these, from a cache"),
    ROW(tile_bytes, INTEGER, "B", "tile-bytes",
        "of tiles that went between nodes"),
    ROW(tile_wait_s, REAL, "s", "tile-wait", "of work_s: waiting for tiles"),
    ROW(travelled, INTEGER, "1", "travelled",
        "tasks that ran away from their data"),
    ROW(data_in_bytes, INTEGER, "B", "data-in", "their inputs"),
    ROW(data_out_bytes, INTEGER, "B", "data-out", "their results"),
    ROW(data_held_bytes, INTEGER, "B", "data-held",
        "most that a rank held for others"),
    ROW(data_callback_s, REAL, "s", "data-calls",
        "sum over ranks: in callbacks of data that travels"),
    ROW(data_wait_s, REAL, "s", "data-wait",
        "of overhead_s: waiting for inputs"),
    ROW(failed_across, INTEGER, "1", "in-vain",
        "requests to other nodes that brought no task"),
    ROW(messages, INTEGER, "1", "messages", "sent between nodes"),
    ROW(steal_s, REAL, "s", "stealing",
        "of search_s: in steals that brought tasks"),
    ROW(deepest, INTEGER, "1", "deepest",
        "most tasks on a worker's stack, seen now and then"),
    ROW(starved_tasks_s, REAL, "s", "in-tasks",
        "of starved_s and work_s: in tasks"),
    ROW(starved_idle_s, REAL, "s", "in-idle",
        "of starved_s, search_s and termination_s: without tasks"),
};

#undef OWNER
#define OWNER struct eki_report_rank

static const struct eki_field rank_table[] = {
    FIGURE(iteration, INTEGER, "1", "iteration",
           "number of this ek_process(), from 0"),
    ROW(rank, NUMBER, "1", "rank", "of the job"),
    ROW(node, NUMBER, "1", "node", "that it is on"),
    FIGURE(workers, INTEGER, "1", "workers", "of the rank"),
    FIGURE(tasks, INTEGER, "1", "tasks", "executed here"),
    FIGURE(null_tasks, INTEGER, "1", "null", "of these, skipped or discarded"),
    FIGURE(spawned, INTEGER, "1", "spawned", "created by tasks"),
    FIGURE(cancelled, INTEGER, "1", "cancelled",
           "not run after a failure or ek_stop()"),
    FIGURE(failed, INTEGER, "1", "failed", "tasks that failed"),
    FIGURE(stolen, INTEGER, "1", "stolen", "tasks that stealing brought"),
    ROW(attempted, INTEGER, "1", "tries", "steals attempted"),
    ROW(successful, INTEGER, "1", "steals", "of these, successful"),
    FIGURE(wall_s, REAL, "s", "wall", "stay in ek_process()"),
    FIGURE(work_s, REAL, "s", "work",
           "sum over workers, as those below: running tasks"),
    FIGURE(overhead_s, REAL, "s", "overhead", "between tasks"),
    FIGURE(search_s, REAL, "s", "search", "without work, before finding some"),
    FIGURE(termination_s, REAL, "s", "end", "without work, until the end"),
    FIGURE(start_s, REAL, "s", "start", "waking, hooks, leaving"),
    FIGURE(late_s, REAL, "s", "late", "the rank had not entered"),
    FIGURE(cpu_s, REAL, "s", "cpu", "processor time"),
    FIGURE(starved_s, REAL, "s", "starved", "ready to run, without a core"),
    FIGURE(restore_s, REAL, "s", "restore",
           "the rank's ek_restore() before it"),
    FIGURE(outside_s, REAL, "s", "outside", "outside since the last iteration"),
    ROW(load_s, REAL, "s", "load", "largest of a worker"),
    FIGURE(largest_task_s, REAL, "s", "largest", "longest task"),
    FIGURE(largest_task_id, ID, "1", "largest-id", "its id"),
    FIGURE(failed_across, INTEGER, "1", "in-vain",
           "requests to other nodes that brought no task"),
    FIGURE(messages, INTEGER, "1", "messages", "sent to other nodes"),
    FIGURE(steal_s, REAL, "s", "stealing",
           "of search: in steals that brought tasks"),
    FIGURE(deepest, INTEGER, "1", "deepest", "most tasks on a worker's stack"),
};

#undef OWNER
#define OWNER struct eki_report_function

static const struct eki_field function_table[] = {
    ROW(iteration, INTEGER, "1", "iteration",
        "number of this ek_process(), from 0"),
    ROW(name, NAME, "1", "function", "its name"),
    ROW(tasks, INTEGER, "1", "tasks",
        "executed; a batch counts for the function of its last task"),
    ROW(work_s, REAL, "s", "work", "running them"),
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

void eki_report_append_value(const struct eki_field *field, const void *figures,
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
