/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations that are unlike a steady flow of equal tasks: empty, with one long
 * task, entered late, beside a second collection, without a restore between
 * them, after a failure.
 *
 *     test_iterations RANKS WORKERS [LONG_MS [EMPTY]]
 *
 * LONG_MS is how long the long task takes at least, and how late the late rank
 * is; EMPTY how many empty iterations there are.
 */
#include "job.h"
#include "sign.h"

#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>

static int64_t long_ms = 200;
static int empty_iterations = 10000;

/* Tasks that ran on this rank. */
static _Atomic int64_t ran;
static _Atomic bool fails;

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    atomic_fetch_add(&ran, 1);
    return 0;
}

/* Returns how many ran in the job since the last call. */
static int64_t ran_in_job(void)
{
    return job_sum(atomic_exchange(&ran, 0));
}

static void add_tasks(ek_collection *tasks, ek_function function, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
}

static ek_status restore_and_process(ek_collection *tasks)
{
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    return ek_process(tasks, NULL);
}

static void empty_iterations_in_a_row(ek_collection *tasks)
{
    int failed = 0;
    job_register(tasks, "count", count_task, NULL);
    for (int i = 0; i < empty_iterations; i++)
        failed += ek_process(tasks, NULL) != EK_OK;
    CHECK_EQ_INT(failed, 0);
    for (int i = 0; i < 100; i++) {
        failed += ek_process(tasks, NULL) != EK_OK;
        failed +=
            ek_restore(tasks, i % 2 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL,
                       NULL) != EK_OK;
    }
    CHECK_EQ_INT(failed, 0);
    CHECK_EQ_INT(ran_in_job(), 0);
}

/* When the last task of this rank ended. */
static _Atomic int64_t ended;

static int64_t moment_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int slow_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    job_nap(200);
    atomic_store(&ended, moment_ns());
    return count_task(worker, payload, bytes, context);
}

/* A rank without tasks does not return before those of others have run. */
static void few_tasks_between_empty_iterations(void)
{
    static const char *const steals[] = {"none", "random", "counter"};
    for (int i = 0; i < 3; i++) {
        ek_options options = job_options();
        job_set(&options, "steal", steals[i]);
        ek_collection *tasks = job_create(&options);
        ek_function slow = job_register(tasks, "slow", slow_task, NULL);
        for (int k = 0; k < 12; k++) {
            int n = k % 3;
            add_tasks(tasks, slow, k % job_size == job_rank ? n : 0);
            CHECK_OK(ek_process(tasks, NULL));
            int64_t returned = moment_ns();
            CHECK(returned >= job_most(atomic_load(&ended)));
            CHECK_EQ_INT(ran_in_job(), n);
            CHECK_OK(ek_clear(tasks));
            CHECK_OK(ek_process(tasks, NULL));
        }
        ek_destroy(&tasks);
    }
}

/* The worker that ran it; that it began; that another then ran a short one. */
static _Atomic int long_worker;
static char began[SIGN_BYTES], helped[SIGN_BYTES];

static int long_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    (void)payload, (void)bytes, (void)context;
    atomic_store(&long_worker, ek_worker_id(worker));
    sign_make(began);
    bool waits = job_size * job_workers > 1;
    for (int ms = 0;
         ms < long_ms || (waits && ms < SIGN_WAIT_MS && !sign_is_there(helped));
         ms++) {
        job_nap(1000);
        ek_poll(worker);
    }
    return 0;
}

/* Tasks of each worker of the job. */
static int64_t ran_by[64];

static int short_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)payload, (void)bytes, (void)context;
    job_nap(100);
    ran_by[ek_worker_id(worker)]++;
    if (sign_is_there(began) &&
        ek_worker_id(worker) != atomic_load(&long_worker))
        sign_make(helped);
    return 0;
}

static void long_task_with_others_around_it(ek_collection *tasks)
{
    enum {
        SHORT = 200
    };
    ek_function brief = job_register(tasks, "short", short_task, NULL);
    ek_function lengthy = job_register(tasks, "long", long_task, NULL);
    memset(ran_by, 0, sizeof ran_by);
    atomic_store(&long_worker, -1);
    sign_name(began, "began");
    sign_name(helped, "helped");
    /* The last added starts first. */
    if (job_rank == 0) {
        add_tasks(tasks, brief, SHORT);
        add_tasks(tasks, lengthy, 1);
    }
    JOB_OK(ek_process(tasks, NULL));
    int64_t all = 0, busy = job_most(atomic_load(&long_worker));
    MPI_Allreduce(MPI_IN_PLACE, ran_by, 64, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < ek_job_workers(tasks); i++)
        all += ran_by[i];
    CHECK_EQ_INT(all, SHORT);
    CHECK(busy >= 0);
    if (ek_job_workers(tasks) > 1)
        CHECK(ran_by[busy] < SHORT);
    unlink(began);
    unlink(helped);
}

static int parent_task(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    ek_function child;
    (void)bytes, (void)context;
    memcpy(&child, payload, sizeof child);
    job_nap(10000);
    for (int i = 0; i < 4; i++)
        CHECK_OK(ek_spawn(worker, child, NULL, 0, 0));
    job_nap(10000);
    atomic_fetch_add(&ran, 1);
    return 0;
}

static int child_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)context;
    CHECK_EQ_INT(bytes, 0);
    job_nap(5000);
    atomic_fetch_add(&ran, 1);
    return 0;
}

static void long_task_that_spawns(ek_collection *tasks)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function parent = job_register(tasks, "parent", parent_task, NULL);
    ek_function child = job_register(tasks, "child", child_task, NULL);
    if (job_rank == 0)
        CHECK_OK(ek_add_task(tasks, parent, &child, sizeof child, NULL));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(ran_in_job(), 5);
    CHECK_EQ_INT(job_count(tasks, "spawned"), 4);
    if (job_rank == 0)
        printf("     20 ms and 4 x 5 ms: %.1f ms\n", report.wall_s * 1e3);
}

/* Payload: how many children to have at once, and how deep a chain. */
static int storm_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    int wish[2], child[2] = {0, 0};
    (void)context;
    CHECK_EQ_INT(bytes, sizeof wish);
    memcpy(wish, payload, sizeof wish);
    atomic_fetch_add(&ran, 1);
    for (int i = 0; i < wish[0]; i++)
        CHECK_OK(ek_spawn(worker, 0, child, sizeof child, 0));
    child[1] = wish[1] - 1;
    if (child[1] > 0)
        CHECK_OK(ek_spawn(worker, 0, child, sizeof child, 0));
    return 0;
}

static void storms_and_chains_of_spawned_tasks(ek_collection *tasks)
{
    enum {
        MANY = 50000
    };
    ek_function storm = job_register(tasks, "storm", storm_task, NULL);
    const int wishes[][2] = {{MANY, 0}, {0, MANY}, {10, 10}};
    int mine = job_rank == job_size - 1 ? 3 : 0;
    for (int i = 0; i < mine; i++)
        CHECK_OK(ek_add_task(tasks, storm, wishes[i], sizeof wishes[i], NULL));
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        /* 1 and its children; the chain; 1, ten, and nine after it. */
        CHECK_EQ_INT(ran_in_job(), 1 + MANY + MANY + 1 + 10 + 9);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
}

static void ranks_enter_late(ek_collection *tasks)
{
    ek_function count = job_register(tasks, "count", count_task, NULL);
    add_tasks(tasks, count, 1000);
    for (int late = 0; late < job_size && late < 2; late++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        if (job_rank == late)
            job_nap(1000 * long_ms);
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(ran_in_job(), 1000 * job_size);
        CHECK_EQ_INT(report.tasks, 1000 * job_size);
        CHECK(job_figure(tasks, "late_s") >= 0);
        JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, NULL));
    }
    /* Late out of one, early into the next: others are a phase behind. */
    for (int i = 0; i < 20; i++) {
        CHECK_OK(ek_process(tasks, NULL));
        if (job_rank == i % job_size)
            job_nap(2000);
        CHECK_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    CHECK_EQ_INT(ran_in_job(), 20 * 1000 * job_size);
}

static void second_collection_holds_tasks(void)
{
    ek_options options = job_options();
    options.name = "first";
    ek_collection *first = job_create(&options);
    options.name = "second";
    job_set(&options, "deque", "locked");
    options.payload_bytes = 8;
    ek_collection *second = job_create(&options);
    ek_function in_first = job_register(first, "count", count_task, NULL);
    ek_function in_second = job_register(second, "count", count_task, NULL);
    add_tasks(first, in_first, 100);
    add_tasks(second, in_second, job_rank == 0 ? 30 : 0);
    JOB_OK(ek_process(first, NULL));
    CHECK_EQ_INT(ran_in_job(), 100 * job_size);
    JOB_OK(ek_process(second, NULL));
    CHECK_EQ_INT(ran_in_job(), 30);
    JOB_OK(restore_and_process(first));
    CHECK_EQ_INT(ran_in_job(), 100 * job_size);
    JOB_OK(restore_and_process(second));
    CHECK_EQ_INT(ran_in_job(), 30);
    /* One iteration at a time. */
    JOB_OK(ek_restore(first, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_begin(first));
    JOB_STATUS(ek_process(second, NULL), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "one at a time");
    JOB_STATUS(ek_restore(second, EK_RESTORE_RETAIN, NULL), EK_ERR_STATE);
    JOB_STATUS(ek_end(first, NULL), EK_ERR_TASK);
    CHECK_EQ_INT(ran_in_job(), 0);
    ek_destroy(&first);
    JOB_OK(restore_and_process(second));
    CHECK_EQ_INT(ran_in_job(), 30);
    ek_destroy(&second);
}

static void collections_come_and_go(void)
{
    for (int i = 0; i < 40; i++) {
        ek_options options = job_options();
        job_set(&options, "deque", i % 2 ? "locked" : "atomic");
        ek_collection *tasks = job_create(&options);
        ek_function count = job_register(tasks, "count", count_task, NULL);
        add_tasks(tasks, count, job_rank == i % job_size ? 20 : 0);
        if (i % 4 != 3)
            JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(ran_in_job(), i % 4 != 3 ? 20 : 0);
        if (i % 4 == 2)
            JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
        /* Tasks that are not processed or restored go with it. */
        ek_destroy(&tasks);
    }
}

/* Each half of the ranks, numbered backwards, has a collection of its own. */
static void collections_over_parts_of_the_job(void)
{
    MPI_Comm part;
    int half = job_rank % 2, size, rank;
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, half, -job_rank, &part);
    MPI_Comm_size(part, &size);
    MPI_Comm_rank(part, &rank);
    options.name = half ? "odd" : "even";
    options.payload_bytes = half ? 16 : 100;
    CHECK_OK(ek_create(part, &options, &tasks));
    MPI_Comm_free(&part);
    CHECK_EQ_INT(ek_job_workers(tasks), size * job_workers);
    ek_function count = job_register(tasks, "count", count_task, NULL);
    add_tasks(tasks, count, rank == 0 ? 50 + half : 0);
    /* Not in step with the other half. */
    for (int i = 0; i < 10 + 5 * half; i++) {
        CHECK_OK(ek_process(tasks, NULL));
        CHECK_OK(ek_restore(
            tasks, i % 2 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    CHECK_EQ_INT(ran_in_job(), 10 * 50 + (job_size > 1 ? 15 * 51 : 0));
}

static void process_twice(const char *steal, const char *restore)
{
    ek_collection *tasks = job_create(NULL);
    ek_function count = job_register(tasks, "count", count_task, NULL);
    CHECK_OK(ek_set_option(tasks, "steal", steal));
    CHECK_OK(ek_set_option(tasks, "restore", restore));
    if (job_rank == 0)
        add_tasks(tasks, count, 50);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(ran_in_job(), 50);
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(ran_in_job(), 50);
        CHECK_EQ_INT(job_held(tasks), 50);
    }
    /* A rank that restores where others forget it does what they do. */
    ek_restore_policy same = EK_RESTORE_DEFAULT;
    if (job_rank == job_size - 1)
        CHECK_OK(ek_restore(tasks, same, NULL));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(ran_in_job(), 50);
    JOB_OK(restore_and_process(tasks));
    CHECK_EQ_INT(ran_in_job(), 50);
    /* Added since: they are restored, too. */
    add_tasks(tasks, count, 2);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(ran_in_job(), 50 + 2 * job_size);
    CHECK_OK(ek_clear(tasks));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(ran_in_job(), 0);
    ek_destroy(&tasks);
}

static void process_without_restore(void)
{
    process_twice("random", "retain");
    process_twice("near", "original");
    process_twice("none", "centralized");
    process_twice("counter", "auto");
}

/* Adding between the two calls, and restoring twice. */
static void seeds_added_around_the_restore(ek_collection *tasks)
{
    ek_function count = job_register(tasks, "count", count_task, NULL);
    int64_t expected = 0;
    for (int i = 0; i < 4; i++) {
        ek_restore_policy policy =
            i % 2 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL;
        add_tasks(tasks, count, 10);
        JOB_OK(ek_restore(tasks, policy, NULL));
        add_tasks(tasks, count, job_rank == 0 ? 10 : 0);
        JOB_OK(ek_restore(tasks, policy, NULL));
        expected += 10 * job_size + 10;
        CHECK_EQ_INT(job_held(tasks), expected);
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(ran_in_job(), expected);
    }
}

static int may_fail_task(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    int number;
    (void)worker, (void)bytes, (void)context;
    memcpy(&number, payload, sizeof number);
    if (atomic_load(&fails) && number == 17)
        return 5;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static void iteration_after_a_failure(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "may fail", may_fail_task, NULL);
    add_tasks(tasks, function, 40);
    for (int i = 0; i < 6; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        atomic_store(&fails, i % 3 != 2);
        JOB_STATUS(ek_process(tasks, &report),
                   i % 3 != 2 ? EK_ERR_TASK : EK_OK);
        int64_t done = ran_in_job();
        CHECK_EQ_INT(report.tasks, done + job_count(tasks, "failed"));
        CHECK_EQ_INT(report.tasks + job_count(tasks, "cancelled"),
                     40 * job_size);
        CHECK_EQ_INT(job_held(tasks), 40 * job_size);
        if (i % 3 == 2)
            CHECK_EQ_INT(done, 40 * job_size);
        else
            CHECK(job_count(tasks, "failed") >= 1);
        JOB_OK(ek_restore(
            tasks, i % 2 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, NULL));
        CHECK_EQ_INT(job_held(tasks), 40 * job_size);
    }
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    if (argc > 3)
        long_ms = atoll(argv[3]);
    if (argc > 4)
        empty_iterations = atoi(argv[4]);
    JOB_RUN_TASKS(empty_iterations_in_a_row);
    JOB_RUN(few_tasks_between_empty_iterations);
    JOB_RUN_TASKS(long_task_with_others_around_it);
    JOB_RUN_TASKS(long_task_that_spawns);
    JOB_RUN_TASKS(storms_and_chains_of_spawned_tasks);
    JOB_RUN_TASKS(ranks_enter_late);
    JOB_RUN(second_collection_holds_tasks);
    JOB_RUN(collections_come_and_go);
    JOB_RUN(collections_over_parts_of_the_job);
    JOB_RUN(process_without_restore);
    JOB_RUN_TASKS(seeds_added_around_the_restore);
    JOB_RUN_TASKS(iteration_after_a_failure);
    return job_result();
}
