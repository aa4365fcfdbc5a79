/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests under mpirun share: start with the expected number of ranks,
 * a collection to test, sums and comparisons over the ranks, the result.
 *
 * A program is called with RANKS WORKERS ARGUMENTS...; WORKERS are those of a
 * rank, which EVENKEEL_WORKERS says, too.
 */
#ifndef JOB_H
#define JOB_H

/* nanosleep(), setenv(): include this first */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <evenkeel_report.h>
#include <evenkeel_task.h>
#include <evenkeel_worker.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int job_rank, job_size, job_workers;

/* Run a test on all ranks; rank 0 says whether it passed on all of them. */
#define JOB_RUN(test) job_run((test), NULL, #test)
/* The same of a test that gets a collection of job_options(). */
#define JOB_RUN_TASKS(test) job_run(NULL, (test), #test)
/* A collective call must return EXPECTED on every rank. */
#define JOB_STATUS(call, expected) \
    job_status((call), (expected), #call, __FILE__, __LINE__)
#define JOB_OK(call) job_status((call), EK_OK, #call, __FILE__, __LINE__)

static inline int64_t job_sum(int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return value;
}

static inline int64_t job_most(int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    return value;
}

/* Start MPI; ends the program where the job is not what it was said to be. */
static inline void job_start(int argc, char **argv, int level)
{
    int provided = level;
    if (level == MPI_THREAD_SINGLE)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &job_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job_size);
    int ranks = argc > 1 ? atoi(argv[1]) : 0;
    job_workers = argc > 2 ? atoi(argv[2]) : 0;
    bool lacks_shim = getenv("SHIM") && !getenv("SHIM_IS_LOADED");
    if (ranks == job_size && job_workers >= 1 && provided >= level &&
        !lacks_shim)
        return;
    fprintf(stderr,
            "%s: %d ranks, %d workers, thread level %d; expected arguments "
            "RANKS WORKERS with RANKS %d, a level of at least %d%s\n",
            argv[0], ranks, job_workers, provided, job_size, level,
            lacks_shim ? ", tests/shim" : "");
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* For main() to return: 0 if every check of every rank passed. */
static inline int job_result(void)
{
    int failed = job_most(check_failed()) > 0;
    MPI_Finalize();
    return failed;
}

/* The same; 77: every check passed, but thieves that were to work on memory
 * stole by messages. */
static inline int job_result_of_memory(bool by_messages)
{
    if (by_messages && job_rank == 0)
        printf("skipped: MPI does not do here what thieves that work on memory "
               "need; they stole by messages\n");
    int failed = job_result();
    return failed == 0 && by_messages ? 77 : failed;
}

static inline bool job_status(ek_status status, ek_status expected,
                              const char *call, const char *file, int line)
{
    bool passed = status == expected;
    if (!passed)
        fprintf(stderr, "%s:%d: rank %d: %s is %s, expected %s; message: %s\n",
                file, line, job_rank, call, ek_status_string(status),
                ek_status_string(expected), ek_error_message());
    check_count(passed);
    return job_sum(!passed) == 0;
}

/* What a test starts from. */
static inline ek_options job_options(void)
{
    ek_options options = EK_OPTIONS_INIT;
    options.workers = job_workers;
    return options;
}

/* Set an option that is text only. */
static inline void job_set(ek_options *options, const char *option,
                           const char *value)
{
    CHECK_OK(ek_options_set(options, option, value));
}

static inline void job_set_number(ek_options *options, const char *option,
                                  int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    job_set(options, option, text);
}

/* A collection of these options, or of job_options(); there is no test without
 * it. */
static inline ek_collection *job_create(const ek_options *options)
{
    const ek_options usual = job_options();
    ek_collection *tasks = NULL;
    if (!JOB_OK(ek_create(MPI_COMM_WORLD, options ? options : &usual, &tasks)))
        MPI_Abort(MPI_COMM_WORLD, 3);
    return tasks;
}

/* A collection whose thieves work on memory.  Ranks without a core of their own
 * look as if they were not passive, so there are some tries; if all fail,
 * thieves steal by messages, *BY_MESSAGES becomes true, and the next call tries
 * once. */
static inline ek_collection *job_create_one_sided(const ek_options *options,
                                                  bool *by_messages)
{
    enum {
        TRIES = 5
    };
    for (int tries = 1;; tries++) {
        ek_restore_report report = EK_RESTORE_REPORT_INIT;
        ek_collection *tasks = job_create(options);
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, &report));
        bool acts = report.steal == options->steal;
        if (acts || *by_messages || tries == TRIES) {
            *by_messages |= !acts;
            return tasks;
        }
        ek_destroy(&tasks);
    }
}

static inline void job_run(void (*test)(void),
                           void (*test_tasks)(ek_collection *tasks),
                           const char *name)
{
    /* To look for the cause of one. */
    const char *only = getenv("JOB_ONLY");
    if (only && strcmp(only, name) != 0)
        return;
    int before = check_failed();
    if (test_tasks) {
        ek_collection *tasks = job_create(NULL);
        test_tasks(tasks);
        ek_destroy(&tasks);
    } else {
        test();
    }
    int64_t failed = job_sum(check_failed() != before);
    if (job_rank == 0)
        printf("%s %s\n", failed == 0 ? "ok  " : "FAIL", name);
    fflush(stdout);
}

static inline ek_function job_register(ek_collection *tasks, const char *name,
                                       ek_task_fn *fn, void *context)
{
    ek_function function = -1;
    CHECK_OK(ek_register(tasks, name, fn, context, &function));
    return function;
}

/* A task that does nothing. */
static inline int job_nothing(ek_worker *worker, const void *payload,
                              size_t bytes, void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

/* Of the last report. */
static inline double job_figure(const ek_collection *tasks, const char *name)
{
    double value = (double)NAN;
    CHECK_OK(ek_report_get(tasks, name, &value));
    return value;
}

/* A figure that is an integer. */
static inline int64_t job_count(const ek_collection *tasks, const char *name)
{
    return (int64_t)job_figure(tasks, name);
}

static inline bool job_see(const ek_task *task, void *context)
{
    *(int64_t *)context += task->count;
    return true;
}

/* How many tasks the job has between two iterations. */
static inline int64_t job_held(ek_collection *tasks)
{
    int64_t held = 0;
    CHECK_OK(ek_visit_tasks(tasks, job_see, &held));
    return job_sum(held);
}

/* A folder of this job: a name that ends in XXXXXX, as mkdtemp() wants it, and
 * then in what that made of it. */
static inline void job_make_folder(char *folder)
{
    if (job_rank == 0)
        CHECK(mkdtemp(folder) != NULL);
    MPI_Bcast(folder, (int)strlen(folder), MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline void job_remove_folder(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (job_rank == 0)
        CHECK_EQ_INT(system(command), 0);
}

/* Of this job, with what older ones of that name became. */
static inline void job_remove_file(const char *path)
{
    char older[256];
    snprintf(older, sizeof older, "%s.1", path);
    if (job_rank == 0) {
        remove(path);
        remove(older);
    }
}

/* Wait without using the core: the machine may have fewer than workers. */
static inline void job_nap(int64_t us)
{
    struct timespec rest = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&rest, NULL);
}

#endif
