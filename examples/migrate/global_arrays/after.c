/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C += A B, whose blocks lie in Global Arrays; A is lower triangular.
 *
 *     tools/mpirun -n 2 build/examples/migrate/global_arrays_before [ROWS]
 *
 * before.c draws the numbers of blocks by NGA_Read_inc(), and after.c from
 * Evenkeel.  Both print the same sums: docs/migrate/from-global-arrays.md.
 */
#include <evenkeel_loop.h>
#include <evenkeel_pull.h>

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 3,
    WIDTH = 16 /* of a block */
};

struct product {
    int rows, blocks; /* of each matrix, and columns */
    int a, b, c;      /* global arrays */
};

typedef double block[WIDTH][WIDTH];

/* Where block (i, j) of a matrix is. */
static void bounds(int64_t i, int64_t j, int low[2], int high[2])
{
    low[0] = (int)i * WIDTH, low[1] = (int)j * WIDTH;
    high[0] = low[0] + WIDTH - 1, high[1] = low[1] + WIDTH - 1;
}

static void get(int array, int64_t i, int64_t j, block values)
{
    int low[2], high[2], width[] = {WIDTH};
    bounds(i, j, low, high);
    NGA_Get(array, low, high, values, width);
}

/* The loop body: lower blocks take longer. */
static void multiply(const struct product *product, int64_t i, int64_t j)
{
    block a, b, c = {0};
    int low[2], high[2], width[] = {WIDTH};
    double one = 1;
    for (int64_t k = 0; k <= i; k++) {
        get(product->a, i, k, a);
        get(product->b, k, j, b);
        for (int row = 0; row < WIDTH; row++)
            for (int inner = 0; inner < WIDTH; inner++)
                for (int column = 0; column < WIDTH; column++)
                    c[row][column] += a[row][inner] * b[inner][column];
    }
    bounds(i, j, low, high);
    NGA_Acc(product->c, low, high, c, width, &one);
}

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static ek_collection *create_tasks(int64_t count)
{
    ek_collection *tasks;
    ek_function function;
    ek_options options = EK_OPTIONS_INIT;
    options.workers = 1; /* Global Arrays are called by one thread */
    check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    check(ek_register(tasks, "block", NULL, NULL, &function));
    check(ek_set_range(tasks, function, count));
    return tasks;
}

static void run(ek_collection *tasks, const struct product *product)
{
    int64_t ij;
    ek_task task;
    check(ek_begin(tasks));
    while (check(ek_next(tasks, 0, &task)), task.worker) {
        ij = *(const int64_t *)task.payload;
        multiply(product, ij / product->blocks, ij % product->blocks);
    }
    check(ek_end(tasks, NULL));
    GA_Sync(); /* as before: all that was accumulated is there */
}

/* Whole numbers: sums are the same in any order. */
static int create_matrix(int rows, char *name, bool is_triangular)
{
    int extent[] = {rows, rows}, any[] = {-1, -1}, low[2], high[2];
    int array = NGA_Create(C_DBL, 2, extent, name, any);
    double *values = malloc((size_t)rows * sizeof *values);
    NGA_Distribution(array, GA_Nodeid(), low, high);
    for (int row = low[0]; row >= 0 && row <= high[0]; row++) {
        int from[] = {row, low[1]}, to[] = {row, high[1]}, width[] = {rows};
        for (int column = low[1]; column <= high[1]; column++)
            values[column - low[1]] =
                is_triangular && column > row ? 0 : (row + 2 * column) % 5 - 1;
        NGA_Put(array, from, to, values, width);
    }
    GA_Sync();
    free(values);
    return array;
}

int main(int argc, char **argv)
{
    double seconds = 0;
    struct product product = {.rows = argc > 1 ? atoi(argv[1]) : 160};
    MPI_Init(&argc, &argv);
    GA_Initialize();
    product.blocks = product.rows / WIDTH;
    product.a = create_matrix(product.rows, "A", true);
    product.b = create_matrix(product.rows, "B", false);
    product.c = create_matrix(product.rows, "C", false);
    ek_collection *tasks =
        create_tasks((int64_t)product.blocks * product.blocks);

    for (int step = 0; step < STEPS; step++) {
        seconds -= MPI_Wtime();
        run(tasks, &product);
        seconds += MPI_Wtime();
        double sum = GA_Ddot(product.b, product.c);
        if (GA_Nodeid() == 0)
            printf("step %d: B . C is %.0f\n", step, sum);
    }
    if (GA_Nodeid() == 0)
        printf("seconds: %.4f\n", seconds);

    ek_destroy(&tasks);
    GA_Destroy(product.a);
    GA_Destroy(product.b);
    GA_Destroy(product.c);
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
