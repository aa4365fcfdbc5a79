/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls outside of an iteration do: adding with and without hints,
 * visiting, setting.
 *
 *     test_calls RANKS WORKERS
 */
#include "numbered.h"

#include <evenkeel_bind.h>
#include <evenkeel_pull.h>

struct visited {
    ek_collection *tasks;
    int64_t count, ids; /* ids: their sum */
    bool is_measured;
    int keep_multiples; /* others are removed; 0: none is */
};

static bool visit(const ek_task *task, void *context)
{
    struct visited *visited = context;
    int number = number_of(task->payload);
    int workers = ek_job_workers(visited->tasks);
    CHECK_EQ_INT(task->bytes, sizeof(int));
    CHECK_EQ_INT(task->function, 0);
    CHECK_EQ_INT(task->count, 1);
    CHECK(!task->is_range);
    CHECK(task->worker == NULL && !task->is_new);
    CHECK_EQ_INT(task->home, (task->id >> 40) / job_workers);
    CHECK(task->worker_id >= 0 && task->worker_id < workers);
    CHECK((int64_t)(task->id >> 40) < workers);
    CHECK_EQ_INT(isnan(task->duration_s) == 0, visited->is_measured);
    visited->count++;
    visited->ids += (int64_t)task->id;
    return visited->keep_multiples == 0 ||
           number % visited->keep_multiples == 0;
}

static int64_t visit_all(struct visited *visited)
{
    visited->count = visited->ids = 0;
    CHECK_OK(ek_visit_tasks(visited->tasks, visit, visited));
    return job_sum(visited->count);
}

static void visiting_shows_every_task(void)
{
    ek_function function;
    struct visited visited = {make(note_task, &function), 0, 0, false, 0};
    CHECK_EQ_INT(visit_all(&visited), 0);
    add_numbers(visited.tasks, function, TASKS);
    CHECK_EQ_INT(visit_all(&visited), TASKS * job_size);
    CHECK_EQ_INT(visited.count, TASKS);
    int64_t ids = job_sum(visited.ids);
    for (int i = 0; i < 3; i++) {
        JOB_OK(ek_process(visited.tasks, NULL));
        visited.is_measured = true;
        CHECK_EQ_INT(visit_all(&visited), TASKS * job_size);
        CHECK_EQ_INT(job_sum(visited.ids), ids);
        restore(visited.tasks,
                i == 1 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN);
        CHECK_EQ_INT(visit_all(&visited), TASKS * job_size);
        CHECK_EQ_INT(job_sum(visited.ids), ids);
    }
    CHECK_EQ_INT(ek_visit_tasks(NULL, visit, NULL), EK_ERR_ARG);
    CHECK_EQ_INT(ek_visit_tasks(visited.tasks, NULL, NULL), EK_ERR_ARG);
    JOB_OK(ek_begin(visited.tasks));
    CHECK_EQ_INT(ek_visit_tasks(visited.tasks, visit, &visited), EK_ERR_STATE);
    JOB_STATUS(ek_end(visited.tasks, NULL), EK_ERR_TASK);
    ek_destroy(&visited.tasks);
}

/* Of N tasks those whose numbers M divides. */
static int64_t multiples(int64_t n, int64_t m)
{
    return (n + m - 1) / m;
}

static void visiting_removes_tasks(void)
{
    int64_t n = TASKS * job_size;
    ek_function function;
    struct visited visited = {make(note_task, &function), 0, 0, false, 2};
    add_numbers(visited.tasks, function, TASKS);
    CHECK_EQ_INT(visit_all(&visited), n);
    CHECK_EQ_INT(visit_all(&visited), multiples(n, 2));
    JOB_OK(ek_process(visited.tasks, NULL));
    CHECK_EQ_INT(ran_in_job(1), 0);
    CHECK_EQ_INT(ran_in_job(2), 1);
    CHECK_EQ_INT(total_in_job(), multiples(n, 2));
    /* Before the restore ... */
    visited.is_measured = true;
    visited.keep_multiples = 4;
    CHECK_EQ_INT(visit_all(&visited), multiples(n, 2));
    CHECK_EQ_INT(visit_all(&visited), multiples(n, 4));
    restore(visited.tasks, EK_RESTORE_RETAIN);
    CHECK_EQ_INT(visit_all(&visited), multiples(n, 4));
    JOB_OK(ek_process(visited.tasks, NULL));
    CHECK_EQ_INT(total_in_job(), multiples(n, 4));
    /* ... and after it. */
    restore(visited.tasks, EK_RESTORE_ORIGINAL);
    visited.keep_multiples = 12;
    CHECK_EQ_INT(visit_all(&visited), multiples(n, 4));
    JOB_OK(ek_process(visited.tasks, NULL));
    CHECK_EQ_INT(ran_in_job(4), 0);
    CHECK_EQ_INT(total_in_job(), multiples(n, 12));
    ek_destroy(&visited.tasks);
}

static int discard_odd(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    note_task(worker, payload, bytes, context);
    if (number_of(payload) % 2 != 0)
        ek_discard(worker);
    else if (number_of(payload) % 4 != 0)
        ek_skip(worker);
    return 0;
}

struct ran_here {
    int64_t ran, others, sum;
};

static bool count_ran(const ek_task *task, void *context)
{
    struct ran_here *here = context;
    here->ran += task->has_run;
    here->others += !task->has_run;
    here->sum += task->has_run ? number_of(task->payload) : 0;
    return true;
}

/* Of the tasks that stay, each ran on one rank, until they are restored. */
static void visits_tell_what_ran_here(void)
{
    int64_t n = TASKS * job_size, sum = 0;
    struct ran_here here = {0};
    ek_function function;
    ek_collection *tasks = make(discard_odd, &function);
    add_numbers(tasks, function, TASKS);
    for (int64_t i = 0; i < n; i += 2)
        sum += i;
    CHECK_OK(ek_visit_tasks(tasks, count_ran, &here));
    CHECK_EQ_INT(here.ran, 0);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        here = (struct ran_here){0};
        /* Added since: it has not run. */
        if (i == 1)
            add_numbers(tasks, function, 1);
        CHECK_OK(ek_visit_tasks(tasks, count_ran, &here));
        CHECK_EQ_INT(here.others, i);
        CHECK_EQ_INT(job_sum(here.ran), multiples(n, 2));
        CHECK_EQ_INT(job_sum(here.sum), sum);
        restore(tasks, EK_RESTORE_RETAIN);
        here = (struct ran_here){0};
        CHECK_OK(ek_visit_tasks(tasks, count_ran, &here));
        CHECK_EQ_INT(here.ran, 0);
    }
    ek_destroy(&tasks);
}

static int costs_its_number(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    note_task(worker, payload, bytes, context);
    ek_set_cost(worker, 1.0 + number_of(payload));
    return 0;
}

/* What a task took is what its number said; then it gets another number. */
static bool turn_number(const ek_task *task, void *context)
{
    int number = number_of(task->payload), last = *(const int *)context;
    CHECK_NEAR(task->duration_s / (1.0 + number), 1, 0.004);
    number = last - number;
    memcpy(task->payload, &number, sizeof number);
    return true;
}

/* Tasks keep what they took before ... */
static bool check_kept(const ek_task *task, void *context)
{
    int number = number_of(task->payload), last = *(const int *)context;
    CHECK_NEAR(task->duration_s / (1.0 + last - number), 1, 0.004);
    return true;
}

/* ... and run what was written. */
static void visitors_rewrite_payloads(void)
{
    int n = TASKS * job_size, last = n - 1;
    ek_function function;
    ek_collection *tasks = make(costs_its_number, &function);
    add_numbers(tasks, function, TASKS);
    for (int i = 0; i < 4; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(ran_in_job(1), 1);
        CHECK_EQ_INT(total_in_job(), n);
        if (i % 2)
            restore(tasks, EK_RESTORE_RETAIN);
        CHECK_OK(ek_visit_tasks(tasks, turn_number, &last));
        if (i % 2 == 0)
            restore(tasks, EK_RESTORE_RETAIN);
        CHECK_OK(ek_visit_tasks(tasks, check_kept, &last));
    }
    ek_destroy(&tasks);
}

static void setting_options(void)
{
    ek_function function;
    ek_collection *tasks = make(note_task, &function);
    CHECK_EQ_INT(ek_set_option(tasks, "nonsense", "1"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "nonsense");
    CHECK_HAS_TEXT(ek_error_message(), "poll_period_us");
    CHECK_EQ_INT(ek_set_option(tasks, "workers", "1"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "cannot be set");
    CHECK_EQ_INT(ek_set_option(tasks, "steal", "best"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "'best'");
    CHECK_HAS_TEXT(ek_error_message(), "random, near, node, none, counter");
    CHECK_EQ_INT(ek_set_option(tasks, "stall_ms", "-2"), EK_ERR_ARG);
    CHECK_EQ_INT(ek_set_option(tasks, NULL, "1"), EK_ERR_ARG);
    CHECK_EQ_INT(ek_set_option(tasks, "steal", NULL), EK_ERR_ARG);
    CHECK_EQ_INT(ek_set_option(NULL, "steal", "none"), EK_ERR_ARG);
    static const char *const good[][2] = {
        {"steal", "near"},         {"restore", "original"},
        {"order", "executed"},     {"on_failure", "continue"},
        {"poll_period_us", "100"}, {"stall_ms", "20000"},
        {"report", "0"},           {"steal", "none"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_OK(ek_set_option(tasks, good[i][0], good[i][1]));
    /* Nobody steals now. */
    add_numbers(tasks, function, TASKS);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(atomic_load(&seen.total), TASKS);
    JOB_OK(ek_clear(tasks));
    JOB_OK(ek_begin(tasks));
    CHECK_EQ_INT(ek_set_option(tasks, "steal", "near"), EK_ERR_STATE);
    JOB_OK(ek_end(tasks, NULL));
    ek_destroy(&tasks);
}

/* A period of 0 is chosen by the library, whatever was said before. */
static void poll_periods_may_be_automatic(void)
{
    ek_options options = job_options();
    job_set_number(&options, "ranks_per_node", 1);
    job_set_number(&options, "poll_period_us", 0);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "numbered", note_task, NULL);
    forget();
    add_numbers(tasks, function, TASKS);
    static const char *const periods[] = {NULL, "0", "1000000000", "0"};
    for (int i = 0; i < 4; i++) {
        if (periods[i])
            CHECK_OK(ek_set_option(tasks, "poll_period_us", periods[i]));
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(total_in_job(), TASKS * job_size);
        restore(tasks, EK_RESTORE_ORIGINAL);
    }
    CHECK_EQ_INT(ek_set_option(tasks, "poll_period_us", "-1"), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "0 ... 1000000000");
    ek_destroy(&tasks);
}

/* What the environment says of each iteration wins over the program. */
static void environment_replaces_policies(void)
{
    ek_function function;
    const char *steal = getenv("EVENKEEL_STEAL");
    setenv("EVENKEEL_RESTORE", "retain,other:retain@1-,original@2-3", 1);
    if (!steal)
        setenv("EVENKEEL_STEAL", "none@1", 1);
    ek_collection *tasks = make(note_task, &function);
    unsetenv("EVENKEEL_RESTORE");
    if (!steal)
        unsetenv("EVENKEEL_STEAL");
    add_numbers(tasks, function, TASKS);
    for (int i = 0; i < 5; i++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(total_in_job(), TASKS * job_size);
        JOB_OK(ek_restore(
            tasks, i % 2 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL, &report));
        /* The restore after iteration i is that of i + 1. */
        CHECK_EQ_INT(report.policy, i == 1 || i == 2 ? EK_RESTORE_ORIGINAL
                                                     : EK_RESTORE_RETAIN);
    }
    ek_destroy(&tasks);
}

/* Last hinted cost that each worker here has run. */
static double *last_cost;
static _Atomic int is_elsewhere;

static int hint_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    double cost;
    (void)bytes, (void)context;
    memcpy(&cost, payload, sizeof cost);
    double *last = &last_cost[ek_worker_here(worker)];
    /* Others of the rank run tasks of a worker whose thread is not there yet.
     */
    if (job_workers == 1)
        CHECK(cost < 2 * *last);
    *last = cost;
    atomic_fetch_add(&seen.total, 1);
    return 0;
}

static void hinted_costs_order_tasks(void)
{
    ek_function function;
    ek_collection *tasks = make(hint_task, &function);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    last_cost = calloc((size_t)job_workers, sizeof *last_cost);
    for (int here = 0; here < job_workers; here++)
        last_cost[here] = 1e9;
    for (int i = 0; i < TASKS; i++) {
        ek_hint hint = EK_HINT_INIT;
        /* As far apart as hints are told apart. */
        hint.cost = exp2((i * 7 % TASKS - TASKS / 2) / 8.0);
        CHECK_OK(
            ek_add_task(tasks, function, &hint.cost, sizeof hint.cost, &hint));
    }
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(total_in_job(), TASKS * job_size);
    free(last_cost);
    ek_destroy(&tasks);
}

static int where_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)bytes, (void)context;
    atomic_fetch_add(&is_elsewhere, number_of(payload) != job_rank);
    atomic_fetch_add(&seen.total, 1);
    return 0;
}

/* Each rank adds a task for each; then they stay, or go home. */
static void hinted_ranks_start_tasks(void)
{
    ek_restore_report restored = EK_RESTORE_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(where_task, &function);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    for (int i = 0; i < 20 * job_size; i++) {
        ek_hint hint = EK_HINT_INIT;
        hint.rank = i % job_size;
        CHECK_OK(
            ek_add_task(tasks, function, &hint.rank, sizeof hint.rank, &hint));
    }
    for (int i = 0; i < 3; i++) {
        atomic_store(&is_elsewhere, 0);
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(atomic_load(&is_elsewhere), 0);
        CHECK_EQ_INT(atomic_load(&seen.total), 20 * job_size);
        forget();
        if (i < 2)
            restore(tasks, EK_RESTORE_RETAIN);
    }
    JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, &restored));
    CHECK_EQ_INT(restored.moved, 20 * (job_size - 1));
    CHECK_EQ_INT(restored.tasks, 20 * job_size);
    atomic_store(&is_elsewhere, 0);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(atomic_load(&is_elsewhere), 20 * (job_size - 1));
    ek_destroy(&tasks);
}

static void bad_hints_are_refused(void)
{
    ek_function function;
    ek_collection *tasks = make(note_task, &function);
    const double costs[] = {0, -1, (double)NAN, (double)INFINITY};
    const int ranks[] = {-2, job_size};
    int number = 0;
    for (int i = 0; i < 6; i++) {
        ek_hint hint = EK_HINT_INIT;
        hint.cost = i < 4 ? costs[i] : 1;
        hint.rank = i < 4 ? -1 : ranks[i - 4];
        CHECK_EQ_INT(
            ek_add_task(tasks, function, &number, sizeof number, &hint),
            EK_ERR_ARG);
        CHECK_HAS_TEXT(ek_error_message(), i < 4 ? "hint.cost" : "hint.rank");
        CHECK_HAS_TEXT(ek_error_message(), "allowed");
    }
    ek_hint empty = {0};
    CHECK_EQ_INT(ek_add_task(tasks, function, &number, sizeof number, &empty),
                 EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "EK_HINT_INIT");
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(total_in_job(), 0);
    ek_destroy(&tasks);
}

/* A program compiled with fewer fields of a hint. */
static void hints_of_older_programs_are_understood(void)
{
    ek_function function;
    ek_collection *tasks = make(note_task, &function);
    ek_hint hint = EK_HINT_INIT;
    hint.struct_bytes = offsetof(ek_hint, rank);
    hint.rank = 77;
    int number = 0;
    CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, &hint));
    hint.struct_bytes--;
    CHECK_EQ_INT(ek_add_task(tasks, function, &number, sizeof number, &hint),
                 EK_ERR_ARG);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(total_in_job(), job_size);
    ek_destroy(&tasks);
}

struct ids {
    uint64_t *all;
    int64_t count;
};

static bool visit_id(const ek_task *task, void *context)
{
    struct ids *ids = context;
    for (int64_t i = 0; i < task->count; i++)
        ids->all[ids->count++] = task->id + (uint64_t)i;
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int index_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    atomic_fetch_add(&seen.total, 1);
    return 0;
}

static int64_t add_from_threads(ek_collection *tasks, ek_function function,
                                ek_function indices)
{
    enum {
        THREADS = 4,
        EACH = 2000
    };
    _Atomic int64_t added = 0;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < EACH; i++) {
        ek_hint hint = EK_HINT_INIT;
        hint.rank = i % job_size;
        hint.cost = 1 + i;
        CHECK_OK(ek_add_task(tasks, function, &i, sizeof i,
                             i % 5 == 0 ? &hint : NULL));
        if (i % 100 == 0)
            CHECK_OK(ek_add_range(tasks, indices, i, i + 10));
        atomic_fetch_add(&added, i % 100 == 0 ? 11 : 1);
    }
    return added;
}

static void several_threads_add(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "one", index_task, NULL);
    ek_function indices = job_register(tasks, "index", index_task, NULL);
    forget();
    int64_t added = add_from_threads(tasks, function, indices);
    struct ids ids = {calloc((size_t)added, sizeof *ids.all), 0};
    CHECK_OK(ek_visit_tasks(tasks, visit_id, &ids));
    if (CHECK_EQ_INT(ids.count, added))
        qsort(ids.all, (size_t)added, sizeof *ids.all, compare_ids);
    int64_t twice = 0;
    for (int64_t i = 1; i < ids.count; i++)
        twice += ids.all[i] == ids.all[i - 1];
    CHECK_EQ_INT(twice, 0);
    free(ids.all);
    for (int i = 0; i < 2; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(total_in_job(), job_sum(added));
        restore(tasks, EK_RESTORE_ORIGINAL);
    }
}

static int payload_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    const unsigned char *byte = payload;
    int64_t wrong = 0;
    (void)worker;
    CHECK_EQ_INT((uintptr_t)payload % 8, 0);
    CHECK(bytes <= *(const size_t *)context);
    for (size_t i = 0; i < bytes; i++)
        wrong += byte[i] != (unsigned char)(bytes + 31 * i);
    CHECK_EQ_INT(wrong, 0);
    atomic_fetch_add(&seen.total, 1);
    return 0;
}

static void run_payloads(size_t most)
{
    static unsigned char bytes[65505];
    ek_options options = job_options();
    options.payload_bytes = (int64_t)most;
    job_set_number(&options, "buffer_slots", 8);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "bytes", payload_task, &most);
    int added = 0;
    for (size_t n = 0; n <= most && job_rank == 0; n += 1 + most / 50) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = (unsigned char)(n + 31 * i);
        CHECK_OK(ek_add_task(tasks, function, n ? bytes : NULL, n, NULL));
        added++;
    }
    CHECK_EQ_INT(ek_add_task(tasks, function, bytes, most + 1, NULL),
                 EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "option payload_bytes");
    if (most > 0)
        CHECK_EQ_INT(ek_add_task(tasks, function, NULL, most, NULL),
                     EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_range(tasks, function, 0, 0),
                 most < 16 ? EK_ERR_ARG : EK_OK);
    forget();
    for (int i = 0; i < 4; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(total_in_job(), job_sum(added));
        restore(tasks, i % 2 ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL);
    }
    ek_destroy(&tasks);
}

static void payloads_of_all_sizes(void)
{
    const size_t sizes[] = {1, 8, 15, 16, 48, 49, 1000, 65504};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        run_payloads(sizes[i]);
}

static int identity_task(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    const ek_collection *tasks = context;
    int first = number_of(payload);
    (void)bytes;
    CHECK(ek_worker_here(worker) >= 0);
    CHECK(ek_worker_here(worker) < ek_rank_workers(tasks));
    if (first >= 0)
        CHECK_EQ_INT(ek_worker_id(worker), first + ek_worker_here(worker));
    return 0;
}

static void workers_are_numbered(void)
{
    int first = job_rank * job_workers;
    ek_collection *tasks = job_create(NULL);
    ek_function function = job_register(tasks, "who", identity_task, tasks);
    CHECK_EQ_INT(ek_rank_workers(tasks), job_workers);
    CHECK_EQ_INT(ek_job_workers(tasks), job_workers * job_size);
    CHECK(ek_rank_worker_data(tasks, 0) == NULL);
    CHECK(ek_rank_worker_data(tasks, -1) == NULL);
    CHECK(ek_rank_worker_data(tasks, job_workers) == NULL);
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    for (int i = 0; i < TASKS; i++)
        CHECK_OK(ek_add_task(tasks, function, &first, sizeof first, NULL));
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    ek_destroy(&tasks);
    ek_destroy(NULL);
}

/* Ids of the tasks that ran, which are those that are visited. */
static _Atomic int64_t ids_run;

static int told_task(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    (void)payload, (void)bytes, (void)context;
    atomic_fetch_add(&ids_run, (int64_t)ek_task_id(worker));
    return 0;
}

static int64_t ids_held(ek_collection *tasks)
{
    struct ids ids = {calloc((size_t)TASKS * 3, sizeof *ids.all), 0};
    int64_t sum = 0;
    CHECK_OK(ek_visit_tasks(tasks, visit_id, &ids));
    for (int64_t i = 0; i < ids.count; i++)
        sum += (int64_t)ids.all[i];
    free(ids.all);
    return job_sum(sum);
}

/* Tasks and indices, run by the library and by ek_next(). */
static void tasks_know_their_ids(void)
{
    ek_function function;
    ek_collection *tasks = make(told_task, &function);
    int64_t none = 0;
    CHECK_OK(ek_set_option(tasks, "steal", "none"));
    for (int i = 0; i < TASKS; i++)
        CHECK_OK(ek_add_task(tasks, function, &none, sizeof none, NULL));
    CHECK_OK(ek_add_range(tasks, function, 100, 100 + TASKS));
    int64_t held = ids_held(tasks);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_exchange(&ids_run, 0)), held);
    restore(tasks, EK_RESTORE_RETAIN);
    CHECK_OK(ek_add_range(tasks, function, 0, TASKS));
    held = ids_held(tasks);
    JOB_OK(ek_begin(tasks));
    ek_task task = {0};
    while (ek_next(tasks, 0, &task) == EK_OK && task.worker) {
        CHECK_EQ_INT(task.id, ek_task_id(task.worker));
        atomic_fetch_add(&ids_run, (int64_t)task.id);
    }
    JOB_OK(ek_end(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_exchange(&ids_run, 0)), held);
    ek_destroy(&tasks);
}

/* As a binding makes one: no field is named, nor the communicator of C. */
static void bindings_create_collections(void)
{
    _Alignas(void *) char room[1024];
    ek_options *options = (ek_options *)room;
    char workers[16];
    snprintf(workers, sizeof workers, "%d", job_workers);
    CHECK_OK(ek_options_init(options, sizeof room));
    CHECK_OK(ek_options_set(options, "name", "bound"));
    CHECK_OK(ek_options_set(options, "payload_bytes", "8"));
    CHECK_OK(ek_options_set(options, "workers", workers));
    ek_collection *tasks = NULL;
    JOB_OK(ek_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), options, &tasks));
    CHECK_EQ_INT(ek_rank_workers(tasks), job_workers);
    ek_function function = job_register(tasks, "one", note_task, NULL);
    double two[2] = {0};
    CHECK_EQ_INT(ek_add_task(tasks, function, two, sizeof two, NULL),
                 EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "0 ... 8");
    ek_destroy(&tasks);
    JOB_STATUS(ek_create_f(MPI_Comm_c2f(MPI_COMM_NULL), options, &tasks),
               EK_ERR_ARG);
    CHECK(tasks == NULL);
}

static void functions_are_named(void)
{
    char name[65];
    ek_collection *tasks = job_create(NULL);
    ek_function function = 77;
    memset(name, 'x', 64);
    name[64] = '\0';
    CHECK_EQ_INT(ek_register(tasks, name, note_task, NULL, &function),
                 EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "63 characters");
    CHECK_EQ_INT(ek_register(tasks, NULL, note_task, NULL, &function),
                 EK_ERR_ARG);
    CHECK_EQ_INT(ek_register(tasks, "", note_task, NULL, &function),
                 EK_ERR_ARG);
    CHECK_EQ_INT(ek_register(tasks, "a\tb", note_task, NULL, &function),
                 EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "byte 1 of the name is 0x09");
    CHECK_EQ_INT(ek_register(tasks, "a", note_task, NULL, NULL), EK_ERR_ARG);
    CHECK_EQ_INT(function, 77);
    CHECK_OK(ek_register(tasks, "a", note_task, NULL, &function));
    CHECK_EQ_INT(ek_register(tasks, "a", note_task, NULL, &function),
                 EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "'a' is registered already");
    CHECK_EQ_INT(ek_add_task(tasks, function + 1, NULL, 0, NULL), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "not registered");
    CHECK_EQ_INT(ek_add_task(tasks, -1, NULL, 0, NULL), EK_ERR_ARG);
    CHECK_EQ_INT(ek_add_range(tasks, 9, 0, 1), EK_ERR_ARG);
    JOB_OK(ek_begin(tasks));
    CHECK_EQ_INT(ek_register(tasks, "b", note_task, NULL, &function),
                 EK_ERR_STATE);
    CHECK_EQ_INT(ek_add_task(tasks, 0, NULL, 0, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_add_range(tasks, 0, 0, 1), EK_ERR_STATE);
    CHECK_EQ_INT(ek_clear(tasks), EK_ERR_STATE);
    JOB_OK(ek_end(tasks, NULL));
    ek_destroy(&tasks);
    CHECK_EQ_TEXT(ek_status_string(EK_ERR_ARG), "EK_ERR_ARG");
    snprintf(name, sizeof name, "%d.%d.%d", EK_VERSION_MAJOR, EK_VERSION_MINOR,
             EK_VERSION_PATCH);
    CHECK_EQ_TEXT(ek_version(), name);
}

static int destroy_running(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    ek_collection **tasks = context;
    ek_collection *mine = *tasks;
    (void)worker, (void)payload, (void)bytes;
    ek_destroy(&mine);
    CHECK(mine == *tasks);
    return 0;
}

/* A task warns and goes on. */
static void tasks_do_not_destroy_what_runs_them(void)
{
    ek_collection *tasks = job_create(NULL);
    ek_function function =
        job_register(tasks, "destroy", destroy_running, &tasks);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
    CHECK(tasks == NULL);
}

static void without_functions_none_is_allowed(ek_collection *tasks)
{
    CHECK_EQ_INT(ek_add_task(tasks, 0, NULL, 0, NULL), EK_ERR_ARG);
    CHECK_HAS_TEXT(ek_error_message(), "allowed: none: call ek_register");
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    JOB_RUN(visiting_shows_every_task);
    JOB_RUN(visiting_removes_tasks);
    JOB_RUN(visits_tell_what_ran_here);
    JOB_RUN(visitors_rewrite_payloads);
    JOB_RUN(setting_options);
    JOB_RUN(poll_periods_may_be_automatic);
    JOB_RUN(environment_replaces_policies);
    JOB_RUN(hinted_costs_order_tasks);
    JOB_RUN(hinted_ranks_start_tasks);
    JOB_RUN(bad_hints_are_refused);
    JOB_RUN(hints_of_older_programs_are_understood);
    JOB_RUN_TASKS(several_threads_add);
    JOB_RUN(payloads_of_all_sizes);
    JOB_RUN(workers_are_numbered);
    JOB_RUN(tasks_know_their_ids);
    JOB_RUN(bindings_create_collections);
    JOB_RUN(functions_are_named);
    JOB_RUN_TASKS(without_functions_none_is_allowed);
    JOB_RUN(tasks_do_not_destroy_what_runs_them);
    return job_result();
}
