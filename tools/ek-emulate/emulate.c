/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iterations of a mode: tasks that wait until their time is over, and what
 * came of it.
 */
#define _GNU_SOURCE
#include "emulate.h"

#include "collection/collection.h"
#include "data.h"
#include "policies.h"
#include "positions.h"

#include <errno.h>
#include <evenkeel_spawn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* By how much tasks slept too long. */
struct overshoot {
    double sum_s, squares;
};

struct emulation {
    const struct run *run;
    const struct mode *mode;
    int round;
    struct job job;
    struct place place;
    struct positions positions; /* of tasks among null ones */
    struct data data;
    /* In this iteration: */
    struct overshoot *overshoot; /* [workers of the rank] */
    _Atomic int *runs;           /* [workload->count] how often each task ran */
};

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_until(double deadline_s)
{
    double whole = floor(deadline_s);
    struct timespec deadline = {.tv_sec = (time_t)whole,
                                .tv_nsec = (long)((deadline_s - whole) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) ==
           EINTR)
        ;
}

/* A task of a record ends: others may have what it spawned. */
static int spawn_children(const struct emulation *emulation, ek_worker *worker,
                          int64_t task)
{
    const struct workload *workload = emulation->run->workload;
    if (!workload_spawns(workload))
        return 0;
    const int64_t *first = workload->spawned.first_child + task;
    for (int64_t child = first[0]; child < first[1]; child++) {
        if (ek_spawn(worker, emulation->job.function, &child, sizeof child,
                     0) != EK_OK)
            return 1;
    }
    return 0;
}

static int wait_task(struct emulation *emulation, ek_worker *worker,
                     int64_t task)
{
    double deadline_s =
        read_clock(CLOCK_MONOTONIC) + emulation->run->workload->now_s[task];
    sleep_until(deadline_s);
    double late_s = read_clock(CLOCK_MONOTONIC) - deadline_s;
    struct overshoot *overshoot = &emulation->overshoot[ek_worker_here(worker)];
    overshoot->sum_s += late_s;
    overshoot->squares += late_s * late_s;
    /* relaxed: the end of the iteration comes before it is read. */
    atomic_fetch_add_explicit(&emulation->runs[task], 1, memory_order_relaxed);
    data_run(&emulation->data, worker, task);
    return spawn_children(emulation, worker, task);
}

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    (void)bytes;
    return wait_task(context, worker, *(const int64_t *)payload);
}

/* A task, or one of the null tasks between two. */
static int run_position(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    (void)bytes;
    struct emulation *emulation = context;
    const struct positions *positions = &emulation->positions;
    int64_t position = *(const int64_t *)payload;
    int64_t k = positions_find(positions, position);
    if (k < positions->count && positions_of(positions, k) == position)
        return wait_task(emulation, worker, k);
    ek_discard(worker);
    return 0;
}

static bool add_task(int64_t task, void *context)
{
    const struct job *job = context;
    return ek_add_task(job->tasks, job->function, &task, sizeof task, NULL) ==
           EK_OK;
}

static ek_status add_tasks(struct job *job, void *context)
{
    struct emulation *emulation = context;
    bool is_good = emulation->run->start->run(&emulation->place, add_task, job);
    return is_good ? EK_OK : EK_ERR_NOMEM;
}

/* A name for the collection: that of the mode, with points for what names may
 * not have. */
static void name_collection(const struct mode *mode, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s", mode->name);
    for (char *at = name; (at = strpbrk(at, "+:@/")) != NULL;)
        *at = '.';
}

/* Say a schedule by VARIABLE, which the library reads, unless the user has set
 * it; TEXT is then NULL.  Returns whether it is to be unset. */
static bool set_schedule(const char *variable, const char **text)
{
    if (!*text || !is_schedule(*text))
        return false;
    char *list = schedule_text(*text, ',');
    bool is_ours = !getenv(variable);
    setenv(variable, list, 0);
    free(list);
    *text = NULL;
    return is_ours;
}

/* Null tasks are between the others in one range. */
static ek_status open_job(struct emulation *emulation)
{
    const struct arguments *arguments = emulation->run->arguments;
    const struct mode *mode = emulation->mode;
    struct job_setup setup = {.comm = MPI_COMM_WORLD, .mode = *mode};
    char name[64];
    name_collection(mode, name, sizeof name);
    const struct job_options job = {
        .name = name,
        .function = mode->has_nulls ? "position" : "task",
        .total = emulation->positions.total,
        .task = mode->has_nulls ? run_position : run_task,
        .add = mode->has_nulls ? NULL : add_tasks,
        .context = emulation};
    ek_options collection = EK_OPTIONS_INIT;
    collection.workers = arguments->workers;
    char seed[16];
    snprintf(seed, sizeof seed, "%d",
             arguments->shared.source.seed + emulation->round);
    ek_status status = ek_options_set(&collection, "seed", seed);
    bool has_restore = set_schedule("EVENKEEL_RESTORE", &setup.mode.restore);
    bool has_steal = set_schedule("EVENKEEL_STEAL", &setup.mode.steal);
    if (status == EK_OK)
        status = job_open(&setup, &job, collection, &emulation->job);
    if (status == EK_OK && !mode->has_nulls)
        status = data_set(&emulation->data, emulation->job.tasks,
                          emulation->job.function);
    if (has_restore)
        unsetenv("EVENKEEL_RESTORE");
    if (has_steal)
        unsetenv("EVENKEEL_STEAL");
    return status;
}

/* Where one rank has failed, none enters the iteration. */
static ek_status agree(ek_status status)
{
    int worst = status;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return (ek_status)worst;
}

static double read_cpu(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Since the last call. */
static struct overshoot take_overshoot(struct emulation *emulation)
{
    struct overshoot sum = {0};
    for (int i = 0; i < emulation->run->arguments->workers; i++) {
        sum.sum_s += emulation->overshoot[i].sum_s;
        sum.squares += emulation->overshoot[i].squares;
        emulation->overshoot[i] = (struct overshoot){0};
    }
    return sum;
}

/* Tasks that were not COUNTED once in the whole job since the last call. */
static int64_t take_wrong(const struct emulation *emulation,
                          _Atomic int *counted)
{
    int64_t count = emulation->run->workload->count, wrong = 0;
    int *runs = allocate((size_t)count, sizeof *runs);
    for (int64_t k = 0; k < count; k++)
        /* relaxed: the iteration has ended. */
        runs[k] =
            atomic_exchange_explicit(&counted[k], 0, memory_order_relaxed);
    MPI_Allreduce(MPI_IN_PLACE, runs, (int)count, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int64_t k = 0; k < count; k++)
        wrong += runs[k] != 1;
    free(runs);
    return wrong;
}

static void fill_times(const struct emulation *emulation,
                       const struct figures *figures, struct row *row)
{
    const struct workload *workload = emulation->run->workload;
    double *values = row->values;
    values[FIELD_MAKESPAN] = figures->wall_s;
    values[FIELD_IDEAL] = workload->sum_s / emulation->place.workers;
    values[FIELD_BEST] = fmax(values[FIELD_IDEAL], workload->longest_s);
    values[FIELD_EFFICIENCY] = values[FIELD_IDEAL] / figures->wall_s;
    values[FIELD_EFFICIENCY_BEST] = values[FIELD_BEST] / figures->wall_s;
    values[FIELD_TRIES] = figures->tries;
    values[FIELD_STEALS] = figures->steals;
    values[FIELD_STOLEN] = figures->stolen;
    values[FIELD_RESTORE] = figures->restore_s;
    values[FIELD_IN_VAIN] = figures->in_vain;
    values[FIELD_MESSAGES] = figures->messages;
    values[FIELD_STEALING] = figures->stealing_s;
    values[FIELD_DEEPEST] = figures->deepest;
    values[FIELD_TRAVELLED] = figures->travelled;
    values[FIELD_DATA_BYTES] = figures->data_in_bytes + figures->data_out_bytes;
    values[FIELD_DATA_WAIT] = figures->data_wait_s;
    values[FIELD_DATA_HELD] = figures->data_held_bytes;
}

/* What ranks know of themselves; CPU_S: that this one has used. */
static void fill_sums(struct emulation *emulation,
                      const ek_restore_report *restore, double cpu_s,
                      struct row *row)
{
    const struct workload *workload = emulation->run->workload;
    struct overshoot overshoot = take_overshoot(emulation);
    double sums[4] = {cpu_s, overshoot.sum_s, (double)restore->moved,
                      overshoot.squares};
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    row->values[FIELD_CORES_USED] = sums[0] / row->values[FIELD_MAKESPAN];
    row->values[FIELD_OVERSHOOT] = sums[1] / (double)workload->count;
    /* The exponential law that takes as much and varies as much. */
    row->values[FIELD_PAUSE_SHARE] = sums[1] / (workload->sum_s + sums[1]);
    row->values[FIELD_PAUSE] = sums[3] / (2 * sums[1]);
    /* Only a rebalance counts moves within a rank. */
    row->values[FIELD_MOVED] = fmax(sums[2], (double)restore->migrations);
}

static ek_status run_iteration(struct emulation *emulation, int iteration,
                               struct figures *figures, struct row *row)
{
    ek_restore_report restore = EK_RESTORE_REPORT_INIT;
    workload_step(emulation->run->workload,
                  &emulation->run->arguments->shared.source, iteration);
    emulation->data.iteration = iteration;
    ek_status status = agree(job_prepare(&emulation->job, &restore));
    double cpu_s = read_cpu();
    if (status == EK_OK)
        status = figures_process(emulation->job.tasks, figures);
    if (status != EK_OK)
        return status;
    *row = (struct row){.mode = emulation->mode, .iteration = iteration + 1};
    fill_times(emulation, figures, row);
    fill_sums(emulation, &restore, read_cpu() - cpu_s, row);
    return EK_OK;
}

/* All results are at home, and were right. */
static bool check_data(struct emulation *emulation, const struct row *row,
                       struct message *message)
{
    if (!emulation->run->workload->input_bytes)
        return true;
    int64_t lost = take_wrong(emulation, emulation->data.kept);
    /* relaxed: the iteration has ended. */
    int wrong =
        atomic_load_explicit(&emulation->data.wrong, memory_order_relaxed);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (lost == 0 && !wrong)
        return true;
    return message_set(
        message,
        "%s, iteration %d: %lld results did not come home exactly once%s",
        emulation->mode->name, row->iteration, (long long)lost,
        wrong ? ", and some data was wrong" : "");
}

/* Nothing is lost and nothing ran twice. */
static bool check_iteration(struct emulation *emulation, const struct row *row,
                            const struct figures *figures,
                            struct message *message)
{
    int64_t nulls =
        emulation->mode->has_nulls ? emulation->run->workload->nulls : 0;
    int64_t wrong = take_wrong(emulation, emulation->runs);
    if (!check_data(emulation, row, message))
        return false;
    if (wrong == 0 && figures->null_tasks == (double)nulls &&
        figures->tasks == (double)(emulation->run->workload->count + nulls))
        return true;
    return message_set(message,
                       "%s, iteration %d: %lld of %lld tasks did not run "
                       "exactly once; %lld were executed, %lld null of %lld",
                       emulation->mode->name, row->iteration, (long long)wrong,
                       (long long)emulation->run->workload->count,
                       (long long)figures->tasks,
                       (long long)figures->null_tasks, (long long)nulls);
}

static int report_failure(const struct mode *mode, ek_status status,
                          struct message *message)
{
    message_set(message, "%s: failed", mode->name);
    return status == EK_ERR_ARG ? EXIT_BAD_INPUT : EXIT_FAILED;
}

static int run_iterations(struct emulation *emulation, struct row *rows,
                          struct message *message)
{
    ek_status status = open_job(emulation);
    for (int i = 0; i < emulation->run->arguments->iterations; i++) {
        struct figures figures;
        if (status == EK_OK)
            status = run_iteration(emulation, i, &figures, &rows[i]);
        if (status != EK_OK)
            return report_failure(emulation->mode, status, message);
        if (!check_iteration(emulation, &rows[i], &figures, message))
            return EXIT_FAILED;
    }
    return 0;
}

int emulate(const struct run *run, const struct mode *mode, int round,
            struct row *rows, struct message *message)
{
    struct workload *workload = run->workload;
    int workers = run->arguments->workers;
    struct emulation emulation = {
        .run = run,
        .mode = mode,
        .round = round,
        .place = {workload, run->rank * workers, workers, run->ranks * workers},
        .positions = positions_make(workload, workload->nulls),
        .data = {.workload = workload,
                 .kept = allocate((size_t)workload->count,
                                  sizeof *emulation.data.kept)},
        .overshoot = allocate((size_t)workers, sizeof *emulation.overshoot),
        .runs = allocate((size_t)workload->count, sizeof *emulation.runs)};
    int exit_status = run_iterations(&emulation, rows, message);
    if (exit_status == 0) {
        *run->verdict = eki_report_run(emulation.job.tasks->report);
        run->verdict->function = NULL; /* it goes with the job */
    }
    job_close(&emulation.job);
    free(emulation.overshoot);
    free(emulation.runs);
    free(emulation.data.kept);
    return exit_status;
}
