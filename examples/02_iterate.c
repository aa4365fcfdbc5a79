/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterate: an unbalanced loop that Evenkeel balances a little better each time.
 *
 *     tools/mpirun -n 2 build/examples/02_iterate
 *     EVENKEEL_STEAL=none tools/mpirun -n 2 build/examples/02_iterate
 *
 * Frames of a slow zoom into the Mandelbrot set: a task is a row, and rows
 * through the set cost a hundred times more than others.  ek_set_range() deals
 * blocks of rows to all ranks.  A line per frame tells how many points are in
 * the set, how many rows were stolen and how well the cores were used.
 *
 * You will see: many rows are stolen in the first frame, few later, because
 * ek_restore() starts each row where it ran before, the longest first.  Without
 * stealing (second command) the block of one rank decides how long a frame
 * takes.  The points are the same in any case.
 *
 *     export EVENKEEL_CHECKPOINT=saves@every:1
 *     tools/mpirun -n 2 build/examples/02_iterate
 *     tools/mpirun -n 3 build/examples/02_iterate --resume saves
 *
 * The rows are saved after each frame.  Where the first job was killed, the
 * second one goes on with the next frame, on any number of ranks.  With
 * @every:20ms and EVENKEEL_ON_STOP=continue also in the middle of a frame,
 * whose points so far are saved, too.  After EVENKEEL_TIME_LIMIT=200ms the
 * program ends with a save, or goes on if there are no checkpoints.
 */
#include <evenkeel_loop.h>
#include <evenkeel_report.h>
#include <evenkeel_save.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 6,
    ROWS = 600,
    COLUMNS = 600,
    STEPS_MAX = 1000
};

/* What a task works on: the frame, and a sum per worker of this rank. */
struct picture {
    double width;
    int workers;
    int64_t frame, *points;
    bool is_saved;
};

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static bool is_inside(double x, double y)
{
    double a = 0, b = 0;
    for (int step = 0; step < STEPS_MAX; step++) {
        double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
        if (a * a + b * b > 4)
            return false;
    }
    return true;
}

static int draw_row(ek_worker *worker, const void *payload, size_t bytes,
                    void *context)
{
    const struct picture *picture = context;
    double pixel = picture->width / COLUMNS;
    int64_t row = *(const int64_t *)payload, points = 0;
    (void)bytes;
    for (int column = 0; column < COLUMNS; column++) {
        points += is_inside(-0.7 + pixel * (column - COLUMNS / 2),
                            -0.9 + pixel * (double)(row - ROWS / 2));
    }
    picture->points[ek_worker_here(worker)] += points;
    return 0;
}

/* Part of a save: the points of the frame so far. */
static int write_points(const char *path, void *context)
{
    struct picture *picture = context;
    int64_t points = 0, all = 0;
    int rank;
    for (int here = 0; here < picture->workers; here++)
        points += picture->points[here];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&points, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    picture->is_saved = true;
    FILE *file = rank == 0 ? fopen(path, "w") : NULL;
    if (!file)
        return rank == 0;
    fprintf(file, "%lld\n", (long long)all);
    return fclose(file) != 0;
}

/* Add the rows, or load them. */
static void begin(ek_collection *tasks, ek_function draw, const char *saves,
                  struct picture *picture)
{
    long long points = 0; /* of rank 0; the others have none */
    int rank;
    check(saves ? ek_load(tasks, saves) : ek_set_range(tasks, draw, ROWS));
    const char *path = ek_loaded(tasks, &picture->frame);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = path && rank == 0 ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%lld", &points) != 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (file)
        fclose(file);
    picture->points[0] = points;
    if (rank == 0 && path)
        printf("resumed from %s with frame %lld\n", saves,
               (long long)picture->frame);
}

int main(int argc, char **argv)
{
    bool resumes = argc == 3 && strcmp(argv[1], "--resume") == 0;
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    struct picture picture = {0};
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks;
    ek_function draw;
    options.name = "rows";
    check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    check(ek_register(tasks, "draw", draw_row, &picture, &draw));
    check(ek_set_save(tasks, write_points, &picture));
    picture.workers = ek_rank_workers(tasks);
    picture.points = calloc((size_t)picture.workers, sizeof *picture.points);
    begin(tasks, draw, resumes ? argv[2] : NULL, &picture);

    if (rank == 0)
        printf("frame  points in the set  rows stolen       ms  efficiency\n");
    while (picture.frame < FRAMES) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        picture.width = 2.5 * pow(0.98, (double)picture.frame);
        check(ek_process(tasks, &report));
        if (!report.stopped) {
            check(ek_reduce(tasks, picture.points, 1, MPI_INT64_T, MPI_SUM));
            if (rank == 0)
                printf("%5lld %18lld %12lld %8.1f %10.1f%%\n",
                       (long long)picture.frame, (long long)picture.points[0],
                       (long long)report.stolen, 1e3 * report.wall_s,
                       100 * report.efficiency);
            picture.points[0] = 0; /* ek_reduce() has cleared the others */
            picture.frame++;
        }
        picture.is_saved = false;
        check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
        if (report.stopped && picture.is_saved) {
            if (rank == 0)
                printf("stopped in frame %lld; --resume goes on\n",
                       (long long)picture.frame);
            break;
        }
    }

    free(picture.points);
    ek_destroy(&tasks);
    MPI_Finalize();
    return 0;
}
