/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses MPI by a session and never calls MPI_Init().
 *
 *     test_session RANKS WORKERS
 *
 * Before MPI 4 there are no sessions: skipped.
 */
#include "check.h"

#include <evenkeel_bind.h>
#include <evenkeel_plan.h>
#include <evenkeel_pull.h>

#include <stdlib.h>

#if MPI_VERSION >= 4
enum {
    TASKS = 300
};

static int said; /* that MPI refuses what MPI_Init() brings */

static void hear(ek_level level, const char *line, void *context)
{
    (void)context;
    said += level <= EK_LEVEL_WARN && strstr(line, "MPI") != NULL;
    fprintf(stderr, "%s\n", line);
}

static int count(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    (void)worker, (void)payload, (void)bytes;
    atomic_fetch_add_explicit((_Atomic int64_t *)context, 1,
                              memory_order_relaxed);
    return 0;
}

static int64_t sum(MPI_Comm comm, int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm);
    return value;
}

/* COMM is known to TASKS by its handle in C, or in Fortran. */
static void run_tasks(MPI_Comm comm, ek_collection *tasks)
{
    _Atomic int64_t ran = 0;
    ek_function function;
    ek_task task;
    int rank;
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(ek_register(tasks, "count", count, &ran, &function));
    if (rank == 0)
        CHECK_OK(ek_add_range(tasks, function, 0, TASKS));
    CHECK_OK(ek_process(tasks, NULL));
    CHECK_EQ_INT(sum(comm, ran), TASKS);
    CHECK_OK(ek_restore(tasks, EK_RESTORE_CENTRALIZED, NULL));
    CHECK_OK(ek_begin(tasks));
    int64_t fetched = 0;
    for (;; fetched++) {
        CHECK_OK(ek_next(tasks, 0, &task));
        if (!task.worker)
            break;
    }
    CHECK_OK(ek_end(tasks, NULL));
    CHECK_EQ_INT(sum(comm, fetched), TASKS);
    ek_destroy(&tasks);
}

static MPI_Comm make_comm(MPI_Session *session)
{
    MPI_Info info;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "evenkeel", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

int main(int argc, char **argv)
{
    MPI_Session session;
    int size, flag;
    ek_collection *tasks = NULL;
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    CHECK_EQ_INT(ek_create(MPI_COMM_WORLD, NULL, &tasks), EK_ERR_STATE);
    MPI_Comm comm = make_comm(&session);
    MPI_Comm_size(comm, &size);
    CHECK_EQ_INT(size, argc > 1 ? atoi(argv[1]) : 0);
    ek_set_sink(hear, NULL, EK_LEVEL_INFO);

    CHECK_OK(ek_create(comm, NULL, &tasks));
    run_tasks(comm, tasks);
    CHECK_OK(ek_create_f(MPI_Comm_c2f(comm), NULL, &tasks));
    run_tasks(comm, tasks);
    CHECK_EQ_INT(said, 0);

    /* Communicators that only MPI_Init() makes are none. */
    ek_set_sink(NULL, NULL, EK_LEVEL_NONE);
    MPI_Initialized(&flag);
    CHECK(!flag);
    CHECK_EQ_INT(ek_create(MPI_COMM_WORLD, NULL, &tasks), EK_ERR_STATE);
    CHECK_EQ_INT(ek_create(MPI_COMM_NULL, NULL, &tasks), EK_ERR_ARG);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return check_failed() != 0;
}

#else

int main(void)
{
    puts("this MPI has no sessions: skipped");
    return 77;
}
#endif
