/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What running tasks say: their cost, that they failed, that all shall stop,
 * and which tasks they spawn.
 *
 *     test_running RANKS WORKERS
 */
#include "numbered.h"

#include <evenkeel_spawn.h>

static double cost_of(int number)
{
    return 1e-4 * (1 + (number * 7) % 101);
}

/* What the tasks do in this iteration. */
static enum {
    SAY_COST,
    SAY_NOTHING,
    SKIP_ODD,
    DISCARD_ODD
} says;

static int cost_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int number = number_of(payload);
    (void)bytes, (void)context;
    note(number);
    if (says == SAY_COST)
        ek_set_cost(worker, cost_of(number));
    if (says == SKIP_ODD && number % 2)
        ek_skip(worker);
    else if (says == SKIP_ODD)
        ek_set_cost(worker, 10 * cost_of(number));
    if (says == DISCARD_ODD && number % 2)
        ek_discard(worker);
    /* Neither is a cost. */
    ek_set_cost(worker, -1.0);
    ek_set_cost(worker, (double)NAN);
    return 0;
}

struct costs {
    double factor_even, factor_odd; /* of cost_of() */
    double last_s;                  /* of the worker before */
    int worker;
};

static bool visit_cost(const ek_task *task, void *context)
{
    struct costs *costs = context;
    int number = number_of(task->payload);
    double expected =
        cost_of(number) * (number % 2 ? costs->factor_odd : costs->factor_even);
    CHECK_NEAR(task->duration_s, expected, 0.005 * expected);
    if (task->worker_id == costs->worker)
        CHECK(task->duration_s <= costs->last_s);
    costs->worker = task->worker_id;
    costs->last_s = task->duration_s;
    return true;
}

static void check_costs(ek_collection *tasks, double even, double odd)
{
    struct costs costs = {even, odd, 0, -1};
    CHECK_OK(ek_visit_tasks(tasks, visit_cost, &costs));
}

static void tasks_set_their_cost(void)
{
    int64_t n = TASKS * job_size;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_restore_report restored = EK_RESTORE_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(cost_task, &function);
    add_numbers(tasks, function, TASKS);
    says = SAY_COST;
    JOB_OK(ek_process(tasks, NULL));
    restore(tasks, EK_RESTORE_RETAIN);
    check_costs(tasks, 1, 1);
    /* A skipped task keeps what it had. */
    says = SKIP_ODD;
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "null_tasks"), n / 2);
    restore(tasks, EK_RESTORE_RETAIN);
    check_costs(tasks, 10, 1);
    CHECK_EQ_INT(total_in_job(), 2 * n);
    says = DISCARD_ODD;
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "null_tasks"), n / 2);
    CHECK_EQ_INT(total_in_job(), n);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, &restored));
    CHECK_EQ_INT(restored.policy, EK_RESTORE_RETAIN);
    CHECK_EQ_INT(job_sum(restored.tasks), n / 2);
    CHECK(job_sum(restored.discarded) <= n / 2);
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "null_tasks"), 0);
    CHECK_EQ_INT(ran_in_job(1), 0);
    CHECK_EQ_INT(total_in_job(), n / 2);
    ek_destroy(&tasks);
}

/* An index that skips says what it costs, too. */
static int skipping_index(ek_worker *worker, const void *payload, size_t bytes,
                          void *context)
{
    (void)bytes, (void)context;
    ek_set_cost(worker, cost_of(number_of(payload)));
    ek_skip(worker);
    return 0;
}

static void skipping_indices_set_their_cost(void)
{
    ek_function function;
    ek_collection *tasks = make(skipping_index, &function);
    CHECK_OK(ek_add_range(tasks, function, 0, TASKS));
    JOB_OK(ek_process(tasks, NULL));
    restore(tasks, EK_RESTORE_RETAIN);
    check_costs(tasks, 1, 1);
    ek_destroy(&tasks);
}

static bool stops;

static int stop_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int number = number_of(payload);
    (void)bytes, (void)context;
    note(number);
    ek_set_cost(worker, cost_of(number));
    if (stops && number % 10 == 3)
        ek_stop(worker);
    return 0;
}

static void stopping_keeps_the_rest(void)
{
    int64_t n = TASKS * job_size;
    ek_function function;
    ek_collection *tasks = make(stop_task, &function);
    add_numbers(tasks, function, TASKS);
    stops = false;
    JOB_OK(ek_process(tasks, NULL));
    for (int i = 0; i < 4; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        restore(tasks, i % 2 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN);
        forget();
        stops = i < 3;
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks + job_count(tasks, "cancelled"), n);
        CHECK_EQ_INT(report.tasks, total_in_job());
        if (!stops)
            CHECK_EQ_INT(job_count(tasks, "cancelled"), 0);
    }
    restore(tasks, EK_RESTORE_RETAIN);
    check_costs(tasks, 1, 1);
    ek_destroy(&tasks);
}

static int fail_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int number = number_of(payload);
    (void)bytes, (void)context;
    note(number);
    if (number % 20 == 5) {
        ek_fail(worker, 42, "the matrix is singular");
        ek_fail(worker, 43, "a second word is not heard");
        return 44;
    }
    return number % 20 == 6 ? 7 : 0;
}

static void failing_tasks_stop_or_go_on(void)
{
    int64_t n = TASKS * job_size;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(fail_task, &function);
    add_numbers(tasks, function, TASKS);
    JOB_STATUS(ek_process(tasks, &report), EK_ERR_TASK);
    CHECK_HAS_TEXT(ek_error_message(), "function 'numbered'");
    CHECK_HAS_TEXT(ek_error_message(), "worker ");
    if (!strstr(ek_error_message(), "with code 7"))
        CHECK_HAS_TEXT(ek_error_message(), "code 42: the matrix is singular");
    CHECK(job_count(tasks, "failed") >= 1);
    CHECK_EQ_INT(report.tasks + job_count(tasks, "cancelled"), n);
    CHECK_EQ_INT(report.tasks, total_in_job());
    restore(tasks, EK_RESTORE_DEFAULT);
    CHECK_OK(ek_set_option(tasks, "on_failure", "continue"));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "failed"), n / 10);
    CHECK_EQ_INT(job_count(tasks, "cancelled"), 0);
    CHECK_EQ_INT(total_in_job(), n);
    restore(tasks, EK_RESTORE_DEFAULT);
    CHECK_OK(ek_set_option(tasks, "on_failure", "stop"));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
    ek_destroy(&tasks);
}

/* The same words on all ranks: those of the lowest worker that failed. */
static void failures_are_told_alike(void)
{
    char mine[512], first[512];
    ek_function function;
    ek_collection *tasks = make(fail_task, &function);
    add_numbers(tasks, function, TASKS);
    for (int i = 0; i < 10; i++) {
        JOB_STATUS(ek_process(tasks, NULL), EK_ERR_TASK);
        snprintf(mine, sizeof mine, "%s", ek_error_message());
        memcpy(first, mine, sizeof first);
        MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
        CHECK_EQ_TEXT(mine, first);
        restore(tasks, EK_RESTORE_ORIGINAL);
    }
    ek_destroy(&tasks);
}

static int spawn_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    int number = number_of(payload);
    (void)context;
    note(number);
    if (number >= 500)
        return 0;
    int kept = 500 + number, once = 750 + number;
    CHECK_OK(ek_spawn(worker, 0, &kept, sizeof kept, EK_SPAWN_KEEP));
    CHECK_OK(ek_spawn(worker, 0, &once, sizeof once, 0));
    CHECK_EQ_INT(ek_spawn(worker, 5, &once, sizeof once, 0), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "function 5");
    CHECK_EQ_INT(ek_spawn(worker, -1, &once, sizeof once, 0), EK_ERR_ARG);
    CHECK_EQ_INT(ek_spawn(worker, 0, &once, sizeof once, 2), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_SPAWN_KEEP");
    CHECK_EQ_INT(ek_spawn(worker, 0, payload, 49, 0), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "payload of 49 bytes");
    CHECK_EQ_INT(bytes, sizeof number);
    ek_discard(worker);
    return 0;
}

static void kept_tasks_are_seeds(void)
{
    int64_t n = TASKS * job_size;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(spawn_task, &function);
    add_numbers(tasks, function, TASKS);
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "spawned"), 2 * n);
    CHECK_EQ_INT(ran_in_job(500), 1);
    CHECK_EQ_INT(ran_in_job(750), 1);
    CHECK_EQ_INT(total_in_job(), 3 * n);
    for (int i = 0; i < 3; i++) {
        restore(tasks, i == 1 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN);
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(job_count(tasks, "spawned"), 0);
        CHECK_EQ_INT(ran_in_job(0), 0);
        CHECK_EQ_INT(ran_in_job(500), 1);
        CHECK_EQ_INT(ran_in_job(750), 0);
        CHECK_EQ_INT(total_in_job(), n);
    }
    ek_destroy(&tasks);
}

/* Each numbered task spawns one without payload, and one that is refused. */
static int spawn_empty_task(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    (void)payload, (void)context;
    atomic_fetch_add(&seen.total, 1);
    if (bytes == 0)
        return 0;
    CHECK_EQ_INT(ek_spawn(worker, 0, NULL, 8, 0), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "payload is NULL");
    CHECK_OK(ek_spawn(worker, 0, NULL, 0, 0));
    return 0;
}

static void spawned_tasks_need_no_payload(void)
{
    int64_t n = TASKS * job_size;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(spawn_empty_task, &function);
    add_numbers(tasks, function, TASKS);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(job_count(tasks, "spawned"), n);
        CHECK_EQ_INT(report.tasks, 2 * n);
        CHECK_EQ_INT(total_in_job(), 2 * n);
        restore(tasks, EK_RESTORE_RETAIN);
    }
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(tasks_set_their_cost);
    JOB_RUN(skipping_indices_set_their_cost);
    JOB_RUN(stopping_keeps_the_rest);
    JOB_RUN(failing_tasks_stop_or_go_on);
    JOB_RUN(failures_are_told_alike);
    JOB_RUN(kept_tasks_are_seeds);
    JOB_RUN(spawned_tasks_need_no_payload);
    return job_result();
}
