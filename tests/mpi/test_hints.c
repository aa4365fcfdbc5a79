/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints: the first iteration begins with the durations of an earlier run, in
 * order and place; what does not fit has none, and nothing is lost.
 *
 *     test_hints RANKS WORKERS
 */
#include "job.h"

#include <string.h>

enum {
    EACH = 24, /* tasks of a rank, or indices of a range there */
    TASKS_MOST = 4 * EACH
};

/* Of this job, while others run beside it. */
static char path[40];

/* When each ran on its worker, from 1 on, and where; 0: not here. */
static int ran_as[TASKS_MOST], ran_of[64];
static bool are_first_short; /* the tasks of rank 0, by a factor of ten */

static double cost_of(int64_t number)
{
    if (are_first_short)
        return number < EACH ? 1e-3 : 1e-2;
    return 1e-3 * (double)(1 + number * 7 % TASKS_MOST);
}

static int task(ek_worker *worker, const void *payload, size_t bytes,
                void *context)
{
    int64_t number;
    (void)bytes, (void)context;
    memcpy(&number, payload, sizeof number);
    CHECK_EQ_INT(ran_as[number], 0);
    ran_as[number] = ++ran_of[ek_worker_id(worker)];
    ek_set_cost(worker, cost_of(number));
    return 0;
}

struct made {
    const char *restore, *hints, *record, *name;
    int each; /* tasks of a rank */
    bool is_range;
};

static ek_collection *make(const struct made *made)
{
    ek_options options = job_options();
    options.name = "hinted";
    options.steal = EK_STEAL_NONE;
    options.record = made->record;
    job_set(&options, "restore", made->restore);
    job_set(&options, "hints", made->hints);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, made->name, task, NULL);
    int64_t first = job_rank * (int64_t)made->each;
    int64_t last = first + made->each;
    if (made->is_range)
        CHECK_OK(ek_add_range(tasks, function, first, last));
    for (int64_t i = first; i < last && !made->is_range; i++)
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i, NULL));
    return tasks;
}

static void run(ek_collection *tasks, int each)
{
    memset(ran_as, 0, sizeof ran_as);
    memset(ran_of, 0, sizeof ran_of);
    JOB_OK(ek_process(tasks, NULL));
    int64_t ran = 0;
    for (int i = 0; i < TASKS_MOST; i++)
        ran += ran_as[i] > 0;
    CHECK_EQ_INT(job_sum(ran), (int64_t)each * job_size);
}

static void write_record(int each, bool is_range)
{
    struct made made = {"retain", "0", path, "task", each, is_range};
    ek_collection *tasks = make(&made);
    run(tasks, each);
    ek_destroy(&tasks);
}

/* Pairs of a worker's tasks of which the longer one ran later; of one worker,
 * whose tasks are all of its rank. */
static int64_t count_inverted(void)
{
    int64_t inverted = 0;
    int64_t first = job_rank * EACH;
    for (int64_t i = first; job_workers == 1 && i < first + EACH; i++) {
        for (int64_t k = first; k < first + EACH; k++)
            inverted += cost_of(i) > cost_of(k) && ran_as[i] > ran_as[k];
    }
    return inverted;
}

static void check_order(bool is_range)
{
    write_record(EACH, is_range);
    struct made made = {"retain", path, NULL, "task", EACH, is_range};
    ek_collection *tasks = make(&made);
    run(tasks, EACH);
    CHECK_EQ_INT(count_inverted(), 0);
    JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT, NULL));
    run(tasks, EACH);
    ek_destroy(&tasks);
}

static void longest_hints_come_first(void)
{
    check_order(false);
}

static void indices_of_ranges_have_hints(void)
{
    check_order(true);
}

/* What one run keeps may be what the next begins with. */
static void the_file_may_be_written_anew(void)
{
    write_record(EACH, false);
    struct made made = {"retain", path, path, "task", EACH, false};
    ek_collection *tasks = make(&made);
    run(tasks, EACH);
    CHECK_EQ_INT(count_inverted(), 0);
    ek_destroy(&tasks);
}

/* How many tasks of other ranks ran on this one in the first iteration. */
static int64_t count_others(const char *hints, const char *record)
{
    struct made made = {"centralized", hints, record, "task", EACH, false};
    ek_collection *tasks = make(&made);
    run(tasks, EACH);
    int64_t others = 0;
    for (int i = 0; i < TASKS_MOST; i++)
        others += ran_as[i] > 0 && i / EACH != job_rank;
    ek_destroy(&tasks);
    return others;
}

static void a_rebalance_comes_before_the_first_iteration(void)
{
    are_first_short = true;
    CHECK_EQ_INT(count_others("0", path), 0);
    int64_t others = count_others(path, NULL);
    CHECK(job_size == 1 || job_rank > 0 || others > 0);
    are_first_short = false;
}

static void what_does_not_fit_has_no_hints(void)
{
    write_record(EACH, false);
    const struct made others[] = {
        {"centralized", path, NULL, "another", EACH, false},
        {"retain", path, NULL, "task", EACH / 2, false},
        {"retain", path, NULL, "task", EACH / 2, true}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ek_collection *tasks = make(&others[i]);
        run(tasks, others[i].each);
        ek_destroy(&tasks);
    }
}

static void a_record_without_tasks_has_no_hints(void)
{
    write_record(0, false);
    CHECK_EQ_INT(count_others(path, NULL), 0);
}

static void refuse(const char *hints, const char *why)
{
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    job_set(&options, "hints", hints);
    JOB_STATUS(ek_create(MPI_COMM_WORLD, &options, &tasks), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), why);
}

static void bad_files_are_refused_everywhere(void)
{
    if (job_rank == 0) {
        FILE *file = fopen(path, "w");
        CHECK(file && fputs("This is no record.", file) >= 0);
        CHECK(file && fclose(file) == 0);
    }
    refuse("missing.ekr", "missing.ekr");
    refuse(path, path);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "hints-%d.ekr", pid);
    JOB_RUN(longest_hints_come_first);
    JOB_RUN(indices_of_ranges_have_hints);
    JOB_RUN(the_file_may_be_written_anew);
    JOB_RUN(a_rebalance_comes_before_the_first_iteration);
    JOB_RUN(what_does_not_fit_has_no_hints);
    JOB_RUN(a_record_without_tasks_has_no_hints);
    JOB_RUN(bad_files_are_refused_everywhere);
    job_remove_file(path);
    return job_result();
}
