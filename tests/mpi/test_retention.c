/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Retention: after ek_restore(RETAIN) every task is on the worker where it ran,
 * longest first; in order `executed` as it was executed; after ORIGINAL it is
 * home, as it was added.
 *
 *     test_retention RANKS WORKERS
 */
#include "job.h"

enum {
    TASKS = 240, /* in the job */
    LONG = 12,   /* of another collection, all on rank 0 at first */
    WORKERS_MOST = 64
};

/* Where and as which of its worker a task ran in this iteration, by number;
 * -1: not here. */
static int ran_on[TASKS], ran_as[TASKS];
static int ran_of[WORKERS_MOST];

static double cost_of(int number)
{
    return 1e-5 * (1 + number * 37 % TASKS);
}

static int task(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    int number;
    (void)bytes, (void)context;
    memcpy(&number, payload, sizeof number);
    CHECK_EQ_INT(ran_on[number], -1);
    ran_on[number] = ek_worker_id(worker);
    ran_as[number] = ran_of[ek_worker_id(worker)]++;
    ek_set_cost(worker, cost_of(number));
    job_nap(50);
    return 0;
}

static int long_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    int number;
    (void)bytes, (void)context;
    memcpy(&number, payload, sizeof number);
    CHECK_EQ_INT(ran_on[number], -1);
    ran_on[number] = ek_worker_id(worker);
    job_nap(10000);
    return 0;
}

static ek_collection *make(void)
{
    ek_options options = job_options();
    job_set_number(&options, "buffer_slots", 8);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "task", task, NULL);
    /* Two of three on rank 0, so that others must steal. */
    for (int i = 0; i < TASKS; i++) {
        int rank = i % 3 == 2 ? i / 3 % job_size : 0;
        if (rank == job_rank)
            CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
    }
    return tasks;
}

static void process(ek_collection *tasks)
{
    for (int i = 0; i < TASKS; i++)
        ran_on[i] = ran_as[i] = -1;
    memset(ran_of, 0, sizeof ran_of);
    JOB_OK(ek_process(tasks, NULL));
    MPI_Allreduce(MPI_IN_PLACE, ran_on, TASKS, MPI_INT, MPI_MAX,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, ran_as, TASKS, MPI_INT, MPI_MAX,
                  MPI_COMM_WORLD);
}

/* What a visit must find. */
struct seen {
    enum {
        LONGEST,
        EXECUTED,
        HOME
    } order;
    int worker, count, last; /* last: position or number */
    uint64_t last_id;
    double last_s;
};

static void check_order(const ek_task *info, int number, struct seen *seen)
{
    bool is_first = info->worker_id != seen->worker;
    if (seen->order != HOME)
        CHECK_EQ_INT(info->worker_id, ran_on[number]);
    switch (seen->order) {
    case LONGEST:
        /* Short ones are told apart by octaves. */
        CHECK(
            is_first || info->duration_s <= seen->last_s ||
            (info->duration_s < 132e-6 && info->duration_s < 2 * seen->last_s));
        break;
    case EXECUTED:
        CHECK_EQ_INT(ran_as[number], is_first ? 0 : seen->last + 1);
        break;
    case HOME:
        CHECK_EQ_INT(info->worker_id, info->id >> 40);
        /* The last added starts first. */
        CHECK(is_first || info->id < seen->last_id);
        break;
    }
}

static bool see(const ek_task *info, void *context)
{
    struct seen *seen = context;
    int number;
    memcpy(&number, info->payload, sizeof number);
    CHECK_NEAR(info->duration_s, cost_of(number), 0.005 * cost_of(number));
    check_order(info, number, seen);
    seen->worker = info->worker_id;
    seen->last = ran_as[number];
    seen->last_id = info->id;
    seen->last_s = info->duration_s;
    seen->count++;
    return true;
}

static void check_held(ek_collection *tasks, int order)
{
    struct seen seen = {.order = order, .worker = -1};
    CHECK_OK(ek_visit_tasks(tasks, see, &seen));
    CHECK_EQ_INT(job_sum(seen.count), TASKS);
}

/* How many tasks ran elsewhere than where they were before. */
static int moved_since(const int *before)
{
    int moved = 0;
    for (int i = 0; i < TASKS; i++)
        moved += ran_on[i] != before[i];
    return moved;
}

static void retained_longest_first(void)
{
    static const char *const steals[] = {"random", "near", "counter", "random"};
    ek_collection *tasks = make();
    for (int i = 0; i < 4; i++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        CHECK_OK(ek_set_option(tasks, "steal", steals[i]));
        process(tasks);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, &report));
        CHECK_EQ_INT(report.policy, EK_RESTORE_RETAIN);
        CHECK_EQ_INT(report.moved, 0);
        CHECK_EQ_INT(job_sum(report.tasks), TASKS);
        check_held(tasks, LONGEST);
    }
    ek_destroy(&tasks);
}

/* Where nobody steals a worker runs what it holds, in that order. */
static void retained_tasks_run_where_they_are(void)
{
    int before[TASKS];
    ek_collection *tasks = make();
    process(tasks);
    memcpy(before, ran_on, sizeof before);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, NULL));
        check_held(tasks, LONGEST);
        process(tasks);
        CHECK_EQ_INT(moved_since(before), 0);
    }
    ek_destroy(&tasks);
}

/* Between nodes they are handed over before workers begin. */
static void long_tasks_run_once(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "long", long_task, NULL);
    for (int i = 0; i < LONG && job_rank == 0; i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ek_set_option(tasks, "steal", i == 0 ? "none" : "random"));
        process(tasks);
        for (int t = 0; t < LONG; t++)
            CHECK(ran_on[t] >= 0);
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, &report));
        CHECK_EQ_INT(job_sum(report.tasks), LONG);
    }
}

static void retained_as_executed(void)
{
    ek_collection *tasks = make();
    CHECK_OK(ek_set_option(tasks, "order", "executed"));
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    for (int i = 0; i < 3; i++) {
        process(tasks);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        /* Tasks taken from a late worker come after its own. */
        if (job_workers == 1)
            check_held(tasks, EXECUTED);
    }
    CHECK_OK(ek_set_option(tasks, "steal", "random"));
    process(tasks);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    ek_destroy(&tasks);
}

static void original_is_home(void)
{
    static const char *const steals[] = {"random", "near", "counter", "none"};
    ek_collection *tasks = make();
    for (int i = 0; i < 4; i++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        CHECK_OK(ek_set_option(tasks, "steal", steals[i]));
        process(tasks);
        JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, &report));
        CHECK_EQ_INT(report.policy, EK_RESTORE_ORIGINAL);
        CHECK_EQ_INT(job_sum(report.tasks), TASKS);
        if (i == 3)
            CHECK_EQ_INT(report.moved, 0);
        check_held(tasks, HOME);
    }
    ek_destroy(&tasks);
}

/* Home again after iterations elsewhere. */
static void original_after_retained(void)
{
    ek_collection *tasks = make();
    for (int i = 0; i < 3; i++) {
        process(tasks);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        check_held(tasks, LONGEST);
    }
    JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    check_held(tasks, HOME);
    process(tasks);
    CHECK_OK(ek_set_option(tasks, "restore", "original"));
    JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, NULL));
    check_held(tasks, HOME);
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(retained_longest_first);
    JOB_RUN(retained_tasks_run_where_they_are);
    JOB_RUN_TASKS(long_tasks_run_once);
    JOB_RUN(retained_as_executed);
    JOB_RUN(original_is_home);
    JOB_RUN(original_after_retained);
    return job_result();
}
