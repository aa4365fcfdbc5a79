/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that calls MPI_Init() only: one worker per rank, everything else as
 * ever; more is an error that says what is missing.  And calls before
 * MPI_Init() and after MPI_Finalize().
 *
 *     test_plain_init RANKS WORKERS
 */
#include "job.h"

enum {
    TASKS = 400
};

static _Atomic int64_t ran;

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)payload, (void)bytes, (void)context;
    CHECK_EQ_INT(ek_worker_here(worker), 0);
    atomic_fetch_add(&ran, 1);
    return 0;
}

static void one_worker_per_rank(void)
{
    static const char *const steals[] = {"random", "near", "none", "counter"};
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "count", count_task, NULL);
    CHECK_EQ_INT(ek_rank_workers(tasks), 1);
    CHECK_EQ_INT(ek_job_workers(tasks), job_size);
    int mine = job_rank == 0 ? TASKS : 0;
    for (int i = 0; i < mine; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    for (int i = 0; i < 8; i++) {
        CHECK_OK(ek_set_option(tasks, "steal", steals[i % 4]));
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(job_sum(atomic_exchange(&ran, 0)), TASKS);
        JOB_OK(ek_restore(
            tasks, i < 4 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, NULL));
    }
    ek_destroy(&tasks);
}

static void refuse(const ek_options *options, const char *part)
{
    ek_collection *tasks = NULL;
    JOB_STATUS(ek_create(MPI_COMM_WORLD, options, &tasks), EK_ERR_THREAD);
    CHECK(tasks == NULL);
    CHECK_HAS_TEXT(ek_error_message(), part);
}

static void more_needs_a_thread_level(void)
{
    ek_options options = EK_OPTIONS_INIT;
    options.workers = 2;
    refuse(&options, "MPI_THREAD_FUNNELED");
    CHECK_HAS_TEXT(ek_error_message(), "set workers to 1");
    /* On one rank only. */
    options.workers = 1 + (job_rank == job_size - 1);
    refuse(&options, "MPI_THREAD_FUNNELED");
    options.workers = 1;
    options.progress = EK_PROGRESS_SERVER;
    refuse(&options, "progress=server needs MPI_THREAD_FUNNELED");
    CHECK_HAS_TEXT(ek_error_message(), "allowed here: auto, polling");
    one_worker_per_rank();
}

static ek_collection *left_over;

static void nothing_before_init(void)
{
    ek_collection *tasks = (ek_collection *)&tasks;
    CHECK_EQ_INT(ek_create(MPI_COMM_WORLD, NULL, &tasks), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "MPI_Init");
    CHECK(tasks == NULL);
}

static void nothing_after_finalize(void)
{
    ek_collection *tasks = (ek_collection *)&tasks;
    CHECK_EQ_INT(ek_create(MPI_COMM_WORLD, NULL, &tasks), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "finalized");
    CHECK(tasks == NULL);
    /* Only frees. */
    ek_destroy(&left_over);
    CHECK(left_over == NULL);
}

int main(int argc, char **argv)
{
    nothing_before_init();
    job_start(argc, argv, MPI_THREAD_SINGLE);
    /* Workers are counted here, not said. */
    unsetenv("EVENKEEL_WORKERS");
    JOB_RUN(one_worker_per_rank);
    JOB_RUN(more_needs_a_thread_level);
    JOB_OK(ek_create(MPI_COMM_WORLD, NULL, &left_over));
    ek_function function = job_register(left_over, "count", count_task, NULL);
    CHECK_OK(ek_add_task(left_over, function, NULL, 0, NULL));
    JOB_OK(ek_process(left_over, NULL));
    int failed = job_result();
    nothing_after_finalize();
    return failed || check_failed() != 0;
}
