/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_set_range() and ek_for(): each index once, wherever their number goes, and
 * what is known of those that stay.
 *
 *     test_loop RANKS WORKERS
 */
#include "job.h"

#include <evenkeel_loop.h>

/* base/base.h: the N-th allocation from now on fails. */
void eki_memory_fail(int64_t n);

enum {
    INDICES = 700, /* the most that run */
    NAP_US = 300
};

/* Of this rank, by index. */
static struct {
    _Atomic int times[INDICES]; /* how often it ran */
    _Atomic int worker[INDICES];
    _Atomic int discard_every; /* 0: none */
    _Atomic int stop_at;       /* -1: no index stops the iteration */
} ran;

static void forget(void)
{
    memset(&ran, 0, sizeof ran);
    ran.stop_at = -1;
}

static int note_index(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    int64_t i;
    (void)context;
    CHECK_EQ_INT(bytes, sizeof i);
    memcpy(&i, payload, sizeof i);
    if (!CHECK(i >= 0 && i < INDICES))
        return 1;
    ran.times[i]++;
    ran.worker[i] = ek_worker_id(worker);
    if (ran.discard_every > 0 && i % ran.discard_every == 0)
        ek_discard(worker);
    if (i == ran.stop_at)
        ek_stop(worker);
    ek_set_cost(worker, 1e-3 * (double)(i + 1));
    return 0;
}

/* In the job since they were forgotten, which they are now. */
static void sum_times(int times[INDICES])
{
    for (int i = 0; i < INDICES; i++)
        times[i] = ran.times[i];
    MPI_Allreduce(MPI_IN_PLACE, times, INDICES, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    forget();
}

/* Indices 0 ... N - 1 ran once each; of those below BELOW the multiples of M
 * did not, if M > 0. */
static void check_ran_but(int n, int m, int below)
{
    int times[INDICES], wrong = 0;
    sum_times(times);
    for (int i = 0; i < INDICES; i++) {
        bool is_gone = i >= n || (m > 0 && i < below && i % m == 0);
        wrong += times[i] != !is_gone;
    }
    CHECK_EQ_INT(wrong, 0);
}

static void check_ran(int n)
{
    check_ran_but(n, 0, 0);
}

static ek_collection *make(ek_function *function)
{
    ek_options options = job_options();
    options.payload_bytes = 16;
    ek_collection *tasks = job_create(&options);
    *function = job_register(tasks, "index", note_index, NULL);
    forget();
    return tasks;
}

static void process(ek_collection *tasks, int n)
{
    JOB_OK(ek_process(tasks, NULL));
    check_ran(n);
}

/* What this rank holds. */
struct held {
    int64_t count, first, last; /* indices [first, last) */
    int wrong;                  /* durations */
    int64_t measured;
    uint64_t ids[INDICES];
    int slots;
};

static bool hold(const ek_task *task, void *context)
{
    struct held *held = context;
    int64_t index[2];
    memcpy(index, task->payload, task->bytes);
    if (!task->is_range)
        index[1] = index[0] + 1;
    held->count += task->count;
    held->first = index[0] < held->first ? index[0] : held->first;
    held->last = index[1] > held->last ? index[1] : held->last;
    if (!isnan(task->duration_s)) {
        double expected = 1e-3 * (double)(index[0] + 1);
        held->wrong += fabs(task->duration_s - expected) > 0.01 * expected;
        held->measured++;
    }
    for (int64_t i = index[0]; i < index[1] && held->slots < INDICES; i++)
        held->ids[held->slots++] = task->id + (uint64_t)(i - index[0]);
    return true;
}

static struct held held_here(ek_collection *tasks)
{
    struct held held = {.first = INT64_MAX};
    CHECK_OK(ek_visit_tasks(tasks, hold, &held));
    return held;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The job holds N indices, MEASURED of which have run, and all ids differ. */
static void check_held(ek_collection *tasks, int64_t n, int64_t measured)
{
    struct held held = held_here(tasks);
    CHECK_EQ_INT(job_sum(held.count), n);
    CHECK_EQ_INT(job_sum(held.measured), measured);
    CHECK_EQ_INT(held.wrong, 0);
    uint64_t *all = malloc((size_t)job_size * sizeof held.ids);
    MPI_Allgather(held.ids, INDICES, MPI_UINT64_T, all, INDICES, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    int count = job_size * INDICES, twice = 0;
    qsort(all, (size_t)count, sizeof *all, compare);
    for (int i = 1; i < count; i++)
        twice += all[i] == all[i - 1] && all[i] != 0;
    CHECK_EQ_INT(twice, 0);
    free(all);
}

static void each_index_runs_once(void)
{
    static const int sizes[] = {0, 1, 3, 100, INDICES};
    for (int i = 0; i < 5; i++) {
        ek_function function;
        ek_collection *tasks = make(&function);
        JOB_OK(ek_set_range(tasks, function, sizes[i]));
        check_held(tasks, sizes[i], 0);
        for (int j = 0; j < 3; j++) {
            process(tasks, sizes[i]);
            check_held(tasks, sizes[i], sizes[i]);
            JOB_OK(ek_restore(tasks, EK_RESTORE_DEFAULT + j % 4, NULL));
        }
        ek_destroy(&tasks);
    }
}

/* In blocks, in the order of ranks, by their numbers of workers; also where the
 * numbers are large. */
static void indices_are_dealt_by_workers(void)
{
    static const int64_t sizes[] = {0, 1, 37, 1000, INT64_C(400000000000)};
    ek_options options = job_options();
    ek_function function;
    options.workers = 1 + job_rank % 3;
    options.ignore_environment = true;
    ek_collection *tasks = job_create(&options);
    function = job_register(tasks, "index", note_index, NULL);
    int64_t before =
        job_rank / 3 * 6 + (job_rank % 3 ? job_rank % 3 * 2 - 1 : 0);
    int64_t all = ek_job_workers(tasks), old = 0;
    for (int i = 0; i < 5; i++) {
        int64_t n = sizes[i] - old, rest = n % all;
        int64_t last = before + ek_rank_workers(tasks);
        int64_t first = n / all * before + (before < rest ? before : rest);
        last = n / all * last + (last < rest ? last : rest);
        CHECK_OK(ek_set_range(tasks, function, old));
        int64_t here = held_here(tasks).count;
        CHECK_OK(ek_set_range(tasks, function, sizes[i]));
        struct held held = held_here(tasks);
        CHECK_EQ_INT(held.count - here, last - first);
        CHECK_EQ_INT(job_sum(held.count), sizes[i]);
        if (last > first)
            CHECK_EQ_INT(held.last, old + last);
        if (i < 3)
            old = sizes[i];
    }
    CHECK_EQ_INT(ek_set_range(tasks, function, INT64_C(1) << 62), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "indices more; allowed in one call");
    CHECK_OK(ek_set_range(tasks, function, 20));
    CHECK_EQ_INT(job_held(tasks), 20);
    ek_destroy(&tasks);
}

static void numbers_grow_and_shrink(void)
{
    static const int sizes[] = {100, 101, 300, 299, 10, 500, 0, 0, 1, 64};
    ek_function function;
    ek_collection *tasks = make(&function);
    int known = 0;
    for (int i = 0; i < 10; i++) {
        int n = sizes[i];
        /* After ek_process(), after ek_restore(), and again before the next. */
        if (i % 3 == 0)
            JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        JOB_OK(ek_set_range(tasks, function, n));
        known = n < known ? n : known;
        check_held(tasks, n, known);
        if (i % 3 == 2) {
            JOB_OK(ek_set_range(tasks, function, n / 2));
            JOB_OK(ek_set_range(tasks, function, n));
            known = n / 2 < known ? n / 2 : known;
            check_held(tasks, n, known);
        }
        process(tasks, n);
        known = n;
        check_held(tasks, n, known);
    }
    ek_destroy(&tasks);
}

static void discarded_indices_stay_away(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    JOB_OK(ek_set_range(tasks, function, 200));
    ran.discard_every = 3;
    process(tasks, 200);
    JOB_OK(ek_set_range(tasks, function, 300));
    JOB_OK(ek_process(tasks, NULL));
    check_ran_but(300, 3, 200);
    JOB_OK(ek_set_range(tasks, function, 100));
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_set_range(tasks, function, 150));
    JOB_OK(ek_process(tasks, NULL));
    check_ran_but(150, 3, 100);
    ek_destroy(&tasks);
}

/* Those that a stopped iteration has left: pieces of ranges among them. */
static void cancelled_indices_are_cut(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    for (int n = 600; n > 0; n -= 150) {
        JOB_OK(ek_set_range(tasks, function, 600));
        ran.stop_at = 40;
        JOB_OK(ek_process(tasks, NULL));
        forget();
        JOB_OK(ek_set_range(tasks, function, n));
        CHECK_EQ_INT(job_held(tasks), n);
        process(tasks, n);
    }
    ek_destroy(&tasks);
}

static void other_functions_keep_their_tasks(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    ek_function other = job_register(tasks, "other", job_nothing, NULL);
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    int64_t i = 5;
    CHECK_OK(ek_add_task(tasks, other, &i, sizeof i, NULL));
    CHECK_OK(ek_add_range(tasks, other, 0, 10));
    CHECK_OK(ek_add_range(tasks, function, 100, 120));
    JOB_OK(ek_set_range(tasks, function, 2));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, 11 * job_size + 2);
    check_ran(2);
    JOB_OK(ek_clear(tasks));
    JOB_OK(ek_set_range(tasks, function, 9));
    JOB_OK(ek_process(tasks, &report));
    CHECK_EQ_INT(report.tasks, 9);
    check_ran(9);
    ek_destroy(&tasks);
}

/* A message goes to one rank's sink; all have it. */
static void check_told(const char *part)
{
    CHECK_HAS_TEXT(ek_error_message(), part);
}

static void ranks_that_differ_are_told(void)
{
    ek_function function;
    if (job_size == 1)
        return;
    ek_collection *tasks = make(&function);
    JOB_OK(ek_set_range(tasks, function, 100));
    process(tasks, 100);
    JOB_OK(ek_set_range(tasks, function, job_rank == 0 ? 200 : 50));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    check_told("on rank 0 function 0 is 'index', with 200 indices, on rank 1 "
               "function 0 is 'index', with 50 indices");
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    check_told("ek_set_range of function 'index' has failed, or has differed "
               "between ranks; all ranks must call it again");
    JOB_OK(ek_set_range(tasks, function, 120));
    forget();
    process(tasks, 120);
    /* As many, but not the same ones. */
    if (job_rank == 0)
        CHECK_OK(ek_set_range(tasks, function, 10));
    CHECK_OK(ek_set_range(tasks, function, 120));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    check_told("order of their calls");
    CHECK_OK(ek_set_range(tasks, function, 120));
    forget();
    process(tasks, 120);
    /* In a restore; then one rank forgets its tasks alone. */
    JOB_OK(ek_set_range(tasks, function, 120 + (job_rank == 1)));
    JOB_STATUS(ek_restore(tasks, EK_RESTORE_CENTRALIZED, NULL), EK_ERR_ARG);
    JOB_OK(ek_set_range(tasks, function, 70));
    process(tasks, 70);
    if (job_rank == 0)
        CHECK_OK(ek_clear(tasks));
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    forget();
    JOB_OK(ek_set_range(tasks, function, 71));
    process(tasks, 71);
    ek_destroy(&tasks);
}

/* The last rank has no memory, which the next iteration tells. */
static void indices_without_memory_are_dealt_again(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    bool is_last = job_rank == job_size - 1;
    if (is_last)
        eki_memory_fail(1);
    ek_status status = ek_set_range(tasks, function, 500);
    eki_memory_fail(0);
    CHECK_EQ_INT(status, is_last ? EK_ERR_NOMEM : EK_OK);
    JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
    forget();
    JOB_OK(ek_set_range(tasks, function, 500));
    process(tasks, 500);
    ek_destroy(&tasks);
}

static int try_in_task(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    (void)worker, (void)payload, (void)bytes;
    ek_collection **tasks = context;
    CHECK_EQ_INT(ek_set_range(tasks[0], 0, 3), EK_ERR_STATE);
    CHECK_EQ_INT(ek_set_range(tasks[1], 0, 3), EK_ERR_STATE);
    return 0;
}

static void bad_ranges_are_refused(void)
{
    ek_function function;
    ek_options options = job_options();
    ek_collection *tasks = make(&function);
    CHECK_EQ_INT(ek_set_range(NULL, 0, 1), EK_ERR_ARG);
    CHECK_EQ_INT(ek_set_range(tasks, 7, 1), EK_ERR_ARG);
    CHECK_EQ_INT(ek_set_range(tasks, function, -1), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(),
                   "ek_set_range: -1 indices; allowed: 0 and more");
    ek_collection *both[2] = {tasks, job_create(NULL)};
    job_register(both[1], "index", note_index, NULL);
    ek_function inside = job_register(tasks, "inside", try_in_task, both);
    JOB_OK(ek_set_range(tasks, inside, 10));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_held(both[1]), 0);
    ek_destroy(&both[1]);
    ek_destroy(&tasks);
    options.payload_bytes = 8;
    options.ignore_environment = true;
    tasks = job_create(&options);
    function = job_register(tasks, "index", note_index, NULL);
    CHECK_EQ_INT(ek_set_range(tasks, function, 1), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "payload_bytes");
    ek_destroy(&tasks);
}

/* Loops. */

static int loop_index(ek_worker *worker, int64_t i, void *context)
{
    CHECK(context == &ran);
    return note_index(worker, &i, sizeof i, NULL);
}

/* Some indices take longer, so that others are stolen. */
static int loop_unevenly(ek_worker *worker, int64_t i, void *context)
{
    ran.worker[i] = ek_worker_id(worker) + 1;
    ran.times[i]++;
    job_nap(i < INDICES / 8 ? 5 * (int64_t)NAP_US : NAP_US / 10);
    return *(int *)context;
}

static int loop_in_loop(ek_worker *worker, int64_t i, void *context)
{
    (void)worker, (void)i;
    CHECK_EQ_INT(ek_for(MPI_COMM_SELF, 3, loop_index, &ran), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "none from a task");
    CHECK_EQ_INT(ek_for(*(MPI_Comm *)context, 3, loop_in_loop, context),
                 EK_ERR_STATE);
    return 0;
}

static void loops_run_each_index_once(void)
{
    static const int sizes[] = {100, 100, 0, 1, 650, 30, 30};
    forget();
    for (int i = 0; i < 7; i++) {
        JOB_OK(ek_for(MPI_COMM_WORLD, sizes[i], loop_index, &ran));
        check_ran(sizes[i]);
    }
}

/* Nobody steals in the second call, so each index shows where it lay. */
static void loops_remember_places(void)
{
    int zero = 0, workers[INDICES], moved = 0;
    setenv("EVENKEEL_STEAL", "random@0,none@1-", 1);
    forget();
    JOB_OK(ek_for(MPI_COMM_WORLD, INDICES, loop_unevenly, &zero));
    for (int i = 0; i < INDICES; i++)
        workers[i] = ran.worker[i];
    check_ran(INDICES);
    JOB_OK(ek_for(MPI_COMM_WORLD, INDICES, loop_unevenly, &zero));
    for (int i = 0; i < INDICES; i++)
        moved += workers[i] != ran.worker[i];
    check_ran(INDICES);
    CHECK_EQ_INT(job_sum(moved), 0);
    unsetenv("EVENKEEL_STEAL");
}

/* Summaries: collections that have ended, of which this is rank 0. */
static _Atomic int ended;

static void count_line(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    ended += strstr(line, " workers and ") != NULL ||
             strstr(line, " worker and ") != NULL;
}

/* With a report the end of a collection is told by rank 0. */
static void loops_end_with_their_communicator(void)
{
    MPI_Comm half, all;
    int rank;
    forget();
    setenv("EVENKEEL_REPORT", "1", 1);
    MPI_Comm_split(MPI_COMM_WORLD, job_rank % 2, 0, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(half, &rank);
    ek_set_sink(count_line, NULL, EK_LEVEL_INFO);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ek_for(half, 50, loop_index, &ran));
        CHECK_OK(ek_for(all, 60, loop_index, &ran));
        CHECK_OK(ek_for(half, 20, loop_in_loop, &half));
    }
    forget();
    ended = 0;
    MPI_Comm_free(&half);
    CHECK(half == MPI_COMM_NULL);
    CHECK_EQ_INT(ended, rank == 0 ? 2 : 0);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -job_rank, &half);
    JOB_OK(ek_for(half, 70, loop_index, &ran));
    check_ran(70);
    JOB_OK(ek_for(all, 61, loop_index, &ran));
    check_ran(61);
    MPI_Comm_free(&all);
    MPI_Comm_free(&half);
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    unsetenv("EVENKEEL_REPORT");
}

static int fail_at(ek_worker *worker, int64_t i, void *context)
{
    (void)worker;
    return i == *(const int64_t *)context;
}

/* In a first iteration, as part of a range, and in a later one, alone. */
static void failures_tell_the_index(void)
{
    int64_t bad = 137;
    JOB_STATUS(ek_for(MPI_COMM_WORLD, 300, fail_at, &bad), EK_ERR_TASK);
    check_told("index 137, task ");
    bad = -1;
    JOB_OK(ek_for(MPI_COMM_WORLD, 300, fail_at, &bad));
    bad = 29;
    JOB_STATUS(ek_for(MPI_COMM_WORLD, 300, fail_at, &bad), EK_ERR_TASK);
    check_told("index 29, task ");
}

static void failing_loops_go_on(void)
{
    int code = 7;
    forget();
    JOB_STATUS(ek_for(MPI_COMM_WORLD, 300, loop_unevenly, &code), EK_ERR_TASK);
    check_told("of function 'index' failed");
    check_told("with code 7");
    forget();
    code = 0;
    JOB_OK(ek_for(MPI_COMM_WORLD, 310, loop_unevenly, &code));
    check_ran(310);
}

static void bad_loops_are_refused(void)
{
    JOB_STATUS(ek_for(MPI_COMM_WORLD, 3, NULL, NULL), EK_ERR_ARG);
    check_told("ek_for: fn is NULL");
    JOB_STATUS(ek_for(MPI_COMM_NULL, 3, loop_index, NULL), EK_ERR_ARG);
    JOB_STATUS(ek_for(MPI_COMM_WORLD, -1, loop_index, &ran), EK_ERR_ARG);
    check_told("ek_for: -1 indices; allowed: 0 and more");
    MPI_Comm all;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    /* Of a loop that there is, and of a new one. */
    for (int i = 0; i < 2; i++) {
        ek_status statuses[2] = {EK_OK, EK_OK};
#pragma omp parallel num_threads(2)
        {
            int here = 0;
#pragma omp critical
            here = job_workers++ % 2;
            statuses[here] =
                ek_for(i ? all : MPI_COMM_WORLD, 5, loop_index, &ran);
        }
        job_workers -= 2;
        JOB_STATUS(statuses[0], EK_ERR_STATE);
        JOB_STATUS(statuses[1], EK_ERR_STATE);
    }
    forget();
    JOB_OK(ek_for(MPI_COMM_WORLD, 9, loop_index, &ran));
    check_ran(9);
    JOB_OK(ek_for(all, 8, loop_index, &ran));
    check_ran(8);
    MPI_Comm_free(&all);
}

/* Whatever allocation of the first call fails, on rank 0: later ones work. */
static void loops_without_memory_begin_again(void)
{
    int64_t failed = 1;
    for (int64_t n = 1; failed > 0; n++) {
        MPI_Comm all;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        eki_memory_fail(job_rank == 0 ? n : 0);
        failed = ek_for(all, 50, loop_index, &ran) != EK_OK;
        eki_memory_fail(0);
        CHECK_EQ_INT(job_sum(failed), failed * job_size);
        /* Ranks may differ in what they have dealt. */
        if (failed)
            (void)ek_for(all, 50, loop_index, &ran);
        forget();
        JOB_OK(ek_for(all, 50, loop_index, &ran));
        check_ran(50);
        MPI_Comm_free(&all);
    }
}

static void loops_that_differ_are_told(void)
{
    if (job_size == 1)
        return;
    JOB_OK(ek_for(MPI_COMM_WORLD, 90, loop_index, &ran));
    for (int i = 0; i < 2; i++) {
        int64_t n = job_rank > 0 ? 80 : i ? -1 : 100;
        JOB_STATUS(ek_for(MPI_COMM_WORLD, n, loop_index, &ran), EK_ERR_ARG);
    }
    JOB_STATUS(ek_for(MPI_COMM_WORLD, 20 + job_rank, loop_index, &ran),
               EK_ERR_ARG);
    check_told("with 20 indices, on rank 1 function 0 is 'index', with 21 "
               "indices");
    forget();
    JOB_OK(ek_for(MPI_COMM_WORLD, 95, loop_index, &ran));
    check_ran(95);
}

/* Loops of communicators that nobody has freed end with MPI. */
static int finish(void)
{
    int zero = 0;
    ek_collection *tasks = NULL;
    MPI_Comm all;
    setenv("EVENKEEL_REPORT", "1", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    CHECK_OK(ek_for(all, 4, loop_unevenly, &zero));
    CHECK_OK(ek_create(MPI_COMM_SELF, NULL, &tasks));
    ek_set_sink(count_line, NULL, EK_LEVEL_INFO);
    CHECK_OK(ek_for(MPI_COMM_SELF, 3, loop_unevenly, &zero));
    CHECK_OK(ek_for(MPI_COMM_SELF, 3, loop_index, &ran));
    ek_destroy(&tasks);
    ended = 0;
    int failed = job_result();
    return failed || !CHECK_EQ_INT(ended, job_rank == 0 ? 3 : 2);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(each_index_runs_once);
    JOB_RUN(indices_are_dealt_by_workers);
    JOB_RUN(numbers_grow_and_shrink);
    JOB_RUN(discarded_indices_stay_away);
    JOB_RUN(cancelled_indices_are_cut);
    JOB_RUN(other_functions_keep_their_tasks);
    JOB_RUN(ranks_that_differ_are_told);
    JOB_RUN(indices_without_memory_are_dealt_again);
    JOB_RUN(bad_ranges_are_refused);
    JOB_RUN(loops_run_each_index_once);
    JOB_RUN(loops_remember_places);
    JOB_RUN(loops_end_with_their_communicator);
    JOB_RUN(failures_tell_the_index);
    JOB_RUN(failing_loops_go_on);
    JOB_RUN(bad_loops_are_refused);
    JOB_RUN(loops_without_memory_begin_again);
    JOB_RUN(loops_that_differ_are_told);
    return finish();
}
