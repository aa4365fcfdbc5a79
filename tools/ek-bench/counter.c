/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop over a shared counter on two ranks: tasks of a fixed length drawn by
 * the library, as seeds and as indices of a range, against MPI_Fetch_and_op()
 * on a window of rank 0, one number at a time and 16.  Each rank adds half of
 * them.
 */
#include "bench.h"

enum {
    LENGTHS = 2,
    WAYS = 4,
    CHUNKS = 2,
    TASKS_LESS = 10 /* than in other cases: they take their time */
};

static const int lengths_us[LENGTHS] = {10, 100};
static const int64_t chunks[CHUNKS] = {1, 16};
static const char *const policies[CHUNKS] = {"counter", "counter:16"};

struct loop {
    MPI_Comm comm;
    int rank;
    int64_t n;
    double task_ns;
    struct bench_window window;
};

/* The library's ways. */
struct way {
    const char *name;
    bool is_range, is_apart;
    ek_collection *tasks;
    ek_function function;
    struct bench_row *rows[LENGTHS][CHUNKS];
};

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct loop *loop = context;
    (void)worker, (void)payload, (void)bytes;
    bench_spin_ns(loop->task_ns);
    return 0;
}

/* Nanoseconds per task from FIRST until the last rank's end, with which both
 * ranks were busy. */
static double per_task(const struct loop *loop, uint64_t first)
{
    double ns = bench_ns(bench_ticks() - first), longest;
    MPI_Allreduce(&ns, &longest, 1, MPI_DOUBLE, MPI_MAX, loop->comm);
    return 2 * longest / (double)loop->n;
}

static double run_window(const struct loop *loop, int64_t chunk)
{
    int64_t number;
    bench_window_reset(&loop->window);
    MPI_Barrier(loop->comm);
    uint64_t first = bench_ticks();
    while ((number = bench_window_draw(&loop->window, chunk)) < loop->n) {
        int64_t rest = loop->n - number;
        for (int64_t i = 0; i < chunk && i < rest; i++)
            bench_spin_ns(loop->task_ns);
    }
    return per_task(loop, first);
}

static double run_way(const struct loop *loop, const struct way *way)
{
    int64_t half = loop->n / 2, begin = loop->rank == 0 ? 0 : half;
    int64_t end = loop->rank == 0 ? half : loop->n;
    if (way->is_range)
        bench_check(ek_add_range(way->tasks, way->function, begin, end));
    for (int64_t i = begin; !way->is_range && i < end; i++)
        bench_check(ek_add_task(way->tasks, way->function, &i, sizeof i, NULL));
    MPI_Barrier(loop->comm);
    uint64_t first = bench_ticks();
    bench_check(ek_process(way->tasks, NULL));
    double ns = per_task(loop, first);
    bench_check(ek_clear(way->tasks));
    return ns;
}

static void open_way(const struct bench *bench, struct loop *loop,
                     struct way *way)
{
    ek_options options = bench_options(bench, 1);
    bench_set(&options, "ranks_per_node", way->is_apart ? 1 : 0);
    bench_check(ek_create(loop->comm, &options, &way->tasks));
    bench_check(
        ek_register(way->tasks, "task", run_task, loop, &way->function));
    for (int c = 0; c < CHUNKS; c++)
        for (int l = 0; l < LENGTHS; l++)
            way->rows[l][c] = bench_row_new(
                "counter", "MPI_Fetch_and_op()", "%s of %d us%s", way->name,
                lengths_us[l], c == 0 ? "" : ", 16 at a time");
}

/* All ways with tasks of LENGTHS_US[L], by chunks [C]. */
static void run_turn(struct loop *loop, struct way *ways, int l, int c)
{
    loop->task_ns = lengths_us[l] * 1e3;
    double baseline = run_window(loop, chunks[c]);
    for (int w = 0; w < WAYS; w++) {
        bench_check(ek_set_option(ways[w].tasks, "steal", policies[c]));
        bench_row_add(ways[w].rows[l][c], run_way(loop, &ways[w]), baseline);
    }
}

static void run_loops(const struct bench *bench, MPI_Comm both)
{
    struct way ways[WAYS] = {
        {.name = "processes: seeds"},
        {.name = "processes: a range", .is_range = true},
        {.name = "nodes: seeds", .is_apart = true},
        {.name = "nodes: a range", .is_range = true, .is_apart = true}};
    struct loop loop = {
        .comm = both, .rank = bench->rank, .n = bench->tasks / TASKS_LESS};
    bench_window_open(both, &loop.window);
    for (int w = 0; w < WAYS; w++)
        open_way(bench, &loop, &ways[w]);
    for (int i = 0; i < bench->repetitions * LENGTHS * CHUNKS; i++)
        run_turn(&loop, ways, i % LENGTHS, i / LENGTHS % CHUNKS);
    for (int w = 0; w < WAYS; w++)
        ek_destroy(&ways[w].tasks);
    bench_window_close(&loop.window);
}

void bench_counter(const struct bench *bench)
{
    MPI_Comm both = bench_both(bench);
    if (both != MPI_COMM_NULL) {
        run_loops(bench, both);
        MPI_Comm_free(&both);
    }
    bench_barrier(MPI_COMM_WORLD);
}
