/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers where OpenMP binds its threads, or gives fewer than asked for: the
 * variables that do it are set by whoever starts the program.
 *
 * Arguments: `bound`, `limit` (OMP_THREAD_LIMIT) or `dynamic` (OMP_DYNAMIC).
 */
#define _GNU_SOURCE
#include "job.h"

#include <omp.h>
#include <sched.h>
#include <string.h>

static char heard[8192];
static int lines;

static void listen(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    size_t length = strlen(heard);
    snprintf(heard + length, sizeof heard - length, "%s\n", line);
    lines++;
}

/* CPUs of the launcher, which no OpenMP has bound. */
static int cpus_of_job(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CHECK_EQ_INT(sched_getaffinity(getppid(), sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

/* A collection of COMM with that many workers per rank (0: automatic) runs a
 * task. */
static int workers_of(MPI_Comm comm, int workers)
{
    ek_options options = EK_OPTIONS_INIT;
    options.ignore_environment = true;
    options.workers = workers;
    ek_collection *tasks = NULL;
    CHECK_OK(ek_create(comm, &options, &tasks));
    ek_function function = job_register(tasks, "nothing", job_nothing, NULL);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    CHECK_OK(ek_process(tasks, NULL));
    int made = ek_rank_workers(tasks);
    ek_destroy(&tasks);
    return made;
}

/* Each rank for itself: all CPUs are its own.  A worker for each thread, and no
 * warning. */
static void bound_threads_do_not_cost_workers(void)
{
    int cpus = cpus_of_job(), threads = omp_get_max_threads();
    CHECK_EQ_INT(workers_of(MPI_COMM_SELF, 0), cpus < threads ? cpus : threads);
    if (cpus >= threads) {
        CHECK_EQ_INT(workers_of(MPI_COMM_SELF, threads), threads);
        CHECK_EQ_TEXT(heard, "");
    }
}

static void a_thread_limit_is_named(void)
{
    workers_of(MPI_COMM_WORLD, 2);
    workers_of(MPI_COMM_WORLD, 2);
    if (job_rank != 0)
        return;
    CHECK_HAS_TEXT(
        heard, "OpenMP started 1 of 2 threads (2 workers): OMP_THREAD_LIMIT "
               "is 1");
    CHECK_EQ_INT(lines, 1);
}

/* More threads than CPUs are wanted, and OpenMP gives no more than those. */
static void a_dynamic_team_is_named(void)
{
    workers_of(MPI_COMM_WORLD, 2 * (int)sysconf(_SC_NPROCESSORS_ONLN));
    CHECK_HAS_TEXT(heard, "OMP_DYNAMIC is true");
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    const char *what = argc > 3 ? argv[3] : "";
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    if (strcmp(what, "bound") == 0)
        JOB_RUN(bound_threads_do_not_cost_workers);
    else if (strcmp(what, "limit") == 0)
        JOB_RUN(a_thread_limit_is_named);
    else if (strcmp(what, "dynamic") == 0)
        JOB_RUN(a_dynamic_team_is_named);
    else
        CHECK_EQ_TEXT(what, "bound, limit or dynamic");
    return job_result();
}
