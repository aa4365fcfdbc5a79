/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is gone for good on the last rank, from its first task on: the
 * iteration ends on all ranks in EK_ERR_NOMEM, and when memory is back the next
 * one runs the rest, or all again.
 *
 *     test_lack RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_save.h>

#include <stdint.h>

/* Tests see the inside of the library for this alone. */
void eki_memory_fail(int64_t n);

enum {
    TASKS = 800, /* of rank 0 */
    FEW = 150,   /* of each rank, where they pause */
    ALLOCATIONS = 6,
    STEALS = 8,
    ALONE = 6, /* the first that one rank is tested with */
    PARTS_MOST = 8
};

static int runs[TASKS]; /* of this rank, in this iteration */
static _Atomic bool may_lack;
static _Atomic int nth; /* the allocation after a task that fails; or 0 */

static int run(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    int number;
    (void)worker, (void)context;
    CHECK_EQ_INT(bytes, sizeof number);
    memcpy(&number, payload, sizeof number);
    int *place = &runs[number];
#pragma omp atomic
    *place += 1;
    if (job_rank == job_size - 1 && atomic_load(&may_lack))
        eki_memory_fail(INT64_MIN);
    job_nap(200);
    return 0;
}

static ek_collection *make_tasks(const char *on_stop, const char *steal)
{
    ek_options options = job_options();
    job_set(&options, "on_stop", on_stop);
    job_set(&options, "steal", steal);
    job_set(&options, "stall_ms", "40");
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "run", run, NULL);
    for (int number = 0; job_rank == 0 && number < TASKS; number++)
        CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, NULL));
    return tasks;
}

/* How many tasks ran once, and how many more often, on all ranks. */
static void count_runs(int *once, int *more)
{
    int all[TASKS];
    MPI_Allreduce(runs, all, TASKS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    *once = *more = 0;
    for (int i = 0; i < TASKS; i++) {
        *once += all[i] == 1;
        *more += all[i] > 1;
    }
}

/* An iteration in which the last rank may lack memory; whether it failed. */
static bool fails(ek_collection *tasks, bool lacks)
{
    char expected[32];
    atomic_store(&may_lack, lacks);
    ek_status status = ek_process(tasks, NULL);
    atomic_store(&may_lack, false);
    eki_memory_fail(0);
    snprintf(expected, sizeof expected, " on rank %d", job_size - 1);
    if (status == EK_ERR_NOMEM) {
        CHECK_HAS_TEXT(ek_error_message(), "no memory for ");
        CHECK_HAS_TEXT(ek_error_message(), expected);
    } else {
        CHECK_OK(status);
    }
    CHECK_EQ_INT(job_sum(status), (int64_t)status * job_size);
    return status == EK_ERR_NOMEM;
}

/* Parts run what is left, until nothing is. */
static void rest_goes_on(const char *steal)
{
    int once = 0, more = 0, failed = 0;
    ek_collection *tasks = make_tasks("continue", steal);
    memset(runs, 0, sizeof runs);
    for (int part = 0; once < TASKS && part < PARTS_MOST; part++) {
        failed += fails(tasks, part < PARTS_MOST / 2);
        count_runs(&once, &more);
        CHECK_EQ_INT(more, 0);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        CHECK_EQ_INT(job_held(tasks), TASKS);
    }
    CHECK_EQ_INT(once, TASKS);
    if (job_rank == 0)
        printf("     %s: %d parts failed\n", steal, failed);
    ek_destroy(&tasks);
}

static void rest_goes_on_however_tasks_are_stolen(void)
{
    static const char *const steals[] = {"random",  "load",       "hpdc12",
                                         "success", "sws",        "sdc",
                                         "counter", "counter:100"};
    for (int i = job_size > 1 ? 0 : ALONE; i < STEALS; i++)
        rest_goes_on(steals[i]);
}

static void all_run_again(void)
{
    int once, more;
    ek_collection *tasks = make_tasks("restart", "random");
    memset(runs, 0, sizeof runs);
    fails(tasks, true);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    memset(runs, 0, sizeof runs);
    CHECK(!fails(tasks, false));
    count_runs(&once, &more);
    CHECK_EQ_INT(once, TASKS);
    ek_destroy(&tasks);
}

/* Each task says anew which allocation fails: in the end one of the pause. */
static int run_before_pause(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    int n = atomic_load(&nth);
    (void)worker, (void)payload, (void)bytes, (void)context;
    job_nap(200);
    if (n > 0)
        eki_memory_fail(n);
    return 0;
}

static _Atomic int open_here; /* workers whose hooks have begun */

static void begin_few(void *object, int here, void *context)
{
    (void)object, (void)here, (void)context;
    atomic_fetch_add(&open_here, 1);
}

static void end_few(void *object, int here, void *context)
{
    (void)object, (void)here, (void)context;
    atomic_fetch_sub(&open_here, 1);
}

static ek_collection *make_few(const char *record, const char *replay,
                               const char *checkpoint)
{
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    ek_options options = job_options();
    hooks.begin = begin_few;
    hooks.end = end_few;
    options.hooks = &hooks;
    options.record = record;
    job_set(&options, "replay", replay);
    job_set(&options, "on_stop", "continue");
    job_set(&options, "checkpoint", checkpoint);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "few", run_before_pause, NULL);
    for (int i = 0; i < FEW; i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
    return tasks;
}

/* A pause that cannot keep what has run leaves no damaged record. */
static void pauses_lack_memory(void)
{
    char folder[] = "/tmp/evenkeel-lack-XXXXXX", checkpoint[80], path[80];
    job_make_folder(folder);
    snprintf(checkpoint, sizeof checkpoint, "%s@every:10ms", folder);
    snprintf(path, sizeof path, "%s/lack.ekr", folder);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    for (int n = 1; n <= ALLOCATIONS; n++) {
        ek_collection *tasks = make_few(path, "0", checkpoint);
        atomic_store(&nth, job_rank == job_size - 1 ? n : 0);
        ek_status status = ek_process(tasks, NULL);
        CHECK(status == EK_OK || status == EK_ERR_NOMEM);
        atomic_store(&nth, 0);
        eki_memory_fail(0);
        CHECK_EQ_INT(atomic_load(&open_here), 0);
        if (ek_goes_on(tasks))
            JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(atomic_load(&open_here), 0);
        CHECK(!ek_goes_on(tasks));
        ek_destroy(&tasks);
        tasks = make_few("0", path, "0");
        CHECK(ek_process(tasks, NULL) != EK_ERR_FILE);
        ek_destroy(&tasks);
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    job_remove_folder(folder);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(rest_goes_on_however_tasks_are_stolen);
    JOB_RUN(all_run_again);
    JOB_RUN(pauses_lack_memory);
    return job_result();
}
