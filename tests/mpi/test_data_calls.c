/* SPDX-License-Identifier: BSD-3-Clause */
/* ek_set_data_ops() with bad arguments, ranks that differ in it, and callbacks
 * that could not do what they are for. */
#include "boxes.h"

#include <omp.h>

static void check_refusal(ek_status status, ek_status expected,
                          const char *part)
{
    CHECK_EQ_INT(status, expected);
    CHECK_HAS_TEXT(ek_error_message(), part);
}

static void bad_arguments_are_refused(void)
{
    ek_options options = job_options();
    job_set_number(&options, "data_bytes", 1 << 20);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "box", box_task, NULL);
    ek_data_ops ops = box_ops();
    ops.bytes_max = 1000;
    check_refusal(ek_set_data_ops(NULL, function, &ops), EK_ERR_ARG,
                  "collection is NULL");
    check_refusal(ek_set_data_ops(tasks, 7, &ops), EK_ERR_ARG,
                  "function 7 is not registered; allowed: 0 ... 0");
    check_refusal(ek_set_data_ops(tasks, function, NULL), EK_ERR_ARG,
                  "ops is NULL");
    ops.struct_bytes = 8;
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "EK_DATA_OPS_INIT");
    ops.struct_bytes = sizeof ops;
    ops.bytes_max = ((size_t)1 << 30) + 1;
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "bytes_max of 'box' is 1073741825; allowed: 0 ... "
                  "1073741824");
    ops.bytes_max = 1 << 20;
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "data_bytes");
    ops.bytes_max = 1000;
    ops.pack_input = NULL;
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "'box' has no pack_input");
    ops = box_ops();
    ops.bytes_max = 1000;
    CHECK_OK(ek_set_data_ops(tasks, function, &ops));
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "'box' has data already");
    ek_destroy(&tasks);
}

static void following_needs_its_callbacks(void)
{
    ek_options options = job_options();
    job_set(&options, "data", "follow");
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "box", box_task, NULL);
    ek_data_ops ops = box_ops();
    ops.release = NULL;
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "has no release, which data=follow needs");
    ops.release = box_release;
    ops.unpack_result = NULL;
    check_refusal(ek_set_data_ops(tasks, function, &ops), EK_ERR_ARG,
                  "has no unpack_result, which data=follow needs");
    ek_destroy(&tasks);
}

static ek_status status_inside;

static int set_inside(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    ek_data_ops ops = box_ops();
    (void)worker, (void)payload, (void)bytes;
    status_inside = ek_set_data_ops(context, 0, &ops);
    return 0;
}

static void data_is_set_between_iterations(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "inside", set_inside, tasks);
    status_inside = EK_OK;
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_set_option(tasks, "steal", "none"));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(status_inside, EK_ERR_STATE);
}

static void ranks_that_differ_are_told(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "box", box_task, NULL);
    ek_data_ops ops = box_ops();
    ops.bytes_max = 1000 + (size_t)(job_rank == job_size - 1);
    CHECK_OK(ek_set_data_ops(tasks, function, &ops));
    JOB_STATUS(ek_process(tasks, NULL), job_size > 1 ? EK_ERR_ARG : EK_OK);
    if (job_size > 1) {
        CHECK_HAS_TEXT(ek_error_message(),
                       "on rank 0 function 0 is 'box', with data of at most "
                       "1000 bytes and pack_input, unpack_input, pack_result, "
                       "unpack_result, release");
        CHECK_HAS_TEXT(ek_error_message(), "at most 1001 bytes");
    }
}

/* Box 7 of each rank cannot be packed, unpacked, and so on. */
static size_t fail_to_pack_input(const ek_task *task, void *buffer,
                                 void *context)
{
    size_t bytes = box_pack_input(task, buffer, context);
    return box_of(task) % BOXES == 7 ? EK_DATA_FAILED : bytes;
}

static size_t pack_too_much(const ek_task *task, void *buffer, void *context)
{
    size_t bytes = box_pack_input(task, buffer, context);
    return box_of(task) % BOXES == 7 ? (size_t)BOX_LARGEST + 1 : bytes;
}

static void *fail_to_unpack(const ek_task *task, void *buffer, size_t bytes,
                            void *context)
{
    return box_of(task) % BOXES == 7
               ? NULL
               : box_unpack_input(task, buffer, bytes, context);
}

static size_t fail_to_pack_result(const ek_task *task, void *object,
                                  void *buffer, void *context)
{
    size_t bytes = box_pack_result(task, object, buffer, context);
    return box_of(task) % BOXES == 7 ? EK_DATA_FAILED : bytes;
}

/* A task of each rank fails, in these words, and its box is as it was. */
static void fail_with(const ek_data_ops *ops, const char *words)
{
    ek_options options = job_options();
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = boxes_collection(&options, 0, &function);
    CHECK_OK(ek_clear(tasks));
    function = job_register(tasks, "failing", box_task, NULL);
    CHECK_OK(ek_set_data_ops(tasks, function, ops));
    for (int64_t i = 0; i < 10; i++) {
        int64_t number = job_rank * BOXES + i;
        ek_hint hint = EK_HINT_INIT;
        hint.rank = (job_rank + 1) % job_size;
        CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, &hint));
    }
    bool fails = job_size > 1;
    JOB_STATUS(ek_process(tasks, NULL), fails ? EK_ERR_TASK : EK_OK);
    if (fails)
        CHECK_HAS_TEXT(ek_error_message(), words);
    JOB_OK(ek_set_option(tasks, "on_failure", "continue"));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "failed"), fails ? job_size : 0);
    CHECK_EQ_INT(report.tasks, 10 * job_size);
    for (int64_t i = 0; i < 10; i++)
        CHECK(box_is_whole(job_rank * BOXES + i,
                           field.boxes[job_rank * BOXES + i].values,
                           box_bytes(job_rank * BOXES + i)));
    const struct box *bad = &field.boxes[job_rank * BOXES + 7];
    if (fails)
        CHECK_EQ_INT(bad->values[0], 0);
    ek_destroy(&tasks);
}

static void callbacks_may_fail(void)
{
    ek_data_ops ops = box_ops();
    ops.pack_input = fail_to_pack_input;
    fail_with(&ops, "pack_input");
    ops = box_ops();
    ops.pack_input = pack_too_much;
    fail_with(&ops, "pack_input");
    ops = box_ops();
    ops.unpack_input = fail_to_unpack;
    fail_with(&ops, "unpack_input");
    ops = box_ops();
    ops.pack_result = fail_to_pack_result;
    fail_with(&ops, "pack_result");
}

static bool fails_now;

static size_t fail_now(const ek_task *task, void *buffer, void *context)
{
    size_t bytes = box_pack_input(task, buffer, context);
    return fails_now && box_of(task) % BOXES == 7 ? EK_DATA_FAILED : bytes;
}

/* All ranks hear which task's data could not follow it; that stays with its
 * home, until the next restore. */
/* A restore fails, or that with which an ek_process() begins. */
static void follow_fails(bool is_implicit)
{
    ek_options options = job_options();
    ek_function function;
    ek_data_ops ops = box_ops();
    ops.pack_input = fail_now;
    options.steal = EK_STEAL_NONE;
    job_set(&options, "data", "follow");
    ek_collection *tasks = boxes_collection(&options, 0, &function);
    CHECK_OK(ek_clear(tasks));
    function = job_register(tasks, "failing", box_task, NULL);
    CHECK_OK(ek_set_data_ops(tasks, function, &ops));
    boxes_add(tasks, function, 1);
    fails_now = false;
    JOB_OK(ek_process(tasks, NULL));
    fails_now = true;
    bool fails = job_size > 1;
    JOB_STATUS(is_implicit ? ek_process(tasks, NULL)
                           : ek_restore(tasks, EK_RESTORE_RETAIN, NULL),
               fails ? EK_ERR_TASK : EK_OK);
    if (fails) {
        CHECK_HAS_TEXT(ek_error_message(),
                       "of function 'failing' failed on worker");
        CHECK(!strstr(ek_error_message(), "fetch until"));
    }
    fails_now = false;
    if (fails || !is_implicit)
        JOB_OK(ek_process(tasks, NULL));
    boxes_check();
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    boxes_forget();
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(field.away, 0);
    boxes_check();
    ek_destroy(&tasks);
}

static void data_may_fail_to_follow(void)
{
    follow_fails(false);
    follow_fails(true);
}

static size_t pack_slowly(const ek_task *task, void *buffer, void *context)
{
    job_nap(1000);
    return box_pack_input(task, buffer, context);
}

/* Tasks that were late would go home, but have run, and wait for a restore. */
static void a_refused_call_leaves_late_tasks(void)
{
    ek_options options = job_options();
    ek_data_ops ops = box_ops();
    ek_status status = EK_OK;
    job_set(&options, "steal", "none");
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "box", box_task, NULL);
    ops.pack_input = pack_slowly;
    CHECK_OK(ek_set_data_ops(tasks, function, &ops));
    boxes_begin();
    boxes_add(tasks, function, 1);
    for (int i = 0; i < 2; i++)
        JOB_OK(ek_process(tasks, NULL));
#pragma omp parallel num_threads(2) default(none) shared(tasks, status)
    if (omp_get_thread_num() == 0)
        status = ek_process(tasks, NULL);
    JOB_STATUS(status, EK_ERR_STATE);
    boxes_forget();
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(field.away + field.at_home), BOXES * job_size);
    boxes_check();
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(bad_arguments_are_refused);
    JOB_RUN(following_needs_its_callbacks);
    JOB_RUN_TASKS(data_is_set_between_iterations);
    JOB_RUN_TASKS(ranks_that_differ_are_told);
    JOB_RUN(callbacks_may_fail);
    JOB_RUN(data_may_fail_to_follow);
    JOB_RUN(a_refused_call_leaves_late_tasks);
    return job_result();
}
