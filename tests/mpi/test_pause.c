/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints in the middle of an iteration: it pauses, is saved and goes on
 * inside one ek_process(), in which every task runs once, and which the report,
 * the record and hooks see as one.  A save from its middle is loaded on other
 * ranks.  Who asks for a stop is heard all the same.
 *
 *     test_pause RANKS WORKERS
 */
#define _GNU_SOURCE

#include "parts.h"

#include <evenkeel_loop.h>
#include <evenkeel_pull.h>
#include <evenkeel_save.h>

#include <signal.h>

enum {
    NAP_US = 100 /* of each worker of a rank */
};

/* Of the callback of ek_set_save(). */
static int saves, middle_saves;
static int *saved; /* RUNS, as they were in the last save */
static bool asks_in_save;
static ek_collection *collection;

static int note_save(const char *prefix, void *context)
{
    (void)prefix, (void)context;
    saves++;
    middle_saves += ek_goes_on(collection);
    memcpy(saved, runs, (size_t)numbers * sizeof *runs);
    if (asks_in_save && job_rank == job_size - 1)
        kill(getpid(), SIGUSR1);
    asks_in_save = false;
    return 0;
}

static ek_options pausing_options(const char *folder)
{
    static char checkpoint[200]; /* the options keep it */
    ek_options options = job_options();
    snprintf(checkpoint, sizeof checkpoint, "%s@every:20ms", folder);
    job_set(&options, "checkpoint", checkpoint);
    job_set(&options, "on_stop", "continue");
    return options;
}

/* A collection with tasks of all kinds, of which each takes its time. */
static ek_collection *create_pausing(const ek_options *options, bool has_pinned)
{
    collection = job_create(options);
    nap_us = NAP_US * job_workers;
    saves = middle_saves = 0;
    asks_in_save = false;
    atomic_store(&is_first, 1);
    atomic_store(&stops_at, -1);
    add_roots(collection, has_pinned);
    saved = calloc((size_t)numbers, sizeof *saved);
    CHECK_OK(ek_set_save(collection, note_save, NULL));
    return collection;
}

static void destroy_pausing(void)
{
    ek_destroy(&collection);
    free(runs);
    free(saved);
    nap_us = 0;
}

/* Run an iteration without a stop; returns how often it was saved. */
static int run_whole(ek_collection *tasks, const char *what)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    int before = saves, middle = middle_saves;
    memset(runs, 0, (size_t)numbers * sizeof *runs);
    JOB_OK(ek_process(tasks, &report));
    CHECK(!ek_goes_on(tasks));
    CHECK_EQ_INT(report.stopped, 0);
    CHECK_EQ_INT(report.tasks, numbers);
    CHECK_EQ_INT(job_count(tasks, "cancelled"), 0);
    CHECK_EQ_INT(job_count(tasks, "saves_failed"), 0);
    double save_s = 0, work_s = report.work_s;
    CHECK_OK(ek_report_get(tasks, "save_s", &save_s));
    CHECK(saves == before || save_s > 0);
    CHECK(work_s > 1e-6 * nap_us * numbers);
    CHECK(report.efficiency > 0 && report.efficiency <= 1.001);
    CHECK_EQ_INT(saves - before, middle_saves - middle);
    check_runs(what);
    atomic_store(&is_first, 0);
    return saves - before;
}

static void an_iteration_is_saved_in_its_middle(void)
{
    static const char *const steals[] = {"random", "counter", "lifeline"};
    char folder[] = "/tmp/evenkeel-pause-XXXXXX";
    job_make_folder(folder);
    ek_options options = pausing_options(folder);
    ek_collection *tasks = create_pausing(&options, true);
    int all = 0;
    for (int i = 0; i < (int)(sizeof steals / sizeof *steals); i++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        CHECK_OK(ek_set_option(tasks, "steal", steals[i]));
        all += run_whole(tasks, steals[i]);
        CHECK_EQ_INT(job_held(tasks), job_size * (2 * ROOTS + INDICES));
        JOB_OK(ek_restore(tasks, (ek_restore_policy)(i % EK_RESTORE_AUTO),
                          &report));
        CHECK_EQ_INT(job_held(tasks), job_size * (2 * ROOTS + INDICES));
    }
    if (job_rank == 0)
        printf("     %d saves in the middle of 3 iterations\n", all);
    CHECK(all >= 3);
    destroy_pausing();
    job_remove_folder(folder);
}

/* The newest save is one of the middle of iteration 0, and what ran before it
 * does not run again, on COMM. */
static void resume_middle(MPI_Comm comm, int workers, bool has_pinned)
{
    char folder[] = "/tmp/evenkeel-pause-XXXXXX";
    int64_t iteration = -1;
    ek_options options = job_options();
    job_make_folder(folder);
    ek_options pausing = pausing_options(folder);
    ek_collection *tasks = create_pausing(&pausing, has_pinned);
    CHECK(run_whole(tasks, "first") > 0);
    memcpy(runs, saved, (size_t)numbers * sizeof *runs);
    ek_destroy(&collection);
    nap_us = 0;
    options.workers = workers;
    if (comm != MPI_COMM_NULL) {
        CHECK_OK(ek_create(comm, &options, &collection));
        root_function = job_register(collection, "root", run_root, NULL);
        index_function = job_register(collection, "index", run_index, NULL);
        CHECK(!ek_goes_on(collection));
        CHECK_OK(ek_load(collection, folder));
        CHECK(ek_goes_on(collection));
        CHECK(ek_loaded(collection, &iteration) != NULL);
        CHECK_EQ_INT(iteration, 0);
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&is_first, i == 0);
        if (collection)
            CHECK_OK(ek_process(collection, NULL));
        CHECK(!collection || !ek_goes_on(collection));
        check_runs(i == 0 ? "resumed" : "after that");
        memset(runs, 0, (size_t)numbers * sizeof *runs);
    }
    destroy_pausing();
    job_remove_folder(folder);
}

static void a_save_of_the_middle_is_loaded(void)
{
    resume_middle(MPI_COMM_WORLD, job_workers, true);
}

static void others_load_it(void)
{
    MPI_Comm comm;
    int color = job_rank < (job_size + 1) / 2 ? 0 : MPI_UNDEFINED;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &comm);
    resume_middle(comm, 3 - job_workers, false);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

/* A signal that comes while a checkpoint is written, and one that comes with
 * it. */
static void who_asks_for_a_stop_is_heard(void)
{
    char folder[] = "/tmp/evenkeel-pause-XXXXXX";
    job_make_folder(folder);
    ek_options options = pausing_options(folder);
    job_set(&options, "signal", "USR1");
    ek_collection *tasks = create_pausing(&options, true);
    int parts = 0, stopped = 0;
    bool goes_on = true;
    asks_in_save = true;
    /* The first checkpoint is due when the iteration begins. */
    job_nap(30000);
    while (goes_on) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_process(tasks, &report));
        goes_on = job_count(tasks, "cancelled") > 0;
        CHECK_EQ_INT(report.stopped, goes_on);
        CHECK_EQ_INT(ek_goes_on(tasks), goes_on);
        stopped += report.stopped == 1;
        parts++;
    }
    CHECK_EQ_INT(stopped, 1);
    CHECK_EQ_INT(parts, 2);
    CHECK(middle_saves > 0);
    check_runs("stopped");
    destroy_pausing();
    job_remove_folder(folder);
}

/* So is a task, of the last rank, which has no word in when to save. */
static void so_is_a_task(void)
{
    char folder[] = "/tmp/evenkeel-pause-XXXXXX";
    job_make_folder(folder);
    ek_options options = pausing_options(folder);
    ek_collection *tasks = create_pausing(&options, true);
    int64_t cancelled = 1;
    atomic_store(&ran, 0);
    if (job_rank == job_size - 1)
        atomic_store(&stops_at, 150);
    for (int parts = 0; cancelled > 0; parts++) {
        JOB_OK(ek_process(tasks, NULL));
        cancelled = ek_goes_on(tasks);
        CHECK(parts < 2);
    }
    CHECK(middle_saves > 0);
    check_runs("stopped by a task");
    destroy_pausing();
    job_remove_folder(folder);
}

/* Hooks see one iteration. */
struct mine {
    int begun, ended;
};

static void *create_mine(int here, void *context)
{
    (void)here, (void)context;
    return calloc(1, 128);
}

static void begin_mine(void *data, int here, void *context)
{
    (void)here, (void)context;
    ((struct mine *)data)->begun++;
}

static void end_mine(void *data, int here, void *context)
{
    (void)here, (void)context;
    ((struct mine *)data)->ended++;
}

static void destroy_mine(void *data, void *context)
{
    const struct mine *mine = data;
    (void)context;
    CHECK_EQ_INT(mine->begun, 2);
    CHECK_EQ_INT(mine->ended, 2);
    free(data);
}

/* What could not be saved is no failure of the run. */
static void a_save_that_fails_lets_it_go_on(void)
{
    ek_options options = pausing_options("/dev/null/saves");
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = create_mine;
    hooks.begin = begin_mine;
    hooks.end = end_mine;
    hooks.destroy = destroy_mine;
    options.hooks = &hooks;
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    ek_collection *tasks = create_pausing(&options, false);
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    JOB_OK(ek_process(tasks, &report));
    CHECK(job_count(tasks, "saves_failed") > 0);
    CHECK_EQ_INT(report.tasks, numbers);
    CHECK_EQ_INT(saves, 0);
    check_runs("not saved");
    atomic_store(&is_first, 0);
    CHECK_OK(ek_set_option(tasks, "on_stop", "restart"));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "saves_failed") <= 1, true);
    destroy_pausing();
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
}

static int told;

static void hear_of_pull_loops(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    told += strstr(line, "ek_begin and ek_end") != NULL;
}

/* The program's own threads could not go on: they see no stop.  Rank 0 says so
 * once. */
static void pull_loops_do_not_pause(void)
{
    char folder[] = "/tmp/evenkeel-pause-XXXXXX";
    job_make_folder(folder);
    ek_options options = pausing_options(folder);
    ek_set_sink(hear_of_pull_loops, NULL, EK_LEVEL_INFO);
    ek_collection *tasks = create_pausing(&options, false);
    ek_function fetched = job_register(tasks, "fetched", NULL, NULL);
    CHECK_OK(ek_clear(tasks));
    for (int i = 0; i < 2; i++) {
        int count = 0;
        if (i == 0)
            CHECK_OK(ek_add_range(tasks, fetched, job_rank * 30,
                                  (job_rank + 1) * 30));
        JOB_OK(ek_begin(tasks));
        ek_task task;
        while (ek_next(tasks, 0, &task) == EK_OK && task.worker) {
            job_nap(1000);
            count++;
        }
        JOB_OK(ek_end(tasks, NULL));
        CHECK_EQ_INT(job_sum(count), 30 * job_size);
        CHECK(!ek_goes_on(tasks));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_EQ_INT(told, job_rank == 0);
    CHECK_EQ_INT(middle_saves, 0);
    destroy_pausing();
    job_remove_folder(folder);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(an_iteration_is_saved_in_its_middle);
    JOB_RUN(a_save_of_the_middle_is_loaded);
    JOB_RUN(others_load_it);
    JOB_RUN(who_asks_for_a_stop_is_heard);
    JOB_RUN(so_is_a_task);
    JOB_RUN(a_save_that_fails_lets_it_go_on);
    JOB_RUN(pull_loops_do_not_pause);
    return job_result();
}
