/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program hears of a failure: one sentence, and all ranks in step. */
#include "job.h"

#include <evenkeel_bind.h>
#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>
#include <pthread.h>
#include <string.h>

static _Atomic int heard, warnings;
static char last[2048];

static void listen(ek_level level, const char *line, void *context)
{
    (void)context;
    if (level == EK_LEVEL_WARN && strstr(line, "look like a pointer"))
        atomic_fetch_add(&warnings, 1);
    if (level != EK_LEVEL_ERROR)
        return;
    atomic_fetch_add(&heard, 1);
    snprintf(last, sizeof last, "%s", line);
}

/* Errors that the sinks of all ranks have been given since the last call. */
static int64_t heard_in_job(void)
{
    return job_sum(atomic_exchange(&heard, 0));
}

static int fail(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 5;
}

static ek_collection *make(ek_task_fn *fn, ek_function *function)
{
    ek_collection *tasks = job_create(NULL);
    *function = job_register(tasks, "task", fn, NULL);
    return tasks;
}

static void add_tasks(ek_collection *tasks, ek_function function, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
}

/* Each on every rank, and no other rank knows of it. */
static void local_failures_are_said_by_each_rank(void)
{
    ek_function function;
    ek_task task;
    double value;
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks = make(job_nothing, &function);
    heard_in_job();
#define CHECK_SAID(call)                          \
    do {                                          \
        CHECK((call) != EK_OK);                   \
        CHECK_HAS_TEXT(last, " error: ");         \
        CHECK_HAS_TEXT(last, ek_error_message()); \
        CHECK_EQ_INT(heard_in_job(), job_size);   \
    } while (0)
    CHECK_SAID(ek_add_task(tasks, 77, NULL, 0, NULL));
    CHECK_SAID(ek_add_task(tasks, function, NULL, 8, NULL));
    CHECK_SAID(ek_add_range(tasks, function, 3, 1));
    CHECK_SAID(ek_register(tasks, "task", job_nothing, NULL, &function));
    CHECK_SAID(ek_set_option(tasks, "steal", "wrong"));
    CHECK_SAID(ek_next(tasks, 0, &task));
    CHECK_SAID(ek_end(tasks, NULL));
    CHECK_SAID(ek_visit_tasks(tasks, NULL, NULL));
    CHECK_SAID(ek_report_get(tasks, "nonsense", &value));
    CHECK_SAID(ek_clear(NULL));
    CHECK_SAID(ek_restore(NULL, EK_RESTORE_RETAIN, NULL));
    CHECK_SAID(ek_process(NULL, NULL));
    CHECK_SAID(ek_begin(NULL));
    CHECK_SAID(ek_create(MPI_COMM_WORLD, NULL, NULL));
    CHECK_SAID(ek_options_set(&options, "steal", "wrong"));
    CHECK_SAID(ek_options_init(NULL, 0));
    ek_destroy(&tasks);
}

/* Unchecked in a loop they would fill a disk. */
static void failures_in_a_row_are_said_more_and_more_rarely(void)
{
    ek_function function;
    ek_collection *tasks = make(job_nothing, &function);
    heard_in_job();
    for (int i = 0; i < 2000; i++)
        CHECK(ek_add_task(tasks, 55, NULL, 0, NULL) != EK_OK);
    CHECK_EQ_INT(heard_in_job(), 4 * job_size);
    CHECK_HAS_TEXT(last, "1000 times: ek_add_task: function 55");
    CHECK(ek_add_task(tasks, 56, NULL, 0, NULL) != EK_OK);
    CHECK_EQ_INT(heard_in_job(), job_size);
    ek_destroy(&tasks);
}

/* However many ranks return the status. */
static void shared_failures_are_said_once(void)
{
    ek_function function;
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks = make(fail, &function), *made = NULL;
    heard_in_job();
    options.payload_bytes = job_rank == job_size - 1 ? 40 : 48;
    if (job_size > 1) {
        JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &made), EK_ERR_ARG);
        CHECK_EQ_INT(heard_in_job(), 1);
    }
    options.payload_bytes = -1;
    JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &made), EK_ERR_ARG);
    CHECK_EQ_INT(heard_in_job(), 1);

    if (job_rank == job_size - 1)
        add_tasks(tasks, function, 20);
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
    CHECK_EQ_INT(heard_in_job(), 1);
    CHECK_HAS_TEXT(ek_error_message(), "with code 5");
    CHECK_OK(ek_register(tasks, "more", job_rank == 0 ? NULL : job_nothing,
                         NULL, &function));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    CHECK_EQ_INT(heard_in_job(), 1);
    ek_process_report bad = {.struct_bytes = 1};
    JOB_STATUS(ek_process(tasks, &bad), EK_ERR_ARG);
    CHECK_EQ_INT(heard_in_job(), 1);
    ek_destroy(&tasks);
}

static void a_sink_may_be_deaf(void)
{
    ek_collection *tasks = NULL;
    heard_in_job();
    ek_set_sink(listen, NULL, EK_LEVEL_NONE);
    CHECK(ek_process(tasks, NULL) != EK_OK);
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    CHECK_EQ_INT(heard_in_job(), 0);
    CHECK_HAS_TEXT(ek_error_message(), "ek_process: collection is NULL");
}

/* One rank restores differently, none looks at a status: all calls come to
 * their end, and after the first difference ranks do the same in the same call.
 */
static void differing_restores_leave_ranks_in_step(bool is_pulled)
{
    ek_function function;
    ek_collection *tasks = make(job_nothing, &function);
    ek_restore_policy policy =
        job_rank == 0 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL;
    add_tasks(tasks, function, 20);
    for (int i = 0; i < 4; i++) {
        ek_status status;
        if (is_pulled) {
            ek_task task = {0};
            CHECK_OK(ek_begin(tasks));
            while (ek_next(tasks, 0, &task) == EK_OK && task.worker)
                continue;
            status = ek_end(tasks, NULL);
        } else {
            status = ek_process(tasks, NULL);
        }
        JOB_STATUS(status, i == 0 || job_size == 1 ? EK_OK : EK_ERR_ARG);
        if (i == 3)
            break;
        status = ek_restore(tasks, policy, NULL);
        CHECK_EQ_INT(status,
                     job_rank == 0 || job_size == 1 ? EK_OK : EK_ERR_ARG);
        if (status != EK_OK)
            CHECK_HAS_TEXT(ek_error_message(),
                           "ek_restore with policy original");
    }
    JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

static void ranks_stay_in_step(void)
{
    differing_restores_leave_ranks_in_step(false);
    differing_restores_leave_ranks_in_step(true);
}

static int fail_in_lines(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    (void)payload, (void)bytes, (void)context;
    ek_fail(worker, 3, "first\nsecond\x1b[31m");
    return 0;
}

static void words_of_a_failure_stay_on_one_line(void)
{
    ek_function function;
    ek_collection *tasks = make(fail_in_lines, &function);
    add_tasks(tasks, function, 1);
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
    CHECK_HAS_TEXT(ek_error_message(), "first second [31m");
    ek_destroy(&tasks);
}

static ek_worker *_Atomic kept;

static int keep_worker(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    (void)payload, (void)bytes, (void)context;
    kept = worker;
    return 0;
}

/* Found in any build, for it costs nothing. */
static void kept_workers_are_refused(void)
{
    ek_function function;
    int payload = 0;
    ek_collection *tasks = make(keep_worker, &function);
    add_tasks(tasks, function, 20);
    JOB_OK(ek_process(tasks, NULL));
    if (kept)
        CHECK_EQ_INT(ek_spawn(kept, function, &payload, sizeof payload, 0),
                     EK_ERR_STATE);
    ek_destroy(&tasks);
}

struct stranger {
    ek_collection *tasks;
    ek_task task;
    ek_status next, spawn;
};

/* A thread that is not that of worker 0. */
static void *meddle(void *argument)
{
    struct stranger *stranger = argument;
    ek_task task;
    stranger->next = ek_next(stranger->tasks, 0, &task);
    stranger->spawn = ek_spawn(stranger->task.worker, stranger->task.function,
                               stranger->task.payload, stranger->task.bytes, 0);
    return NULL;
}

static void threads_that_share_a_worker_are_found(void)
{
    ek_options options = job_options();
    job_set_number(&options, "check", 1);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "task", NULL, NULL);
    add_tasks(tasks, function, 20);
    JOB_OK(ek_begin(tasks));
    struct stranger stranger = {.tasks = tasks};
    int64_t fetched = 0;
    while (ek_next(tasks, 0, &stranger.task) == EK_OK && stranger.task.worker) {
        pthread_t thread;
        if (fetched++ > 0)
            continue;
        CHECK_EQ_INT(pthread_create(&thread, NULL, meddle, &stranger), 0);
        pthread_join(thread, NULL);
        CHECK_EQ_INT(stranger.next, EK_ERR_THREAD);
        CHECK_EQ_INT(stranger.spawn, EK_ERR_THREAD);
    }
    JOB_OK(ek_end(tasks, NULL));
    CHECK_EQ_INT(job_sum(fetched), 20 * job_size);
    ek_destroy(&tasks);
}

/* Once per function; numbers are none, and nothing is looked at by default. */
static void pointers_in_payloads_are_found(void)
{
    for (int is_checked = 0; is_checked < 2; is_checked++) {
        ek_options options = job_options();
        job_set_number(&options, "check", is_checked);
        ek_collection *tasks = job_create(&options);
        ek_function function = job_register(tasks, "f", job_nothing, NULL);
        ek_function second = job_register(tasks, "g", job_nothing, NULL);
        struct {
            double x;
            const void *pointer;
        } payload = {1.5, &options};
        int64_t numbers[] = {0, -1, 70000, INT64_C(1) << 50, INT64_MAX};
        atomic_store(&warnings, 0);
        for (int i = 0; i < 3; i++)
            CHECK_OK(
                ek_add_task(tasks, function, &payload, sizeof payload, NULL));
        CHECK_EQ_INT(atomic_load(&warnings), is_checked);
        payload.pointer = tasks;
        CHECK_OK(ek_add_task(tasks, second, &numbers, sizeof numbers, NULL));
        CHECK_EQ_INT(atomic_load(&warnings), is_checked);
        CHECK_OK(ek_add_task(tasks, second, &payload, sizeof payload, NULL));
        CHECK_EQ_INT(atomic_load(&warnings), 2 * is_checked);
        JOB_OK(ek_process(tasks, NULL));
        ek_destroy(&tasks);
    }
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    JOB_RUN(local_failures_are_said_by_each_rank);
    JOB_RUN(failures_in_a_row_are_said_more_and_more_rarely);
    JOB_RUN(shared_failures_are_said_once);
    JOB_RUN(a_sink_may_be_deaf);
    JOB_RUN(ranks_stay_in_step);
    JOB_RUN(words_of_a_failure_stay_on_one_line);
    JOB_RUN(kept_workers_are_refused);
    JOB_RUN(threads_that_share_a_worker_are_found);
    JOB_RUN(pointers_in_payloads_are_found);
    return job_result();
}
