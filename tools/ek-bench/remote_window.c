/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles in an MPI window, with passive targets. */
#include "remote.h"

#include <stdlib.h>

struct window {
    struct remote remote;
    MPI_Comm comm; /* whose errors return */
    MPI_Win window;
    double *values;
    bool is_apart;
};

static void window_move(struct remote *remote, enum remote_kind kind, int size,
                        int owner, int tile, double *values)
{
    struct window *window = (struct window *)remote;
    int length = (int)remote_sizes[size].length;
    MPI_Aint at = (MPI_Aint)remote_offset(size, tile);
    if (kind == REMOTE_GET)
        MPI_Get(values, length, MPI_DOUBLE, owner, at, length, MPI_DOUBLE,
                window->window);
    else if (kind == REMOTE_PUT)
        MPI_Put(values, length, MPI_DOUBLE, owner, at, length, MPI_DOUBLE,
                window->window);
    else
        MPI_Accumulate(values, length, MPI_DOUBLE, owner, at, length,
                       MPI_DOUBLE, MPI_SUM, window->window);
    MPI_Win_flush(owner, window->window);
}

static double *window_local(struct remote *remote, int size, int tile)
{
    struct window *window = (struct window *)remote;
    return window->values + remote_offset(size, tile);
}

static void window_meet(struct remote *remote,
                        const struct remote_meeting *meeting)
{
    struct window *window = (struct window *)remote;
    MPI_Win_sync(window->window);
    MPI_Barrier(remote->both);
    MPI_Win_sync(window->window);
    if (remote->rank == 0)
        meeting->asker(remote, meeting->argument);
    else
        bench_spin_ns(meeting->busy_ns);
    MPI_Barrier(remote->both);
    MPI_Win_sync(window->window);
}

static void release(struct window *window)
{
    if (window->is_apart)
        free(window->values);
    MPI_Comm_free(&window->comm);
    free(window);
}

static void window_close(struct remote *remote)
{
    struct window *window = (struct window *)remote;
    MPI_Win_unlock_all(window->window);
    MPI_Win_free(&window->window);
    release(window);
}

static const struct remote_ops window_ops = {window_move, window_local,
                                             window_meet, window_close};

/* Whether both ranks have it. */
static bool open_window(struct window *window)
{
    MPI_Aint bytes = (MPI_Aint)((size_t)remote_length() * sizeof(double));
    int is_good, are_good;
    if (window->is_apart) {
        window->values = calloc(1, (size_t)bytes);
        if (!window->values)
            bench_check(EK_ERR_NOMEM);
        is_good =
            MPI_Win_create(window->values, bytes, sizeof(double), MPI_INFO_NULL,
                           window->comm, &window->window) == MPI_SUCCESS;
    } else {
        is_good =
            MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, window->comm,
                             &window->values, &window->window) == MPI_SUCCESS;
    }
    MPI_Allreduce(&is_good, &are_good, 1, MPI_INT, MPI_MIN,
                  window->remote.both);
    return are_good;
}

struct remote *remote_window_open(const struct bench *bench, MPI_Comm both,
                                  bool is_apart)
{
    struct window *window = calloc(1, sizeof *window);
    if (!window)
        bench_check(EK_ERR_NOMEM);
    window->remote = (struct remote){.ops = &window_ops,
                                     .name = "MPI window",
                                     .both = both,
                                     .rank = bench->rank};
    window->is_apart = is_apart;
    MPI_Comm_dup(both, &window->comm);
    MPI_Comm_set_errhandler(window->comm, MPI_ERRORS_RETURN);
    if (!open_window(window)) {
        release(window);
        return NULL;
    }
    MPI_Win_lock_all(0, window->window);
    return &window->remote;
}
