/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the counters of the workers to the figures of the job.
 *
 * Counts and times are summed as 64-bit integers, nanoseconds, so that all
 * ranks have the same figures whatever the order of the sum.
 */
#include "engine/detect.h"
#include "report/print.h"

#include <math.h>
#include <string.h>

#define NS 1e-9

/* Figures of the job that are sums over workers or ranks: a COUNT, or a TIME,
 * of which nanoseconds are summed.  First those that workers count. */
/* clang-format off */
#define COUNTED(COUNT, TIME)                                               \
    COUNT(tasks) COUNT(spawned) COUNT(cancelled) COUNT(failed)             \
    COUNT(stolen) COUNT(tile_gets) COUNT(tile_hits) COUNT(tile_bytes)      \
    TIME(tile_wait) TIME(data_wait) TIME(search) TIME(stealing)            \
    TIME(end) TIME(cpu)
#define SUMMED(COUNT, TIME)                                                \
    COUNTED(COUNT, TIME)                                                   \
    COUNT(null_tasks) COUNT(in_vain) COUNT(messages)                       \
    COUNT(loads_read) COUNT(occupied) COUNT(denied)                        \
    COUNT(searches_1) COUNT(searches_2) COUNT(searches_3)                  \
    COUNT(searches_4) COUNT(searches_more) COUNT(grants) COUNT(cyclic)     \
    COUNT(travelled) COUNT(data_in_bytes) COUNT(data_out_bytes)            \
    TIME(data_callback) TIME(work) TIME(overhead) TIME(start)              \
    TIME(starved) TIME(starved_in_tasks) TIME(starved_idle)
/* clang-format on */

#define COUNT_MEMBER(name) int64_t name;
#define TIME_MEMBER(name) int64_t name##_ns;
#define ADD_COUNT(name) sums->name += counts->name;
#define ADD_TIME(name) sums->name##_ns += (int64_t)counts->name##_ns;
#define FILL_COUNT(name) figures->name = sums->name;
#define FILL_TIME(name) figures->name##_s = (double)sums->name##_ns * NS;

/* Many members: one reduction sums all of this over ranks, as an array of
 * int64_t. */
struct eki_report_sums {
    SUMMED(COUNT_MEMBER, TIME_MEMBER)
    int64_t tries, steals;
    int64_t first_steals, first_steal_ns;
    int64_t stay_ns; /* workers x stay of their rank */
    int64_t server_cores;
    int64_t service[EKI_HISTOGRAM_BINS];
    struct {
        int64_t tasks, work_ns;
    } functions[];
};
_Static_assert(sizeof(struct eki_report_sums) % sizeof(int64_t) == 0,
               "an array of int64_t");

/* A second reduction sums these doubles. */
struct squares {
    double tries, steals; /* squared */
    struct eki_report_changes changes;
};

/* A third one finds the largest of each. */
struct largest {
    double wall_s, restore_s, outside_s, save_s;
    double load_ns; /* of a worker */
    double data_held_bytes;
    double deepest;
    double first_steal_ns;
};

struct largest_task {
    double ns;
    uint64_t id;
    int64_t function; /* -1: no task was timed alone */
};

/* What is no sum of integers: of this rank, then of the job. */
struct gathered {
    struct squares squares;
    struct largest largest;
    struct largest_task task;
};

static size_t sums_bytes(int functions)
{
    return sizeof(struct eki_report_sums) +
           (size_t)functions *
               sizeof(((struct eki_report_sums *)0)->functions[0]);
}

static bool grow_sums(struct eki_report *report, int functions)
{
    struct eki_report_sums *sums =
        eki_realloc(report->sums, 1, sums_bytes(functions));
    if (!sums)
        return false;
    report->sums = sums;
    struct eki_report_function *names = eki_realloc(
        report->functions, (size_t)functions + 1, sizeof *report->functions);
    if (!names)
        return false;
    report->functions = names;
    return true;
}

/* Make room for the functions.  All ranks have the same functions, and so all
 * or none of them come to the collective call. */
static ek_status reserve_functions(const struct eki_engine *engine,
                                   struct eki_fabric *fabric,
                                   struct eki_report *report)
{
    int functions = engine->function_count;
    if (functions <= report->function_room)
        return EK_OK;
    ek_status status = EK_OK;
    if (!grow_sums(report, functions))
        status =
            eki_error(EK_ERR_NOMEM, "no memory for the report of %d functions",
                      functions);
    status = eki_fabric_mpi_agree(fabric, status);
    if (status == EK_OK)
        report->function_room = functions;
    return status;
}

static int64_t least_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Split what a worker waited for cores.  What no task did is taken to be of the
 * time without tasks first, which waiting threads spend yielding; who waits for
 * data needs no core. */
static void add_starved(const struct eki_counts *counts, int64_t work_ns,
                        int64_t overhead_ns, struct eki_report_sums *sums)
{
    int64_t tasks = least_ns((int64_t)counts->held_ns, work_ns);
    int64_t rest = (int64_t)counts->starved_ns - (int64_t)counts->held_ns;
    int64_t idle =
        least_ns(rest, (int64_t)(counts->search_ns + counts->end_ns));
    int64_t between = overhead_ns - (int64_t)counts->data_wait_ns;
    between = least_ns(rest - idle, between > 0 ? between : 0);
    sums->starved_in_tasks_ns += tasks;
    sums->starved_idle_ns += idle;
    sums->starved_ns += tasks + idle + between;
}

/* Split the stay of a worker into the times of the report.  Overhead is what no
 * counter has, so that the times add up to the stay. */
static void add_times(const struct eki_counts *counts, uint64_t work_ns,
                      int64_t stay_ns, struct eki_report_sums *sums)
{
    int64_t inside = (int64_t)(counts->done_ns - counts->first_ns);
    int64_t known = (int64_t)(work_ns + counts->search_ns + counts->end_ns);
    sums->work_ns += (int64_t)work_ns;
    sums->overhead_ns += inside - known;
    sums->start_ns += stay_ns - inside;
    sums->stay_ns += stay_ns;
    add_starved(counts, (int64_t)work_ns, inside - known, sums);
}

static void add_worker_counts(const struct eki_counts *counts,
                              struct eki_report_sums *sums,
                              struct squares *squares)
{
    double tries = (double)counts->tries;
    double steals = (double)counts->steals;
    COUNTED(ADD_COUNT, ADD_TIME)
    sums->null_tasks += counts->nulls;
    sums->tries += counts->tries;
    sums->steals += counts->steals;
    sums->first_steals += counts->first_steal_ns != 0;
    sums->first_steal_ns += (int64_t)counts->first_steal_ns;
    squares->tries += tries * tries;
    squares->steals += steals * steals;
    squares->changes.before_ns += counts->before_ns;
    squares->changes.now_ns += counts->now_ns;
}

/* Functions share what handing out took as they share the time. */
static void add_functions(const struct ek_worker *worker, uint64_t work_ns,
                          int functions, struct eki_report_sums *sums)
{
    double part =
        eki_report_ratio((double)work_ns, (double)worker->counts.work_ns, 1);
    for (int i = 0; i < functions; i++) {
        sums->functions[i].tasks += worker->function_counts[i].tasks;
        sums->functions[i].work_ns +=
            llround(part * (double)worker->function_counts[i].work_ns);
    }
}

static void find_largest(const struct ek_worker *worker, uint64_t work_ns,
                         struct gathered *here)
{
    const struct eki_counts *counts = &worker->counts;
    struct largest *largest = &here->largest;
    double deepest =
        (double)(counts->deepest_bytes / worker->engine->slot_bytes);
    largest->load_ns = fmax(largest->load_ns, (double)work_ns);
    largest->deepest = fmax(largest->deepest, deepest);
    largest->first_steal_ns =
        fmax(largest->first_steal_ns, (double)counts->first_steal_ns);
    if ((double)counts->largest_ns > here->task.ns)
        here->task = (struct largest_task){
            (double)counts->largest_ns,
            eki_key(worker->engine->key_base, counts->largest_id),
            counts->largest_function};
}

/* What came of looking for work by nodes. */
static void sum_sought(const struct eki_node_counts *sought,
                       struct eki_report_sums *sums)
{
    sums->loads_read = sought->loads_read;
    sums->occupied = sought->occupied;
    sums->denied = sought->denied;
    sums->searches_1 = sought->searches[0];
    sums->searches_2 = sought->searches[1];
    sums->searches_3 = sought->searches[2];
    sums->searches_4 = sought->searches[3];
    sums->searches_more = sought->searches[4];
    sums->grants = sought->grants;
    sums->cyclic = sought->cyclic;
}

static void sum_here(const struct eki_engine *engine,
                     const struct eki_report_input *input,
                     struct eki_report_sums *sums, struct gathered *here)
{
    int64_t stay_ns = (int64_t)llround(input->wall_s / NS);
    memset(sums, 0, sums_bytes(engine->function_count));
    *here = (struct gathered){
        .largest = {.wall_s = input->wall_s,
                    .restore_s = input->restore_s,
                    .outside_s = input->outside_s,
                    .save_s = input->save_s,
                    .data_held_bytes = (double)input->data_held_bytes},
        .task.function = -1};
    sums->server_cores = input->has_server_core;
    sums->in_vain = engine->in_vain;
    sums->messages = engine->exchange.across;
    sum_sought(&engine->sought, sums);
    sums->failed = input->data_lost;
    sums->travelled = input->travelled;
    sums->data_in_bytes = input->data_in_bytes;
    sums->data_out_bytes = input->data_out_bytes;
    sums->data_callback_ns = (int64_t)llround(input->data_callback_s / NS);
    memcpy(sums->service, engine->answered->bins, sizeof sums->service);
    for (int w = 0; w < engine->topology->workers_here; w++) {
        const struct ek_worker *worker = engine->workers[w];
        uint64_t work_ns = eki_work_ns(&worker->counts, input->handling);
        add_times(&worker->counts, work_ns, stay_ns, sums);
        add_worker_counts(&worker->counts, sums, &here->squares);
        add_functions(worker, work_ns, engine->function_count, sums);
        find_largest(worker, work_ns, here);
    }
}

static ek_status reduce_figures(struct eki_fabric *fabric, int functions,
                                struct eki_report_sums *sums,
                                struct gathered *all)
{
    EKI_TRY(eki_fabric_mpi_sum(fabric, (int64_t *)sums,
                               (int)(sums_bytes(functions) / sizeof(int64_t))));
    EKI_TRY(eki_fabric_mpi_sum_double(fabric, (double *)&all->squares,
                                      sizeof all->squares / sizeof(double)));
    return eki_fabric_mpi_max(fabric, (double *)&all->largest,
                              sizeof all->largest / sizeof(double));
}

/* The rank with the largest load per worker is the slowest, as ranks may have
 * different numbers of workers; the one with the shortest stay came last.  Then
 * the largest task, from its rank. */
static ek_status find_ranks(struct eki_fabric *fabric,
                            const struct eki_figures *mine,
                            struct largest_task *task,
                            struct eki_figures *figures, double *stay_s)
{
    enum {
        TASK,
        LOAD,
        LATENESS,
        COUNT
    };
    double values[COUNT] = {[TASK] = task->ns,
                            [LOAD] = mine->work_s / (double)mine->workers,
                            [LATENESS] = -mine->wall_s};
    int ranks[COUNT];
    EKI_TRY(eki_fabric_mpi_max_rank(fabric, values, ranks, COUNT));
    figures->slowest_rank = ranks[LOAD];
    figures->latest_rank = ranks[LATENESS];
    *stay_s = -values[LATENESS];
    return eki_fabric_mpi_broadcast(fabric, task, sizeof *task, ranks[TASK]);
}

/* Of a gather: where the next piece goes; NULL: there is no room. */
static void take_ranks(const void *piece, size_t bytes, void *context)
{
    unsigned char **next = context;
    if (!*next)
        return;
    memcpy(*next, piece, bytes);
    *next += bytes;
}

/* Without memory on rank 0 it has no rows, but takes what others send. */
static ek_status gather_ranks(struct eki_fabric *fabric,
                              const struct eki_report_rank *mine, double wall_s,
                              struct eki_report *report)
{
    if (report->rank == 0 && !report->ranks)
        report->ranks = eki_alloc((size_t)report->size, sizeof *report->ranks);
    unsigned char *next = (unsigned char *)report->ranks;
    EKI_TRY(
        eki_fabric_mpi_gather(fabric, mine, sizeof *mine, take_ranks, &next));
    for (int r = 0; report->ranks && r < report->size; r++) {
        struct eki_figures *rank = &report->ranks[r].figures;
        rank->late_s = (double)rank->workers * (wall_s - rank->wall_s);
    }
    return EK_OK;
}

/* Mean and standard deviation over N workers. */
static void fill_deviation(int64_t sum, double squares, double n, double *mean,
                           double *deviation)
{
    *mean = (double)sum / n;
    double variance = squares / n - *mean * *mean;
    *deviation = variance > 0 ? sqrt(variance) : 0;
}

static void fill_sums(const struct eki_report_sums *sums,
                      const struct squares *squares,
                      struct eki_figures *figures)
{
    double workers = (double)figures->workers;
    SUMMED(FILL_COUNT, FILL_TIME)
    fill_deviation(sums->tries, squares->tries, workers, &figures->tries,
                   &figures->tries_deviation);
    fill_deviation(sums->steals, squares->steals, workers, &figures->steals,
                   &figures->steals_deviation);
    figures->first_steals = sums->first_steals;
    figures->first_steal_s = eki_report_ratio((double)sums->first_steal_ns * NS,
                                              (double)sums->first_steals, 0);
}

/* Ranks enter at different times: a worker is late for as long as the longest
 * stay exceeds that of its own rank. */
static void fill_times(const struct eki_report_sums *sums,
                       const struct largest *largest,
                       struct eki_figures *figures)
{
    struct eki_histogram service;
    memcpy(service.bins, sums->service, sizeof service.bins);
    figures->wall_s = largest->wall_s;
    figures->late_s =
        (double)(figures->workers * (int64_t)llround(largest->wall_s / NS) -
                 sums->stay_ns) *
        NS;
    figures->data_held_bytes = (int64_t)largest->data_held_bytes;
    figures->deepest = (int64_t)largest->deepest;
    figures->first_steal_most_s = largest->first_steal_ns * NS;
    figures->restore_s = largest->restore_s;
    figures->outside_s = largest->outside_s;
    figures->save_s = largest->save_s;
    figures->serve_p50_s = eki_histogram_quantile(&service, 0.5);
    figures->serve_p99_s = eki_histogram_quantile(&service, 0.99);
}

/* What this rank was, from its sums before they are those of the job. */
static struct eki_report_rank rank_here(const struct eki_engine *engine,
                                        const struct eki_report_input *input,
                                        const struct eki_report_sums *sums,
                                        const struct gathered *here)
{
    struct eki_report_rank mine = {
        .figures = {.iteration = input->iteration,
                    .workers = engine->topology->workers_here,
                    .largest_task_s = here->task.ns * NS,
                    .largest_task_id = here->task.id},
        .rank = engine->topology->rank,
        .node = engine->topology->node,
        .load_s = here->largest.load_ns * NS};
    fill_sums(sums, &here->squares, &mine.figures);
    fill_times(sums, &here->largest, &mine.figures);
    return mine;
}

/* A task that waits for a core does no work.  The efficiency counts the cores
 * of dedicated servers, too; imbalance and bound are about workers alone. */
static void fill_load_figures(const struct eki_report_sums *sums,
                              const struct gathered *all,
                              struct eki_figures *figures)
{
    const struct largest_task *task = &all->task;
    double mean_s = figures->work_s / (double)figures->workers;
    double cores = (double)(figures->workers + sums->server_cores);
    figures->largest_task_s = task->ns * NS;
    figures->largest_task_id = task->id;
    figures->largest_task_function = (ek_function)task->function;
    figures->imbalance =
        eki_report_ratio(all->largest.load_ns * NS, mean_s, 1) - 1;
    figures->efficiency =
        eki_report_ratio(figures->work_s - figures->starved_in_tasks_s,
                         cores * figures->wall_s, 0);
    figures->bound =
        fmin(1, eki_report_ratio(mean_s, figures->largest_task_s, 1));
}

static void fill_functions(const struct eki_engine *engine, int64_t iteration,
                           struct eki_report *report)
{
    report->function_count = engine->function_count;
    for (int i = 0; i < engine->function_count; i++) {
        struct eki_report_function *function = &report->functions[i];
        snprintf(function->name, sizeof function->name, "%s",
                 engine->functions[i].name);
        function->iteration = iteration;
        function->tasks = report->sums->functions[i].tasks;
        function->work_s = (double)report->sums->functions[i].work_ns * NS;
    }
}

/* The collective calls come first: after them nothing can fail, and the old
 * report is replaced as a whole. */
ek_status eki_report_collect(const struct eki_engine *engine,
                             struct eki_fabric *fabric,
                             const struct eki_report_input *input,
                             struct eki_report *report)
{
    struct eki_figures figures = {0};
    struct gathered all;
    double shortest_s;
    EKI_TRY(reserve_functions(engine, fabric, report));
    struct eki_report_sums *sums = report->sums;
    sum_here(engine, input, sums, &all);
    struct eki_report_rank mine = rank_here(engine, input, sums, &all);
    EKI_TRY(reduce_figures(fabric, engine->function_count, sums, &all));
    EKI_TRY(
        find_ranks(fabric, &mine.figures, &all.task, &figures, &shortest_s));
    if (report->wants_ranks)
        EKI_TRY(gather_ranks(fabric, &mine, all.largest.wall_s, report));
    figures.iteration = input->iteration;
    figures.workers = engine->topology->workers;
    figures.cores = input->cores;
    figures.stopped = input->stopped;
    figures.restore = input->chosen;
    figures.steal = input->steal;
    while (eki_detection_of(figures.termination) != engine->detect.rule)
        figures.termination++;
    figures.saves_failed = input->saves_failed;
    fill_sums(sums, &all.squares, &figures);
    fill_times(sums, &all.largest, &figures);
    fill_load_figures(sums, &all, &figures);
    fill_functions(engine, input->iteration, report);
    eki_report_fill_speed(&all.squares.changes, report, &figures);
    report->figures = figures;
    report->is_made = true;
    struct eki_report_extra extra = {(double)sums->server_cores,
                                     all.largest.load_ns * NS,
                                     all.largest.wall_s - shortest_s};
    eki_report_add(report, input, &extra);
    return EK_OK;
}
