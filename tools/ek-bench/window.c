/* SPDX-License-Identifier: BSD-3-Clause */
/* What users draw numbers from without a library: a counter in a window of
 * rank 0. */
#include "bench.h"

void bench_window_open(MPI_Comm comm, struct bench_window *window)
{
    int64_t *value;
    MPI_Comm_rank(comm, &window->rank);
    MPI_Win_allocate(window->rank == 0 ? sizeof *value : 0, sizeof *value,
                     MPI_INFO_NULL, comm, &value, &window->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window->window);
}

void bench_window_close(struct bench_window *window)
{
    MPI_Win_unlock_all(window->window);
    MPI_Win_free(&window->window);
}

void bench_window_reset(const struct bench_window *window)
{
    int64_t zero = 0, old;
    if (window->rank != 0)
        return;
    MPI_Fetch_and_op(&zero, &old, MPI_INT64_T, 0, 0, MPI_REPLACE,
                     window->window);
    MPI_Win_flush(0, window->window);
}

int64_t bench_window_draw(const struct bench_window *window, int64_t chunk)
{
    int64_t number;
    MPI_Fetch_and_op(&chunk, &number, MPI_INT64_T, 0, 0, MPI_SUM,
                     window->window);
    MPI_Win_flush(0, window->window);
    return number;
}
