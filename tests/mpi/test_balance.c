/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rebalances between ranks: every task stays exactly once, loads come close to
 * the best possible, and the decision does not depend on who holds what.
 */
#include "job.h"

#include <evenkeel_save.h>

#include <string.h>

enum {
    EACH = 60, /* tasks per worker, on average */
    WORKERS_SAME = 12
};

struct payload {
    int64_t number;
    int64_t check;
};

static _Atomic int64_t ran, ran_sum;
static int64_t noise; /* changes the costs by up to 5 %; 0: none */

static uint64_t mix(uint64_t number)
{
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ number >> 31) * 0xd6e8feb86659fd93u;
    return number ^ number >> 32;
}

/* Between 1 and 60 microseconds, seldom more. */
static double cost_of(int64_t number)
{
    double u = (double)(mix((uint64_t)number) % 1000 + 1) / 1000;
    return 1e-6 / (u + 0.016);
}

static int costed_task(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    struct payload task;
    (void)context;
    memcpy(&task, payload, sizeof task);
    CHECK_EQ_INT(bytes, sizeof task);
    CHECK_EQ_INT(task.check, ~task.number);
    atomic_fetch_add(&ran, 1);
    atomic_fetch_add(&ran_sum, (int64_t)(mix((uint64_t)task.number) >> 20));
    double factor =
        noise == 0
            ? 1
            : 0.95 +
                  (double)(mix((uint64_t)(task.number + 977 * noise)) % 1000) *
                      1e-4;
    ek_set_cost(worker, factor * cost_of(task.number));
    return 0;
}

static void add(ek_collection *tasks, ek_function function, int64_t number,
                const ek_hint *hint)
{
    struct payload task = {number, ~number};
    CHECK_OK(ek_add_task(tasks, function, &task, sizeof task, hint));
}

static ek_collection *make(ek_options *options, ek_function *function)
{
    ek_collection *tasks = job_create(options);
    *function = job_register(tasks, "costed", costed_task, NULL);
    return tasks;
}

/* Run all tasks: N of them, with the numbers from 0 on. */
static void run(ek_collection *tasks, int64_t n)
{
    int64_t sum = 0;
    atomic_store(&ran, 0);
    atomic_store(&ran_sum, 0);
    JOB_OK(ek_process(tasks, NULL));
    for (int64_t i = 0; i < n; i++)
        sum += (int64_t)(mix((uint64_t)i) >> 20);
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), n);
    CHECK_EQ_INT(job_sum(atomic_load(&ran_sum)), sum);
}

static double loads[256];

static bool add_load(const ek_task *task, void *context)
{
    (void)context;
    loads[task->worker_id] += task->duration_s;
    return true;
}

/* Largest load / mean load - 1 of what is to run next. */
static double imbalance(ek_collection *tasks)
{
    int workers = ek_job_workers(tasks);
    double largest = 0, sum = 0;
    memset(loads, 0, sizeof loads);
    CHECK_OK(ek_visit_tasks(tasks, add_load, NULL));
    MPI_Allreduce(MPI_IN_PLACE, loads, workers, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int w = 0; w < workers; w++) {
        sum += loads[w];
        largest = loads[w] > largest ? loads[w] : largest;
    }
    return sum > 0 ? largest / (sum / workers) - 1 : 0;
}

static void check_report(ek_collection *tasks, const ek_restore_report *report,
                         int64_t n)
{
    double differences[2] = {report->imbalance_after, -report->imbalance_after};
    CHECK_EQ_INT(job_sum(report->tasks), n);
    CHECK_NEAR(imbalance(tasks), report->imbalance_after, 1e-6);
    CHECK(report->imbalance_after <= report->imbalance_before + 1e-12);
    CHECK(report->imbalance_after >= report->imbalance_bound - 1e-9);
    /* Where the target was reached. */
    CHECK(report->policy > EK_RESTORE_HIERARCHICAL ||
          report->migrations >= report->fewest);
    CHECK(report->across <= report->migrations);
    CHECK(report->policy > EK_RESTORE_HIERARCHICAL ||
          report->across >= report->fewest_across);
    /* The same on all ranks. */
    MPI_Allreduce(MPI_IN_PLACE, differences, 2, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    CHECK_NEAR(differences[0], -differences[1], 0);
    CHECK_EQ_INT(job_most((int64_t)(report->decision >> 1)),
                 (int64_t)(report->decision >> 1));
}

static const ek_restore_policy policies[] = {
    EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL,
    EK_RESTORE_CENTRALIZED_HPDC12, EK_RESTORE_HIERARCHICAL_HPDC12};

/* All tasks on rank 0. */
static void one_rank_gives_to_all(void)
{
    for (int p = 0; p < 4; p++) {
        ek_options options = job_options();
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_function function;
        options.steal = EK_STEAL_NONE;
        job_set_number(&options, "balance_group", 2);
        job_set_number(&options, "balance_ppm", 20000);
        ek_collection *tasks = make(&options, &function);
        int64_t n = (int64_t)EACH * ek_job_workers(tasks);
        for (int64_t i = 0; job_rank == 0 && i < n; i++)
            add(tasks, function, i, NULL);
        for (int iteration = 0; iteration < 3; iteration++) {
            run(tasks, n);
            JOB_OK(ek_restore(tasks, policies[p], &report));
            CHECK_EQ_INT(report.policy, policies[p]);
            check_report(tasks, &report, n);
            CHECK(p >= 2 ||
                  report.imbalance_after <= report.imbalance_bound + 0.03);
            /* Tasks of threads that come late run elsewhere. */
            CHECK(iteration == 0 || job_workers > 1 || report.migrations <= 5);
            if (iteration == 0 && job_size > 1)
                CHECK(report.migrations >= n / 20);
        }
        ek_destroy(&tasks);
    }
}

/* Ten iterations of changing policies, stealing on and off. */
static void policies_change(void)
{
    static const ek_restore_policy all[] = {
        EK_RESTORE_CENTRALIZED, EK_RESTORE_RETAIN, EK_RESTORE_HIERARCHICAL,
        EK_RESTORE_ORIGINAL, EK_RESTORE_HIERARCHICAL};
    ek_options options = job_options();
    ek_function function;
    job_set_number(&options, "balance_group", 3);
    ek_collection *tasks = make(&options, &function);
    int64_t n = 0;
    for (int iteration = 0; iteration < 10; iteration++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        int64_t more = 20 + 5 * iteration;
        for (int64_t i = n; i < n + more * job_size; i++) {
            if (i % job_size == job_rank)
                add(tasks, function, i, NULL);
        }
        n += more * job_size;
        CHECK_OK(ek_set_option(tasks, "steal",
                               iteration % 3 == 0 ? "none" : "random"));
        run(tasks, n);
        JOB_OK(ek_restore(tasks, all[iteration % 5], &report));
        CHECK_EQ_INT(job_sum(report.tasks), n);
    }
    ek_destroy(&tasks);
}

static int one_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    double cost;
    (void)context;
    memcpy(&cost, payload, sizeof cost);
    CHECK_EQ_INT(bytes, sizeof cost);
    ek_set_cost(worker, cost);
    return 0;
}

static void add_cost(ek_collection *tasks, ek_function function, double cost)
{
    CHECK_OK(ek_add_task(tasks, function, &cost, sizeof cost, NULL));
}

/* One task that is longer than what others have in all: its worker has nothing
 * else. */
static void giant_stays(ek_restore_policy policy)
{
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "one", one_task, NULL);
    int64_t dwarfs = 10 * (int64_t)job_workers;
    if (job_rank == job_size - 1) {
        add_cost(tasks, function, 100);
        for (int64_t i = 0; i < dwarfs; i++)
            add_cost(tasks, function, 1);
    }
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, policy, &report));
    check_report(tasks, &report, dwarfs + 1);
    CHECK(report.imbalance_after <= 1.01 * (1 + report.imbalance_bound) - 1);
    CHECK_EQ_INT(report.migrations > 0, job_size * job_workers > 1);
    ek_destroy(&tasks);
}

/* Every rank is a group: even ones have long tasks, of which five are too many
 * and four too few, and odd ones the short tasks that would fill the room. */
static void groups_that_end_short_are_one(void)
{
    bool is_long = job_rank % 2 == 0;
    int64_t n = is_long ? 5 : 267;
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    if (job_workers > 1 || job_size % 2 == 1)
        return;
    options.steal = EK_STEAL_NONE;
    job_set_number(&options, "balance_group", 1);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "one", one_task, NULL);
    for (int64_t i = 0; i < n; i++)
        add_cost(tasks, function, is_long ? 2. / 9 : 1. / 300);
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, EK_RESTORE_HIERARCHICAL, &report));
    check_report(tasks, &report, job_sum(n));
    CHECK(report.imbalance_after <= 0.01);
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

/* Nothing, one task, one giant among dwarfs. */
static void odd_loads_stay_whole(void)
{
    for (int p = 0; p < 2; p++) {
        ek_options options = job_options();
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_function function;
        options.steal = EK_STEAL_NONE;
        ek_collection *tasks = make(&options, &function);
        run(tasks, 0);
        JOB_OK(ek_restore(tasks, policies[p], &report));
        check_report(tasks, &report, 0);
        if (job_rank == job_size - 1)
            add(tasks, function, 0, NULL);
        run(tasks, 1);
        JOB_OK(ek_restore(tasks, policies[p], &report));
        check_report(tasks, &report, 1);
        CHECK_EQ_INT(report.migrations, 0);
        run(tasks, 1);
        ek_destroy(&tasks);
        giant_stays(policies[p]);
    }
}

/* Before anything ran hints decide. */
static void hints_are_balanced(void)
{
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    ek_function function;
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = make(&options, &function);
    int64_t n = (int64_t)EACH * ek_job_workers(tasks);
    for (int64_t i = 0; job_rank == 0 && i < n; i++) {
        ek_hint hint = EK_HINT_INIT;
        hint.cost = cost_of(i) * 1e6;
        add(tasks, function, i, &hint);
    }
    JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, &report));
    CHECK_EQ_INT(job_sum(report.tasks), n);
    if (job_size > 1)
        CHECK(report.migrations > 0);
    run(tasks, n);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    /* Hints are coarse: steps of a twelfth. */
    CHECK(job_workers > 1 || imbalance(tasks) < 0.25);
    ek_destroy(&tasks);
}

static int costed_index(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    int64_t index;
    (void)context;
    memcpy(&index, payload, sizeof index);
    CHECK_EQ_INT(bytes, sizeof index);
    ek_set_cost(worker, cost_of(index));
    return 0;
}

static void run_indices(ek_collection *tasks, int64_t n)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, n);
}

/* Ranges that have not run stay; what remains of those that have moves. */
static void ranges_take_part(void)
{
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "index", costed_index, NULL);
    int64_t n = (int64_t)EACH * ek_job_workers(tasks);
    JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, &report));
    if (job_rank == 0)
        CHECK_OK(ek_add_range(tasks, function, 0, n));
    JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, &report));
    CHECK_EQ_INT(report.migrations, 0);
    run_indices(tasks, n);
    JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, &report));
    check_report(tasks, &report, n);
    CHECK(job_size == 1 || report.migrations >= n / 20);
    CHECK(job_workers > 1 ||
          report.imbalance_after <= report.imbalance_bound + 0.05);
    run_indices(tasks, n);
    ek_destroy(&tasks);
}

/* Three workers in groups of two, where the long tasks fit nowhere: it must not
 * become worse. */
static void worse_is_undone(void)
{
    static const double costs[3][4] = {{25, 6, 5, 1}, {18, 6}, {14}};
    if (job_size != 3 || job_workers != 1)
        return;
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    options.steal = EK_STEAL_NONE;
    job_set_number(&options, "balance_group", 2);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "one", one_task, NULL);
    for (int i = 0; i < 4 && costs[job_rank][i] > 0; i++)
        add_cost(tasks, function, costs[job_rank][i]);
    JOB_OK(ek_process(tasks, NULL));
    JOB_OK(ek_restore(tasks, EK_RESTORE_HIERARCHICAL, &report));
    CHECK(report.imbalance_after <= report.imbalance_before);
    CHECK_EQ_INT(job_sum(report.tasks), 7);
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

/* A function that never ran counts as the others do. */
static void new_functions_are_like_others(void)
{
    if (job_size != 2 || job_workers != 1)
        return;
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    options.steal = EK_STEAL_NONE;
    ek_collection *tasks = job_create(&options);
    ek_function old = job_register(tasks, "old", one_task, NULL);
    ek_function young = job_register(tasks, "young", one_task, NULL);
    for (int i = 0; job_rank == 0 && i < 20; i++)
        add_cost(tasks, old, 1);
    JOB_OK(ek_process(tasks, NULL));
    for (int i = 0; job_rank == 1 && i < 20; i++)
        add_cost(tasks, young, 1);
    JOB_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, &report));
    CHECK_EQ_INT(report.migrations, 0);
    ek_destroy(&tasks);
}

static int heard;

static void hear(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    heard += strstr(line, "restore") != NULL;
    if (strstr(line, "restore"))
        CHECK_HAS_TEXT(line, "tasks: ");
}

/* After the first iteration, because one rank has all, and not for noise. */
static void automatic_choice_moves_once(void)
{
    ek_options options = job_options();
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    ek_function function;
    int64_t moved[8] = {0};
    options.steal = EK_STEAL_NONE;
    options.report = "1";
    options.iterations_expected = 100000;
    heard = 0;
    ek_set_sink(hear, NULL, EK_LEVEL_INFO);
    ek_collection *tasks = make(&options, &function);
    int64_t n = (int64_t)EACH * 5 * ek_job_workers(tasks);
    for (int64_t i = 0; job_rank == 0 && i < n; i++)
        add(tasks, function, i, NULL);
    for (int iteration = 0; iteration < 8; iteration++) {
        noise = iteration + 1;
        run(tasks, n);
        JOB_OK(ek_restore(tasks, EK_RESTORE_AUTO, &report));
        moved[iteration] = report.migrations;
        CHECK_EQ_INT(job_sum(report.tasks), n);
    }
    noise = 0;
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    ek_destroy(&tasks);
    CHECK(job_rank == 0 ? heard > 0 && heard <= 8 : heard == 0);
    CHECK(job_size == 1 || moved[0] > 0);
    for (int iteration = 4; job_workers == 1 && iteration < 8; iteration++)
        CHECK(moved[iteration] <= n / 200);
}

/* So much in each task that none takes in truth, that looking for work seems to
 * cost many times as much as it gains. */
static void add_even(ek_collection *tasks, ek_function function)
{
    for (int64_t i = 0; i < (int64_t)EACH * job_workers; i++)
        add(tasks, function, i % EACH, NULL);
}

static ek_collection *make_even(ek_function *function)
{
    ek_options options = job_options();
    options.restore = EK_RESTORE_AUTO;
    ek_collection *tasks = make(&options, function);
    add_even(tasks, *function);
    return tasks;
}

/* Run until auto chooses that nobody steals next. */
static ek_restore_policy run_to_quiet(ek_collection *tasks)
{
    ek_restore_report report = EK_RESTORE_REPORT_INIT;
    for (int i = 0; i < 20 && report.steal != EK_STEAL_NONE; i++) {
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_AUTO, &report));
    }
    CHECK_EQ_INT(report.steal, EK_STEAL_NONE);
    return report.chosen;
}

/* Where auto chooses so nobody steals, on any rank, and reports say so. */
static void automatic_choice_stops_stealing(void)
{
    ek_function function;
    ek_collection *tasks = make_even(&function);
    int quiet = 0;
    for (int iteration = 0; iteration < 20 && quiet < 2; iteration++) {
        ek_process_report process = EK_PROCESS_REPORT_INIT;
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        if (iteration > 0)
            JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, &report));
        JOB_OK(ek_process(tasks, &process));
        CHECK_EQ_INT(job_count(tasks, "steal"), report.steal);
        CHECK_EQ_INT(job_count(tasks, "restore"), report.chosen);
        CHECK_EQ_INT(report.policy, iteration > 0 ? EK_RESTORE_AUTO : 0);
        CHECK_EQ_INT(report.chosen, iteration == 0 ? EK_RESTORE_DEFAULT
                                    : report.migrations > 0
                                        ? EK_RESTORE_CENTRALIZED
                                        : EK_RESTORE_RETAIN);
        CHECK_EQ_INT(job_sum(report.steal), job_size * report.steal);
        CHECK(report.steal == EK_STEAL_NONE || report.steal == EK_STEAL_RANDOM);
        CHECK(report.steal == EK_STEAL_RANDOM ||
              job_figure(tasks, "tries") == 0);
        quiet += report.steal == EK_STEAL_NONE;
    }
    CHECK(job_size == 1 || quiet > 0);
    ek_destroy(&tasks);
}

/* Bytes of the manifest of save N behind its header, which names the save. */
static size_t read_manifest(const char *folder, int n, char bytes[1000])
{
    char name[100];
    snprintf(name, sizeof name, "%s/save-%d.manifest", folder, n);
    FILE *file = fopen(name, "rb");
    size_t all = file ? fread(bytes, 1, 1000, file) : 0;
    CHECK(file && fclose(file) == 0 && all > 300 && all < 1000);
    size_t head = (unsigned char)bytes[12];
    memmove(bytes, bytes + head, all - head);
    return all - head;
}

/* A job with WORKERS runs what was saved with STEAL, and as restored by CHOSEN.
 * One that SAVES it at once has learned what is in the manifest. */
static void run_later(const char *folder, int workers, ek_steal_policy steal,
                      ek_restore_policy chosen, bool saves)
{
    ek_function function;
    char was[1000], is[1000];
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_options options = job_options();
    options.restore = EK_RESTORE_AUTO;
    options.workers = workers;
    options.ignore_environment = true;
    ek_collection *tasks = make(&options, &function);
    JOB_OK(ek_load(tasks, folder));
    if (saves) {
        JOB_OK(ek_save(tasks, folder));
        size_t bytes = read_manifest(folder, 1, was);
        CHECK(read_manifest(folder, 2, is) == bytes &&
              memcmp(is, was, bytes) == 0);
    }
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(job_count(tasks, "steal"), steal);
    CHECK_EQ_INT(job_count(tasks, "restore"), chosen);
    ek_destroy(&tasks);
}

/* On other workers it learns anew. */
static void a_later_job_chooses_the_same(void)
{
    char folder[] = "/tmp/evenkeel-learned-XXXXXX";
    ek_function function;
    if (job_size == 1)
        return;
    job_make_folder(folder);
    ek_collection *tasks = make_even(&function);
    ek_restore_policy chosen = run_to_quiet(tasks);
    JOB_OK(ek_save(tasks, folder));
    ek_destroy(&tasks);
    run_later(folder, job_workers, EK_STEAL_NONE, chosen, true);
    run_later(folder, job_workers + 1, EK_STEAL_RANDOM, EK_RESTORE_CENTRALIZED,
              false);
    job_remove_folder(folder);
}

/* A rank that has changed its mind steals where others do not. */
static void ranks_must_agree_on_stealing(void)
{
    ek_function function;
    if (job_size == 1)
        return;
    ek_collection *tasks = make_even(&function);
    run_to_quiet(tasks);
    if (job_rank == 1)
        CHECK_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

/* What was chosen holds for one iteration. */
static void new_tasks_are_stolen(void)
{
    ek_function function;
    ek_process_report process = EK_PROCESS_REPORT_INIT;
    if (job_size == 1)
        return;
    ek_collection *tasks = make_even(&function);
    run_to_quiet(tasks);
    JOB_OK(ek_process(tasks, &process));
    CHECK_EQ_INT(job_count(tasks, "steal"), EK_STEAL_NONE);
    CHECK_OK(ek_clear(tasks));
    add_even(tasks, function);
    JOB_OK(ek_process(tasks, &process));
    CHECK_EQ_INT(job_count(tasks, "steal"), EK_STEAL_RANDOM);
    ek_destroy(&tasks);
}

/* One worker here, three there. */
static void ranks_may_be_unequal(void)
{
    for (int p = 0; p < 4; p++) {
        ek_options options = job_options();
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_function function;
        options.ignore_environment = true;
        options.workers = 1 + (job_rank * 2 + 1) % 3;
        options.steal = EK_STEAL_NONE;
        job_set_number(&options, "balance_group", 3);
        job_set(&options, "hpdc12", "gather=core");
        ek_collection *tasks = make(&options, &function);
        int64_t n = (int64_t)EACH * ek_job_workers(tasks);
        for (int64_t i = 0; job_rank == job_size - 1 && i < n; i++)
            add(tasks, function, i, NULL);
        for (int iteration = 0; iteration < 2; iteration++) {
            run(tasks, n);
            JOB_OK(ek_restore(tasks, policies[p], &report));
            check_report(tasks, &report, n);
        }
        run(tasks, n);
        ek_destroy(&tasks);
    }
}

/* Policies by iteration, from the environment. */
static void schedules_choose(void)
{
    static const ek_restore_policy expected[] = {
        EK_RESTORE_RETAIN, EK_RESTORE_CENTRALIZED_HPDC12,
        EK_RESTORE_HIERARCHICAL, EK_RESTORE_HIERARCHICAL};
    setenv("EVENKEEL_RESTORE", "retain@1,centralized-hpdc12@2,hierarchical@3-",
           1);
    setenv("EVENKEEL_STEAL", "random@0-1,none@2-", 1);
    ek_options options = job_options();
    ek_function function;
    ek_collection *tasks = make(&options, &function);
    int64_t n = (int64_t)EACH * ek_job_workers(tasks);
    for (int64_t i = 0; job_rank == 0 && i < n; i++)
        add(tasks, function, i, NULL);
    for (int iteration = 0; iteration < 4; iteration++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_process_report process = EK_PROCESS_REPORT_INIT;
        JOB_OK(ek_process(tasks, &process));
        CHECK_EQ_INT(process.tasks, n);
        CHECK(iteration < 2 || job_figure(tasks, "tries") == 0);
        JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, &report));
        CHECK_EQ_INT(report.policy, expected[iteration]);
    }
    ek_destroy(&tasks);
    unsetenv("EVENKEEL_RESTORE");
    unsetenv("EVENKEEL_STEAL");
}

/* The same workers in other ranks come to the same decision: on one node, and
 * on nodes of three, where groups end short, so that one place decides for all
 * as it does by the first policy. */
static void decision_is_the_same(void)
{
    static const uint64_t expected[2][4] = {
        {UINT64_C(5881773405744038991), UINT64_C(1875542641157293223),
         UINT64_C(1601552464095187506), UINT64_C(17402533955775509717)},
        {UINT64_C(1899207167931035529), UINT64_C(1899207167931035529),
         UINT64_C(1601552464095187506), UINT64_C(17402533955775509717)}};
    bool is_apart = getenv("EVENKEEL_RANKS_PER_NODE") != NULL;
    if (job_size * job_workers != WORKERS_SAME)
        return;
    /* Algorithm 1, which is the third, once more by messages of workers. */
    for (int p = 0; p < 5; p++) {
        ek_options options = job_options();
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_function function;
        options.steal = EK_STEAL_NONE;
        job_set(&options, "hpdc12", p < 4 ? "k=5" : "k=5,gather=core");
        job_set_number(&options, "balance_group", 5);
        ek_collection *tasks = make(&options, &function);
        for (int64_t k = 0; k < 4 * EACH; k++) {
            for (int here = 0; here < job_workers; here++) {
                int64_t worker = job_rank * job_workers + here;
                ek_hint hint = EK_HINT_INIT;
                hint.cost = cost_of(k * WORKERS_SAME + worker) * 1e6;
                /* Each group has workers with little and with much. */
                hint.cost *= (double)(1 + worker * 7 % WORKERS_SAME);
                add(tasks, function, k, &hint);
            }
        }
        JOB_OK(ek_restore(tasks, policies[p < 4 ? p : 2], &report));
        CHECK(report.migrations > 50);
        CHECK_EQ_INT(report.decision, expected[is_apart][p < 4 ? p : 2]);
        ek_destroy(&tasks);
    }
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(one_rank_gives_to_all);
    JOB_RUN(policies_change);
    JOB_RUN(odd_loads_stay_whole);
    JOB_RUN(groups_that_end_short_are_one);
    JOB_RUN(hints_are_balanced);
    JOB_RUN(ranges_take_part);
    JOB_RUN(ranks_may_be_unequal);
    JOB_RUN(schedules_choose);
    JOB_RUN(worse_is_undone);
    JOB_RUN(new_functions_are_like_others);
    JOB_RUN(automatic_choice_moves_once);
    JOB_RUN(automatic_choice_stops_stealing);
    JOB_RUN(a_later_job_chooses_the_same);
    JOB_RUN(ranks_must_agree_on_stealing);
    JOB_RUN(new_tasks_are_stolen);
    JOB_RUN(decision_is_the_same);
    return job_result();
}
