/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pinned tasks: on their rank, once in each iteration, whatever the policies
 * are; and what rebalances make of their load.
 *
 *     test_pinned RANKS WORKERS
 */
#include "numbered.h"

#include <evenkeel_pull.h>
#include <evenkeel_spawn.h>

enum {
    PINNED = 12, /* per rank; numbers of others follow those of all ranks */
    OTHERS = 40
};

static const char *const steals[] = {"random", "near", "node", "none",
                                     "counter"};
static const ek_restore_policy policies[] = {EK_RESTORE_RETAIN,
                                             EK_RESTORE_ORIGINAL,
                                             EK_RESTORE_CENTRALIZED,
                                             EK_RESTORE_HIERARCHICAL,
                                             EK_RESTORE_CENTRALIZED_HPDC12,
                                             EK_RESTORE_HIERARCHICAL_HPDC12,
                                             EK_RESTORE_AUTO};

/* The rank of a pinned number; -1: it is not pinned. */
static int rank_of(int number)
{
    return number < PINNED * job_size ? number / PINNED : -1;
}

static void add_one(ek_collection *tasks, ek_function function, int number,
                    bool is_pinned)
{
    ek_hint hint = EK_HINT_INIT;
    hint.pinned = is_pinned;
    CHECK_OK(ek_add_task(tasks, function, &number, sizeof number,
                         is_pinned ? &hint : NULL));
}

/* PINNED of each rank, and OTHERS for each, all of these on rank 0. */
static void add_all(ek_collection *tasks, ek_function function)
{
    int others = job_rank == 0 ? OTHERS * job_size : 0;
    for (int i = 0; i < PINNED; i++)
        add_one(tasks, function, job_rank * PINNED + i, true);
    for (int i = 0; i < others; i++)
        add_one(tasks, function, PINNED * job_size + i, false);
}

static int at_home(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    int number = number_of(payload), rank = rank_of(number);
    (void)worker, (void)bytes, (void)context;
    CHECK(rank < 0 || rank == job_rank);
    note(number);
    return 0;
}

struct held {
    int pinned, others, wrong;
    int last; /* number of the worker shown last */
};

static bool look(const ek_task *task, void *context)
{
    struct held *held = context;
    int rank = rank_of(number_of(task->payload));
    held->pinned += task->is_pinned;
    held->others += !task->is_pinned;
    held->wrong += task->is_pinned != (rank >= 0);
    held->wrong += task->is_pinned && task->worker_id / job_workers != job_rank;
    return true;
}

static void check_held(ek_collection *tasks)
{
    struct held held = {0};
    CHECK_OK(ek_visit_tasks(tasks, look, &held));
    CHECK_EQ_INT(held.pinned, PINNED);
    CHECK_EQ_INT(job_sum(held.others), OTHERS * job_size);
    CHECK_EQ_INT(held.wrong, 0);
}

static void check_ran(int n)
{
    int rank_total = 0;
    for (int i = 0; i < PINNED; i++)
        rank_total += atomic_load(&seen.ran[job_rank * PINNED + i]);
    CHECK_EQ_INT(rank_total, PINNED);
    for (int i = 0; i < n; i += 7)
        CHECK_EQ_INT(ran_in_job(i), 1);
    CHECK_EQ_INT(total_in_job(), n);
}

static void pinned_tasks_stay(void)
{
    int n = (PINNED + OTHERS) * job_size;
    for (int s = 0; s < 5; s++) {
        ek_function function;
        ek_collection *tasks = make(at_home, &function);
        CHECK_OK(ek_set_option(tasks, "steal", steals[s]));
        add_all(tasks, function);
        check_held(tasks);
        for (int p = 0; p < 7; p++) {
            JOB_OK(ek_process(tasks, NULL));
            check_held(tasks);
            check_ran(n);
            restore(tasks, policies[p]);
            check_held(tasks);
        }
        ek_destroy(&tasks);
    }
}

/* Pinned ones last three seconds each, others one. */
static int costs(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    at_home(worker, payload, bytes, context);
    ek_set_cost(worker, rank_of(number_of(payload)) < 0 ? 1.0 : 3.0);
    return 0;
}

static bool add_seconds(const ek_task *task, void *context)
{
    *(double *)context += task->duration_s;
    return true;
}

/* Only rank 0 has pinned tasks: others get so much less of the rest. */
static void rebalances_count_them(void)
{
    int others = 2 * PINNED * 3 * job_size;
    double mean = 3.0 * PINNED + (double)others / job_size;
    mean -= 3.0 * PINNED * (job_size - 1) / job_size;
    for (int p = 2; p < 4; p++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        double seconds = 0;
        ek_function function;
        ek_collection *tasks = make(costs, &function);
        CHECK_OK(ek_set_option(tasks, "steal", "none"));
        for (int i = 0; job_rank == 0 && i < PINNED; i++)
            add_one(tasks, function, i, true);
        for (int i = job_rank; i < others; i += job_size)
            add_one(tasks, function, PINNED * job_size + i, false);
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, policies[p], &report));
        CHECK(report.imbalance_after <= report.imbalance_bound + 0.05);
        CHECK_OK(ek_visit_tasks(tasks, add_seconds, &seconds));
        CHECK_NEAR(seconds / mean, 1, 0.05);
        CHECK(job_size == 1 || report.migrations > 0);
        JOB_OK(ek_process(tasks, NULL));
        forget();
        ek_destroy(&tasks);
    }
}

/* More than the mean is pinned to rank 0: no task is left there. */
static void too_much_is_pinned(void)
{
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    struct held held = {0};
    ek_function function;
    ek_collection *tasks = make(costs, &function);
    if (job_rank == 0)
        add_all(tasks, function);
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, &report));
    CHECK_OK(ek_visit_tasks(tasks, look, &held));
    CHECK_EQ_INT(held.pinned, job_rank == 0 ? PINNED : 0);
    CHECK_NEAR(report.imbalance_after, report.imbalance_bound, 0.05);
    forget();
    ek_destroy(&tasks);
}

static ek_function children;

/* By its number modulo 6: nothing, skip, discard, fail, spawn, poll. */
static int marks(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    int number = number_of(payload);
    at_home(worker, payload, bytes, context);
    switch (number % 6) {
    case 1:
        ek_skip(worker);
        break;
    case 2:
        ek_discard(worker);
        break;
    case 3:
        return 7;
    case 4:
        for (int i = 0; i < 5; i++) {
            int child = 1000;
            CHECK_OK(ek_spawn(worker, children, &child, sizeof child, 0));
        }
        break;
    case 5:
        ek_poll(worker);
        break;
    default:
        break;
    }
    return 0;
}

static int child(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    (void)worker, (void)bytes, (void)context;
    note(number_of(payload));
    return 0;
}

static void pinned_tasks_say_what_others_do(void)
{
    int sixth = PINNED / 6 * job_size;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_restore_report restored = EK_RESTORE_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(marks, &function);
    children = job_register(tasks, "child", child, NULL);
    CHECK_OK(ek_set_option(tasks, "on_failure", "continue"));
    for (int i = 0; i < PINNED; i++)
        add_one(tasks, function, job_rank * PINNED + i, true);
    for (int i = 0; i < 3; i++) {
        int here = i == 0 ? 6 : 5;
        JOB_OK(ek_process(tasks, &report));
        CHECK_EQ_INT(report.tasks, (here + 5) * sixth);
        CHECK_EQ_INT(job_count(tasks, "failed"), sixth);
        CHECK_EQ_INT(job_count(tasks, "spawned"), 5 * sixth);
        CHECK_EQ_INT(job_count(tasks, "null_tasks"),
                     i == 0 ? 2 * sixth : sixth);
        JOB_OK(ek_restore(tasks, policies[i], &restored));
        CHECK_EQ_INT(job_sum(restored.tasks), 5 * sixth);
        CHECK_EQ_INT(job_sum(restored.discarded), i == 0 ? sixth : 0);
    }
    forget();
    ek_destroy(&tasks);
}

/* One stops all: the others are cancelled, stay, and run the next time. */
static int stops(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    at_home(worker, payload, bytes, NULL);
    if (*(bool *)context)
        ek_stop(worker);
    return 0;
}

static void stopped_tasks_stay(ek_collection *tasks)
{
    bool does_stop = true;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function function = job_register(tasks, "stops", stops, &does_stop);
    forget();
    add_all(tasks, function);
    JOB_OK(ek_process(tasks, &report));
    CHECK(job_count(tasks, "cancelled") > 0);
    CHECK_EQ_INT(job_count(tasks, "cancelled") + report.tasks,
                 (PINNED + OTHERS) * job_size);
    restore(tasks, EK_RESTORE_RETAIN);
    check_held(tasks);
    does_stop = false;
    forget();
    JOB_OK(ek_process(tasks, NULL));
    check_ran((PINNED + OTHERS) * job_size);
}

/* Fetched by the program's own threads, of which one may be missing. */
static void fetched_tasks_are_pinned_too(void)
{
    ek_function function;
    ek_collection *tasks = make(at_home, &function);
    add_all(tasks, function);
    for (int i = 0; i < 3; i++) {
        int threads = i == 1 ? 1 : job_workers;
        JOB_OK(ek_begin(tasks));
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int here = 0; here < threads; here++) {
            ek_task task;
            while (ek_next(tasks, here, &task) == EK_OK && task.worker) {
                CHECK_EQ_INT(task.is_pinned,
                             rank_of(number_of(task.payload)) >= 0);
                at_home(task.worker, task.payload, task.bytes, NULL);
            }
        }
        JOB_OK(ek_end(tasks, NULL));
        check_ran((PINNED + OTHERS) * job_size);
        restore(tasks, policies[i]);
    }
    JOB_OK(ek_begin(tasks));
    JOB_STATUS(ek_end(tasks, NULL), EK_ERR_TASK);
    restore(tasks, EK_RESTORE_RETAIN);
    check_held(tasks);
    JOB_OK(ek_process(tasks, NULL));
    check_ran((PINNED + OTHERS) * job_size);
    ek_destroy(&tasks);
}

static int order[PINNED], order_count;

static int notes_order(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    int number = number_of(payload);
    (void)bytes, (void)context;
    ek_set_cost(worker, 1 + number * 5 % PINNED);
    if (order_count < PINNED)
        order[order_count++] = number * 5 % PINNED;
    return 0;
}

/* By their hints at first, then by what they took. */
static void longest_start_first(void)
{
    ek_options options = job_options();
    options.workers = 1;
    options.ignore_environment = true;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "ordered", notes_order, NULL);
    for (int i = 0; i < PINNED; i++) {
        ek_hint hint = EK_HINT_INIT;
        hint.pinned = true;
        hint.rank = job_rank;
        hint.cost = 1 << i % 4;
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, &hint));
    }
    for (int iteration = 0; iteration < 3; iteration++) {
        order_count = 0;
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(order_count, PINNED);
        for (int i = 1; iteration > 0 && i < PINNED; i++)
            CHECK_EQ_INT(order[i], order[i - 1] - 1);
        restore(tasks, policies[iteration]);
    }
    ek_destroy(&tasks);
}

static bool keep_even(const ek_task *task, void *context)
{
    (void)context;
    return number_of(task->payload) % 2 == 0;
}

static void visits_and_clears_reach_them(void)
{
    ek_function function;
    ek_collection *tasks = make(at_home, &function);
    add_all(tasks, function);
    CHECK_OK(ek_visit_tasks(tasks, keep_even, NULL));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(ran_in_job(1), 0);
    CHECK_EQ_INT(ran_in_job(2), 1);
    CHECK_EQ_INT(total_in_job(), (PINNED + OTHERS) / 2 * job_size);
    CHECK_OK(ek_clear(tasks));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(total_in_job(), 0);
    ek_destroy(&tasks);
}

static void other_ranks_are_refused(void)
{
    int number = 0;
    ek_hint hint = EK_HINT_INIT;
    ek_function function;
    ek_collection *tasks = make(at_home, &function);
    hint.pinned = true;
    hint.rank = job_rank;
    CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, &hint));
    hint.rank = (job_rank + 1) % job_size;
    if (job_size > 1) {
        CHECK_EQ_INT(
            ek_add_task(tasks, function, &number, sizeof number, &hint),
            EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), "the task is pinned to this rank");
    }
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(pinned_tasks_stay);
    JOB_RUN(rebalances_count_them);
    JOB_RUN(too_much_is_pinned);
    JOB_RUN(pinned_tasks_say_what_others_do);
    JOB_RUN_TASKS(stopped_tasks_stay);
    JOB_RUN(fetched_tasks_are_pinned_too);
    JOB_RUN(longest_start_first);
    JOB_RUN(visits_and_clears_reach_them);
    JOB_RUN(other_ranks_are_refused);
    return job_result();
}
