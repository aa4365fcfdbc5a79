/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles: a matrix product whose matrices are spread over all ranks.
 *
 *     tools/mpirun -n 2 build/examples/05_tiles
 *     EVENKEEL_RANKS_PER_NODE=1 tools/mpirun -n 2 build/examples/05_tiles
 *
 * C += A B in four iterations; A is lower triangular.  A task is a tile of C:
 * it gets the tiles of A and B that it needs, the next two while it multiplies
 * two, and accumulates the sum.  A tile further down has more of them, so tasks
 * differ, and ek_restore() starts each where it ran before.
 *
 * You will see: the same norm on any number of ranks, because all entries are
 * whole numbers, and 0 for what C times a vector differs from.  In the second
 * command each rank is a node of its own: tiles come by messages, and a worker
 * finds many of those of A and B in its cache.
 */
#include "common/layout.h"

#include <evenkeel_report.h>
#include <evenkeel_tiles.h>
#include <evenkeel_worker.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITERATIONS = 4,
    ROWS = 700, /* of each matrix, and columns */
    WIDTH = 64, /* of a tile */
    LENGTH = WIDTH * WIDTH,
    CACHE_TILES = 40
};

struct product {
    struct layout layout; /* of all three */
    ek_tiles *a, *b, *c;
};

/* A tile of A and one of B that travel, or are multiplied. */
struct pair {
    double a[LENGTH], b[LENGTH];
    ek_transfer coming[2];
};

/* What a worker has. */
struct buffers {
    struct pair pairs[2];
    double c[LENGTH];
};

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static double entry_of_a(int64_t row, int64_t column)
{
    return column > row ? 0 : (double)((row + 2 * column) % 5 - 2);
}

static double entry_of_b(int64_t row, int64_t column)
{
    return (double)((3 * row + column) % 7 - 3);
}

/* Tile of block ROW and COLUMN. */
static int64_t tile_at(const struct product *product, int64_t row,
                       int64_t column)
{
    return layout_tile(&product->layout, (int64_t[]){row, column});
}

/* Let the tiles come that block K adds to the tile of C at INDEX. */
static void fetch(ek_worker *worker, const struct product *product,
                  const int64_t index[2], int64_t k, struct pair *pair)
{
    int64_t a = tile_at(product, index[0], k);
    int64_t b = tile_at(product, k, index[1]);
    check(ek_tiles_get_start(worker, product->a, a, pair->a,
                             ek_tiles_length(product->a, a), &pair->coming[0]));
    check(ek_tiles_get_start(worker, product->b, b, pair->b,
                             ek_tiles_length(product->b, b), &pair->coming[1]));
}

/* c [rows][columns] += a [rows][inner] * b [inner][columns] */
static void add_product(int64_t rows, int64_t inner, int64_t columns,
                        const double *a, const double *b, double *c)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < inner; k++) {
            double factor = a[i * inner + k];
            for (int64_t j = 0; j < columns; j++)
                c[i * columns + j] += factor * b[k * columns + j];
        }
    }
}

static int multiply(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct product *product = context;
    struct buffers *buffers = ek_worker_data(worker);
    int64_t tile = *(const int64_t *)payload;
    int64_t index[2], first[2], width[2], inner[2];
    (void)bytes;
    layout_index(&product->layout, tile, index);
    layout_bounds(&product->layout, tile, first, width);
    memset(buffers->c, 0, sizeof buffers->c);

    fetch(worker, product, index, 0, &buffers->pairs[0]);
    for (int64_t k = 0; k <= index[0]; k++) {
        struct pair *pair = &buffers->pairs[k % 2];
        check(ek_tiles_wait(worker, &pair->coming[0]));
        check(ek_tiles_wait(worker, &pair->coming[1]));
        if (k < index[0])
            fetch(worker, product, index, k + 1, &buffers->pairs[(k + 1) % 2]);
        ek_poll(worker); /* without a server thread: lets them be asked for */
        layout_bounds(&product->layout, tile_at(product, index[0], k), first,
                      inner);
        add_product(width[0], inner[1], width[1], pair->a, pair->b, buffers->c);
    }
    check(ek_tiles_accumulate(worker, product->c, tile, 1, buffers->c,
                              width[0] * width[1]));
    return 0;
}

static void *make_buffers(int here, void *context)
{
    (void)here, (void)context;
    return malloc(sizeof(struct buffers));
}

static void free_buffers(void *buffers, void *context)
{
    (void)context;
    free(buffers);
}

static ek_tiles *make_matrix(ek_collection *tasks, struct product *product,
                             const char *name)
{
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    ek_tiles *tiles;
    shape.name = name;
    shape.count = product->layout.tiles;
    shape.length_of = layout_length;
    shape.owner_of = layout_owner;
    shape.context = &product->layout;
    shape.cache_bytes = CACHE_TILES * LENGTH * sizeof(double);
    check(ek_tiles_create(tasks, &shape, &tiles));
    return tiles;
}

/* Each rank sets the tiles that it owns. */
static void set_matrix(const struct product *product, ek_tiles *tiles, int rank,
                       double (*entry)(int64_t row, int64_t column))
{
    for (int64_t tile = 0; tile < ek_tiles_count(tiles); tile++) {
        int64_t first[2], width[2], length;
        double *values;
        if (ek_tiles_owner(tiles, tile) != rank)
            continue;
        layout_bounds(&product->layout, tile, first, width);
        check(ek_tiles_local(tiles, tile, &values, &length));
        for (int64_t i = 0; i < length; i++)
            values[i] = entry(first[0] + i / width[1], first[1] + i % width[1]);
    }
    check(ek_tiles_sync(tiles));
}

static double entry_of_vector(int64_t row)
{
    return (double)(row % 7 + 1);
}

/* A tile of C times its part of the vector. */
static void add_row_sums(const int64_t first[2], const int64_t width[2],
                         const double *values, double *sums)
{
    for (int64_t i = 0; i < width[0]; i++) {
        for (int64_t j = 0; j < width[1]; j++)
            sums[first[0] + i] +=
                values[i * width[1] + j] * entry_of_vector(first[1] + j);
    }
}

/* Most that an entry of C times a vector is away from what it must be. */
static double difference(const struct product *product, int rank)
{
    double sums[ROWS] = {0}, inner[ROWS] = {0}, largest = 0;
    for (int64_t tile = 0; tile < ek_tiles_count(product->c); tile++) {
        int64_t first[2], width[2], length;
        double *values;
        if (ek_tiles_owner(product->c, tile) != rank)
            continue;
        layout_bounds(&product->layout, tile, first, width);
        check(ek_tiles_local(product->c, tile, &values, &length));
        add_row_sums(first, width, values, sums);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, ROWS, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++)
            inner[i] += entry_of_b(i, j) * entry_of_vector(j);
    }
    for (int i = 0; i < ROWS; i++) {
        double expected = 0;
        for (int j = 0; j < ROWS; j++)
            expected += ITERATIONS * entry_of_a(i, j) * inner[j];
        largest = fmax(largest, fabs(sums[i] - expected));
    }
    return largest;
}

/* Tasks start at the owners of what they write. */
static void add_tasks(ek_collection *tasks, struct product *product, int rank)
{
    ek_function function;
    check(ek_register(tasks, "multiply", multiply, product, &function));
    for (int64_t tile = 0; tile < product->layout.tiles; tile++) {
        if (ek_tiles_owner(product->c, tile) == rank)
            check(ek_add_task(tasks, function, &tile, sizeof tile, NULL));
    }
}

/* A figure of the last iteration, by its name. */
static double figure(const ek_collection *tasks, const char *name)
{
    double value;
    check(ek_report_get(tasks, name, &value));
    return value;
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    const int64_t extent[] = {ROWS, ROWS}, width[] = {WIDTH, WIDTH};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    struct product product;
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks;
    if (!layout_make(2, extent, width, size, NULL, &product.layout))
        MPI_Abort(MPI_COMM_WORLD, 1);
    ek_worker_hooks hooks = EK_WORKER_HOOKS_INIT;
    hooks.create = make_buffers;
    hooks.destroy = free_buffers;
    options.hooks = &hooks;
    check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    product.a = make_matrix(tasks, &product, "A");
    product.b = make_matrix(tasks, &product, "B");
    product.c = make_matrix(tasks, &product, "C");
    set_matrix(&product, product.a, rank, entry_of_a);
    set_matrix(&product, product.b, rank, entry_of_b);
    add_tasks(tasks, &product, rank);

    if (rank == 0)
        printf("iteration   tiles  from cache  MB sent       ms  efficiency\n");
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        check(ek_process(tasks, &report));
        if (rank == 0)
            printf("%9d %7.0f %11.0f %8.2f %8.1f %10.1f%%\n", iteration,
                   figure(tasks, "tile_gets"), figure(tasks, "tile_hits"),
                   1e-6 * figure(tasks, "tile_bytes"), 1e3 * report.wall_s,
                   100 * report.efficiency);
        check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }

    double norm, most = difference(&product, rank);
    check(ek_tiles_norm(product.c, &norm));
    if (rank == 0)
        printf("norm of C: %.6f, difference: %g\n", norm, most);

    ek_tiles_destroy(&product.a);
    ek_tiles_destroy(&product.b);
    ek_tiles_destroy(&product.c);
    ek_destroy(&tasks);
    MPI_Finalize();
    return most == 0 ? 0 : 1;
}
