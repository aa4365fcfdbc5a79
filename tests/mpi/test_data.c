/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that travels with tasks: each input is there before its task runs, each
 * result comes home once, whatever policy moves tasks, and however they end.
 *
 *     test_data RANKS WORKERS [LEVEL]
 *
 * LEVEL is that of MPI.
 */
#include "boxes.h"

#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>
#include <omp.h>

static ek_options options_of(const char *steal, const char *data)
{
    ek_options options = job_options();
    CHECK_OK(ek_options_set(&options, "steal", steal));
    CHECK_OK(ek_options_set(&options, "data", data));
    return options;
}

static void every_size_travels_and_returns(void)
{
    ek_options options = options_of("none", "return");
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    for (int i = 0; i < 2; i++) {
        boxes_forget();
        JOB_OK(ek_process(tasks, &report));
        int64_t away = job_size > 1 ? BOXES * job_size : 0;
        CHECK_EQ_INT(job_count(tasks, "travelled"), away);
        CHECK_EQ_INT(job_sum(field.away), away);
        CHECK_EQ_INT(job_count(tasks, "data_in_bytes"),
                     job_sum(field.in_bytes));
        CHECK_EQ_INT(job_count(tasks, "data_out_bytes"),
                     job_sum(field.out_bytes));
        CHECK((job_count(tasks, "data_held_bytes") > 0) == (away > 0));
        CHECK((job_figure(tasks, "data_callback_s") > 0) == (away > 0));
        CHECK_EQ_INT(report.tasks, BOXES * job_size);
        boxes_check();
    }
    ek_destroy(&tasks);
}

/* Rank 0 has a nap in each task, so that others help it. */
static void results_are_the_same_by_every_policy(void)
{
    static const char *const steals[] = {"none", "random", "near", "counter",
                                         "node"};
    static const char *const restores[] = {
        "original",           "retain", "centralized",
        "hierarchical",       "auto",   "centralized-hpdc12",
        "hierarchical-hpdc12"};
    for (int i = 0; i < 7; i++) {
        ek_options options = options_of(steals[i % 5], "return");
        ek_function function;
        CHECK_OK(ek_options_set(&options, "restore", restores[i]));
        ek_collection *tasks = boxes_collection(&options, i % 2, &function);
        field.nap_us = job_rank == 0 ? 100 : 0;
        for (int k = 0; k < 2; k++)
            JOB_OK(ek_process(tasks, NULL));
        boxes_check();
        ek_destroy(&tasks);
    }
}

/* Seeds of all boxes, in an iteration of a MODE; shifted, so that all travel
 * unless stealing takes some of them home. */
static void run_mode_stealing(const char *steal, enum box_mode mode,
                              const char *on_failure, ek_status expected)
{
    ek_options options = options_of(steal, "return");
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    CHECK_OK(ek_options_set(&options, "on_failure", on_failure));
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    field.mode = mode;
    JOB_STATUS(ek_process(tasks, &report), expected);
    int64_t run = BOXES * job_size - job_count(tasks, "cancelled");
    CHECK_EQ_INT(report.tasks, run);
    CHECK_EQ_INT(job_sum(field.at_home + field.away), run);
    boxes_check();
    if (job_size > 1 && mode != BOX_STOP && run == BOXES * job_size &&
        strcmp(steal, "none") == 0)
        CHECK(job_sum(field.dropped) > 0);
    /* All boxes are as they were, or one further: the next one is as ever. */
    field.mode = BOX_ADVANCE;
    JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

static void run_mode(enum box_mode mode, const char *on_failure,
                     ek_status expected)
{
    run_mode_stealing("none", mode, on_failure, expected);
    run_mode_stealing("random", mode, on_failure, expected);
}

static void failed_tasks_return_nothing(void)
{
    run_mode(BOX_FAIL, "continue", EK_OK);
    run_mode(BOX_FAIL, "stop", EK_ERR_TASK);
}

static void null_tasks_return_nothing(void)
{
    run_mode(BOX_SKIP, "stop", EK_OK);
    run_mode(BOX_DISCARD, "stop", EK_OK);
}

static void a_stop_loses_no_result(void)
{
    run_mode(BOX_STOP, "stop", EK_OK);
}

/* The next box of this rank, of which a task is spawned where it is. */
static _Atomic int64_t next_box;
static bool may_spawn;

static int spawn_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)payload, (void)bytes;
    if (!may_spawn)
        return 0;
    int64_t number = job_rank * BOXES + atomic_fetch_add(&next_box, 1);
    CHECK_OK(ek_spawn(worker, *(ek_function *)context, &number, sizeof number,
                      EK_SPAWN_KEEP));
    return 0;
}

static void spawned_tasks_are_at_home_where_they_were_spawned(void)
{
    ek_options options = options_of("random", "return");
    ek_function function, spawn;
    ek_collection *tasks = boxes_collection(&options, 0, &function);
    CHECK_OK(ek_clear(tasks));
    spawn = job_register(tasks, "spawn", spawn_task, &function);
    next_box = 0;
    may_spawn = true;
    for (int i = 0; i < BOXES / BOX_RANKS; i++)
        CHECK_OK(ek_add_task(tasks, spawn, NULL, 0, NULL));
    field.nap_us = job_rank == 0 ? 200 : 0;
    JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    /* Kept ones, with their homes. */
    may_spawn = false;
    JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

static void indices_of_ranges_have_data(void)
{
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_collection *tasks = boxes_collection(&options, 0, &function);
    CHECK_OK(ek_clear(tasks));
    int64_t first = job_rank * BOXES;
    CHECK_OK(ek_add_range(tasks, function, first, first + BOXES));
    field.nap_us = job_rank == 0 ? 200 : 0;
    for (int i = 0; i < 3; i++)
        JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(field.at_home + field.away), 3 * BOXES * job_size);
    boxes_check();
    ek_destroy(&tasks);
}

static int plain_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)payload, (void)bytes, (void)context;
    CHECK(ek_task_data(worker) == NULL);
    job_nap(50);
    return 0;
}

static void tasks_without_data_run_beside(void)
{
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    ek_function plain = job_register(tasks, "plain", plain_task, NULL);
    for (int i = 0; i < BOXES; i++)
        CHECK_OK(ek_add_task(tasks, plain, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks, 2 * BOXES * job_size);
        boxes_check();
    }
    ek_destroy(&tasks);
}

static void late_ranks_give_and_take(void)
{
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    for (int late = 0; late < job_size; late++) {
        if (job_rank == late)
            job_nap(20000);
        JOB_OK(ek_process(tasks, NULL));
    }
    boxes_check();
    ek_destroy(&tasks);
}

static void fetched_tasks_have_their_data(void)
{
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_begin(tasks));
#pragma omp parallel num_threads(job_workers) default(none) \
    shared(tasks, job_workers)
        {
            ek_task task = {0};
            int here = omp_get_thread_num();
            while (ek_next(tasks, here, &task) == EK_OK && task.worker)
                box_run(task.worker, box_number(task.payload));
        }
        JOB_OK(ek_end(tasks, NULL));
        boxes_check();
    }
    ek_destroy(&tasks);
}

/* One worker of each rank leaves with a task in its hands. */
static void what_is_fetched_last_ends_with_the_iteration(void)
{
    ek_options options = options_of("none", "return");
    ek_function function;
    ek_task task = {0};
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    JOB_OK(ek_begin(tasks));
    CHECK_OK(ek_next(tasks, 0, &task));
    if (task.worker) {
        box_run(task.worker, box_number(task.payload));
        ek_stop(task.worker);
    }
    JOB_OK(ek_end(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

static void little_memory_is_enough(void)
{
    /* For the workers and for the home an input and a result, and a little. */
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    int64_t held_most = (int64_t)(2 * job_workers + 3) * BOX_LARGEST;
    job_set_number(&options, "data_bytes", held_most);
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, &report));
        CHECK(job_count(tasks, "data_held_bytes") <= held_most);
        boxes_check();
    }
    ek_destroy(&tasks);
}

/* Without callbacks away, the buffer itself. */
static int in_place_task(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    int64_t number = box_number(payload), length = box_bytes(number);
    unsigned char *values = ek_task_data(worker);
    (void)bytes, (void)context;
    box_step(number, values ? values : field.boxes[number].values, length);
    field.advanced[number]++;
    return 0;
}

static void in_place_unpack(const ek_task *task, const void *buffer,
                            size_t bytes, void *context)
{
    int64_t number = box_of(task);
    (void)context;
    CHECK_EQ_INT(bytes, box_bytes(number));
    memcpy(field.boxes[number].values, buffer, bytes);
}

static void a_task_may_work_in_the_buffer(void)
{
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_data_ops ops = box_ops();
    ops.unpack_input = NULL;
    ops.pack_result = NULL;
    ops.unpack_result = in_place_unpack;
    ops.release = NULL;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    CHECK_OK(ek_clear(tasks));
    function = job_register(tasks, "in_place", in_place_task, NULL);
    CHECK_OK(ek_set_data_ops(tasks, function, &ops));
    boxes_add(tasks, function, 1);
    for (int i = 0; i < 2; i++)
        JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

/* What is held here is here, before an iteration and after it. */
static bool is_held_here(const ek_task *task, void *context)
{
    int64_t *held = context;
    CHECK(field.boxes[box_number(task->payload)].values != NULL);
    ++*held;
    return true;
}

static void data_follows_its_tasks(void)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_RETAIN,       EK_RESTORE_CENTRALIZED, EK_RESTORE_ORIGINAL,
        EK_RESTORE_HIERARCHICAL, EK_RESTORE_AUTO,        EK_RESTORE_RETAIN};
    ek_options options = options_of("random", "follow");
    ek_function function;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    field.nap_us = job_rank == 0 ? 100 : 0;
    for (int i = 0; i < 6; i++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        int64_t held = 0;
        JOB_OK(ek_process(tasks, NULL));
        boxes_check();
        boxes_forget();
        JOB_OK(ek_restore(tasks, policies[i], &report));
        CHECK_OK(ek_visit_tasks(tasks, is_held_here, &held));
        CHECK_EQ_INT(job_sum(held), BOXES * job_size);
        CHECK_EQ_INT(job_sum(report.data_tasks), job_sum(field.released));
        CHECK_EQ_INT(job_sum(report.data_bytes), job_sum(field.in_bytes));
        if (i == 0 && job_size > 1)
            CHECK(job_sum(field.released) > 0);
        boxes_forget();
    }
    /* Nobody steals: nothing travels any more. */
    boxes_forget();
    JOB_OK(ek_set_option(tasks, "steal", "none"));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(field.away, 0);
    boxes_check();
    ek_destroy(&tasks);
}

static void data_follows_through_little_memory(void)
{
    ek_options options = options_of("none", "follow");
    ek_function function;
    int64_t held_most = (int64_t)(2 * job_workers + 3) * BOX_LARGEST;
    job_set_number(&options, "data_bytes", held_most);
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    for (int i = 0; i < 3; i++)
        JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

static void pinned_tasks_stay_with_their_data(void)
{
    ek_options options = options_of("random", "return");
    ek_function function;
    ek_hint hint = EK_HINT_INIT;
    ek_collection *tasks = boxes_collection(&options, 0, &function);
    CHECK_OK(ek_clear(tasks));
    hint.pinned = true;
    for (int64_t i = 0; i < BOXES; i++) {
        int64_t number = job_rank * BOXES + i;
        CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, &hint));
    }
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(field.away, 0);
        boxes_check();
    }
    ek_destroy(&tasks);
}

/* Tasks that are added before a restore go where their hints say. */
static void hints_hold_where_data_follows(void)
{
    ek_options options = options_of("none", "follow");
    ek_function function;
    ek_hint hint = EK_HINT_INIT;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    hint.rank = (job_rank + 1) % job_size;
    ek_collection *tasks = boxes_collection(&options, 1, &function);
    ek_function plain = job_register(tasks, "plain", plain_task, NULL);
    JOB_OK(ek_process(tasks, NULL));
    for (int i = 0; i < 10; i++)
        CHECK_OK(ek_add_task(tasks, plain, NULL, 0, &hint));
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks, (BOXES + 10) * job_size);
        boxes_check();
    }
    ek_destroy(&tasks);
}

/* Until an input was packed beside it, or for 20 s. */
static int await_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    for (int i = 0; i < 20000 && atomic_load(&field.packed) == 0; i++)
        job_nap(1000);
    CHECK(atomic_load(&field.packed) > 0);
    return 0;
}

/* The worker of rank 0 has a task that ends when an input has left. */
static ek_collection *make_beside(ek_options *options, ek_function *await)
{
    ek_function function;
    ek_hint hint = EK_HINT_INIT;
    options->ignore_environment = true;
    options->workers = 1;
    hint.pinned = true;
    ek_collection *tasks = boxes_collection(options, 1, &function);
    *await = job_register(tasks, "await", await_task, NULL);
    if (job_rank == 0)
        CHECK_OK(ek_add_task(tasks, *await, NULL, 0, &hint));
    return tasks;
}

static void answer_beside(void)
{
    ek_options options = options_of("none", "return");
    ek_function await;
    options.progress = EK_PROGRESS_SERVER;
    ek_collection *tasks = make_beside(&options, &await);
    JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

static void answer_beside_fetched(void)
{
    ek_options options = options_of("none", "return");
    ek_function await;
    ek_task task = {0};
    options.progress = EK_PROGRESS_SERVER;
    ek_collection *tasks = make_beside(&options, &await);
    JOB_OK(ek_begin(tasks));
    while (ek_next(tasks, 0, &task) == EK_OK && task.worker) {
        if (task.function == await)
            await_task(task.worker, NULL, 0, NULL);
        else
            box_run(task.worker, box_number(task.payload));
    }
    JOB_OK(ek_end(tasks, NULL));
    boxes_check();
    ek_destroy(&tasks);
}

static void inputs_leave_beside_a_long_task(void)
{
    int level;
    MPI_Query_thread(&level);
    if (job_size == 1)
        return;
    answer_beside();
    if (level >= MPI_THREAD_SERIALIZED)
        answer_beside_fetched();
}

int main(int argc, char **argv)
{
    job_start(argc, argv, argc > 3 ? atoi(argv[3]) : MPI_THREAD_SERIALIZED);
    JOB_RUN(every_size_travels_and_returns);
    JOB_RUN(results_are_the_same_by_every_policy);
    JOB_RUN(failed_tasks_return_nothing);
    JOB_RUN(null_tasks_return_nothing);
    JOB_RUN(a_stop_loses_no_result);
    JOB_RUN(spawned_tasks_are_at_home_where_they_were_spawned);
    JOB_RUN(indices_of_ranges_have_data);
    JOB_RUN(tasks_without_data_run_beside);
    JOB_RUN(late_ranks_give_and_take);
    JOB_RUN(fetched_tasks_have_their_data);
    JOB_RUN(what_is_fetched_last_ends_with_the_iteration);
    JOB_RUN(little_memory_is_enough);
    JOB_RUN(a_task_may_work_in_the_buffer);
    JOB_RUN(data_follows_its_tasks);
    JOB_RUN(data_follows_through_little_memory);
    JOB_RUN(hints_hold_where_data_follows);
    JOB_RUN(pinned_tasks_stay_with_their_data);
    JOB_RUN(inputs_leave_beside_a_long_task);
    return job_result();
}
