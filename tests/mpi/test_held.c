/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Durations of tasks that had no core for a while, as the system says, or does
 * not say.  Here this program is the system: it tells how long a thread was
 * ready, so that nothing depends on what else runs.
 */
#define _GNU_SOURCE
#include "job.h"

#include <dlfcn.h>
#include <evenkeel_data.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* What the system says, to the one thread of a rank. */
static bool tells;
static uint64_t ready_ns;
static long switches;

/* The library, too, calls these functions instead of those of the system. */
#define INSTEAD __attribute__((visibility("default")))

INSTEAD FILE *fopen(const char *name, const char *mode)
{
    static FILE *(*next)(const char *, const char *);
    static char text[64];
    if (strstr(name, "schedstat")) {
        snprintf(text, sizeof text, "1 %llu 1\n", (unsigned long long)ready_ns);
        return tells ? fmemopen(text, strlen(text), "r") : NULL;
    }
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fopen64");
    return next(name, mode);
}

INSTEAD int getrusage(__rusage_who_t who, struct rusage *usage)
{
    int status = (int)syscall(SYS_getrusage, who, usage);
    usage->ru_nivcsw += switches;
    return status;
}

enum {
    LONG_US = 20000,
    TASK_US = 5000
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int nap(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    (void)worker, (void)payload, (void)bytes;
    job_nap(*(const int *)context);
    return 0;
}

/* A task that is ready all of its time, and has no core. */
static int wait_for_core(ek_worker *worker, const void *payload, size_t bytes,
                         void *context)
{
    double began_s = now_s();
    (void)worker, (void)payload, (void)bytes, (void)context;
    job_nap(TASK_US);
    ready_ns += (uint64_t)(1e9 * (now_s() - began_s));
    switches++;
    return 0;
}

struct durations {
    int64_t tasks;
    double sum_s;
};

static bool add_duration(const ek_task *task, void *context)
{
    struct durations *all = context;
    all->tasks++;
    all->sum_s += task->duration_s;
    return true;
}

static size_t pack_input(const ek_task *task, void *buffer, void *context)
{
    (void)task, (void)context;
    memset(buffer, 0, 1);
    return 1;
}

/* The input waits for its home's long task.  That is no time of the task, which
 * is held up when it runs. */
static void a_task_that_waited_for_data_is_held_up(void)
{
    static int long_us = LONG_US;
    ek_options options = EK_OPTIONS_INIT;
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ek_hint hint = EK_HINT_INIT;
    ek_collection *tasks;
    ek_function home, away;
    struct durations all = {0, 0};
    tells = true;
    options.steal = EK_STEAL_NONE;
    JOB_OK(ek_create(MPI_COMM_WORLD, &options, &tasks));
    ek_register(tasks, "home", nap, &long_us, &home);
    ek_register(tasks, "away", wait_for_core, NULL, &away);
    ops.bytes_max = 1;
    ops.pack_input = pack_input;
    CHECK_OK(ek_set_data_ops(tasks, away, &ops));
    hint.rank = 1;
    if (job_rank == 0) {
        ek_add_task(tasks, home, NULL, 0, NULL);
        ek_add_task(tasks, away, NULL, 0, &hint);
    }
    /* The first iteration brings the task away from its home. */
    for (int iteration = 0; iteration < 2; iteration++) {
        JOB_OK(ek_process(tasks, NULL));
        JOB_OK(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    if (job_rank == 1) {
        ek_visit_tasks(tasks, add_duration, &all);
        CHECK_EQ_INT(all.tasks, 1);
    }
    CHECK(all.sum_s < 0.5e-6 * TASK_US);
    ek_destroy(&tasks);
}

/* A thread that gets no processor time because it sleeps waits for no core. */
static void sleep_is_no_waiting_where_nobody_tells(void)
{
    static int task_us = TASK_US;
    enum {
        TASKS = 4
    };
    ek_collection *tasks;
    ek_function function;
    struct durations all = {0, 0};
    tells = false;
    JOB_OK(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    ek_register(tasks, "nap", nap, &task_us, &function);
    for (int i = 0; i < TASKS; i++)
        ek_add_task(tasks, function, NULL, 0, NULL);
    JOB_OK(ek_process(tasks, NULL));
    ek_visit_tasks(tasks, add_duration, &all);
    MPI_Allreduce(MPI_IN_PLACE, &all.sum_s, 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK(all.sum_s > 0.9e-6 * TASK_US * TASKS * job_size);
    ek_destroy(&tasks);
}

/* Bind the process to one CPU, the same on all ranks, so that they share it. */
static void share_a_cpu(void)
{
    cpu_set_t all, one;
    int first = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
    share_a_cpu();
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    JOB_RUN(a_task_that_waited_for_data_is_held_up);
    JOB_RUN(sleep_is_no_waiting_where_nobody_tells);
    return job_result();
}
