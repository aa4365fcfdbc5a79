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
 * between the steps, as ever.  What is new are four lines, marked 1 to 4: the
 * columns lie in memory that the node shares, and a task says whose column it
 * is, and which.  Each node has a collection of its own: nobody steals what
 * cannot be seen.
 *
 * You will see: ranks in the dark run columns of those in the light, and no
 * column moves.  Without stealing (second command) the ranks in the light
 * decide how long a step takes.  The ozone is the same in any case.
 */
#include <evenkeel_report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS = 8,
    COLUMNS = 1536, /* of the node */
    LEVELS = 40,
    PARTS_BY_NIGHT = 20,
    PARTS_BY_DAY = 1000
};

/* A column of so many levels. */
typedef double air[LEVELS];

struct column {
    int owner, index;
};

/* The columns that a task sees, of all ranks of the node. */
struct node {
    MPI_Comm ranks;
    MPI_Win window;
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

/* The columns of a rank, as all ranks of the node see them. */
static air *columns_of(const struct node *node, int owner)
{
    MPI_Aint bytes;
    int unit;
    air *columns;
    MPI_Win_shared_query(node->window, owner, &bytes, &unit, &columns); /* 1 */
    return columns;
}

static int first_of(const struct node *node, int rank)
{
    return COLUMNS * rank / node->size;
}

/* Half of the columns have day; it moves by an eighth of them per step. */
static bool has_day(const struct node *node, int number)
{
    int from = COLUMNS / 8 * node->step;
    return (number + COLUMNS - from % COLUMNS) % COLUMNS < COLUMNS / 2;
}

static int react(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    const struct node *node = context;
    const struct column *task = payload;
    double *ozone = columns_of(node, task->owner)[task->index]; /* 2 */
    int number = first_of(node, task->owner) + task->index;
    int parts = has_day(node, number) ? PARTS_BY_DAY : PARTS_BY_NIGHT;
    (void)worker, (void)bytes;
    for (int part = 0; part < parts; part++) {
        for (int level = 0; level < LEVELS; level++)
            ozone[level] += (1 - ozone[level] * ozone[level]) / parts;
    }
    return 0;
}

/* By their owner: the levels of each column. */
static double mix(struct node *node)
{
    double sum = 0;
    for (int i = 0; i < node->count; i++) {
        for (int level = 1; level < LEVELS; level++) {
            double flow = 0.1 * (node->mine[i][level] - node->mine[i][0]);
            node->mine[i][level] -= flow;
            node->mine[i][0] += flow;
        }
        for (int level = 0; level < LEVELS; level++)
            sum += node->mine[i][level];
    }
    return sum;
}

static void open_node(struct node *node)
{
    int rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node->ranks); /* 3 */
    MPI_Comm_rank(node->ranks, &rank);
    MPI_Comm_size(node->ranks, &node->size);
    node->first = first_of(node, rank);
    node->count = first_of(node, rank + 1) - node->first;
    MPI_Win_allocate_shared(node->count * (MPI_Aint)sizeof(air), 1,
                            MPI_INFO_NULL, node->ranks, &node->mine,
                            &node->window); /* 4 */
    MPI_Win_lock_all(MPI_MODE_NOCHECK, node->window);
    for (int i = 0; i < node->count; i++) {
        for (int level = 0; level < LEVELS; level++)
            node->mine[i][level] = 0.001 * (node->first + i + level);
    }
}

static void close_node(struct node *node)
{
    MPI_Win_unlock_all(node->window);
    MPI_Win_free(&node->window);
    MPI_Comm_free(&node->ranks);
}

/* One step; returns the ozone of this rank. */
static double step(ek_collection *tasks, struct node *node,
                   ek_process_report *report)
{
    /* What owners have written is seen by others, and the other way round. */
    MPI_Win_sync(node->window);
    check(ek_process(tasks, report));
    MPI_Win_sync(node->window);
    check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
    return mix(node);
}

int main(int argc, char **argv)
{
    int provided, rank;
    struct node node = {.step = 0};
    ek_options options = EK_OPTIONS_INIT;
    ek_collection *tasks;
    ek_function function;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    open_node(&node);
    MPI_Comm_rank(node.ranks, &rank);
    options.name = "columns";
    check(ek_create(node.ranks, &options, &tasks));
    check(ek_register(tasks, "react", react, &node, &function));
    for (int i = 0; i < node.count; i++) {
        struct column column = {rank, i};
        check(ek_add_task(tasks, function, &column, sizeof column, NULL));
    }

    if (rank == 0)
        printf("step           ozone  columns stolen       ms  efficiency\n");
    for (node.step = 0; node.step < STEPS; node.step++) {
        ek_process_report report = EK_PROCESS_REPORT_INIT;
        double ozone = step(tasks, &node, &report);
        MPI_Allreduce(MPI_IN_PLACE, &ozone, 1, MPI_DOUBLE, MPI_SUM, node.ranks);
        if (rank == 0)
            printf("%4d %15.6f %15lld %8.1f %10.1f%%\n", node.step, ozone,
                   (long long)report.stolen, 1e3 * report.wall_s,
                   100 * report.efficiency);
    }

    ek_destroy(&tasks);
    close_node(&node);
    MPI_Finalize();
    return 0;
}
