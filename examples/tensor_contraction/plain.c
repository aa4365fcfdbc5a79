/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "plain.h"
#include "kernel.h"
#include "operands.h"

#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Rows of the largest matrix product: three matrices take 1.5 GiB. */
#define ROWS_MAX 8192

/* Tiles in the memory of this rank. */
struct tiles {
    double *values;
    int64_t *first; /* entry of each tile, and their number */
};

struct loop {
    struct contraction contraction; /* with a task for each tile of C */
    struct kernel kernel;
    struct tiles a, b, c;
    int64_t first, last; /* tiles of C of this rank */
};

/* Tiles FIRST ... LAST - 1. */
static void tiles_make(const struct tensor *tensor, int64_t first, int64_t last,
                       struct tiles *tiles)
{
    tiles->first = allocate((size_t)(last - first + 1), sizeof(int64_t));
    for (int64_t t = first; t < last; t++)
        tiles->first[t - first + 1] =
            tiles->first[t - first] + tensor_length(t, (void *)tensor);
    tiles->values =
        allocate((size_t)tiles->first[last - first], sizeof(double));
}

static void tiles_free(struct tiles *tiles)
{
    free(tiles->values);
    free(tiles->first);
}

static void fill(enum seed seed, const struct tensor *tensor,
                 struct tiles *tiles)
{
    tiles_make(tensor, 0, tensor->tiles, tiles);
    for (int64_t t = 0; t < tensor->tiles; t++)
        operands_values(seed, tensor, t, tiles->values + tiles->first[t]);
}

/* Where part PART of PARTS of so many begins. */
static int64_t part_of(int64_t count, int part, int parts)
{
    return count / parts * part + (part < count % parts ? part : count % parts);
}

static void loop_make(const struct contraction *contraction, struct loop *loop)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    loop->contraction = *contraction;
    loop->contraction.task = TASK_TILE;
    kernel_make(&loop->contraction, &loop->kernel);
    loop->first = part_of(contraction->c.tiles, rank, size);
    loop->last = part_of(contraction->c.tiles, rank + 1, size);
    fill(SEED_A, &contraction->a, &loop->a);
    fill(SEED_B, &contraction->b, &loop->b);
    tiles_make(&contraction->c, loop->first, loop->last, &loop->c);
}

static void loop_free(struct loop *loop)
{
    tiles_free(&loop->a);
    tiles_free(&loop->b);
    tiles_free(&loop->c);
}

static void compute_tile(const struct loop *loop, int64_t tile,
                         struct kernel_room *room)
{
    struct products products;
    const int64_t *first = &loop->c.first[tile - loop->first];
    double *c = loop->c.values + first[0];
    int64_t task = contraction_first_task(&loop->contraction, tile);
    if (contraction_is_null(&loop->contraction, task))
        return;
    products_begin(&loop->contraction, task, &products);
    for (bool is_first = true; products_next(&products); is_first = false) {
        const struct product *product = &products.product;
        kernel_multiply(&loop->kernel, product,
                        loop->a.values + loop->a.first[product->a],
                        loop->b.values + loop->b.first[product->b], is_first,
                        room, NULL, NULL);
    }
    const double *sum = kernel_result(&loop->kernel, &products.product, room);
    for (int64_t i = 0; i < first[1] - first[0]; i++)
        c[i] += sum[i];
}

/* The part of a thread. */
static void compute_part(const struct loop *loop, int thread, int threads)
{
    int64_t tiles = loop->last - loop->first;
    int64_t last = loop->first + part_of(tiles, thread + 1, threads);
    struct kernel_room room;
    kernel_room_make(&loop->kernel, &room);
    for (int64_t t = loop->first + part_of(tiles, thread, threads); t < last;
         t++)
        compute_tile(loop, t, &room);
    kernel_room_free(&room);
}

static double norm_of(const struct tiles *tiles, int64_t count)
{
    double sum = 0;
    for (int64_t t = 0; t < count; t++) {
        double part = 0; /* rounds less than one long sum */
        for (int64_t i = tiles->first[t]; i < tiles->first[t + 1]; i++)
            part += tiles->values[i] * tiles->values[i];
        sum += part;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(sum);
}

double plain_bytes(const struct contraction *contraction)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double loop = contraction->a.entries + contraction->b.entries +
                  contraction->c.entries / size;
    return sizeof(double) * fmax(loop, 3.0 * ROWS_MAX * ROWS_MAX);
}

void plain_loop(const struct contraction *contraction, int threads,
                double *seconds, double *norm)
{
    struct loop loop;
    loop_make(contraction, &loop);
    /* Pages of C come before the clock starts, as those of a store do. */
    memset(loop.c.values, 0,
           (size_t)loop.c.first[loop.last - loop.first] * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++)
        compute_part(&loop, t, threads);
    *seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    *norm = norm_of(&loop.c, loop.last - loop.first);
    loop_free(&loop);
}

static double time_product(int rows, int threads)
{
    size_t entries = (size_t)rows * (size_t)rows;
    double *a = allocate(entries, sizeof *a);
    double *b = allocate(entries, sizeof *b);
    double *c = allocate(entries, sizeof *c);
    for (size_t i = 0; i < entries; i++) {
        a[i] = 1 + (double)(i % 7);
        b[i] = 1 - (double)(i % 5);
        c[i] = 1;
    }
    openblas_set_num_threads(threads);
    double start = MPI_Wtime();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, rows, rows, 1,
                a, rows, b, rows, 1, c, rows);
    double seconds = MPI_Wtime() - start;
    kernel_start();
    free(a);
    free(b);
    free(c);
    return seconds;
}

/* A barrier that leaves its core to others. */
static void wait_asleep(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    MPI_Request request;
    int is_over = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    while (!is_over) {
        nanosleep(&pause, NULL);
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    }
}

void plain_product(double flop, int threads, double *seconds)
{
    int rows = (int)fmin(ROWS_MAX, ceil(cbrt(flop / 2)));
    if (is_first_rank())
        *seconds =
            time_product(rows, threads) * flop / (2.0 * rows * rows * rows);
    wait_asleep();
    MPI_Bcast(seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
