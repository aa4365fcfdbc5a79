/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data: columns that belong to a rank each, and tasks that run anywhere.
 *
 *     tools/mpirun -n 2 build/examples/06_data
 *     EVENKEEL_STEAL=none tools/mpirun -n 2 build/examples/06_data
 *     EVENKEEL_RANKS_PER_NODE=1 EVENKEEL_DATA=follow tools/mpirun -n 2
 * build/examples/06_data
 *
 * Every rank owns a block of columns.  In each step owners mix their columns,
 * as transport does, then a task for each column relaxes it; where a front is,
 * that takes 40 times as long.  A task that was stolen, or retained away, gets
 * the column from its owner, and what it has made of it goes back: that is
 * pack, unpack and six lines of main().
 *
 * You will see: the same hash of all columns in every step on any number of
 * ranks, to the last bit; how many columns were away, and the bytes of that.
 * With follow ek_restore() gives columns new owners: then fewer travel.
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

static int64_t number_of(const void *payload)
{
    return *(const int64_t *)payload;
}

/* Of its owner: the column goes. */
static size_t pack(const ek_task *task, void *buffer, void *context)
{
    const struct model *model = context;
    memcpy(buffer, model->columns[number_of(task->payload)],
           CELLS * sizeof(double));
    return CELLS * sizeof(double);
}

/* The column comes back, or to a new owner. */
static void unpack(const ek_task *task, const void *buffer, size_t bytes,
                   void *context)
{
    double **column =
        &((struct model *)context)->columns[number_of(task->payload)];
    if (task->is_new)
        *column = malloc(CELLS * sizeof(double));
    memcpy(*column, buffer, bytes);
}

/* It has a new owner. */
static void release(const ek_task *task, void *context)
{
    double **column =
        &((struct model *)context)->columns[number_of(task->payload)];
    free(*column);
    *column = NULL;
}

/* Relax a column, here or in the buffer that it came in. */
static int relax(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    struct model *model = context;
    int64_t number = number_of(payload);
    double *column = ek_task_data(worker);
    bool is_front = labs((long)number - 60 - 20 * model->step) < 20;
    (void)bytes;
    if (!column)
        column = model->columns[number];
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
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ops.bytes_max = CELLS * sizeof(double);
    ops.pack_input = pack;
    ops.unpack_result = unpack;
    ops.release = release;
    ops.context = &model;
    check(ek_create(MPI_COMM_WORLD, NULL, &tasks));
    check(ek_register(tasks, "relax", relax, &model, &function));
    check(ek_set_data_ops(tasks, function, &ops));

    for (int64_t i = COLUMNS * rank / size; i < COLUMNS * (rank + 1) / size;
         i++) {
        model.columns[i] = malloc(CELLS * sizeof(double));
        for (int k = 0; k < CELLS; k++)
            model.columns[i][k] = 1 + fabs(sin((double)(i + k)));
        check(ek_add_task(tasks, function, &i, sizeof i, NULL));
    }
    run(tasks, &model, rank);

    ek_destroy(&tasks);
    for (int i = 0; i < COLUMNS; i++)
        free(model.columns[i]);
    MPI_Finalize();
    return 0;
}
