/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collections leave when they are destroyed: no communicator, window or
 * persistent request, and no file in /dev/shm.
 *
 *     test_leaves RANKS WORKERS TIMES
 */
#include "job.h"

#include <dirent.h>

/* The library's calls of this process; visible to it. */
static int comms, windows, requests;
static int dups; /* all that were duplicated so far */

#define SEEN __attribute__((visibility("default")))

SEEN int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    comms++;
    dups++;
    return PMPI_Comm_dup(comm, made);
}

SEEN int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    int code = PMPI_Comm_split(comm, color, key, made);
    comms += *made != MPI_COMM_NULL;
    return code;
}

SEEN int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                             MPI_Comm *made)
{
    int code = PMPI_Comm_split_type(comm, type, key, info, made);
    comms += *made != MPI_COMM_NULL;
    return code;
}

SEEN int MPI_Comm_free(MPI_Comm *comm)
{
    comms--;
    return PMPI_Comm_free(comm);
}

SEEN int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info,
                                 MPI_Comm comm, void *memory, MPI_Win *made)
{
    windows++;
    return PMPI_Win_allocate_shared(bytes, unit, info, comm, memory, made);
}

SEEN int MPI_Win_free(MPI_Win *window)
{
    windows--;
    return PMPI_Win_free(window);
}

SEEN int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int from,
                       int tag, MPI_Comm comm, MPI_Request *request)
{
    requests++;
    return PMPI_Recv_init(buffer, count, type, from, tag, comm, request);
}

SEEN int MPI_Request_free(MPI_Request *request)
{
    requests--;
    return PMPI_Request_free(request);
}

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir("/dev/shm");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void run_once(void)
{
    ek_collection *tasks = job_create(NULL);
    ek_function function = job_register(tasks, "nothing", job_nothing, NULL);
    CHECK_OK(ek_add_task(tasks, function, NULL, 0, NULL));
    CHECK_OK(ek_process(tasks, NULL));
    ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    job_start(argc, argv, MPI_THREAD_SERIALIZED);
    int times = argc > 3 ? atoi(argv[3]) : 1000;
    run_once();
    int files = count_files();
    for (int i = 0; i < times; i++)
        run_once();
    CHECK(dups >= times);
    CHECK_EQ_INT(comms, 0);
    CHECK_EQ_INT(windows, 0);
    CHECK_EQ_INT(requests, 0);
    /* Others may make some, or remove theirs, meanwhile. */
    CHECK(count_files() < files + times / 10 + 10);
    return job_result();
}
