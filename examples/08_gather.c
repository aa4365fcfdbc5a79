/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather: results to one rank from where they were made, instead of a sum over
 * all ranks of arrays that are nearly empty.
 *
 *     tools/mpirun -n 4 build/examples/08_gather
 *
 * Frames of a zoom, whose rows are tasks.  Who has drawn which row is known
 * between ek_process() and ek_restore(): ek_visit_tasks() shows it, and
 * gather_rows() makes a Gatherv of that.  After each frame the next zoom is
 * written into the payloads where they lie: tasks get new input, and keep their
 * durations and places.
 *
 * You will see: each row comes to rank 0 once, where a reduction would send the
 * whole frame from every rank.  The points in the set are the same on any
 * number of ranks.
 */
#include <evenkeel.h>
#include <evenkeel_task.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 4,
    ROWS = 300,
    COLUMNS = 300,
    STEPS_MAX = 1000
};

struct row {
    int64_t number;
    double width; /* of the frame */
};

/* A row that was drawn. */
struct result {
    int64_t number;
    int steps[COLUMNS];
};

struct frame {
    int (*steps)[COLUMNS];  /* [ROWS], where they were drawn here */
    struct result *results; /* [ROWS], those that were drawn here, or all */
    int count;
    double width; /* of the next */
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
    const struct frame *frame = context;
    const struct row *row = payload;
    double pixel = row->width / COLUMNS;
    (void)worker, (void)bytes;
    for (int column = 0; column < COLUMNS; column++)
        frame->steps[row->number][column] =
            steps_at(-0.7 + pixel * (column - COLUMNS / 2),
                     -0.9 + pixel * (double)(row->number - ROWS / 2));
    return 0;
}

/* Take what was drawn here, and write what is to be drawn next. */
static bool take_row(const ek_task *task, void *context)
{
    struct frame *frame = context;
    struct row *row = task->payload;
    if (task->has_run) {
        struct result *result = &frame->results[frame->count++];
        result->number = row->number;
        memcpy(result->steps, frame->steps[row->number], sizeof result->steps);
    }
    row->width = frame->width;
    return true;
}

/* All rows to rank 0, each from where it was drawn; returns how many. */
static int gather_rows(ek_collection *tasks, struct frame *frame, int size,
                       struct result *all)
{
    int bytes, *counts = calloc((size_t)size, sizeof *counts);
    int end = 0, *starts = calloc((size_t)size, sizeof *starts);
    frame->count = 0;
    check(ek_visit_tasks(tasks, take_row, frame));
    bytes = frame->count * (int)sizeof *frame->results;
    MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        starts[r] = end;
        end += counts[r];
    }
    MPI_Gatherv(frame->results, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE,
                0, MPI_COMM_WORLD);
    free(counts);
    free(starts);
    return end / (int)sizeof *all;
}

static int64_t count_points(const struct result *all, int rows)
{
    int64_t points = 0;
    for (int i = 0; i < rows; i++) {
        for (int column = 0; column < COLUMNS; column++)
            points += all[i].steps[column] == STEPS_MAX;
    }
    return points;
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    struct frame frame = {.steps = calloc(ROWS, sizeof *frame.steps),
                          .results = calloc(ROWS, sizeof *frame.results),
                          .width = 2.5};
    struct result *all = calloc(ROWS, sizeof *all);
    ek_collection *tasks;
    ek_function draw;
    check(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    check(ek_register(tasks, "draw", draw_row, &frame, &draw));
    for (int number = ROWS * rank / size; number < ROWS * (rank + 1) / size;
         number++) {
        struct row row = {number, frame.width};
        check(ek_add_task(tasks, draw, &row, sizeof row, NULL));
    }

    for (int i = 0; i < FRAMES; i++) {
        frame.width *= 0.98;
        check(ek_process(tasks, NULL));
        int rows = gather_rows(tasks, &frame, size, all);
        check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        if (rank == 0)
            printf("frame %d: %d rows, %lld points in the set; %zu KiB came, "
                   "of %zu KiB that a reduction sends\n",
                   i, rows, (long long)count_points(all, rows),
                   (size_t)rows * sizeof *all / 1024,
                   (size_t)size * ROWS * sizeof *frame.steps / 1024);
    }

    free(frame.steps);
    free(frame.results);
    free(all);
    ek_destroy(&tasks);
    MPI_Finalize();
    return 0;
}
