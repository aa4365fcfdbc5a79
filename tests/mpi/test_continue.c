/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations that are stopped and continued: every task runs once in all parts
 * together, seeds, spawned and kept ones, indices of ranges, pinned tasks and
 * those for other ranks, with each restore policy and steal policy.
 *
 *     test_continue RANKS WORKERS
 */
#define _GNU_SOURCE

#include "parts.h"

#include <evenkeel_loop.h>
#include <evenkeel_save.h>
#include <evenkeel_worker.h>

#include <signal.h>

enum {
    PARTS_MOST = 4
};

static int parts, stopped;

/* Run what is left of an iteration, or a part of it; whether there is more. */
static bool run_part(ek_collection *tasks, int part)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    bool is_last = part == PARTS_MOST;
    atomic_store(&ran, 0);
    atomic_store(&stops_at, is_last ? -1 : 1 + (parts * 7 + job_rank) % 60);
    JOB_OK(ek_process(tasks, &report));
    parts++;
    int64_t cancelled = job_count(tasks, "cancelled");
    stopped += cancelled > 0;
    return cancelled > 0;
}

static void run_iteration(ek_collection *tasks, const char *steal,
                          ek_restore_policy policy)
{
    char what[80];
    bool goes_on = true;
    snprintf(what, sizeof what, "steal %s, restore %d", steal, (int)policy);
    CHECK_OK(ek_set_option(tasks, "steal", steal));
    memset(runs, 0, (size_t)numbers * sizeof *runs);
    for (int part = 0; goes_on; part++) {
        goes_on = run_part(tasks, part);
        JOB_OK(ek_restore(tasks, policy, NULL));
        CHECK_EQ_INT(job_held(tasks) >= job_size * ROOTS, true);
    }
    check_runs(what);
    CHECK_EQ_INT(job_held(tasks), job_size * (2 * ROOTS + INDICES));
    atomic_store(&is_first, 0);
}

static void all_policies(const char *const *steals)
{
    ek_options options = job_options();
    job_set(&options, "on_stop", "continue");
    CHECK_OK(ek_options_set(&options, "steal", steals[0]));
    ek_collection *tasks = job_create(&options);
    atomic_store(&is_first, 1);
    parts = stopped = 0;
    add_roots(tasks, true);
    for (int i = 0; steals[i]; i++)
        for (int policy = EK_RESTORE_DEFAULT; policy <= EK_RESTORE_AUTO;
             policy++)
            run_iteration(tasks, steals[i], (ek_restore_policy)policy);
    if (job_rank == 0)
        printf("     %d of %d parts were stopped\n", stopped, parts);
    CHECK(stopped > 0);
    ek_destroy(&tasks);
    free(runs);
}

static void every_task_runs_once_in_all_parts(void)
{
    static const char *const steals[] = {
        "random",   "near",           "none",    "counter",
        "node",     "hpdc12",         "dvs",     "leapfrog",
        "load",     "load:read",      "success", "success:acyclic",
        "lifeline", "counter:guided", NULL};
    all_policies(steals);
}

static void the_same_of_one_sided_thieves(void)
{
    static const char *const steals[] = {"sws", "sdc", NULL};
    all_policies(steals);
}

static ek_collection *create_over(MPI_Comm comm, int workers)
{
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    options.workers = workers;
    options.ignore_environment = true;
    job_set(&options, "on_stop", "continue");
    CHECK_OK(ek_create(comm, &options, &tasks));
    return tasks;
}

/* Part of an iteration runs, the rest of it after a save, over COMM, which is
 * MPI_COMM_NULL on some ranks; then a whole one does. */
static void resume_over(MPI_Comm comm, int workers, bool has_pinned)
{
    char folder[] = "/tmp/evenkeel-parts-XXXXXX";
    job_make_folder(folder);
    ek_collection *tasks = create_over(MPI_COMM_WORLD, job_workers);
    atomic_store(&is_first, 1);
    add_roots(tasks, has_pinned);
    CHECK(run_part(tasks, 0));
    JOB_OK(ek_save(tasks, folder));
    ek_destroy(&tasks);
    atomic_store(&stops_at, -1);
    if (comm != MPI_COMM_NULL) {
        tasks = create_over(comm, workers);
        root_function = job_register(tasks, "root", run_root, NULL);
        index_function = job_register(tasks, "index", run_index, NULL);
        CHECK_OK(ek_load(tasks, folder));
    }
    for (int iteration = 0; iteration < 2; iteration++) {
        if (tasks)
            CHECK_OK(ek_process(tasks, NULL));
        check_runs(iteration == 0 ? "resumed" : "after that");
        memset(runs, 0, (size_t)numbers * sizeof *runs);
        atomic_store(&is_first, 0);
    }
    ek_destroy(&tasks);
    free(runs);
    job_remove_folder(folder);
}

static void a_save_has_the_parts(void)
{
    resume_over(MPI_COMM_WORLD, job_workers, true);
}

static void others_resume_it(void)
{
    MPI_Comm comm;
    int color = job_rank < (job_size + 1) / 2 ? 0 : MPI_UNDEFINED;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &comm);
    resume_over(comm, 1, false);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

enum {
    WAITING = 60 /* spawned tasks of each worker that loads */
};

/* The only seed spawns all others, and asks for the end. */
static int run_spawner(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    const int *count = context;
    (void)payload;
    atomic_fetch_add(&ran, 1);
    for (int i = 0; bytes == 0 && i < *count; i++)
        CHECK_OK(ek_spawn(worker, root_function, &i, sizeof i, 0));
    if (bytes == 0)
        ek_stop(worker);
    return 0;
}

static int64_t iterations_over(const ek_collection *tasks)
{
    int64_t iteration = -1;
    CHECK(ek_loaded(tasks, &iteration) != NULL);
    return iteration;
}

/* One rank had them all. */
static void what_waits_is_dealt_out(void)
{
    char folder[] = "/tmp/evenkeel-parts-XXXXXX";
    int count = WAITING * job_size * (job_workers + 1);
    job_make_folder(folder);
    ek_collection *tasks = create_over(MPI_COMM_WORLD, job_workers);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    root_function = job_register(tasks, "spawner", run_spawner, &count);
    if (job_rank == 0)
        CHECK_OK(ek_add_task(tasks, root_function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_save(tasks, folder));
    ek_destroy(&tasks);
    tasks = create_over(MPI_COMM_WORLD, job_workers + 1);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    root_function = job_register(tasks, "spawner", run_spawner, &count);
    JOB_OK(ek_load(tasks, folder));
    CHECK_EQ_INT(iterations_over(tasks), 0);
    atomic_store(&ran, 0);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), count);
    CHECK(abs(atomic_load(&ran) - count / job_size) <= count / job_size / 20);
    CHECK_EQ_INT(job_held(tasks), 1);
    /* It was one iteration, though two calls. */
    JOB_OK(ek_save(tasks, folder));
    ek_destroy(&tasks);
    tasks = create_over(MPI_COMM_WORLD, job_workers);
    root_function = job_register(tasks, "spawner", run_spawner, &count);
    JOB_OK(ek_load(tasks, folder));
    CHECK_EQ_INT(iterations_over(tasks), 1);
    ek_destroy(&tasks);
    job_remove_folder(folder);
}

enum {
    LEAVES = 40 /* roots that spawn nothing */
};

static bool is_even(const ek_task *task, void *context)
{
    int number;
    (void)context;
    memcpy(&number, task->payload, sizeof number);
    return number / TREE % 2 == 0;
}

/* Rank 0 alone has tasks, and half of them are removed between two parts, with
 * a save if that RESTORES. */
static void remove_between_parts(bool restores, const char *folder)
{
    ek_collection *tasks = create_over(MPI_COMM_WORLD, job_workers);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    root_function = job_register(tasks, "root", run_root, NULL);
    for (int i = 0; i < LEAVES && job_rank == 0; i++) {
        int number = i * TREE + TREE - 1;
        CHECK_OK(
            ek_add_task(tasks, root_function, &number, sizeof number, NULL));
    }
    atomic_store(&ran, 0);
    atomic_store(&stops_at, 9);
    JOB_OK(ek_process(tasks, NULL));
    if (restores)
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    CHECK_OK(ek_visit_tasks(tasks, is_even, NULL));
    if (restores)
        JOB_OK(ek_save(tasks, folder));
    atomic_store(&stops_at, -1);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_held(tasks), LEAVES / 2);
    ek_destroy(&tasks);
}

static void tasks_may_be_removed_between_parts(void)
{
    char folder[] = "/tmp/evenkeel-parts-XXXXXX";
    job_make_folder(folder);
    runs = calloc(LEAVES * TREE, sizeof *runs);
    remove_between_parts(false, folder);
    remove_between_parts(true, folder);
    ek_collection *tasks = create_over(MPI_COMM_WORLD, job_workers);
    root_function = job_register(tasks, "root", run_root, NULL);
    JOB_OK(ek_load(tasks, folder));
    CHECK_EQ_INT(job_held(tasks), LEAVES / 2);
    ek_destroy(&tasks);
    free(runs);
    job_remove_folder(folder);
}

/* A task of 10 ms; the first of rank 0 asks for a stop. */
static int run_long(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    (void)worker, (void)payload, (void)bytes;
    _Atomic bool *asks = context;
    if (atomic_exchange(asks, false))
        kill(getpid(), SIGUSR1);
    for (int i = 0; i < 10; i++) {
        job_nap(1000);
        ek_poll(worker);
    }
    atomic_fetch_add(&ran, 1);
    return 0;
}

static _Atomic int heard;

static void hear(int number)
{
    (void)number;
    atomic_fetch_add(&heard, 1);
}

enum {
    LONG = 30 /* of each rank */
};

/* The last rank hears the request again when it has answered it. */
static void repeat_request(void *data, int here, void *context)
{
    bool *repeats = context;
    (void)data, (void)here;
    if (*repeats)
        kill(getpid(), SIGUSR1);
    *repeats = false;
}

/* Run long tasks until the end, and how many parts that took. */
static int run_long_tasks(ek_collection *tasks, _Atomic bool *asks)
{
    bool is_stopped = true;
    int count = 0;
    ek_function function = job_register(tasks, "long", run_long, asks);
    for (int i = 0; i < LONG; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    atomic_store(&ran, 0);
    for (; is_stopped; count++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_process(tasks, &report));
        is_stopped = report.stopped == 1;
        CHECK_EQ_INT(is_stopped, job_count(tasks, "cancelled") > 0);
        if (is_stopped)
            CHECK(job_sum(atomic_load(&ran)) < job_size * LONG);
    }
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), job_size * LONG);
    return count;
}

/* The signal of one rank stops all, and the handler that there was is called;
 * afterwards it is there again. */
static void a_signal_stops_all_ranks(void)
{
    struct sigaction action = {.sa_handler = hear}, after;
    _Atomic bool asks = job_rank == 0;
    bool repeats = job_rank == job_size - 1;
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    ek_options options = job_options();
    hooks.end = repeat_request;
    hooks.context = &repeats;
    options.hooks = &hooks;
    job_set(&options, "signal", "USR1,TERM");
    CHECK_EQ_INT(sigaction(SIGUSR1, &action, NULL), 0);
    ek_collection *tasks = job_create(&options);
    CHECK_EQ_INT(run_long_tasks(tasks, &asks), 2);
    CHECK_EQ_INT(atomic_load(&heard),
                 (job_rank == 0) + (job_rank == job_size - 1));
    ek_destroy(&tasks);
    CHECK_EQ_INT(sigaction(SIGUSR1, NULL, &after), 0);
    CHECK(after.sa_handler == hear);
}

static int run_short(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    atomic_fetch_add(&ran, 1);
    return 0;
}

/* Each stops an iteration that takes less time than the lookout sleeps, if they
 * are no copies of one. */
static void a_signal_before_a_short_iteration_stops_it(void)
{
    ek_options options = job_options();
    job_set(&options, "signal", "USR1");
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "short", run_short, NULL);
    ek_hint hint = EK_HINT_INIT;
    hint.pinned = 1;
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, &hint));
    atomic_store(&ran, 0);
    for (int i = 0; i < 4; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        if (i % 2 == 0 && job_rank == job_size - 1)
            kill(getpid(), SIGUSR1);
        MPI_Barrier(MPI_COMM_WORLD);
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.stopped, i % 2 == 0);
        /* Others may run theirs before they hear of it. */
        if (i % 2 == 1 || job_rank == job_size - 1)
            CHECK_EQ_INT(atomic_load(&ran), (i + 1) / 2);
        job_nap(i == 1 ? 250000 : 0);
    }
    ek_destroy(&tasks);
}

static struct sigaction chained;

static void call_chained(int number, siginfo_t *info, void *context)
{
    chained.sa_sigaction(number, info, context);
}

/* A handler that calls ours stays when the collection is gone. */
static void a_handler_may_call_ours(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    _Atomic bool asks = job_rank == 0;
    ek_options options = job_options();
    job_set(&options, "signal", "USR1");
    ek_collection *tasks = job_create(&options);
    action.sa_sigaction = call_chained;
    CHECK_EQ_INT(sigaction(SIGUSR1, &action, &chained), 0);
    ek_destroy(&tasks);
    tasks = job_create(&options);
    CHECK_EQ_INT(run_long_tasks(tasks, &asks), 2);
    ek_destroy(&tasks);
    signal(SIGUSR1, SIG_DFL);
}

static int run_loop(ek_worker *worker, int64_t i, void *context)
{
    (void)worker, (void)context;
    if (i == 0)
        kill(getpid(), SIGUSR1);
    job_nap(2000);
    atomic_fetch_add(&ran, 1);
    return 0;
}

static void count_told(ek_level level, const char *line, void *context)
{
    (void)level;
    *(int *)context += strstr(line, "was stopped by a signal") != NULL;
}

/* It has no report to say that it was stopped: rank 0 says so. */
static void a_loop_runs_to_its_end(void)
{
    MPI_Comm comm;
    int told = 0;
    CHECK_EQ_INT(setenv("EVENKEEL_SIGNAL", "USR1", 1), 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ek_set_sink(count_told, &told, EK_LEVEL_INFO);
    for (int k = 0; k < 2; k++) {
        atomic_store(&ran, 0);
        JOB_OK(ek_for(comm, LONG * job_size, run_loop, NULL));
        CHECK_EQ_INT(job_sum(atomic_load(&ran)), LONG * job_size);
    }
    CHECK(job_rank == 0 ? told > 0 : told == 0);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    MPI_Comm_free(&comm);
    CHECK_EQ_INT(unsetenv("EVENKEEL_SIGNAL"), 0);
}

static int stop_loop(ek_worker *worker, int64_t i, void *context)
{
    const int64_t *last = context;
    if (i == *last)
        ek_stop(worker);
    atomic_fetch_add(&ran, 1);
    return 0;
}

/* The next one has nothing of it, whatever becomes of iterations. */
static void a_loop_that_a_task_stops_is_over(void)
{
    MPI_Comm comm;
    int64_t last = 0;
    CHECK_EQ_INT(setenv("EVENKEEL_ON_STOP", "continue", 1), 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    JOB_OK(ek_for(comm, 1000, stop_loop, &last));
    atomic_store(&ran, 0);
    last = -1;
    JOB_OK(ek_for(comm, 1000, stop_loop, &last));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 1000);
    MPI_Comm_free(&comm);
    CHECK_EQ_INT(unsetenv("EVENKEEL_ON_STOP"), 0);
}

static void so_does_a_time(void)
{
    _Atomic bool asks = false;
    ek_options options = job_options();
    ek_collection *tasks = job_create(&options);
    JOB_OK(ek_stop_at(tasks, job_rank == 0 ? 0.05 : -1));
    CHECK_EQ_INT(run_long_tasks(tasks, &asks), 2);
    JOB_STATUS(ek_stop_at(tasks, (double)NAN), EK_ERR_ARG);
    ek_destroy(&tasks);
    if (job_size > 1) /* it takes a second */
        return;
    job_set(&options, "time_limit", "1s");
    tasks = job_create(&options);
    job_nap(950000);
    CHECK_EQ_INT(run_long_tasks(tasks, &asks), 2);
    ek_destroy(&tasks);
}

static void bad_words_are_refused(void)
{
    ek_options options = job_options();
    CHECK_EQ_INT(ek_options_set(&options, "signal", "USR1,KILL"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "USR1, TERM, INT, HUP and XCPU");
    CHECK_EQ_INT(ek_options_set(&options, "signal", "USR1,"), EK_ERR_ARG);
    CHECK_EQ_INT(ek_options_set(&options, "time_limit", "10m"), EK_ERR_ARG);
    CHECK_OK(ek_options_set(&options, "time_limit", "2h"));
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(every_task_runs_once_in_all_parts);
    JOB_RUN(the_same_of_one_sided_thieves);
    JOB_RUN(a_save_has_the_parts);
    JOB_RUN(others_resume_it);
    JOB_RUN(what_waits_is_dealt_out);
    JOB_RUN(tasks_may_be_removed_between_parts);
    JOB_RUN(a_handler_may_call_ours);
    JOB_RUN(a_signal_stops_all_ranks);
    JOB_RUN(a_signal_before_a_short_iteration_stops_it);
    JOB_RUN(a_loop_runs_to_its_end);
    JOB_RUN(a_loop_that_a_task_stops_is_over);
    JOB_RUN(so_does_a_time);
    JOB_RUN(bad_words_are_refused);
    return job_result();
}
