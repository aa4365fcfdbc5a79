/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hello: a collection of tasks, run once by all workers of all ranks.
 *
 *     tools/mpirun -n 2 build/examples/01_hello
 *
 * prints a line from each of 12 tasks, in any order, with the worker that ran
 * it, and at the end "12 tasks ran".  All tasks are added by rank 0; some run
 * elsewhere, because workers without tasks steal.
 */
#include <evenkeel_report.h>

#include <stdio.h>

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static int say_hello(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const int *number = payload;
    (void)bytes, (void)context;
    printf("hello from task %d on worker %d\n", *number, ek_worker_id(worker));
    for (double end = MPI_Wtime() + 0.01; MPI_Wtime() < end;)
        ; /* work for 10 ms */
    return 0;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    ek_collection *tasks;
    ek_function hello;
    check(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    check(ek_register(tasks, "hello", say_hello, NULL, &hello));
    for (int i = 0; i < 12 && rank == 0; i++)
        check(ek_add_task(tasks, hello, &i, sizeof i, NULL));

    ek_process_report report = EK_PROCESS_REPORT_INIT;
    check(ek_process(tasks, &report));
    if (rank == 0)
        printf("%lld tasks ran\n", (long long)report.tasks);

    ek_destroy(&tasks);
    MPI_Finalize();
    return 0;
}
