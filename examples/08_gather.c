/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather: results to one rank from where they were made, instead of a sum over
 * all ranks of arrays that are nearly empty.
 *
 *     tools/mpirun -n 4 build/examples/08_gather
 *
 * Frames of a zoom, whose rows are tasks.  Each task sets its row as its
 * result, and ek_gather() brings all rows to rank 0, in their order.
 *
 * You will see: each row comes to rank 0 once, where a reduction would send the
 * whole frame from every rank.  The points in the set are the same on any
 * number of ranks.
 */
#include <evenkeel_loop.h>

#include <stdio.h>

enum {
    FRAMES = 4,
    ROWS = 300,
    COLUMNS = 300,
    STEPS_MAX = 1000
};

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static int steps_at(double x, double y)
{
    double a = 0, b = 0;
    int step = 0;
    for (; step < STEPS_MAX && a * a + b * b <= 4; step++) {
        double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
    }
    return step;
}

static int draw_row(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    int64_t row = *(const int64_t *)payload;
    double pixel = *(const double *)context / COLUMNS;
    int steps[COLUMNS];
    (void)bytes;
    for (int column = 0; column < COLUMNS; column++)
        steps[column] = steps_at(-0.7 + pixel * (column - COLUMNS / 2),
                                 -0.9 + pixel * (double)(row - ROWS / 2));
    return ek_set_result(worker, steps, sizeof steps);
}

static int64_t count_points(const ek_results *rows)
{
    const int *steps = rows->bytes;
    int64_t points = 0;
    for (int64_t i = 0; i < rows->count * COLUMNS; i++)
        points += steps[i] == STEPS_MAX;
    return points;
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    double width = 2.5;
    ek_collection *tasks;
    ek_function draw;
    check(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    check(ek_register(tasks, "draw", draw_row, &width, &draw));
    check(ek_set_range(tasks, draw, ROWS));

    for (int i = 0; i < FRAMES; i++) {
        ek_results rows = EK_RESULTS_INIT;
        check(ek_process(tasks, NULL));
        check(ek_gather(tasks, draw, 0, &rows));
        if (rank == 0)
            printf("frame %d: %d rows, %lld points in the set; %lld KiB came, "
                   "of %zu KiB that a reduction sends\n",
                   i, (int)rows.count, (long long)count_points(&rows),
                   (long long)rows.start[rows.count] / 1024,
                   (size_t)size * ROWS * COLUMNS * sizeof(int) / 1024);
        width *= 0.98;
    }

    ek_destroy(&tasks);
    MPI_Finalize();
    return 0;
}
