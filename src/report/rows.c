/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of fields: what a report says, in the order of its structs.
 * docs/how-to/read-the-report.md says what each of them means. */
#include "report/print.h"

#define FIELD(owner, member) .name = #member, .offset = offsetof(owner, member)
#define OF_JOB(member) FIELD(ek_process_report, member)
#define OF_RANK(member) FIELD(struct eki_report_rank, member)
#define OF_FUNCTION(member) FIELD(struct eki_report_function, member)
#define COUNT .type = EKI_FIELD_INTEGER, .unit = "1"
#define BYTES .type = EKI_FIELD_INTEGER, .unit = "B"
#define SECONDS .type = EKI_FIELD_REAL, .unit = "s"
#define RATIO .type = EKI_FIELD_REAL, .unit = "1"
#define NUMBER .type = EKI_FIELD_NUMBER, .unit = "1"
#define ID .type = EKI_FIELD_ID, .unit = "1"
#define CHOICE .type = EKI_FIELD_CHOICE, .unit = "1"
#define NAME .type = EKI_FIELD_NAME, .unit = "1"

static const struct eki_field job_table[] = {
    {OF_JOB(iteration), COUNT, .title = "iteration"},
    {OF_JOB(workers), COUNT, .title = "workers"},
    {OF_JOB(tasks), COUNT, .title = "tasks"},
    {OF_JOB(null_tasks), COUNT, .title = "null"},
    {OF_JOB(spawned), COUNT, .title = "spawned"},
    {OF_JOB(cancelled), COUNT, .title = "cancelled"},
    {OF_JOB(failed), COUNT, .title = "failed"},
    {OF_JOB(stolen), COUNT, .title = "stolen"},
    {OF_JOB(attempted_mean), RATIO, .title = "tries"},
    {OF_JOB(attempted_deviation), RATIO, .title = "tries-sd"},
    {OF_JOB(successful_mean), RATIO, .title = "steals"},
    {OF_JOB(successful_deviation), RATIO, .title = "steals-sd"},
    {OF_JOB(wall_s), SECONDS, .title = "wall"},
    {OF_JOB(work_s), SECONDS, .title = "work"},
    {OF_JOB(overhead_s), SECONDS, .title = "overhead"},
    {OF_JOB(search_s), SECONDS, .title = "search"},
    {OF_JOB(termination_s), SECONDS, .title = "end"},
    {OF_JOB(start_s), SECONDS, .title = "start"},
    {OF_JOB(late_s), SECONDS, .title = "late"},
    {OF_JOB(restore_s), SECONDS, .title = "restore"},
    {OF_JOB(outside_s), SECONDS, .title = "outside"},
    {OF_JOB(inflation), RATIO, .title = "inflation"},
    {OF_JOB(service_p50_s), SECONDS, .title = "serve-50"},
    {OF_JOB(service_p99_s), SECONDS, .title = "serve-99"},
    {OF_JOB(largest_task_s), SECONDS, .title = "largest"},
    {OF_JOB(largest_task_id), ID, .title = "largest-id"},
    {OF_JOB(largest_task_function), NUMBER, .title = "function"},
    {OF_JOB(slowest_rank), NUMBER, .title = "slowest"},
    {OF_JOB(imbalance), RATIO, .title = "imbalance"},
    {OF_JOB(efficiency), RATIO, .title = "efficiency"},
    {OF_JOB(bound), RATIO, .title = "bound"},
    {OF_JOB(cpu_s), SECONDS, .title = "cpu"},
    {OF_JOB(starved_s), SECONDS, .title = "starved"},
    {OF_JOB(speed), RATIO, .title = "speed"},
    {OF_JOB(cores), NUMBER, .title = "cores"},
    {OF_JOB(latest_rank), NUMBER, .title = "latest"},
    {OF_JOB(restore), CHOICE, .title = "restored"},
    {OF_JOB(steal), CHOICE, .title = "steal"},
    {OF_JOB(tile_gets), COUNT, .title = "tile-gets"},
    {OF_JOB(tile_hits), COUNT, .title = "tile-hits"},
    {OF_JOB(tile_bytes), BYTES, .title = "tile-bytes"},
    {OF_JOB(tile_wait_s), SECONDS, .title = "tile-wait"},
    {OF_JOB(travelled), COUNT, .title = "travelled"},
    {OF_JOB(data_in_bytes), BYTES, .title = "data-in"},
    {OF_JOB(data_out_bytes), BYTES, .title = "data-out"},
    {OF_JOB(data_held_bytes), BYTES, .title = "data-held"},
    {OF_JOB(data_callback_s), SECONDS, .title = "data-calls"},
    {OF_JOB(data_wait_s), SECONDS, .title = "data-wait"},
    {OF_JOB(failed_across), COUNT, .title = "in-vain"},
    {OF_JOB(messages), COUNT, .title = "messages"},
    {OF_JOB(steal_s), SECONDS, .title = "stealing"},
    {OF_JOB(deepest), COUNT, .title = "deepest"},
    {OF_JOB(starved_tasks_s), SECONDS, .title = "in-tasks"},
    {OF_JOB(starved_idle_s), SECONDS, .title = "in-idle"},
};

/* So rows of the job are rows of a rank, too. */
_Static_assert(offsetof(struct eki_report_rank, figures) == 0, "the first");

static const struct eki_field rank_table[] = {
    {OF_JOB(iteration), COUNT},
    {OF_RANK(rank), NUMBER},
    {OF_RANK(node), NUMBER},
    {OF_JOB(workers), COUNT},
    {OF_JOB(tasks), COUNT},
    {OF_JOB(null_tasks), COUNT},
    {OF_JOB(spawned), COUNT},
    {OF_JOB(cancelled), COUNT},
    {OF_JOB(failed), COUNT},
    {OF_JOB(stolen), COUNT},
    {OF_RANK(attempted), COUNT},
    {OF_RANK(successful), COUNT},
    {OF_JOB(wall_s), SECONDS},
    {OF_JOB(work_s), SECONDS},
    {OF_JOB(overhead_s), SECONDS},
    {OF_JOB(search_s), SECONDS},
    {OF_JOB(termination_s), SECONDS},
    {OF_JOB(start_s), SECONDS},
    {OF_JOB(late_s), SECONDS},
    {OF_JOB(cpu_s), SECONDS},
    {OF_JOB(starved_s), SECONDS},
    {OF_JOB(restore_s), SECONDS},
    {OF_JOB(outside_s), SECONDS},
    {OF_RANK(load_s), SECONDS},
    {OF_JOB(largest_task_s), SECONDS},
    {OF_JOB(largest_task_id), ID},
    {OF_JOB(failed_across), COUNT},
    {OF_JOB(messages), COUNT},
    {OF_JOB(steal_s), SECONDS},
    {OF_JOB(deepest), COUNT},
};

static const struct eki_field function_table[] = {
    {OF_FUNCTION(iteration), COUNT},
    {OF_FUNCTION(name), NAME},
    {OF_FUNCTION(tasks), COUNT},
    {OF_FUNCTION(work_s), SECONDS},
};

#define COUNT_OF(table) (int)(sizeof(table) / sizeof(table)[0])

const struct eki_report_table *eki_report_table_of(enum eki_rows rows)
{
    static const struct eki_report_table tables[EKI_ROWS_KINDS] = {
        [EKI_ROWS_JOB] = {job_table, COUNT_OF(job_table)},
        [EKI_ROWS_RANKS] = {rank_table, COUNT_OF(rank_table)},
        [EKI_ROWS_FUNCTIONS] = {function_table, COUNT_OF(function_table)}};
    return &tables[rows];
}
