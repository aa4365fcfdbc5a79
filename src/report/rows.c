/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of fields: what a report says, in the order of print. */
#include "report/print.h"

#define FIELD(owner, member) .name = #member, .offset = offsetof(owner, member)
#define OF_JOB(member) FIELD(struct eki_figures, member)
#define OF_RANK(member) FIELD(struct eki_report_rank, member)
#define OF_FUNCTION(member) FIELD(struct eki_report_function, member)
#define COUNT .type = EKI_FIELD_INTEGER, .unit = ""
#define BYTES .type = EKI_FIELD_INTEGER, .unit = "B"
#define SECONDS .type = EKI_FIELD_REAL, .unit = "s"
#define RATIO .type = EKI_FIELD_REAL, .unit = ""
#define NUMBER .type = EKI_FIELD_NUMBER, .unit = ""
#define ID .type = EKI_FIELD_ID, .unit = ""
#define CHOICE .type = EKI_FIELD_CHOICE, .unit = ""
#define NAME .type = EKI_FIELD_NAME, .unit = ""
#define HELP(text) .help = (text)

static const struct eki_field job_table[] = {
    {OF_JOB(iteration), COUNT, HELP("number of this ek_process(), from 0")},
    {OF_JOB(efficiency), RATIO,
     HELP("part of the time of the cores of workers and dedicated servers in "
          "which tasks ran")},
    {OF_JOB(imbalance), RATIO,
     HELP("largest load of a worker / mean load - 1")},
    {OF_JOB(bound), RATIO,
     HELP("best efficiency that the largest task allows: mean load of a worker "
          "/ largest task, at most 1")},
    {OF_JOB(wall_s), SECONDS, HELP("longest stay of a rank in ek_process()")},
    {OF_JOB(work_s), SECONDS, HELP("time in tasks, summed over workers")},
    {OF_JOB(tasks), COUNT,
     HELP("tasks that were executed: spawned tasks and indices of ranges "
          "count, too")},
    {OF_JOB(stolen), COUNT,
     HELP("tasks that moved to another worker by a steal")},
    {OF_JOB(largest_task_s), SECONDS,
     HELP("longest task that was timed alone")},
    {OF_JOB(speed), RATIO,
     HELP("efficiency that the same tasks would have at their first measured "
          "durations")},
    {OF_JOB(inflation), RATIO,
     HELP("time of the same tasks / their first measured time, as a product "
          "over all reported iterations")},
    {OF_JOB(workers), COUNT, HELP("workers of the job")},
    {OF_JOB(cores), NUMBER,
     HELP("cores that the workers of the job may use; ranks that share cores "
          "count them once")},
    {OF_JOB(slowest_rank), NUMBER,
     HELP("rank with the largest load per worker")},
    {OF_JOB(latest_rank), NUMBER, HELP("rank that entered last")},
    {OF_JOB(largest_task_function), NUMBER,
     HELP("function of the longest task; -1: no task was timed alone")},
    {OF_JOB(largest_task_id), ID,
     HELP("id of the longest task; ek_report_get() rounds ids above 2^53")},
    {OF_JOB(restore), CHOICE,
     HELP("policy that restored the tasks before this iteration; with auto the "
          "one that it chose")},
    {OF_JOB(steal), CHOICE,
     HELP("policy that workers stole by; with auto the one that it chose")},
    {OF_JOB(null_tasks), COUNT,
     HELP("tasks that were skipped or discarded; tasks counts them, too")},
    {OF_JOB(spawned), COUNT, HELP("tasks that tasks created")},
    {OF_JOB(cancelled), COUNT,
     HELP("tasks that did not run after a failure or a stop")},
    {OF_JOB(failed), COUNT,
     HELP("tasks that failed, also by loss of their result")},
    {OF_JOB(tries), RATIO, HELP("attempts to steal, mean over workers")},
    {OF_JOB(tries_deviation), RATIO,
     HELP("standard deviation of tries over workers")},
    {OF_JOB(steals), RATIO,
     HELP("attempts that brought tasks, mean over workers")},
    {OF_JOB(steals_deviation), RATIO,
     HELP("standard deviation of steals over workers")},
    {OF_JOB(in_vain), COUNT,
     HELP("requests to other nodes that brought no task")},
    {OF_JOB(messages), COUNT,
     HELP("messages between nodes, of all kinds, during ek_process()")},
    {OF_JOB(deepest), COUNT,
     HELP("most tasks that were seen on the stack of one worker; a range "
          "counts as one")},
    {OF_JOB(overhead_s), SECONDS,
     HELP("time between tasks, summed over workers: they handle tasks and "
          "serve other nodes")},
    {OF_JOB(search_s), SECONDS,
     HELP(
         "time without tasks before a worker finds some, summed over workers")},
    {OF_JOB(stealing_s), SECONDS,
     HELP("part of search_s in steals that brought tasks")},
    {OF_JOB(end_s), SECONDS,
     HELP("time without tasks until the end, summed over workers")},
    {OF_JOB(start_s), SECONDS,
     HELP("time in which workers wake, call hooks and leave, summed over "
          "workers")},
    {OF_JOB(late_s), SECONDS,
     HELP("time before the rank of a worker enters, summed over workers")},
    {OF_JOB(restore_s), SECONDS,
     HELP("longest ek_restore() of a rank before this iteration, and the time "
          "of its pauses that is no save")},
    {OF_JOB(outside_s), SECONDS,
     HELP("longest time of a rank outside since the last iteration")},
    {OF_JOB(cpu_s), SECONDS,
     HELP("processor time of the workers' threads; 0: it was not measured")},
    {OF_JOB(starved_s), SECONDS,
     HELP(
         "time in which threads of workers were ready to run and had no core")},
    {OF_JOB(starved_in_tasks_s), SECONDS,
     HELP("part of starved_s and work_s in which tasks were held up")},
    {OF_JOB(starved_idle_s), SECONDS,
     HELP("part of starved_s in which workers had no tasks")},
    {OF_JOB(serve_p50_s), SECONDS,
     HELP(
         "time to serve a request of another node, median; 0: there was none")},
    {OF_JOB(serve_p99_s), SECONDS,
     HELP("time to serve a request of another node, percentile 99")},
    {OF_JOB(tile_gets), COUNT, HELP("tiles of other nodes that tasks got")},
    {OF_JOB(tile_hits), COUNT,
     HELP("of the tiles that tasks got, those that a cache had")},
    {OF_JOB(tile_bytes), BYTES,
     HELP("size of the tiles that went between nodes")},
    {OF_JOB(tile_wait_s), SECONDS,
     HELP("part of work_s in which tasks waited for tiles")},
    {OF_JOB(travelled), COUNT, HELP("tasks that ran away from their data")},
    {OF_JOB(data_in_bytes), BYTES,
     HELP("size of the inputs that went to these tasks")},
    {OF_JOB(data_out_bytes), BYTES, HELP("size of the results that went home")},
    {OF_JOB(data_held_bytes), BYTES,
     HELP("most that a rank held for others at a time")},
    {OF_JOB(data_callback_s), SECONDS,
     HELP("time in callbacks of data that travels, summed over ranks")},
    {OF_JOB(data_wait_s), SECONDS,
     HELP("part of overhead_s in which workers waited for inputs")},
    {OF_JOB(loads_read), COUNT,
     HELP("loads of other nodes that nodes read, where nodes are thieves "
          "(steal=load and the like)")},
    {OF_JOB(occupied), COUNT,
     HELP("of their requests, those that came while another node was served")},
    {OF_JOB(denied), COUNT, HELP("of their requests, those that were denied")},
    {OF_JOB(searches_1), COUNT,
     HELP("their searches that brought tasks after a request to one node; a "
          "search that asked nobody, because an earlier request brought tasks, "
          "is not counted")},
    {OF_JOB(searches_2), COUNT, HELP("the same after requests to two nodes")},
    {OF_JOB(searches_3), COUNT, HELP("the same after requests to three nodes")},
    {OF_JOB(searches_4), COUNT, HELP("the same after requests to four nodes")},
    {OF_JOB(searches_more), COUNT, HELP("the same after requests to more")},
    {OF_JOB(grants), COUNT, HELP("of their requests, those that got tasks")},
    {OF_JOB(cyclic), COUNT,
     HELP("of grants, those to a node where a request of the victim waited")},
    {OF_JOB(first_steals), COUNT,
     HELP("workers to which a steal brought their first tasks")},
    {OF_JOB(first_steal_s), SECONDS,
     HELP("time from the entry of a rank until such a steal, mean over these "
          "workers; 0: there was none")},
    {OF_JOB(first_steal_most_s), SECONDS,
     HELP("the same of the worker that took longest")},
    {OF_JOB(termination), CHOICE,
     HELP("how nodes found the end; tasks of one node are counted")},
    {OF_JOB(save_s), SECONDS,
     HELP("longest time of a rank in saves and checkpoints before this "
          "iteration, and in its middle")},
    {OF_JOB(saves_failed), COUNT,
     HELP("saves and checkpoints before this iteration that failed")},
    {OF_JOB(stopped), COUNT,
     HELP("1: stopped by a signal, by the time limit or by ek_stop_at()")},
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
    {OF_JOB(tries), RATIO},
    {OF_JOB(steals), RATIO},
    {OF_JOB(wall_s), SECONDS},
    {OF_JOB(work_s), SECONDS},
    {OF_JOB(overhead_s), SECONDS},
    {OF_JOB(search_s), SECONDS},
    {OF_JOB(end_s), SECONDS},
    {OF_JOB(start_s), SECONDS},
    {OF_JOB(late_s), SECONDS},
    {OF_JOB(cpu_s), SECONDS},
    {OF_JOB(starved_s), SECONDS},
    {OF_JOB(restore_s), SECONDS},
    {OF_JOB(outside_s), SECONDS},
    {OF_RANK(load_s), SECONDS},
    {OF_JOB(largest_task_s), SECONDS},
    {OF_JOB(largest_task_id), ID},
    {OF_JOB(in_vain), COUNT},
    {OF_JOB(messages), COUNT},
    {OF_JOB(stealing_s), SECONDS},
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
