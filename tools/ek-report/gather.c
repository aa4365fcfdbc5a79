/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a record, and sums over them. */
#include "timeline.h"

#include "verdicts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

const char *const part_words[PARTS] = {[PART_TASKS] = "in tasks",
                                       [PART_BETWEEN] = "between tasks",
                                       [PART_SEARCH] = "searching",
                                       [PART_END] = "waiting for the end",
                                       [PART_LATE] = "late",
                                       [PART_DATA] = "waiting for data",
                                       [PART_STARVED] = "without a core",
                                       [PART_START] = "starting",
                                       [PART_OUTSIDE] = "outside",
                                       [PART_RESTORE] = "restoring",
                                       [PART_BUSIEST] =
                                           "waiting for the busiest worker",
                                       [PART_NOBODY] = "no worker in a task"};

const char *run_collection(const struct run *run)
{
    return run->record ? run->record->shape.name : run->timeline->files.name;
}

const char *function_name(const struct run *run, int function)
{
    if (function < 0 || function >= run->record->function_count)
        return "?";
    return run->record->functions[function];
}

/* By the record alone. */
static void fill_parts(const struct run *run, struct iteration_row *row)
{
    double workers = run->record->shape.workers;
    double all_s = workers * row->wall_s, busiest_s = workers * row->largest_s;
    row->parts_s[PART_TASKS] = fmin(row->work_s, all_s);
    row->parts_s[PART_BUSIEST] =
        fmax(fmin(busiest_s, all_s) - row->parts_s[PART_TASKS], 0);
    row->parts_s[PART_NOBODY] = fmax(all_s - busiest_s, 0);
    row->bound = row->longest_s > 0
                     ? fmin(row->work_s / workers / row->longest_s, 1)
                     : 1;
}

/* What an iteration says of itself. */
static void add_row(struct run *run,
                    const struct eki_record_iteration *iteration, int64_t k)
{
    struct iteration_row *row = &run->rows[k];
    double largest_s = -1;
    row->head = iteration->head;
    row->wall_s = (double)iteration->head.wall_ns * 1e-9;
    for (int i = 0; i < run->record->shape.workers; i++) {
        const struct eki_record_worker *worker = &iteration->workers[i];
        double work_s = (double)worker->work_ns * 1e-9;
        row->work_s += work_s;
        row->tasks += worker->executed;
        row->nulls += worker->nulls;
        if (work_s > largest_s) {
            largest_s = work_s;
            row->busiest = i;
        }
    }
    row->largest_s = largest_s;
    for (int64_t t = 0; t < iteration->task_count; t++) {
        const struct eki_record_task *task = &iteration->tasks[t];
        if (task->flags & (EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED)) {
            row->nulls++;
            continue;
        }
        double task_s = (double)task->duration_ns * 1e-9;
        row->held += (task->flags & EKI_RECORD_HELD) != 0;
        if (task_s > row->longest_s) {
            row->longest_s = task_s;
            row->longest_function = task->function;
        }
    }
    fill_parts(run, row);
}

/* How often and how long the longest tasks ran in an iteration. */
static void add_long(struct run *run,
                     const struct eki_record_iteration *iteration, int64_t k)
{
    (void)k;
    for (int64_t t = 0; t < iteration->task_count; t++) {
        const struct eki_record_task *task = &iteration->tasks[t];
        for (int i = 0; i < run->longest_count; i++) {
            struct long_task *longest = &run->longest[i];
            if (task->id == longest->task.id && task->duration_ns > 0 &&
                longest->count < run->record->iteration_count)
                longest->seconds[longest->count++] =
                    (double)task->duration_ns * 1e-9;
        }
    }
}

/* Iteration after iteration: only one is in memory. */
typedef void visit_fn(struct run *run,
                      const struct eki_record_iteration *iteration, int64_t k);

static bool visit_all(struct run *run, visit_fn *visit, struct message *message)
{
    for (int64_t k = 0; k < run->record->iteration_count; k++) {
        struct eki_record_iteration iteration;
        if (eki_record_load(run->record, k, &iteration) != EK_OK)
            return message_set(message, "%s", ek_error_message());
        visit(run, &iteration, k);
        eki_record_unload(&iteration);
    }
    return true;
}

bool gather_longest(struct run *run, struct message *message)
{
    for (int i = 0; i < run->longest_count; i++)
        run->longest[i].seconds =
            allocate((size_t)run->record->iteration_count, sizeof(double));
    bool is_good = visit_all(run, add_long, message);
    for (int i = 0; i < run->longest_count; i++) {
        struct long_task *longest = &run->longest[i];
        if (longest->count > 0)
            longest->median_s =
                verdict_median(longest->seconds, (int)longest->count);
    }
    return is_good;
}

static bool choose_row(struct run *run, int64_t number, struct message *message)
{
    int64_t count = run->record->iteration_count;
    run->chosen = count - 1;
    for (int64_t k = 0; number >= 0 && k < count; k++) {
        run->chosen = k;
        if (run->rows[k].head.iteration == number)
            return true;
    }
    return number < 0 ||
           message_set(message,
                       "--iteration is %" PRId64 "; '%.300s' has none of that "
                       "number; allowed: those from %" PRId64 " to %" PRId64
                       " that it lists",
                       number, run->path, run->rows[0].head.iteration,
                       run->rows[count - 1].head.iteration);
}

bool gather_run(const char *path, const struct arguments *arguments,
                struct run *run, struct message *message)
{
    *run = (struct run){.path = path};
    if (eki_record_open(path, &run->record) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    struct eki_record *record = run->record;
    if (!record->is_complete)
        fprintf(stderr, "%s: '%s': %s\n", program_name, path, record->warning);
    if (record->iteration_count == 0)
        return message_set(message,
                           "'%.300s' has no iteration; allowed: a record with "
                           "one or more",
                           path);
    run->rank_of =
        allocate((size_t)record->shape.workers, sizeof *run->rank_of);
    for (int rank = 0, w = 0; rank < record->shape.ranks; rank++) {
        for (int i = 0; i < record->shape.rank_workers[rank]; i++)
            run->rank_of[w++] = rank;
    }
    run->node_of = allocate((size_t)record->shape.ranks, sizeof *run->node_of);
    run->rows = allocate((size_t)record->iteration_count, sizeof *run->rows);
    return visit_all(run, add_row, message) &&
           choose_row(run, arguments->iteration, message);
}

/* Sums for the verdict, as a report has them. */
static void add_figures(struct eki_verdict_run *verdict,
                        const struct iteration_row *row)
{
    const double *figures = row->figures;
    double useful_s = figures[FIGURE_WORK] - figures[FIGURE_STARVED_IN_TASKS];
    double workers_s = verdict->workers * row->wall_s;
    double core_s = figures[FIGURE_EFFICIENCY] > 0
                        ? fmax(useful_s / figures[FIGURE_EFFICIENCY], workers_s)
                        : workers_s;
    /* More than digits that were cut. */
    if (core_s < 1.001 * workers_s)
        core_s = workers_s;
    verdict->cores = (int)fmax(fmin(figures[FIGURE_CORES], INT_MAX), 1);
    verdict->core_s += core_s;
    verdict->server_s += core_s - workers_s;
    verdict->overhead_s += figures[FIGURE_OVERHEAD];
    verdict->data_s += figures[FIGURE_DATA];
    verdict->tiles_s += figures[FIGURE_TILES];
    verdict->first_s += figures[FIGURE_SPEED] * core_s;
    verdict->search_s += figures[FIGURE_SEARCH];
    verdict->end_s += figures[FIGURE_END];
    verdict->start_s += figures[FIGURE_START];
    verdict->late_s += figures[FIGURE_LATE];
    verdict->awaiting_s +=
        fmax(fmin(figures[FIGURE_SEARCH] + figures[FIGURE_END],
                  row->lateness_s * verdict->workers - figures[FIGURE_LATE]),
             0);
    verdict->cpu_s += figures[FIGURE_CPU];
    verdict->starved_s += figures[FIGURE_STARVED];
    verdict->starved_in_tasks_s += figures[FIGURE_STARVED_IN_TASKS];
    verdict->starved_idle_s += figures[FIGURE_STARVED_IDLE];
    verdict->restore_s += figures[FIGURE_RESTORE];
    verdict->outside_s += figures[FIGURE_OUTSIDE];
}

/* Of N rows, of which those without figures do not count where others have
 * some. */
static double median_of(const struct run *run, size_t offset)
{
    int n = 0;
    int64_t count = run->record->iteration_count;
    double *values = allocate((size_t)count, sizeof *values);
    for (int64_t k = 0; k < count; k++) {
        if (run->rows[k].has_figures == run->has_figures)
            values[n++] =
                *(const double *)((const char *)&run->rows[k] + offset);
    }
    double median = verdict_median(values, n);
    free(values);
    return median;
}

/* The rank that was the slowest most often; the one that was late, in all. */
static void find_ranks(const struct run *run, struct eki_verdict_run *verdict)
{
    int ranks = run->record->shape.ranks, busiest = 0, latest = 0;
    int64_t *slowest = allocate((size_t)ranks, sizeof *slowest);
    double *late_s = allocate((size_t)ranks, sizeof *late_s);
    for (int64_t k = 0; k < run->record->iteration_count; k++) {
        const struct iteration_row *row = &run->rows[k];
        double slow = row->has_figures ? row->figures[FIGURE_SLOWEST_RANK]
                                       : run->rank_of[row->busiest];
        double last = row->figures[FIGURE_LATEST_RANK];
        if (slow >= 0 && slow < ranks)
            slowest[(int)slow]++;
        if (last >= 0 && last < ranks)
            late_s[(int)last] += row->lateness_s;
    }
    for (int rank = 1; rank < ranks; rank++) {
        busiest = slowest[rank] > slowest[busiest] ? rank : busiest;
        latest = late_s[rank] > late_s[latest] ? rank : latest;
    }
    verdict->busiest_rank = busiest;
    verdict->latest_rank = latest;
    verdict->lateness_s = late_s[latest] / (double)verdict->iterations;
    free(slowest);
    free(late_s);
}

/* Sums that need no table. */
static void add_recorded(struct eki_verdict_run *verdict,
                         const struct iteration_row *row)
{
    if (!row->has_figures) {
        verdict->core_s += verdict->workers * row->wall_s;
        verdict->end_s += row->parts_s[PART_BUSIEST];
    }
    eki_verdict_count(verdict, row->head.restore, row->head.steal);
    verdict->tasks += row->tasks;
    verdict->wall_s += row->wall_s;
    verdict->work_s +=
        row->has_figures ? row->figures[FIGURE_WORK] : row->work_s;
}

void gather_end(struct run *run)
{
    struct eki_verdict_run *verdict = &run->verdict;
    double busiest_s = 0, longest_s = 0, mean_s = 0;
    verdict->workers = verdict->cores = run->record->shape.workers;
    verdict->nodes = run->nodes > 0 ? run->nodes : 1;
    for (int64_t k = 0; k < run->record->iteration_count; k++) {
        struct iteration_row *row = &run->rows[k];
        if (row->has_figures != run->has_figures)
            continue;
        if (row->has_figures) {
            fill_figures(run, row);
            add_figures(verdict, row);
        }
        add_recorded(verdict, row);
        busiest_s += row->largest_s;
        mean_s += row->work_s / verdict->workers;
        if (row->longest_s > longest_s) {
            longest_s = row->longest_s;
            verdict->function = function_name(run, row->longest_function);
        }
    }
    verdict->busiest = mean_s > 0 ? busiest_s / mean_s : 0;
    verdict->iteration_s =
        median_of(run, offsetof(struct iteration_row, wall_s));
    verdict->longest_s =
        median_of(run, offsetof(struct iteration_row, longest_s));
    find_ranks(run, verdict);
}

void gather_free(struct run *run)
{
    if (run->record)
        eki_record_close(&run->record);
    free(run->rank_of);
    free(run->node_of);
    free(run->rows);
    for (int i = 0; i < run->longest_count; i++)
        free(run->longest[i].seconds);
    free(run->groups.of_worker);
    free(run->homes);
    free(run->before.worker_s);
    free(run->now.worker_s);
    free(run->simulated);
}
