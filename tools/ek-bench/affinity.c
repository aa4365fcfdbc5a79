/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it brings to seed a task at the owner of the tile that it writes, and to
 * steal near: a product of matrices whose tasks get two tiles and accumulate
 * into a third, on two nodes of several ranks.
 *
 * Tasks sleep instead of computing, so that ranks may be more than cores, and a
 * server thread lets messages through.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "common/layout.h"

#include <evenkeel_tiles.h>

#include <stdlib.h>
#include <time.h>

enum {
    BLOCKS = 8, /* of each matrix and dimension: 512 tasks */
    WIDTH = 40, /* a tile of 12.8 kB */
    LENGTH = WIDTH * WIDTH,
    NODES = 2,
    CACHE_TILES = 8,
    ITERATIONS = 3,
    ROUNDS_MAX = 5,
    LEAST_US = 250, /* of a task; the mean is 1 ms */
    MORE_US = 1500
};

/* Where tasks start, and whom workers steal from; the first is the base. */
static const struct way {
    const char *start;
    bool at_owner;
    const char *steal;
} ways[] = {{"in blocks", false, "random"},
            {"in blocks", false, "near"},
            {"at owners", true, "random"},
            {"at owners", true, "near"}};

enum {
    WAYS = sizeof ways / sizeof *ways
};

/* Of the first iteration, and of one of the later ones. */
enum {
    FIRST,
    LATER,
    SPANS
};

enum metric {
    METRIC_TIME,
    METRIC_BYTES,  /* of tiles, between nodes */
    METRIC_WAIT,   /* for tiles, of all workers */
    METRIC_STOLEN, /* tasks */
    METRICS
};

static const char *const span_names[SPANS] = {"first", "later"};
static const char *const metric_names[METRICS] = {"time", "moved", "waits",
                                                  "stolen"};
static const char *const units[METRICS] = {"ms", "MB", "ms", ""};

/* Of one way in one round. */
struct figures {
    double value[SPANS][METRICS];
};

struct product {
    struct layout layout;
    ek_tiles *a, *b, *c;
};

/* Blocks of a task. */
struct place {
    int64_t row, column, inner;
};

static struct place place_of(int64_t task)
{
    return (struct place){task / (BLOCKS * BLOCKS), task / BLOCKS % BLOCKS,
                          task % BLOCKS};
}

static int64_t tile_at(const struct product *product, int64_t row,
                       int64_t column)
{
    return layout_tile(&product->layout, (int64_t[]){row, column});
}

static int64_t written_by(const struct product *product, int64_t task)
{
    struct place place = place_of(task);
    return tile_at(product, place.row, place.column);
}

/* The same in each iteration and way. */
static int64_t duration_us(int64_t task)
{
    uint64_t hash = ((uint64_t)task + 1) * 0x9e3779b97f4a7c15u;
    return LEAST_US + (int64_t)((hash >> 40) % MORE_US);
}

static int run_task(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct product *product = context;
    int64_t task = *(const int64_t *)payload;
    struct place place = place_of(task);
    double a[LENGTH], b[LENGTH];
    ek_transfer first, second;
    struct timespec time = {0, (long)duration_us(task) * 1000};
    (void)bytes;
    bench_check(ek_tiles_get_start(worker, product->a,
                                   tile_at(product, place.row, place.inner), a,
                                   LENGTH, &first));
    bench_check(ek_tiles_get_start(worker, product->b,
                                   tile_at(product, place.inner, place.column),
                                   b, LENGTH, &second));
    bench_check(ek_tiles_wait(worker, &first));
    bench_check(ek_tiles_wait(worker, &second));
    nanosleep(&time, NULL);
    bench_check(ek_tiles_accumulate(worker, product->c,
                                    written_by(product, task), 1, a, LENGTH));
    return 0;
}

static ek_tiles *make_matrix(ek_collection *tasks, struct product *product)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_tiles *tiles;
    shape.count = product->layout.tiles;
    shape.length = LENGTH;
    shape.owner_of = layout_owner;
    shape.context = &product->layout;
    shape.cache_bytes = CACHE_TILES * LENGTH * sizeof(double);
    bench_check(ek_tiles_create(tasks, &shape, &tiles));
    return tiles;
}

/* Each rank adds an equal part of all tasks; hints send them further. */
static void add_tasks(const struct bench *bench, const struct way *way,
                      struct product *product, ek_collection *tasks)
{
    const int64_t count = BLOCKS * BLOCKS * BLOCKS;
    ek_function function;
    bench_check(ek_register(tasks, "task", run_task, product, &function));
    for (int64_t task = count * bench->rank / bench->size;
         task < count * (bench->rank + 1) / bench->size; task++) {
        ek_hint hint = EK_HINT_INIT;
        if (way->at_owner)
            hint.rank = ek_tiles_owner(product->c, written_by(product, task));
        bench_check(ek_add_task(tasks, function, &task, sizeof task, &hint));
    }
}

static void take(struct figures *figures, int iteration,
                 const ek_collection *tasks)
{
    static const struct {
        const char *name;
        double scale;
    } taken[] = {[METRIC_TIME] = {"wall_s", 1e3},
                 [METRIC_BYTES] = {"tile_bytes", 1e-6},
                 [METRIC_WAIT] = {"tile_wait_s", 1e3},
                 [METRIC_STOLEN] = {"stolen", 1}};
    double *value = figures->value[iteration == 0 ? FIRST : LATER];
    double part = iteration == 0 ? 1 : 1.0 / (ITERATIONS - 1);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        double figure;
        bench_check(ek_report_get(tasks, taken[i].name, &figure));
        value[i] += taken[i].scale * figure * part;
    }
}

static void run_way(const struct bench *bench, const struct way *way,
                    struct figures *figures)
{
    const int64_t extent[] = {BLOCKS * WIDTH, BLOCKS * WIDTH};
    const int64_t width[] = {WIDTH, WIDTH};
    struct product product;
    ek_options options = bench_options(bench, 1);
    ek_collection *tasks;
    bench_set(&options, "ranks_per_node", (bench->size + NODES - 1) / NODES);
    options.progress = EK_PROGRESS_SERVER;
    bench_check(ek_options_set(&options, "steal", way->steal));
    bench_check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    if (!layout_make(2, extent, width, bench->size, NULL, &product.layout))
        bench_check(EK_ERR_ARG);
    product.a = make_matrix(tasks, &product);
    product.b = make_matrix(tasks, &product);
    product.c = make_matrix(tasks, &product);
    add_tasks(bench, way, &product, tasks);
    for (int i = 0; i < ITERATIONS; i++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        bench_check(ek_process(tasks, &report));
        take(figures, i, tasks);
        bench_check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
    ek_tiles_destroy(&product.a);
    ek_tiles_destroy(&product.b);
    ek_tiles_destroy(&product.c);
    ek_destroy(&tasks);
}

static void run_round(const struct bench *bench,
                      struct bench_row *rows[WAYS][SPANS][METRICS])
{
    struct figures figures[WAYS] = {0};
    for (int w = 0; w < WAYS; w++)
        run_way(bench, &ways[w], &figures[w]);
    for (int w = 0; w < WAYS; w++) {
        for (int s = 0; s < SPANS; s++) {
            for (int m = 0; m < METRICS; m++)
                bench_row_add(rows[w][s][m], figures[w].value[s][m],
                              figures[0].value[s][m]);
        }
    }
}

void bench_affinity(const struct bench *bench)
{
    static struct bench_row *rows[WAYS][SPANS][METRICS];
    int rounds =
        bench->repetitions < ROUNDS_MAX ? bench->repetitions : ROUNDS_MAX;
    for (int i = 0; i < WAYS * SPANS * METRICS; i++) {
        int w = i % WAYS, m = i / WAYS % METRICS, s = i / (WAYS * METRICS);
        rows[w][s][m] =
            bench_row_new("affinity", "in blocks, random", "%s, %s: %s %s%s%s",
                          ways[w].start, ways[w].steal, span_names[s],
                          metric_names[m], units[m][0] ? ", " : "", units[m]);
        rows[w][s][m]->unit = units[m];
    }
    for (int round = 0; round < rounds; round++)
        run_round(bench, rows);
}
