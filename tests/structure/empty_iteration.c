/* SPDX-License-Identifier: BSD-3-Clause */
/* As many iterations without a task as the argument says, of one rank and one
 * worker; see empty_iteration.sh. */
#include <evenkeel.h>

#include <stdlib.h>

static int run(ek_worker *worker, const void *payload, size_t bytes,
               void *context)
{
    (void)worker;
    (void)payload;
    (void)bytes;
    (void)context;
    return 0;
}

int main(int argc, char **argv)
{
    int left = argc > 1 ? atoi(argv[1]) : 0, provided;
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks = NULL;
    ek_function function;
    ek_status status = EK_OK;
    options.workers = 1;
    options.ignore_environment = true;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (ek_create(MPI_COMM_WORLD, &options, &tasks) == EK_OK &&
        ek_register(tasks, "run", run, NULL, &function) == EK_OK)
        for (; status == EK_OK && left > 0; left--)
            status = ek_process(tasks, NULL);
    ek_destroy(&tasks);
    MPI_Finalize();
    return left > 0;
}
