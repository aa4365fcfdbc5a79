/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek_for(): a collection for each communicator and function, which ends with
 * the communicator, or when MPI_Finalize() begins.
 *
 * Owns the list of these collections, which is in the same order on all ranks
 * of a communicator.
 */
#include "collection/seeds.h"

/* The newest first. */
static ek_collection *loops;

static int run_index(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct eki_loop *loop = context;
    (void)bytes;
    return loop->fn(worker, *(const int64_t *)payload, loop->context);
}

static void end_with_comm(MPI_Comm comm)
{
    ek_collection **next = &loops;
    while (*next) {
        ek_collection *tasks = *next;
        if (tasks->loop.comm != comm) {
            next = &tasks->loop.next;
            continue;
        }
        *next = tasks->loop.next;
        ek_destroy(&tasks);
    }
}

static void end_with_mpi(void)
{
    while (loops)
        end_with_comm(loops->loop.comm);
}

/* Make the collection of COMM and FN, which has COUNT others. */
static ek_status make_loop(MPI_Comm comm, ek_for_fn *fn, int count,
                           ek_collection **made)
{
    char name[24];
    ek_options options = EK_OPTIONS_INIT;
    snprintf(name, sizeof name, "loop%d", count + 1);
    options.name = name;
    EKI_TRY(ek_create(comm, &options, made));
    (*made)->loop = (struct eki_loop){comm, fn, NULL, loops};
    loops = *made;
    eki_fabric_mpi_at_free((*made)->fabric, end_with_comm);
    eki_lookouts_at_end(end_with_mpi);
    /* Nobody could load its saves, or wants the rest of a loop. */
    EKI_TRY(ek_set_option(*made, "on_stop", "restart"));
    return ek_set_option(*made, "checkpoint", "0");
}

/* *FOUND is NULL where all ranks have failed. */
static ek_status find_loop(MPI_Comm comm, ek_for_fn *fn, ek_collection **found)
{
    int count = 0;
    for (*found = loops; *found; *found = (*found)->loop.next) {
        bool is_of_comm = (*found)->loop.comm == comm;
        if (is_of_comm && (*found)->loop.fn == fn)
            return EK_OK;
        count += is_of_comm;
    }
    return make_loop(comm, fn, count, found);
}

/* A failure of this rank alone is told to the others by the iteration. */
static ek_status run_for(ek_collection *tasks, int64_t n, void *context,
                         ek_status status, struct eki_caller caller)
{
    ek_function function;
    /* The first call, or the last one had no memory for that here. */
    if (status == EK_OK && tasks->engine->function_count == 0)
        status =
            ek_register(tasks, "index", run_index, &tasks->loop, &function);
    if (status == EK_OK)
        status = eki_collection_set_range(tasks, caller.name, 0, n);
    tasks->loop.context = context;
    do
        status = eki_collection_process(tasks, NULL, caller, status);
    /* Who asked for a stop would not hear what is left of the loop. */
    while (status == EK_OK && tasks->restores.is_asked);
    return status;
}

ek_status ek_for(MPI_Comm comm, int64_t n, ek_for_fn *fn, void *context)
{
    struct eki_caller caller = EKI_CALLER("ek_for");
    ek_collection *tasks = NULL;
    ek_status status = EK_OK;
    if (!fn)
        status = eki_error(EK_ERR_ARG, "ek_for: fn is NULL");
    else if (eki_collection_is_busy())
        status = eki_error(EK_ERR_STATE,
                           "ek_for: an iteration is open in this process; "
                           "allowed: one at a time, and none from a task");
    else if (!eki_team_is_first())
        status = eki_collection_check_region("ek_for");
    if (status == EK_OK)
        status = find_loop(comm, fn, &tasks);
    if (tasks)
        status = run_for(tasks, n, context, status, caller);
    return eki_collection_outcome(tasks, status);
}
