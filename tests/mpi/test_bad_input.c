/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad input: each is an error with the same status on every rank, in words that
 * name what is wrong and what is allowed, and nothing hangs.
 *
 *     test_bad_input RANKS WORKERS [small]
 *
 * small: ek_create() must find that shared memory is too small.
 */
#include "job.h"

#include <evenkeel_pull.h>
#include <omp.h>

/* Ranks that do what others do not. */
static bool is_other(void)
{
    return job_size > 1 && job_rank == job_size - 1;
}

/* What a call must come to where one rank of several differs. */
static ek_status if_others(ek_status status)
{
    return job_size > 1 ? status : EK_OK;
}

static void check_message(const char *part)
{
    CHECK_HAS_TEXT(ek_error_message(), part);
}

/* Creating must fail on all ranks, with this in the message. */
static void refuse(const ek_options *options, ek_status status,
                   const char *part)
{
    ek_collection *tasks = (ek_collection *)&tasks;
    JOB_STATUS(ek_create(MPI_COMM_WORLD, options, &tasks), status);
    if (status != EK_OK) {
        CHECK(tasks == NULL);
        check_message(part);
    } else {
        ek_destroy(&tasks);
    }
}

static _Atomic int ran;

static int count_task(ek_worker *worker, const void *payload, size_t bytes,
                      void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static ek_collection *make(ek_function *function)
{
    ek_collection *tasks = job_create(NULL);
    *function = job_register(tasks, "count", count_task, NULL);
    atomic_store(&ran, 0);
    return tasks;
}

static void add_tasks(ek_collection *tasks, ek_function function, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
}

static _Atomic int unknown_lines;

static void count_lines(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    if (!strstr(line, "EVENKEEL_STEEL"))
        return;
    CHECK_HAS_TEXT(line, "EVENKEEL_STEAL");
    atomic_fetch_add(&unknown_lines, 1);
}

/* The first to create a collection in this process. */
static void unknown_variables_warn_once(void)
{
    setenv("EVENKEEL_STEEL", "none", 1);
    ek_set_sink(count_lines, NULL, EK_LEVEL_WARN);
    for (int i = 0; i < 3; i++) {
        ek_collection *tasks = job_create(NULL);
        ek_destroy(&tasks);
    }
    ek_set_sink(NULL, NULL, EK_LEVEL_WARN);
    unsetenv("EVENKEEL_STEEL");
    CHECK_EQ_INT(job_most(atomic_load(&unknown_lines)), 1);
}

struct variable {
    const char *name, *value, *allowed;
};

static const struct variable bad_variables[] = {
    {"EVENKEEL_STEAL", "best", "random, near, node, none, counter"},
    {"EVENKEEL_STEAL", "none@x", "EVENKEEL_STEAL"},
    {"EVENKEEL_STEAL", "counter:0", "counter:1...1048576"},
    {"EVENKEEL_STEAL", "counter:1048577@3", "counter:1...1048576"},
    {"EVENKEEL_RESTORE", "shuffle", "original, retain"},
    {"EVENKEEL_ORDER", "", "longest, executed, reversed"},
    {"EVENKEEL_DEQUE", "Locked", "atomic, locked"},
    {"EVENKEEL_PROGRESS", "thread", "auto, polling, server"},
    {"EVENKEEL_ON_FAILURE", "ignore", "stop, continue"},
    {"EVENKEEL_BUFFER_SLOTS", "1", "2 ... 1048576"},
    {"EVENKEEL_BUFFER_SLOTS", "many", "2 ... 1048576"},
    {"EVENKEEL_SEED", "99999999999999999999", "EVENKEEL_SEED"},
    {"EVENKEEL_REPORT", "report.txt", ".tsv"},
    {"EVENKEEL_LOG", "loud", "error, warn, info, debug, trace"}};

static void bad_variables_are_refused(void)
{
    ek_options options = job_options();
    for (size_t i = 0; i < sizeof bad_variables / sizeof bad_variables[0];
         i++) {
        const struct variable *variable = &bad_variables[i];
        const char *old = getenv(variable->name);
        char kept[256] = "";
        snprintf(kept, sizeof kept, "%s", old ? old : "");
        /* First on all ranks, then on one. */
        for (int all = 1; all >= 0; all--) {
            if (all || is_other())
                setenv(variable->name, variable->value, 1);
            ek_status status = all ? EK_ERR_ARG : if_others(EK_ERR_ARG);
            refuse(&options, status, variable->name);
            if (status != EK_OK) {
                check_message(variable->value);
                check_message(variable->allowed);
            }
            if (old)
                setenv(variable->name, kept, 1);
            else
                unsetenv(variable->name);
        }
    }
}

/* A good value on one rank only. */
static void variables_differ(void)
{
    ek_options options = job_options();
    if (is_other())
        setenv("EVENKEEL_RESTORE", "original@1-", 1);
    refuse(&options, if_others(EK_ERR_ARG), "option restore");
    unsetenv("EVENKEEL_RESTORE");
    if (is_other())
        setenv("EVENKEEL_POLL_PERIOD_US", "500", 1);
    refuse(&options, EK_OK, "");
    unsetenv("EVENKEEL_POLL_PERIOD_US");
    if (job_size > 1) {
        options.ignore_environment = is_other();
        setenv("EVENKEEL_ORDER", "executed", 1);
        refuse(&options, EK_ERR_ARG, "option order");
        unsetenv("EVENKEEL_ORDER");
    }
}

/* A variable that some runs of this test set for all wins over the program. */
static bool is_set_outside(const char *field)
{
    char variable[64];
    snprintf(variable, sizeof variable, "EVENKEEL_%s", field);
    for (char *at = variable; *at; at++)
        *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
    return getenv(variable) != NULL;
}

/* Lists that differ only far behind. */
static void long_lists_differ(void)
{
    enum {
        ENTRIES = 200
    };
    ek_options options = job_options();
    char list[ENTRIES * 16] = "";
    for (int i = 0; i < ENTRIES; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s@%d",
                 i > 0 ? "," : "",
                 i == ENTRIES - 1 && is_other() ? "original" : "retain", i);
    setenv("EVENKEEL_RESTORE", list, 1);
    refuse(&options, if_others(EK_ERR_ARG),
           "option restore must be the same on all ranks: rank 0 has "
           "'retain@199'");
    if (job_size > 1) {
        check_message("'original@199'");
        check_message("entry 200");
    }
    /* One list is longer than the other. */
    if (is_other())
        *strrchr(list, ',') = '\0';
    setenv("EVENKEEL_RESTORE", list, 1);
    refuse(&options, if_others(EK_ERR_ARG), "has nothing as entry 200");
    unsetenv("EVENKEEL_RESTORE");
}

/* Names of reports that differ only in their ends. */
static void long_names_differ(void)
{
    ek_options options = job_options();
    char report[1000] = "";
    memset(report, 'r', sizeof report - 1);
    strcpy(report + sizeof report - 6, is_other() ? "2.tsv" : "1.tsv");
    options.report = report;
    if (!is_set_outside("report") && job_size > 1) {
        refuse(&options, EK_ERR_ARG, "rank 0 has '...rrr");
        check_message("rrr1.tsv'");
        check_message("rrr2.tsv'");
    }
}

static void refuse_difference(const ek_options *others, const char *field)
{
    ek_options options = job_options();
    char name[64];
    if (is_set_outside(field))
        return;
    snprintf(name, sizeof name, "option %s must be the same on all ranks",
             field);
    refuse(is_other() ? others : &options, if_others(EK_ERR_ARG), name);
    if (job_size > 1)
        check_message("rank 0 has '");
}

#define DIFFER(field, value)                \
    do {                                    \
        ek_options others = job_options();  \
        others.field = (value);             \
        refuse_difference(&others, #field); \
    } while (0)

static void options_differ(void)
{
    DIFFER(name, "another");
    DIFFER(payload_bytes, 64);
    DIFFER(restore, EK_RESTORE_ORIGINAL);
    DIFFER(steal, EK_STEAL_NEAR);
    DIFFER(progress, EK_PROGRESS_POLLING);
    DIFFER(on_failure, EK_ON_FAILURE_CONTINUE);
    DIFFER(stall_ms, 1);
    DIFFER(report, "1");
    static const char *const texts[][2] = {
        {"order", "executed"},  {"deque", "locked"}, {"buffer_slots", "64"},
        {"seed", "2"},          {"hpdc12", "k=2"},   {"data", "follow"},
        {"ranks_per_node", "1"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ek_options others = job_options();
        job_set(&others, texts[i][0], texts[i][1]);
        refuse_difference(&others, texts[i][0]);
    }
}

#undef DIFFER

static void options_may_differ(void)
{
    ek_options options = job_options();
    char *workers = getenv("EVENKEEL_WORKERS"), kept[32] = "";
    if (workers)
        snprintf(kept, sizeof kept, "%s", workers);
    unsetenv("EVENKEEL_WORKERS");
    options.workers = job_rank + 1;
    job_set_number(&options, "poll_period_us", job_rank);
    ek_collection *tasks = job_create(&options);
    ek_function function = job_register(tasks, "count", count_task, NULL);
    CHECK_EQ_INT(ek_rank_workers(tasks), job_rank + 1);
    CHECK_EQ_INT(ek_job_workers(tasks), job_size * (job_size + 1) / 2);
    atomic_store(&ran, 0);
    add_tasks(tasks, function, 100);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 100 * job_size);
    ek_destroy(&tasks);
    if (kept[0])
        setenv("EVENKEEL_WORKERS", kept, 1);
}

static void options_out_of_range(void)
{
    for (int all = 0; all < 2; all++) {
        ek_status status = all ? EK_ERR_ARG : if_others(EK_ERR_ARG);
        ek_options options = job_options();
        bool is_bad = all || is_other();
        options.workers = is_bad ? -1 : job_workers;
        refuse(&options, status, "option workers: -1 is not allowed");
        options = job_options();
        options.payload_bytes = is_bad ? 65505 : 48;
        refuse(&options, status, "0 ... 65504");
        options = job_options();
        options.steal = is_bad ? (ek_steal_policy)77 : EK_STEAL_RANDOM;
        refuse(&options, status, "random, near, node, none, counter");
        options = job_options();
        options.name = is_bad ? "two words" : "one";
        refuse(&options, status, "option name");
        options = job_options();
        options.struct_bytes = is_bad ? 0 : sizeof options;
        refuse(&options, status, "EK_OPTIONS_INIT");
    }
    CHECK_EQ_INT(ek_create(MPI_COMM_WORLD, NULL, NULL), EK_ERR_ARG);
}

static void functions_differ(void)
{
    static const char *const names[4][3] = {{"first", "second", NULL},
                                            {"first", "third", NULL},
                                            {"second", "first", NULL},
                                            {"first", "second", "third"}};
    static const char *const told[4] = {"", "function 1 is 'third'",
                                        "function 0 is 'second'",
                                        "2 functions are registered"};
    for (int i = 1; i < 4; i++) {
        ek_collection *tasks = job_create(NULL);
        ek_function function = 0;
        for (int j = 0; j < 3 && names[is_other() ? i : 0][j]; j++)
            function = job_register(tasks, names[is_other() ? i : 0][j],
                                    count_task, NULL);
        add_tasks(tasks, function, 5);
        JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
        if (job_size > 1) {
            check_message(told[i]);
            check_message("allowed: the same functions");
        }
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
        ek_destroy(&tasks);
    }
}

/* Ranks restore differently: the restore of some, the next iteration of others
 * says so. */
static void restores_differ(void)
{
    for (int i = 0; i < 2; i++) {
        ek_function function;
        ek_collection *tasks = make(&function);
        add_tasks(tasks, function, job_rank == 0 ? 50 : 1);
        JOB_OK(ek_process(tasks, NULL));
        ek_status status = ek_restore(
            tasks,
            (i == 0) == is_other() ? EK_RESTORE_RETAIN : EK_RESTORE_ORIGINAL,
            NULL);
        if (status == EK_OK)
            status = ek_process(tasks, NULL);
        JOB_STATUS(status, if_others(EK_ERR_ARG));
        if (job_size > 1) {
            check_message("ranks differ");
            check_message("ek_restore");
        }
        ek_destroy(&tasks);
    }
}

static void settings_differ(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    add_tasks(tasks, function, 20);
    CHECK_OK(ek_set_option(tasks, "steal", is_other() ? "near" : "none"));
    JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
    if (job_size > 1)
        check_message("option steal must be the same on all ranks: rank 0 has "
                      "'none'");
    ek_destroy(&tasks);
}

static void reports_differ(void)
{
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    ek_function function;
    ek_collection *tasks = make(&function);
    add_tasks(tasks, function, 20);
    JOB_STATUS(ek_process(tasks, is_other() ? &report : NULL),
               if_others(EK_ERR_ARG));
    if (job_size > 1)
        check_message("ek_process");
    ek_destroy(&tasks);
}

/* One rank pulls, the others do not. */
static void loops_differ(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    ek_status status = EK_OK;
    add_tasks(tasks, function, 20);
    if (is_other()) {
        ek_task task = {0};
        status = ek_begin(tasks);
        while (ek_next(tasks, 0, &task) == EK_OK && task.worker)
            continue;
        if (status == EK_OK)
            status = ek_end(tasks, NULL);
    } else {
        status = ek_process(tasks, NULL);
    }
    JOB_STATUS(status, if_others(EK_ERR_ARG));
    if (job_size > 1)
        check_message("ranks differ");
    ek_destroy(&tasks);
}

/* After a difference all ranks may go on: what differs is mended, no task is
 * lost. */
static void differences_are_mended(void)
{
    ek_function function, second = 0;
    ek_collection *tasks = make(&function);
    add_tasks(tasks, function, 20);
    if (is_other())
        second = job_register(tasks, "second", count_task, NULL);
    CHECK_OK(ek_set_option(tasks, "steal", is_other() ? "near" : "none"));
    JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
    if (!is_other())
        second = job_register(tasks, "second", count_task, NULL);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    CHECK_OK(ek_set_option(tasks, "steal", "random"));
    atomic_store(&ran, 0);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 20 * job_size);
    /* Another call on one rank. */
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_STATUS(ek_process(tasks, is_other() ? &report : NULL),
               if_others(EK_ERR_ARG));
    JOB_OK(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL));
    add_tasks(tasks, second, 3);
    atomic_store(&ran, 0);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 23 * job_size);
    ek_destroy(&tasks);
}

/* A seed of a function that only its sender has registered departs, and stays
 * where it went until that rank has it, too. */
static void departing_seeds_meet_differences(void)
{
    static const ek_restore_policy policies[] = {
        EK_RESTORE_RETAIN, EK_RESTORE_CENTRALIZED, EK_RESTORE_ORIGINAL};
    for (int i = 0; i < 3; i++) {
        ek_function function, second = 0;
        ek_collection *tasks = make(&function);
        ek_hint hint = EK_HINT_INIT;
        hint.rank = 0;
        if (is_other()) {
            second = job_register(tasks, "second", count_task, NULL);
            CHECK_OK(ek_add_task(tasks, second, NULL, 0, &hint));
        }
        JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
        ek_status status = ek_restore(tasks, policies[i], NULL);
        CHECK(status == EK_OK || status == EK_ERR_ARG);
        JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
        if (!is_other())
            second = job_register(tasks, "second", count_task, NULL);
        JOB_OK(ek_restore(tasks, policies[i], NULL));
        /* A rank that has the function may have run it in vain. */
        atomic_store(&ran, 0);
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(job_sum(atomic_load(&ran)), job_size > 1);
        ek_destroy(&tasks);
    }
}

/* A detector that would end too early is refused on all ranks, which may go
 * on. */
static void detectors_must_suit(void)
{
    static const struct {
        const char *steal, *termination, *why;
    } bad[] = {{"success", "francez", "never denied"},
               {"success:acyclic", "francez", "never denied"},
               {"lifeline", "francez", "never denied"},
               {"counter", "francez", "numbers are drawn"},
               {"counter", "acknowledged", "numbers are drawn"}};
    ek_function function;
    ek_collection *tasks = make(&function);
    add_tasks(tasks, function, 5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        JOB_OK(ek_set_option(tasks, "steal", bad[i].steal));
        JOB_OK(ek_set_option(tasks, "termination", bad[i].termination));
        JOB_STATUS(ek_process(tasks, NULL), EK_ERR_ARG);
        check_message(bad[i].why);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    CHECK_EQ_INT(atomic_load(&ran), 0);
    /* A task that departs may come after the vote. */
    ek_hint hint = EK_HINT_INIT;
    hint.rank = 0;
    JOB_OK(ek_set_option(tasks, "steal", "random"));
    JOB_OK(ek_set_option(tasks, "termination", "francez"));
    if (is_other())
        CHECK_OK(ek_add_task(tasks, function, NULL, 0, &hint));
    JOB_STATUS(ek_process(tasks, NULL), if_others(EK_ERR_ARG));
    if (job_size > 1)
        check_message("unasked");
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_set_option(tasks, "termination", "acknowledged"));
    atomic_store(&ran, 0);
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 5 * job_size + (job_size > 1));
    ek_destroy(&tasks);
}

/* One rank's policy is not allowed: all hear of it, at once or by the next
 * iteration, and go on. */
static void policy_is_bad_on_one_rank(void)
{
    for (int i = 0; i < 2; i++) {
        ek_restore_policy policy =
            i == 0 ? EK_RESTORE_ORIGINAL : EK_RESTORE_RETAIN;
        ek_function function;
        ek_collection *tasks = make(&function);
        add_tasks(tasks, function, 20);
        JOB_OK(ek_process(tasks, NULL));
        ek_status status =
            ek_restore(tasks, is_other() ? (ek_restore_policy)9 : policy, NULL);
        if (status == EK_OK)
            status = ek_process(tasks, NULL);
        JOB_STATUS(status, if_others(EK_ERR_ARG));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        atomic_store(&ran, 0);
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(job_sum(atomic_load(&ran)), 20 * job_size);
        ek_destroy(&tasks);
    }
}

/* Differing calls, and no restore where only one rank has tasks. */
static void mistakes_meet(void)
{
    for (int i = 0; i < 20; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        ek_function function;
        ek_collection *tasks = make(&function);
        CHECK_OK(ek_set_option(tasks, "steal", "none"));
        if (is_other())
            add_tasks(tasks, function, 3);
        JOB_OK(ek_process(tasks, NULL));
        JOB_STATUS(ek_process(tasks, is_other() ? &report : NULL),
                   if_others(EK_ERR_ARG));
        ek_destroy(&tasks);
    }
}

static void policies_are_checked(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    JOB_STATUS(ek_restore(tasks, (ek_restore_policy)9, NULL), EK_ERR_ARG);
    check_message("policy 9 is not allowed");
    check_message("default, original, retain");
    check_message("hierarchical-hpdc12, auto");
    JOB_STATUS(ek_restore(NULL, EK_RESTORE_RETAIN, NULL), EK_ERR_ARG);
    JOB_STATUS(ek_process(NULL, NULL), EK_ERR_ARG);
    JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

static void check_inside(ek_collection *tasks)
{
    ek_options options = job_options();
    ek_collection *made = NULL;
    CHECK_EQ_INT(ek_process(tasks, NULL), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "inside a parallel region");
    CHECK_EQ_INT(ek_begin(tasks), EK_ERR_STATE);
    CHECK_EQ_INT(ek_restore(tasks, EK_RESTORE_ORIGINAL, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_create(MPI_COMM_WORLD, &options, &made), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "allowed: outside");
    CHECK(made == NULL);
}

static void calls_from_parallel_regions(void)
{
    ek_function function;
    ek_collection *tasks = make(&function);
    add_tasks(tasks, function, 30);
#pragma omp parallel num_threads(2)
    check_inside(tasks);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        check_inside(tasks);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_begin(tasks));
#pragma omp parallel num_threads(2)
    CHECK_EQ_INT(ek_end(tasks, NULL), EK_ERR_STATE);
    JOB_STATUS(ek_end(tasks, NULL), EK_ERR_TASK);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 30 * job_size);
    ek_destroy(&tasks);
}

/* One rank calls from there, the others do not. */
static void one_rank_calls_from_a_parallel_region(void)
{
    ek_options options = job_options();
    ek_collection *made = NULL;
    ek_function function;
    ek_collection *tasks = make(&function);
    add_tasks(tasks, function, 30);
    ek_status status[2] = {EK_OK, EK_OK};
    if (is_other()) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) {
            status[0] = ek_process(tasks, NULL);
            status[1] = ek_create(MPI_COMM_WORLD, &options, &made);
        }
    } else {
        status[0] = ek_process(tasks, NULL);
        status[1] = ek_create(MPI_COMM_WORLD, &options, &made);
    }
    JOB_STATUS(status[0], if_others(EK_ERR_STATE));
    JOB_STATUS(status[1], if_others(EK_ERR_STATE));
    if (job_size > 1)
        check_message("inside a parallel region");
    ek_destroy(&made);
    atomic_store(&ran, 0);
    JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    JOB_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(job_sum(atomic_load(&ran)), 30 * job_size);
    ek_destroy(&tasks);
}

static bool keep(const ek_task *task, void *context)
{
    (void)task, (void)context;
    return true;
}

/* Calls of the main program from inside of a task. */
static int calling_task(ek_worker *worker, const void *payload, size_t bytes,
                        void *context)
{
    ek_collection *tasks = context;
    ek_function function;
    ek_task task = {0};
    (void)worker, (void)payload, (void)bytes;
    CHECK_EQ_INT(ek_add_task(tasks, 0, NULL, 0, NULL), EK_ERR_STATE);
    CHECK_HAS_TEXT(ek_error_message(), "ek_spawn");
    CHECK_EQ_INT(ek_add_range(tasks, 0, 0, 5), EK_ERR_STATE);
    CHECK_EQ_INT(ek_clear(tasks), EK_ERR_STATE);
    CHECK_EQ_INT(ek_set_option(tasks, "steal", "none"), EK_ERR_STATE);
    CHECK_EQ_INT(ek_visit_tasks(tasks, keep, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_register(tasks, "new", count_task, NULL, &function),
                 EK_ERR_STATE);
    CHECK_EQ_INT(ek_process(tasks, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_restore(tasks, EK_RESTORE_RETAIN, NULL), EK_ERR_STATE);
    CHECK_EQ_INT(ek_begin(tasks), EK_ERR_STATE);
    CHECK_EQ_INT(ek_next(tasks, 0, &task), EK_ERR_STATE);
    CHECK_EQ_INT(ek_end(tasks, NULL), EK_ERR_STATE);
    atomic_fetch_add(&ran, 1);
    return 0;
}

static void calls_from_tasks(ek_collection *tasks)
{
    ek_function function = job_register(tasks, "call", calling_task, tasks);
    atomic_store(&ran, 0);
    add_tasks(tasks, function, 20);
    for (int i = 1; i < 3; i++) {
        JOB_OK(ek_process(tasks, NULL));
        CHECK_EQ_INT(job_sum(atomic_load(&ran)), i * 20 * job_size);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
}

static void small_shared_memory(void)
{
    ek_options options = job_options();
    ek_collection *tasks = NULL;
    job_set_number(&options, "buffer_slots", 65536);
    ek_status expected = job_size > 1 ? EK_ERR_NOMEM : EK_OK;
    for (int i = 0; i < 3; i++)
        refuse(&options, expected, "bytes free");
    if (job_size > 1) {
        check_message("--shm-size");
        check_message("buffer_slots");
    }
    /* And what fits works: lockers leave room for it. */
    job_set_number(&options, "buffer_slots", job_size == 2 ? 4096 : 4);
    JOB_OK(ek_create(MPI_COMM_WORLD, &options, &tasks));
    if (tasks)
        JOB_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_FUNNELED);
    if (argc > 3 && strcmp(argv[3], "small") == 0) {
        JOB_RUN(small_shared_memory);
        return job_result();
    }
    JOB_RUN(unknown_variables_warn_once);
    JOB_RUN(bad_variables_are_refused);
    JOB_RUN(variables_differ);
    JOB_RUN(long_lists_differ);
    JOB_RUN(long_names_differ);
    JOB_RUN(options_differ);
    JOB_RUN(options_may_differ);
    JOB_RUN(options_out_of_range);
    JOB_RUN(functions_differ);
    JOB_RUN(restores_differ);
    JOB_RUN(settings_differ);
    JOB_RUN(reports_differ);
    JOB_RUN(loops_differ);
    JOB_RUN(differences_are_mended);
    JOB_RUN(departing_seeds_meet_differences);
    JOB_RUN(detectors_must_suit);
    JOB_RUN(policy_is_bad_on_one_rank);
    JOB_RUN(mistakes_meet);
    JOB_RUN(policies_are_checked);
    JOB_RUN(calls_from_parallel_regions);
    JOB_RUN(one_rank_calls_from_a_parallel_region);
    JOB_RUN_TASKS(calls_from_tasks);
    return job_result();
}
