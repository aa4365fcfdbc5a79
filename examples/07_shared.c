/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared: owners of data on one node, and tasks that run on any of its ranks
 * without a copy.
 *
 *     tools/mpirun -n 4 build/examples/07_shared
 *     EVENKEEL_STEAL=none tools/mpirun -n 4 build/examples/07_shared
 *
 * Columns of air, a block of them per rank.  In daylight their chemistry takes
 * fifty times as long, and day goes round.  The owners mix their columns
 * between the steps, as ever.  What is new are three lines, marked 1 to 3: the
 * columns lie in memory that the node shares, a task finds the column of an
 * owner there, and steal=node: nobody steals what cannot be seen.
 *
 * You will see: ranks in the dark run columns of those in the light, and no
 * column moves.  Without stealing (second command) the ranks in the light
 * decide how long a step takes.  The ozone is the same in any case.
 */
#include <evenkeel_data.h>
#include <evenkeel_report.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS = 8,
    COLUMNS = 1536,
    LEVELS = 40,
    PARTS_BY_NIGHT = 20,
    PARTS_BY_DAY = 1000
};

/* A column of so many levels. */
typedef double air[LEVELS];

struct column {
    int owner, index;
};

/* What a rank knows. */
struct model {
    ek_collection *tasks;
    air *mine; /* of this rank */
    int count, first, size;
    int step;
};

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static int first_of(const struct model *model, int rank)
{
    return COLUMNS * rank / model->size;
}

/* Half of the columns have day; it moves by an eighth of them per step. */
static bool has_day(const struct model *model, int number)
{
    int from = COLUMNS / 8 * model->step;
    return (number + COLUMNS - from % COLUMNS) % COLUMNS < COLUMNS / 2;
}

static int react(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    const struct model *model = context;
    const struct column *task = payload;
    air *columns = ek_shared_at(model->tasks, task->owner); /* 1 */
    double *ozone = columns[task->index];
    int number = first_of(model, task->owner) + task->index;
    int parts = has_day(model, number) ? PARTS_BY_DAY : PARTS_BY_NIGHT;
    (void)worker, (void)bytes;
    for (int part = 0; part < parts; part++) {
        for (int level = 0; level < LEVELS; level++)
            ozone[level] += (1 - ozone[level] * ozone[level]) / parts;
    }
    return 0;
}

/* By their owner: the levels of each column; returns their ozone. */
static double mix(struct model *model)
{
    double sum = 0;
    for (int i = 0; i < model->count; i++) {
        for (int level = 1; level < LEVELS; level++) {
            double flow = 0.1 * (model->mine[i][level] - model->mine[i][0]);
            model->mine[i][level] -= flow;
            model->mine[i][0] += flow;
        }
        for (int level = 0; level < LEVELS; level++)
            sum += model->mine[i][level];
    }
    return sum;
}

/* The columns of this rank, and a task for each. */
static void make_columns(struct model *model, int rank, ek_function function)
{
    void *mine;
    model->first = first_of(model, rank);
    model->count = first_of(model, rank + 1) - model->first;
    check(ek_shared_alloc(model->tasks, (size_t)model->count * sizeof(air),
                          &mine)); /* 2 */
    model->mine = mine;
    for (int i = 0; i < model->count; i++) {
        struct column column = {rank, i};
        for (int level = 0; level < LEVELS; level++)
            model->mine[i][level] = 0.001 * (model->first + i + level);
        check(
            ek_add_task(model->tasks, function, &column, sizeof column, NULL));
    }
}

int main(int argc, char **argv)
{
    int provided, rank;
    struct model model = {.step = 0};
    ek_options options = EK_OPTIONS_INIT;
    ek_function function;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &model.size);
    options.name = "columns";
    options.steal = EK_STEAL_NODE; /* 3 */
    check(ek_create(MPI_COMM_WORLD, &options, &model.tasks));
    check(ek_register(model.tasks, "react", react, &model, &function));
    make_columns(&model, rank, function);

    if (rank == 0)
        printf("step           ozone  columns stolen       ms  efficiency\n");
    for (model.step = 0; model.step < STEPS; model.step++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        check(ek_process(model.tasks, &report));
        check(ek_restore(model.tasks, EK_RESTORE_RETAIN, NULL));
        double here = mix(&model), ozone = 0;
        MPI_Reduce(&here, &ozone, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%4d %15.6f %15lld %8.1f %10.1f%%\n", model.step, ozone,
                   (long long)report.stolen, 1e3 * report.wall_s,
                   100 * report.efficiency);
    }

    ek_destroy(&model.tasks);
    MPI_Finalize();
    return 0;
}
