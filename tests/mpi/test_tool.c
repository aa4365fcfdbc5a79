/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool hears of each task once: its begin and end, by the thread that runs
 * it, one inside of no other.
 *
 *     test_tool RANKS WORKERS
 */
#include "boxes.h"

#include <evenkeel_loop.h>
#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>
#include <evenkeel_tool.h>

enum {
    SEEDS = 60,
    INDICES = 1000,
    CHILDREN = 3,
    FUNCTIONS = 4,
    WORKERS_MOST = 16
};

static const char *const names[FUNCTIONS] = {"seed", "index", "child", "box"};

/* What the tool has heard; of a worker by its thread, or between iterations. */
static struct heard {
    int64_t begun[FUNCTIONS], ended[FUNCTIONS];
    uint64_t open_id; /* + 1 */
    const char *open;
    int64_t bodies; /* that ran, each inside of a begin and an end */
    int64_t wrong;
} heard[WORKERS_MOST];
static int first_worker;
static _Thread_local int depth;

static int number_of(const char *function)
{
    int f = 0;
    while (f < FUNCTIONS && strcmp(names[f], function) != 0)
        f++;
    CHECK(f < FUNCTIONS);
    return f;
}

static void begin(const char *function, int worker, uint64_t id, void *context)
{
    struct heard *mine = &heard[worker - first_worker];
    CHECK(context == heard);
    mine->wrong += mine->open_id != 0 || depth++ != 0;
    mine->open_id = id + 1;
    mine->open = function;
    mine->begun[number_of(function)]++;
}

static void end(const char *function, int worker, uint64_t id, void *context)
{
    struct heard *mine = &heard[worker - first_worker];
    CHECK(context == heard);
    mine->wrong +=
        mine->open_id != id + 1 || strcmp(mine->open, function) || --depth != 0;
    mine->open_id = 0;
    mine->ended[number_of(function)]++;
}

/* From a body. */
static void note_body(ek_worker *worker)
{
    struct heard *mine = &heard[ek_worker_here(worker)];
    mine->wrong += mine->open_id != ek_task_id(worker) + 1;
    mine->bodies++;
}

static int child(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    (void)payload, (void)bytes, (void)context;
    note_body(worker);
    return 0;
}

static int seed(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    (void)payload, (void)bytes;
    note_body(worker);
    for (int i = 0; i < CHILDREN; i++)
        CHECK_OK(ek_spawn(worker, *(ek_function *)context, &i, sizeof i, 0));
    job_nap(20);
    return 0;
}

/* Sum over workers and ranks, and forget. */
static void check_heard(const int64_t *expected, int64_t bodies)
{
    struct heard all = {0};
    for (int here = 0; here < job_workers; here++) {
        for (int f = 0; f < FUNCTIONS; f++) {
            all.begun[f] += heard[here].begun[f];
            all.ended[f] += heard[here].ended[f];
        }
        CHECK_EQ_INT(heard[here].open_id, 0);
        all.bodies += heard[here].bodies;
        all.wrong += heard[here].wrong;
    }
    for (int f = 0; f < FUNCTIONS; f++) {
        CHECK_EQ_INT(job_sum(all.begun[f]), expected[f]);
        CHECK_EQ_INT(job_sum(all.ended[f]), expected[f]);
    }
    CHECK_EQ_INT(job_sum(all.bodies), bodies);
    CHECK_EQ_INT(all.wrong, 0);
    memset(heard, 0, sizeof heard);
}

static void set_tool(void)
{
    ek_tool tool = EK_TOOL_INIT;
    tool.begin = begin;
    tool.end = end;
    tool.context = heard;
    CHECK_OK(ek_set_tool(&tool));
}

static struct functions {
    ek_function seed, index, child;
} functions;

/* A collection with tasks at rank 0, which others steal. */
static ek_collection *make(ek_task_fn *run_index)
{
    ek_collection *tasks = job_create(NULL);
    functions.child = job_register(tasks, "child", child, NULL);
    functions.seed = job_register(tasks, "seed", seed, &functions.child);
    functions.index = job_register(tasks, "index", run_index, NULL);
    for (int i = 0; job_rank == 0 && i < SEEDS; i++)
        CHECK_OK(ek_add_task(tasks, functions.seed, &i, sizeof i, NULL));
    if (job_rank == 0)
        CHECK_OK(ek_add_range(tasks, functions.index, 0, INDICES));
    return tasks;
}

static void each_task_is_told_once(void)
{
    static const int64_t all[] = {SEEDS, INDICES, SEEDS * CHILDREN, 0};
    set_tool();
    ek_collection *tasks = make(child);
    CHECK_OK(ek_set_tool(NULL)); /* tasks has its copy */
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        check_heard(all, SEEDS + INDICES + SEEDS * CHILDREN);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_destroy(&tasks);
    tasks = make(child);
    JOB_OK(ek_process(tasks, NULL));
    static const int64_t none[FUNCTIONS];
    int64_t ran = 0;
    for (int here = 0; here < job_workers; here++) {
        ran += heard[here].bodies;
        heard[here].bodies = heard[here].wrong = 0;
    }
    CHECK_EQ_INT(job_sum(ran), SEEDS + INDICES + SEEDS * CHILDREN);
    check_heard(none, 0);
    ek_destroy(&tasks);
}

/* Worker 0 fetches; after MOST tasks it stops, with one open. */
static int64_t fetch(ek_collection *tasks, int64_t most)
{
    ek_task task;
    int64_t fetched = 0;
    while (fetched < most) {
        CHECK_OK(ek_next(tasks, 0, &task));
        if (!task.worker)
            break;
        fetched++;
        note_body(task.worker);
    }
    return job_sum(fetched);
}

static void a_pull_loop_is_told(void)
{
    static const int64_t all[] = {SEEDS, INDICES, 0, 0};
    set_tool();
    ek_collection *tasks = make(NULL);
    JOB_OK(ek_begin(tasks));
    CHECK_EQ_INT(fetch(tasks, INT64_MAX), SEEDS + INDICES);
    JOB_OK(ek_end(tasks, NULL));
    check_heard(all, SEEDS + INDICES);
    ek_destroy(&tasks);

    /* A task that is open when its loop ends has an end, too. */
    tasks = job_create(NULL);
    ek_function function = job_register(tasks, "index", NULL, NULL);
    CHECK_OK(ek_add_range(tasks, function, 0, INDICES));
    JOB_OK(ek_begin(tasks));
    int64_t fetched = fetch(tasks, 3);
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    JOB_STATUS(ek_end(tasks, NULL), EK_ERR_TASK);
    const int64_t some[] = {0, fetched, 0, 0};
    check_heard(some, fetched);
    CHECK_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_begin(tasks));
    fetched = fetch(tasks, 3);
    ek_destroy(&tasks);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    const int64_t left[] = {0, fetched, 0, 0};
    check_heard(left, fetched);
    CHECK_OK(ek_set_tool(NULL));
}

static int loop_body(ek_worker *worker, int64_t i, void *context)
{
    (void)i, (void)context;
    note_body(worker);
    return 0;
}

static void a_loop_in_one_call_is_told(void)
{
    static const int64_t all[] = {0, INDICES, 0, 0};
    set_tool();
    JOB_OK(ek_for(MPI_COMM_WORLD, INDICES, loop_body, NULL));
    CHECK_OK(ek_set_tool(NULL));
    check_heard(all, INDICES);
}

/* They begin when their data is there. */
static void tasks_with_data_are_told(void)
{
    const int64_t all[] = {0, 0, 0, job_size * BOXES};
    ek_function function;
    set_tool();
    ek_collection *tasks = boxes_collection(NULL, 1, &function);
    CHECK_OK(ek_set_tool(NULL));
    JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    check_heard(all, 0);
    ek_destroy(&tasks);
}

static void bad_tools_are_refused(void)
{
    ek_tool tool = {.begin = begin};
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    CHECK_EQ_INT(ek_set_tool(&tool), EK_ERR_ARG);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    CHECK_HAS_TEXT(ek_error_message(), "EK_TOOL_INIT");
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    first_worker = job_rank * job_workers;
    JOB_RUN(each_task_is_told_once);
    JOB_RUN(a_pull_loop_is_told);
    JOB_RUN(a_loop_in_one_call_is_told);
    JOB_RUN(tasks_with_data_are_told);
    JOB_RUN(bad_tools_are_refused);
    return job_result();
}
