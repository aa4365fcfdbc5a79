/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker hooks: created in worker order, begun before the first task of each
 * iteration, ended in worker order after the last, destroyed; in pairs, also
 * where workers have no thread (OMP_THREAD_LIMIT=1).
 *
 *     test_hooks RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_pull.h>

enum {
    TASKS = 300,
    WORKERS_MOST = 16
};

/* The object of a worker. */
struct data {
    int here;
    int begun, ended; /* iterations */
    int64_t ran;      /* tasks in this one */
};

static struct {
    int created, destroyed;
    int null_from; /* workers that get none; -1: all get one */
    int next_end;  /* whose turn it is */
    int64_t ran;   /* summed by worker_end */
    struct data data[WORKERS_MOST];
} life;

static void *create(int here, void *context)
{
    CHECK(context == &life);
    CHECK_EQ_INT(here, life.created);
    if (life.null_from >= 0 && here >= life.null_from)
        return NULL;
    life.created++;
    life.data[here] = (struct data){.here = here};
    return &life.data[here];
}

static void begin(void *data, int here, void *context)
{
    struct data *mine = data;
    CHECK(context == &life);
    CHECK_EQ_INT(mine->here, here);
    CHECK_EQ_INT(mine->begun, mine->ended);
    mine->begun++;
    mine->ran = 0;
}

static void end(void *data, int here, void *context)
{
    struct data *mine = data;
    CHECK(context == &life);
    CHECK_EQ_INT(mine->here, here);
    CHECK_EQ_INT(here, life.next_end);
    life.next_end = (here + 1) % job_workers;
    mine->ended++;
    CHECK_EQ_INT(mine->begun, mine->ended);
    life.ran += mine->ran;
    mine->ran = 0;
}

static void destroy(void *data, void *context)
{
    const struct data *mine = data;
    CHECK(context == &life);
    CHECK_EQ_INT(mine->begun, mine->ended);
    life.destroyed++;
}

static int task(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    struct data *mine = ek_rank_worker_data(context, ek_worker_here(worker));
    (void)payload, (void)bytes;
    CHECK(ek_worker_data(worker) == mine);
    CHECK_EQ_INT(mine->here, ek_worker_here(worker));
    CHECK_EQ_INT(mine->begun, mine->ended + 1);
    mine->ran++;
    return 0;
}

static ek_options with_hooks(void)
{
    ek_options options = job_options();
    memset(&life, 0, sizeof life);
    life.null_from = -1;
    static ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = create;
    hooks.begin = begin;
    hooks.end = end;
    hooks.destroy = destroy;
    hooks.context = &life;
    options.hooks = &hooks;
    return options;
}

static void add_tasks(ek_collection *tasks, ek_function function)
{
    int mine = job_rank == 0 ? TASKS : 0;
    for (int i = 0; i < mine; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
}

/* Hooks of ITERATIONS iterations so far. */
static void check_pairs(const ek_collection *tasks, int iterations)
{
    for (int here = 0; here < job_workers; here++) {
        const struct data *data = ek_rank_worker_data(tasks, here);
        CHECK(data == &life.data[here]);
        CHECK_EQ_INT(data->begun, iterations);
        CHECK_EQ_INT(data->ended, iterations);
    }
    CHECK_EQ_INT(job_sum(life.ran), TASKS);
    life.ran = 0;
}

static void hooks_come_in_pairs(void)
{
    static const char *const steals[] = {"random", "none", "counter", "near"};
    ek_options options = with_hooks();
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "task", task, tasks);
    CHECK_EQ_INT(life.created, job_workers);
    add_tasks(tasks, function);
    for (int i = 0; i < 8; i++) {
        CHECK_OK(ek_set_option(tasks, "steal", steals[i % 4]));
        JOB_OK(ek_process(tasks, NULL));
        check_pairs(tasks, i + 1);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    CHECK_EQ_INT(life.destroyed, 0);
    ek_destroy(&tasks);
    CHECK_EQ_INT(life.destroyed, job_workers);
}

/* Workers that fetch nothing have their hooks, too. */
static void hooks_of_a_pull_loop(void)
{
    ek_options options = with_hooks();
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "task", NULL, tasks);
    add_tasks(tasks, function);
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_begin(tasks));
        ek_task fetched = {0};
        while (ek_next(tasks, 0, &fetched) == EK_OK && fetched.worker)
            task(fetched.worker, fetched.payload, fetched.bytes, tasks);
        JOB_OK(ek_end(tasks, NULL));
        check_pairs(tasks, i + 1);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    CHECK_EQ_INT(life.destroyed, job_workers);
}

/* After a refused iteration as well. */
static void hooks_of_failed_iterations(void)
{
    ek_options options = with_hooks();
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "task", task, tasks);
    add_tasks(tasks, function);
    JOB_OK(ek_process(tasks, NULL));
    check_pairs(tasks, 1);
    ek_process_report bad = {.struct_bytes = 1};
    JOB_STATUS(ek_process(tasks, &bad), EK_ERR_ARG);
    CHECK_EQ_INT(life.ran, 0);
    for (int here = 0; here < job_workers; here++) {
        CHECK_EQ_INT(life.data[here].begun, life.data[here].ended);
        CHECK_EQ_INT(life.data[here].begun, life.data[0].begun);
    }
    ek_destroy(&tasks);
}

/* The last worker of the last rank gets nothing. */
static void failing_creation_fails_on_all(void)
{
    ek_options options = with_hooks();
    ek_collection *tasks = NULL;
    if (job_rank == job_size - 1)
        life.null_from = job_workers - 1;
    JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &tasks), EK_ERR_NOMEM);
    CHECK(tasks == NULL);
    CHECK_HAS_TEXT(ek_error_message(), "hooks.create");
    CHECK_EQ_INT(life.created, life.destroyed);
}

/* One hook alone is fine. */
static void single_hooks(void)
{
    ek_options options = with_hooks();
    ek_worker_hooks hooks = *options.hooks;
    hooks.begin = hooks.end = NULL;
    options.hooks = &hooks;
    ek_collection *tasks = job_create(&options);
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    CHECK_EQ_INT(life.destroyed, job_workers);
    options = with_hooks();
    hooks = *options.hooks;
    hooks.begin = NULL;
    hooks.end = NULL;
    hooks.destroy = NULL;
    options.hooks = &hooks;
    tasks = job_create(&options);
    CHECK(ek_rank_worker_data(tasks, 0) == &life.data[0]);
    ek_destroy(&tasks);
    CHECK_EQ_INT(life.destroyed, 0);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(hooks_come_in_pairs);
    JOB_RUN(hooks_of_a_pull_loop);
    JOB_RUN(hooks_of_failed_iterations);
    JOB_RUN(failing_creation_fails_on_all);
    JOB_RUN(single_hooks);
    return job_result();
}
