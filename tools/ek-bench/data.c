/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks whose data travels: those of rank 0 run on rank 1, which has nothing
 * else, against a message of the bytes there and another one back.  A task that
 * takes time is counted without it.
 */
#include "bench.h"

#include <evenkeel_data.h>

#include <stdlib.h>
#include <string.h>

enum {
    SIZES = 3,
    WAYS = 4,
    TASKS_MOST = 100,
    BYTES_OF_ALL = 8000000,
    TASK_NS = 100000
};

static const struct {
    const char *name;
    int bytes;
    double target; /* ratio, of tasks that take time; 0: none */
} sizes[SIZES] = {
    {"10 kB", 10000, 2}, {"100 kB", 100000, 0}, {"1 MB", 1000000, 0}};

struct way {
    const char *name;
    bool is_apart;
    double task_ns;
    int bytes, count;
    unsigned char *values; /* of rank 0 */
    ek_collection *tasks;
    struct bench_row *row;
};

static size_t pack_input(const ek_task *task, void *buffer, void *context)
{
    const struct way *way = context;
    (void)task;
    memcpy(buffer, way->values, (size_t)way->bytes);
    return (size_t)way->bytes;
}

static void unpack_result(const ek_task *task, const void *buffer, size_t bytes,
                          void *context)
{
    (void)task;
    memcpy(((struct way *)context)->values, buffer, bytes);
}

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct way *way = context;
    unsigned char *values = ek_task_data(worker);
    (void)payload, (void)bytes;
    if (values)
        values[0]++;
    if (way->task_ns > 0)
        bench_spin_ns(way->task_ns);
    return 0;
}

/* All tasks lie on rank 1, where they have run once. */
static void open_way(const struct bench *bench, MPI_Comm both, struct way *way)
{
    ek_options options = bench_options(bench, 1);
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ek_hint hint = EK_HINT_INIT;
    ek_function function;
    options.steal = EK_STEAL_NONE;
    bench_set(&options, "ranks_per_node", way->is_apart ? 1 : 0);
    ops.bytes_max = (size_t)way->bytes;
    ops.pack_input = pack_input;
    ops.unpack_result = unpack_result;
    ops.context = way;
    hint.rank = 1;
    way->values = calloc((size_t)way->bytes, 1);
    bench_check(ek_create(both, &options, &way->tasks));
    bench_check(ek_register(way->tasks, "task", run_task, way, &function));
    bench_check(ek_set_data_ops(way->tasks, function, &ops));
    for (int i = 0; bench->rank == 0 && i < way->count; i++)
        bench_check(ek_add_task(way->tasks, function, &i, sizeof i, &hint));
    bench_check(ek_process(way->tasks, NULL));
}

static void close_way(struct way *way)
{
    ek_destroy(&way->tasks);
    free(way->values);
}

/* Nanoseconds of a task, but those that it spins. */
static double run_way(const struct way *way, MPI_Comm both)
{
    bench_check(ek_restore(way->tasks, EK_RESTORE_RETAIN, NULL));
    MPI_Barrier(both);
    uint64_t first = bench_ticks();
    bench_check(ek_process(way->tasks, NULL));
    return bench_ns(bench_ticks() - first) / way->count - way->task_ns;
}

static void run_size(const struct bench *bench, MPI_Comm both, int s)
{
    struct way ways[WAYS] = {
        {.name = "processes"},
        {.name = "processes, tasks of 0.1 ms", .task_ns = TASK_NS},
        {.name = "nodes", .is_apart = true},
        {.name = "nodes, tasks of 0.1 ms",
         .is_apart = true,
         .task_ns = TASK_NS}};
    for (int w = 0; w < WAYS; w++) {
        struct way *way = &ways[w];
        way->bytes = sizes[s].bytes;
        way->count = BYTES_OF_ALL / way->bytes;
        if (way->count > TASKS_MOST)
            way->count = TASKS_MOST;
        way->row = bench_row_new("data", "round trip of its bytes", "%s: %s",
                                 way->name, sizes[s].name);
        way->row->target_ratio = sizes[s].target;
        open_way(bench, both, way);
    }
    for (int i = 0; i < bench->repetitions; i++) {
        double round = bench_message_round_trip(both, sizes[s].bytes);
        for (int w = 0; w < WAYS; w++)
            bench_row_add(ways[w].row, run_way(&ways[w], both), round);
    }
    for (int w = 0; w < WAYS; w++)
        close_way(&ways[w]);
}

void bench_data(const struct bench *bench)
{
    MPI_Comm both = bench_both(bench);
    for (int s = 0; both != MPI_COMM_NULL && s < SIZES; s++)
        run_size(bench, both, s);
    if (both != MPI_COMM_NULL)
        MPI_Comm_free(&both);
    bench_barrier(MPI_COMM_WORLD);
}
