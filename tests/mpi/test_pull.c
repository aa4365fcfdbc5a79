/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pull loop: the program's own threads fetch tasks with ek_next().
 *
 *     test_pull RANKS WORKERS [LEVEL]
 *
 * LEVEL is the MPI thread level, 1 ... 3.
 */
#include "job.h"
#include "sign.h"

#include <evenkeel_pull.h>
#include <evenkeel_save.h>
#include <evenkeel_spawn.h>
#include <pthread.h>
#include <unistd.h>

enum {
    TASKS = 200
};

static ek_function numbers, children;
static _Atomic int64_t ran, sum, ids; /* of what do_task() has seen */

/* One of four numbers spawns a child. */
static void do_task(const ek_task *task)
{
    int number;
    CHECK(task->worker != NULL);
    CHECK_EQ_INT(task->worker_id, ek_worker_id(task->worker));
    CHECK_EQ_INT(task->id, ek_task_id(task->worker));
    CHECK_EQ_INT(task->home, -1);
    CHECK_EQ_INT(task->count, 1);
    CHECK(task->deviation == 0 && !task->is_pinned && !task->has_run);
    CHECK_EQ_INT(task->bytes, sizeof number);
    memcpy(&number, task->payload, sizeof number);
    atomic_fetch_add(&ran, 1);
    atomic_fetch_add(&sum, number);
    if (task->function == numbers)
        atomic_fetch_add(&ids, (int64_t)task->id);
    if (task->function == numbers && number % 4 == 0) {
        int child = -number;
        CHECK_OK(ek_spawn(task->worker, children, &child, sizeof child, 0));
        ek_poll(task->worker);
        /* Still what it was. */
        memcpy(&child, task->payload, sizeof child);
        CHECK_EQ_INT(child, number);
    }
}

/* With FN as body, where ek_process() is to find one. */
static ek_collection *make_with(const char *name, ek_task_fn *fn)
{
    ek_options options = job_options();
    options.name = name;
    job_set_number(&options, "buffer_slots", 16);
    ek_collection *tasks = job_create(&options);
    numbers = job_register(tasks, "number", fn, NULL);
    children = job_register(tasks, "child", fn, NULL);
    atomic_store(&ran, 0);
    atomic_store(&sum, 0);
    return tasks;
}

static ek_collection *make(const char *name)
{
    return make_with(name, NULL);
}

static void add_numbers(ek_collection *tasks, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_OK(ek_add_task(tasks, numbers, &i, sizeof i, NULL));
}

/* What N tasks of each rank and their children come to, since the last call. */
static void check_numbers(int n)
{
    int64_t expected = 0, count = n + (n + 3) / 4;
    for (int i = 0; i < n; i++)
        expected += i % 4 == 0 ? 0 : i;
    CHECK_EQ_INT(job_sum(atomic_exchange(&ran, 0)), count * job_size);
    CHECK_EQ_INT(job_sum(atomic_exchange(&sum, 0)), expected * job_size);
}

/* Fetch for HERE until the end, or for MOST tasks. */
static void fetch(ek_collection *tasks, int here, int most)
{
    ek_task task = {0};
    for (int i = 0; i < most; i++) {
        if (!CHECK_OK(ek_next(tasks, here, &task)) || !task.worker)
            return;
        CHECK_EQ_INT(ek_worker_here(task.worker), here);
        do_task(&task);
    }
}

static void fetch_with_openmp(ek_collection *tasks, int threads)
{
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int here = 0; here < threads; here++)
        fetch(tasks, here, INT32_MAX);
}

static void openmp_threads_fetch(void)
{
    ek_collection *tasks = make("openmp");
    add_numbers(tasks, TASKS);
    for (int i = 0; i < 6; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_begin(tasks));
        fetch_with_openmp(tasks, job_workers);
        JOB_OK(ek_end(tasks, i % 2 ? &report : NULL));
        if (i % 2)
            CHECK_EQ_INT(report.tasks, job_size * TASKS / 4 * 5);
        check_numbers(TASKS);
        JOB_OK(ek_restore(
            tasks, i % 3 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, NULL));
    }
    ek_destroy(&tasks);
}

static ek_collection *of_threads;

static void *fetch_in_thread(void *argument)
{
    fetch(of_threads, *(const int *)argument, INT32_MAX);
    return NULL;
}

/* The calling thread is worker 0, as MPI_THREAD_FUNNELED asks for. */
static void posix_threads_fetch(void)
{
    pthread_t threads[16];
    int numbers_here[16];
    of_threads = make("posix");
    add_numbers(of_threads, TASKS);
    JOB_OK(ek_begin(of_threads));
    for (int here = 1; here < job_workers; here++) {
        numbers_here[here] = here;
        CHECK_EQ_INT(pthread_create(&threads[here], NULL, fetch_in_thread,
                                    &numbers_here[here]),
                     0);
    }
    fetch(of_threads, 0, INT32_MAX);
    for (int here = 1; here < job_workers; here++)
        pthread_join(threads[here], NULL);
    JOB_OK(ek_end(of_threads, NULL));
    check_numbers(TASKS);
    ek_destroy(&of_threads);
}

/* Seeds of workers that never fetch, hinted ones among them. */
static void fewer_threads_than_workers(void)
{
    static const char *const steals[] = {"random", "none", "near", "counter"};
    ek_collection *tasks = make("fewer");
    add_numbers(tasks, TASKS);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(ek_set_option(tasks, "steal", steals[i]));
        ek_hint hint = EK_HINT_INIT;
        int number = 1;
        hint.rank = (job_rank + 1) % job_size;
        for (int j = 0; j < 8; j++)
            CHECK_OK(
                ek_add_task(tasks, children, &number, sizeof number, &hint));
        JOB_OK(ek_begin(tasks));
        fetch_with_openmp(tasks, 1);
        JOB_OK(ek_end(tasks, NULL));
        CHECK_EQ_INT(job_sum(atomic_load(&ran)),
                     job_size * (TASKS / 4 * 5 + 8 * (i + 1)));
        atomic_store(&ran, 0);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

/* Close an iteration of which a rank may have fetched less than there was: all
 * ranks hear of it, unless nothing was left. */
static void end_incomplete(ek_collection *tasks, ek_process_report *report)
{
    ek_status status = ek_end(tasks, report);
    JOB_STATUS(status, job_count(tasks, "cancelled") > 0 ? EK_ERR_TASK : EK_OK);
    if (status == EK_ERR_TASK) {
        char text[80];
        snprintf(text, sizeof text, ": %lld tasks were cancelled",
                 (long long)job_count(tasks, "cancelled"));
        CHECK_HAS_TEXT(ek_error_message(), " fetch");
        CHECK_HAS_TEXT(ek_error_message(), text);
    }
}

/* Worker 0 of each rank fetches MOST tasks, then all end: the rest stays.  (Of
 * several, one could wait for the end that another's open task puts off.) */
static void end_after(ek_collection *tasks, int most)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    JOB_OK(ek_begin(tasks));
    fetch(tasks, 0, most);
    end_incomplete(tasks, &report);
    CHECK_HAS_TEXT(ek_error_message(), most == 0
                                           ? "no worker fetched on rank "
                                           : " stopped fetching on rank ");
    CHECK_EQ_INT(report.tasks, job_sum(atomic_exchange(&ran, 0)));
    CHECK_EQ_INT(report.tasks + job_count(tasks, "cancelled"),
                 job_size * TASKS + job_count(tasks, "spawned"));
    CHECK(job_count(tasks, "cancelled") > 0);
    CHECK_EQ_INT(job_held(tasks), job_size * TASKS);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    CHECK_EQ_INT(job_held(tasks), job_size * TASKS);
    atomic_store(&sum, 0);
}

static void loops_end_early(void)
{
    static const char *const steals[] = {"random", "none", "counter"};
    for (int i = 0; i < 3; i++) {
        ek_collection *tasks = make("early");
        add_numbers(tasks, TASKS);
        CHECK_OK(ek_set_option(tasks, "steal", steals[i]));
        end_after(tasks, 0);
        end_after(tasks, 1);
        end_after(tasks, 2);
        JOB_OK(ek_begin(tasks));
        fetch_with_openmp(tasks, job_workers);
        JOB_OK(ek_end(tasks, NULL));
        check_numbers(TASKS);
        ek_destroy(&tasks);
    }
}

/* One rank ends while the others fetch on: they hear of it. */
static void one_rank_ends_early(void)
{
    ek_collection *tasks = make("one");
    add_numbers(tasks, TASKS);
    for (int i = 0; i < 4; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_begin(tasks));
        if (job_rank == i % job_size)
            fetch(tasks, 0, i / 2);
        else
            fetch_with_openmp(tasks, job_workers);
        end_incomplete(tasks, &report);
        CHECK_EQ_INT(report.tasks, job_sum(atomic_exchange(&ran, 0)));
        CHECK_EQ_INT(job_held(tasks), job_size * TASKS);
        JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    }
    ek_destroy(&tasks);
}

/* Each rank fetches its pinned task, and all but rank 0 fetch on; LAST runs in
 * that of the last rank, when rank 0 has gone. */
static ek_status end_beside(ek_collection *tasks, void (*last)(ek_worker *))
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_task task = {0};
    JOB_OK(ek_begin(tasks));
    CHECK_OK(ek_next(tasks, 0, &task));
    MPI_Barrier(MPI_COMM_WORLD);
    if (CHECK(task.worker != NULL) && job_rank == job_size - 1) {
        job_nap(50000);
        last(task.worker);
    }
    if (job_rank > 0)
        CHECK_OK(ek_next(tasks, 0, &task));
    return ek_end(tasks, &report);
}

static void stop_it(ek_worker *worker)
{
    ek_stop(worker);
}

static void fail_it(ek_worker *worker)
{
    ek_fail(worker, 9, "last of all");
}

/* What tasks ask for or say counts, where a rank ends early, too. */
static void stops_and_failures_count_beside_early_ends(void)
{
    int number = 1;
    ek_hint hint = EK_HINT_INIT;
    hint.pinned = true;
    ek_collection *tasks = make("beside");
    CHECK_OK(ek_add_task(tasks, numbers, &number, sizeof number, &hint));
    JOB_STATUS(end_beside(tasks, fail_it), EK_ERR_TASK);
    CHECK_HAS_TEXT(ek_error_message(), "code 9: last of all");
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    add_numbers(tasks, TASKS);
    JOB_OK(end_beside(tasks, stop_it));
    CHECK_EQ_INT(job_held(tasks), job_size * (TASKS + 1));
    ek_destroy(&tasks);
}

/* Tasks that are skipped, discarded, kept, and cost what they say. */
static void fetched_tasks_are_marked(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make("marks");
    add_numbers(tasks, TASKS);
    JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
    for (int here = 0; here < job_workers; here++) {
        ek_task task = {0};
        while (ek_next(tasks, here, &task) == EK_OK && task.worker) {
            int number;
            memcpy(&number, task.payload, sizeof number);
            if (number % 4 == 1)
                ek_discard(task.worker);
            if (number % 4 == 2)
                ek_skip(task.worker);
            if (number % 4 == 3 && task.function == numbers)
                CHECK_OK(ek_spawn(task.worker, children, &number, sizeof number,
                                  EK_SPAWN_KEEP));
        }
    }
    JOB_OK(ek_end(tasks, &report));
    CHECK_EQ_INT(report.tasks, job_size * TASKS / 4 * 5);
    CHECK_EQ_INT(job_count(tasks, "null_tasks"), job_size * TASKS / 2);
    CHECK_EQ_INT(job_count(tasks, "spawned"), job_size * TASKS / 4);
    CHECK_EQ_INT(job_held(tasks), job_size * TASKS);
    ek_destroy(&tasks);
}

static void fetched_tasks_fail(void)
{
    ek_collection *tasks = make("fail");
    add_numbers(tasks, TASKS);
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
        for (int here = 0; here < job_workers; here++) {
            ek_task task = {0};
            while (ek_next(tasks, here, &task) == EK_OK && task.worker) {
                int number;
                memcpy(&number, task.payload, sizeof number);
                if (i < 2 && number == 3)
                    ek_fail(task.worker, 9, "no such number");
            }
        }
        JOB_STATUS(ek_end(tasks, NULL), i < 2 ? EK_ERR_TASK : EK_OK);
        if (i < 2) {
            CHECK_HAS_TEXT(ek_error_message(), "function 'number'");
            CHECK_HAS_TEXT(ek_error_message(), "code 9: no such number");
        }
        JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, NULL));
        CHECK_EQ_INT(job_held(tasks), job_size * TASKS);
    }
    ek_destroy(&tasks);
}

/* Of a range, whose indices are tasks of their own. */
/* Nothing at first, then what the task said that it cost. */
static void fetched_tasks_know_their_durations(void)
{
    ek_collection *tasks = make("durations");
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    add_numbers(tasks, TASKS);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
        for (int here = 0; here < job_workers; here++) {
            ek_task task;
            while (ek_next(tasks, here, &task) == EK_OK && task.worker) {
                int number;
                memcpy(&number, task.payload, sizeof number);
                if (i == 0)
                    CHECK(isnan(task.duration_s));
                else
                    CHECK_NEAR(task.duration_s / (number + 1), 1, 0.004);
                ek_set_cost(task.worker, number + 1);
            }
        }
        JOB_OK(ek_end(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

static void ranges_are_fetched(void)
{
    enum {
        INDICES = 20000
    };
    ek_collection *tasks = make("range");
    CHECK_OK(ek_add_range(tasks, numbers, 0, INDICES));
    for (int i = 0; i < 2; i++) {
        _Atomic int64_t indices = 0, total = 0;
        JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(job_workers)
        for (int here = 0; here < job_workers; here++) {
            ek_task task = {0};
            while (ek_next(tasks, here, &task) == EK_OK && task.worker) {
                int64_t index;
                CHECK_EQ_INT(task.bytes, sizeof index);
                memcpy(&index, task.payload, sizeof index);
                atomic_fetch_add(&indices, index);
                atomic_fetch_add(&total, 1);
                if (index % 50 != 0)
                    ek_discard(task.worker);
            }
        }
        JOB_OK(ek_end(tasks, NULL));
        int64_t step = i == 0 ? 1 : 50, n = INDICES / step;
        CHECK_EQ_INT(job_sum(total), job_size * n);
        CHECK_EQ_INT(job_sum(indices), job_size * step * (n * (n - 1) / 2));
        CHECK_EQ_INT(job_held(tasks), job_size * INDICES / 50);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
}

static void count_descents(ek_level level, const char *line, void *context)
{
    if (level == EK_LEVEL_WARN &&
        strstr(line, "numbers of 'pair' came in descending order") &&
        strstr(line, "misses tasks"))
        atomic_fetch_add((_Atomic int *)context, 1);
}

enum {
    PAIRS = 60
};

/* The next pair, or -1: a loop over nxtval() sees no more of it. */
static int64_t next_pair(ek_collection *tasks)
{
    int64_t pair = -1;
    ek_task task = {0};
    CHECK_OK(ek_next(tasks, 0, &task));
    if (task.worker)
        memcpy(&pair, task.payload, sizeof pair);
    /* Their order by duration, longest first, is not that of the numbers. */
    if (task.worker)
        ek_set_cost(task.worker, 1 + (double)(pair * 7 % PAIRS));
    return pair;
}

/* As codes have it whose counter deals ascending numbers; how many pairs were
 * done. */
static int64_t loop_that_skips(ek_collection *tasks)
{
    int64_t done = 0, next = next_pair(tasks);
    for (int64_t pair = 0; pair < PAIRS; pair++) {
        if (pair != next)
            continue;
        done++;
        next = next_pair(tasks);
    }
    while (next >= 0)
        next = next_pair(tasks);
    return done;
}

static int64_t loop_that_takes_the_number(ek_collection *tasks)
{
    int64_t done = 0;
    while (next_pair(tasks) >= 0)
        done++;
    return done;
}

/* ek_next() in place of nxtval() in a loop that skips to the next number: tasks
 * are missed, and somebody must say so. */
static void loops_that_skip_are_told(void)
{
    _Atomic int told = 0;
    ek_options options = job_options();
    options.workers = 1;
    job_set_number(&options, "check", 1);
    options.ignore_environment = true;
    ek_collection *tasks = job_create(&options);
    ek_function pair = job_register(tasks, "pair", NULL, NULL);
    if (job_rank == 0)
        CHECK_OK(ek_add_range(tasks, pair, 0, PAIRS));
    ek_set_sink(count_descents, &told, EK_LEVEL_WARN);
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_begin(tasks));
        int64_t done =
            i < 2 ? loop_that_skips(tasks) : loop_that_takes_the_number(tasks);
        JOB_OK(ek_end(tasks, NULL));
        done = job_sum(done);
        if (i == 1)
            CHECK(done < PAIRS);
        if (i == 2)
            CHECK_EQ_INT(done, PAIRS);
        if (i >= 1)
            CHECK(job_sum(atomic_load(&told)) >= 1);
        CHECK(atomic_load(&told) <= 1);
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_destroy(&tasks);
}

static void wrong_calls_are_refused(void)
{
    ek_task task = {0};
    ek_collection *tasks = make("wrong");
    CHECK_EQ_INT(ek_next(tasks, 0, &task), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "call ek_begin first");
    CHECK_EQ_INT(ek_end(tasks, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_begin(NULL), EK_ERR_ARG);
    JOB_OK(ek_begin(tasks));
    JOB_STATUS(ek_begin(tasks), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "call ek_end first");
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_STATE);
    JOB_STATUS(ek_restore(tasks, EK_RESTORE_RETAIN, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_next(tasks, -1, &task), EK_ERR_ARG);
    CHECK_EQ_INT(ek_next(tasks, job_workers, &task), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "allowed: 0 ... ");
    CHECK_EQ_INT(ek_next(tasks, 0, NULL), EK_ERR_ARG);
    fetch_with_openmp(tasks, job_workers);
    /* After the end there is no task, as often as one asks. */
    for (int i = 0; i < 3; i++) {
        task.worker = (ek_worker *)&task;
        CHECK_OK(ek_next(tasks, 0, &task));
        CHECK(task.worker == NULL);
    }
    JOB_OK(ek_end(tasks, NULL));
    CHECK_EQ_INT(ek_next(tasks, 0, &task), EK_ERR_STATE);
    ek_destroy(&tasks);
}

/* What ek_process() cannot run, on any rank or only the last, ek_next() hands
 * out. */
static void tasks_without_body_are_fetched(void)
{
    for (int i = 0; i < 2; i++) {
        bool has_body = i == 1 && job_rank != job_size - 1;
        /* Where only another rank has no body some may run before that is
         * heard. */
        ek_collection *tasks =
            make_with("bodies", has_body ? job_nothing : NULL);
        add_numbers(tasks, TASKS);
        for (int j = 0; j < 2; j++) {
            JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
            CHECK_HAS_TEXT(ek_error_message(), "function 'number'");
            CHECK_EQ_INT(job_held(tasks), job_size * TASKS);
            JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        }
        JOB_OK(ek_begin(tasks));
        fetch_with_openmp(tasks, job_workers);
        JOB_OK(ek_end(tasks, NULL));
        check_numbers(TASKS);
        ek_destroy(&tasks);
    }
}

/* The ids of the numbers, added up. */
static int64_t fetch_ids(ek_collection *tasks, int threads)
{
    atomic_store(&ids, 0);
    JOB_OK(ek_begin(tasks));
    fetch_with_openmp(tasks, threads);
    JOB_OK(ek_end(tasks, NULL));
    check_numbers(TASKS);
    return job_sum(atomic_load(&ids));
}

/* Other workers load them. */
static void fetched_tasks_keep_their_ids(void)
{
    char folder[] = "/tmp/evenkeel-pull-XXXXXX", workers[20];
    job_make_folder(folder);
    ek_collection *tasks = make("saved");
    add_numbers(tasks, TASKS);
    int64_t saved = fetch_ids(tasks, job_workers);
    JOB_OK(ek_save(tasks, folder));
    ek_destroy(&tasks);
    snprintf(workers, sizeof workers, "%d", job_workers + 1);
    setenv("EVENKEEL_WORKERS", workers, 1);
    tasks = make("loaded");
    snprintf(workers, sizeof workers, "%d", job_workers);
    setenv("EVENKEEL_WORKERS", workers, 1);
    JOB_OK(ek_load(tasks, folder));
    CHECK_EQ_INT(fetch_ids(tasks, job_workers + 1), saved);
    ek_destroy(&tasks);
    job_remove_folder(folder);
}

static void count_warnings(ek_level level, const char *line, void *context)
{
    if (level == EK_LEVEL_WARN && strstr(line, "'open'") &&
        strstr(line, "while an iteration is open"))
        atomic_fetch_add((_Atomic int *)context, 1);
}

/* Each rank fetches MOST tasks and then destroys, which warns. */
static void destroy_open(int most)
{
    _Atomic int warnings = 0;
    ek_collection *tasks = make("open");
    add_numbers(tasks, TASKS);
    JOB_OK(ek_begin(tasks));
    fetch(tasks, 0, most);
    ek_set_sink(count_warnings, &warnings, EK_LEVEL_WARN);
    ek_destroy(&tasks);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK(tasks == NULL);
    CHECK_EQ_INT(atomic_load(&warnings), 1);
}

/* Others that were made before or after may be used. */
static void open_iterations_are_destroyed(void)
{
    for (int most = 0; most < 3; most++) {
        ek_collection *before = make("before");
        destroy_open(most);
        for (int i = 0; i < 2; i++) {
            ek_collection *tasks = i == 0 ? before : make("after");
            atomic_store(&ran, 0);
            atomic_store(&sum, 0);
            add_numbers(tasks, TASKS);
            JOB_OK(ek_begin(tasks));
            fetch_with_openmp(tasks, job_workers);
            JOB_OK(ek_end(tasks, NULL));
            check_numbers(TASKS);
            ek_destroy(&tasks);
        }
    }
}

static void count_servers(ek_level level, const char *line, void *context)
{
    if (level == EK_LEVEL_WARN &&
        strstr(line, "a server there needs MPI_THREAD_SERIALIZED"))
        atomic_fetch_add((_Atomic int *)context, 1);
}

/* A thread that serves pull loops would call MPI beside them. */
static void servers_need_serialized(void)
{
    _Atomic int told = 0;
    int level;
    ek_options options = job_options();
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_FUNNELED)
        return;
    options.progress = EK_PROGRESS_SERVER;
    job_set_number(&options, "ranks_per_node", 1);
    options.ignore_environment = true;
    ek_collection *tasks = job_create(&options);
    ek_set_sink(count_servers, &told, EK_LEVEL_WARN);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_begin(tasks));
        fetch_with_openmp(tasks, 1);
        JOB_OK(ek_end(tasks, NULL));
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_destroy(&tasks);
    CHECK_EQ_INT(atomic_load(&told), job_size > 1);
}

/* Rank 0 holds a task, and steps no server, until another rank, which asks
 * after that, has a task of rank 0's: a server thread has sent it.  They tell
 * each other by files, because they must not call MPI beside a server. */
static void fetch_beside_server(ek_collection *tasks, const char *held,
                                const char *sent)
{
    ek_task task;
    if (job_rank > 0)
        CHECK(sign_await(held));
    for (int i = 0; ek_next(tasks, 0, &task) == EK_OK && task.worker; i++) {
        if (job_rank > 0)
            sign_make(sent);
        if (i > 0 || job_rank > 0)
            continue;
        sign_make(held);
        CHECK(sign_await(sent));
    }
}

static void servers_answer_during_a_task(void)
{
    char held[SIGN_BYTES], sent[SIGN_BYTES];
    ek_options options = job_options();
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED || job_size == 1)
        return;
    sign_name(held, "held");
    sign_name(sent, "sent");
    options.progress = EK_PROGRESS_SERVER;
    options.workers = 1;
    job_set_number(&options, "ranks_per_node", 1);
    options.ignore_environment = true;
    ek_collection *tasks = job_create(&options);
    numbers = job_register(tasks, "number", NULL, NULL);
    if (job_rank == 0)
        add_numbers(tasks, TASKS);
    CHECK_OK(ek_begin(tasks));
    fetch_beside_server(tasks, held, sent);
    CHECK_OK(ek_end(tasks, NULL));
    ek_destroy(&tasks);
    unlink(held);
    unlink(sent);
}

/* A report on some ranks only. */
static void reports_are_for_all_or_none(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = make("reports");
    add_numbers(tasks, TASKS);
    JOB_OK(ek_begin(tasks));
    fetch_with_openmp(tasks, job_workers);
    JOB_STATUS(ek_end(tasks, job_rank == 0 ? &report : NULL),
               job_size == 1 ? EK_OK : EK_ERR_ARG);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_begin(tasks));
    fetch_with_openmp(tasks, job_workers);
    JOB_OK(ek_end(tasks, &report));
    ek_destroy(&tasks);
}

static ek_collection *left_open;

/* MPI_Finalize() ends its server thread, which would go on calling MPI. */
static void an_iteration_is_left_open(void)
{
    left_open = make("left");
    add_numbers(left_open, TASKS);
    JOB_OK(ek_begin(left_open));
}

static void nothing_ends_after_finalize(void)
{
    CHECK_EQ_INT(ek_end(left_open, NULL), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "finalized");
    ek_destroy(&left_open);
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    job_start(argc, argv, levels[(argc > 3 ? atoi(argv[3]) : 1) & 3]);
    JOB_RUN(openmp_threads_fetch);
    JOB_RUN(posix_threads_fetch);
    JOB_RUN(fewer_threads_than_workers);
    JOB_RUN(loops_end_early);
    JOB_RUN(one_rank_ends_early);
    JOB_RUN(stops_and_failures_count_beside_early_ends);
    JOB_RUN(fetched_tasks_are_marked);
    JOB_RUN(fetched_tasks_fail);
    JOB_RUN(fetched_tasks_know_their_durations);
    JOB_RUN(ranges_are_fetched);
    JOB_RUN(loops_that_skip_are_told);
    JOB_RUN(wrong_calls_are_refused);
    JOB_RUN(tasks_without_body_are_fetched);
    JOB_RUN(fetched_tasks_keep_their_ids);
    JOB_RUN(open_iterations_are_destroyed);
    JOB_RUN(servers_need_serialized);
    JOB_RUN(servers_answer_during_a_task);
    JOB_RUN(reports_are_for_all_or_none);
    JOB_RUN(an_iteration_is_left_open);
    int failed = job_result();
    nothing_ends_after_finalize();
    return failed || check_failed() != 0;
}
