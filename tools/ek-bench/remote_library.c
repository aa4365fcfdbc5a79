/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of a store of the library. */
#include "remote.h"

#include <evenkeel_tiles.h>

#include <stdlib.h>

struct library {
    struct remote remote;
    struct remote_library how;
    ek_collection *tasks;
    ek_function ask, compute;
    ek_tiles *stores[REMOTE_SIZES];
    const struct remote_meeting *meeting;
    ek_worker *worker; /* that asks */
};

static int run_ask(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    struct library *library = context;
    (void)payload, (void)bytes;
    library->worker = worker;
    library->meeting->asker(&library->remote, library->meeting->argument);
    return 0;
}

static int run_compute(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    const struct library *library = context;
    uint64_t first = bench_ticks(), polled = first, now;
    (void)payload, (void)bytes;
    while (now = bench_ticks(),
           bench_ns(now - first) < library->meeting->busy_ns) {
        if (library->how.poll_ns > 0 &&
            bench_ns(now - polled) >= library->how.poll_ns) {
            ek_poll(worker);
            polled = bench_ticks();
        }
        bench_pause();
    }
    return 0;
}

static void library_move(struct remote *remote, enum remote_kind kind, int size,
                         int owner, int tile, double *values)
{
    struct library *library = (struct library *)remote;
    int64_t number = (int64_t)tile * REMOTE_OWNERS + owner;
    int64_t length = remote_sizes[size].length;
    ek_worker *worker = library->worker;
    ek_tiles *tiles = library->stores[size];
    if (kind == REMOTE_GET)
        bench_check(ek_tiles_get(worker, tiles, number, values, length));
    else if (kind == REMOTE_PUT)
        bench_check(ek_tiles_put(worker, tiles, number, values, length));
    else
        bench_check(
            ek_tiles_accumulate(worker, tiles, number, 1, values, length));
}

static double *library_local(struct remote *remote, int size, int tile)
{
    struct library *library = (struct library *)remote;
    double *values;
    int64_t length;
    bench_check(ek_tiles_local(library->stores[size],
                               (int64_t)tile * REMOTE_OWNERS + remote->rank,
                               &values, &length));
    return values;
}

static void library_meet(struct remote *remote,
                         const struct remote_meeting *meeting)
{
    struct library *library = (struct library *)remote;
    ek_function function = remote->rank == 0 ? library->ask : library->compute;
    library->meeting = meeting;
    for (int s = 0; s < REMOTE_SIZES; s++)
        bench_check(ek_tiles_sync(library->stores[s]));
    if (remote->rank == 0 || meeting->busy_ns > 0)
        bench_check(ek_add_task(library->tasks, function, NULL, 0, NULL));
    MPI_Barrier(remote->both);
    bench_check(ek_process(library->tasks, NULL));
    bench_check(ek_clear(library->tasks));
}

static void library_close(struct remote *remote)
{
    struct library *library = (struct library *)remote;
    for (int s = 0; s < REMOTE_SIZES; s++)
        ek_tiles_destroy(&library->stores[s]);
    ek_destroy(&library->tasks);
    free(library);
}

static const struct remote_ops library_ops = {library_move, library_local,
                                              library_meet, library_close};

static void open_stores(struct library *library)
{
    for (int s = 0; s < REMOTE_SIZES; s++) {
        ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
        shape.count = (int64_t)remote_sizes[s].count * REMOTE_OWNERS;
        shape.length = remote_sizes[s].length;
        bench_check(
            ek_tiles_create(library->tasks, &shape, &library->stores[s]));
    }
}

struct remote *remote_library_open(const struct bench *bench, MPI_Comm both,
                                   const struct remote_library *how)
{
    struct library *library = calloc(1, sizeof *library);
    ek_options options = bench_options(bench, 1);
    if (!library)
        bench_check(EK_ERR_NOMEM);
    library->remote = (struct remote){.ops = &library_ops,
                                      .name = how->name,
                                      .both = both,
                                      .rank = bench->rank,
                                      .target = how->target};
    library->how = *how;
    options.steal = EK_STEAL_NONE;
    bench_set(&options, "ranks_per_node", how->is_apart ? 1 : 0);
    options.progress = how->progress;
    bench_check(ek_create(both, &options, &library->tasks));
    bench_check(
        ek_register(library->tasks, "ask", run_ask, library, &library->ask));
    bench_check(ek_register(library->tasks, "compute", run_compute, library,
                            &library->compute));
    open_stores(library);
    return &library->remote;
}
