/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data: columns that belong to a rank each, and tasks that run anywhere.
 *
 *     tools/mpirun -n 2 build/examples/06_data
 *     EVENKEEL_STEAL=none tools/mpirun -n 2 build/examples/06_data
 *     EVENKEEL_RANKS_PER_NODE=1 tools/mpirun -n 2 build/examples/06_data
 *
 * Every rank owns a block of columns.  In each step owners mix their columns,
 * as transport does, then a task for each column relaxes it; where a front is,
 * that takes 40 times as long.  A task that was stolen, or retained away, gets
 * its column from the owner, and what it has made of the column goes back: that
 * is two calls in main() and one in relax().
 *
 * You will see: the same hash of all columns in every step on any number of
 * ranks, to the last bit; how many columns were away, and the bytes of that.
 */
#include <evenkeel_data.h>
#include <evenkeel_report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 6,
    COLUMNS = 240,
    CELLS = 500
};

/* Columns by their numbers, and the step. */
struct model {
    double *columns[COLUMNS]; /* NULL: of another rank */
    int step;
};

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Relax a column, here or where it was copied to. */
static int relax(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    const struct model *model = context;
    int64_t number = *(const int64_t *)payload;
    double *column = ek_task_data(worker);
    bool is_front = labs((long)number - 60 - 20 * model->step) < 20;
    (void)bytes;
    for (int i = 0; i < CELLS; i++) {
        for (int pass = 0; pass < (is_front ? 200 : 5); pass++)
            column[i] += 0.003 * ((double)(1 + number) / column[i] - column[i]);
        column[i] += 1e-3 * i;
    }
    return 0;
}

/* Owners do this between iterations. */
static void mix(double *column)
{
    for (int i = 0; i + 1 < CELLS; i++)
        column[i] = 0.75 * column[i] + 0.25 * column[i + 1];
}

/* A sum over all bits of all columns, at rank 0. */
static uint64_t hash(const struct model *model)
{
    uint64_t here = 0, all = 0, bits;
    for (int i = 0; i < COLUMNS; i++) {
        for (int k = 0; model->columns[i] && k < CELLS; k++) {
            memcpy(&bits, &model->columns[i][k], sizeof bits);
            here += bits * (uint64_t)(2 * (i * CELLS + k) + 1);
        }
    }
    MPI_Reduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

/* A figure of the last iteration, by its name. */
static double figure(const ek_collection *tasks, const char *name)
{
    double value;
    check(ek_report_get(tasks, name, &value));
    return value;
}

static void run(ek_collection *tasks, struct model *model, int rank)
{
    if (rank == 0)
        printf("step              hash  away       MB       ms  efficiency\n");
    for (model->step = 0; model->step < STEPS; model->step++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        for (int i = 0; i < COLUMNS; i++) {
            if (model->columns[i])
                mix(model->columns[i]);
        }
        check(ek_process(tasks, &report));
        uint64_t bits = hash(model);
        double bytes =
            figure(tasks, "data_in_bytes") + figure(tasks, "data_out_bytes");
        if (rank == 0)
            printf("%4d  %016llx %5.0f %8.2f %8.1f %10.1f%%\n", model->step,
                   (unsigned long long)bits, figure(tasks, "travelled"),
                   1e-6 * bytes, 1e3 * report.wall_s, 100 * report.efficiency);
        check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    }
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    static struct model model;
    ek_collection *tasks;
    ek_function function;
    check(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    check(ek_register(tasks, "relax", relax, &model, &function));
    check(ek_set_data_blocks(tasks, function, CELLS * sizeof(double)));

    for (int64_t i = COLUMNS * rank / size; i < COLUMNS * (rank + 1) / size;
         i++) {
        model.columns[i] = malloc(CELLS * sizeof(double));
        for (int k = 0; k < CELLS; k++)
            model.columns[i][k] = 1 + fabs(sin((double)(i + k)));
        check(ek_set_block(tasks, function, i, model.columns[i],
                           CELLS * sizeof(double)));
        check(ek_add_task(tasks, function, &i, sizeof i, NULL));
    }
    run(tasks, &model, rank);

    ek_destroy(&tasks);
    for (int i = 0; i < COLUMNS; i++)
        free(model.columns[i]);
    MPI_Finalize();
    return 0;
}
