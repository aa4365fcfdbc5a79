/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counter loop: a loop over a shared counter, and the same loop with Evenkeel.
 *
 *     tools/mpirun -n 2 build/examples/03_counter_loop counter
 *     tools/mpirun -n 2 build/examples/03_counter_loop evenkeel
 *
 * Five steps of particles in a box.  A task is one particle and its forces with
 * all particles before it, so that later ones cost more.  The first command
 * draws the numbers of tasks from a counter, as codes do with nxtval() or
 * MPI_Fetch_and_op(); the second from Evenkeel.  Compare loop_with_counter()
 * with loop_with_evenkeel(): three lines differ, and a fourth says where tasks
 * start next time.
 *
 * Numbers ascend in the first loop and come in any order in the second.  A loop
 * that skips to the number that it has drawn, "do i; do j; if (ij == next)", as
 * many codes with nxtval() have it, misses tasks with ek_next(): its result is
 * wrong, and one line says "numbers of ... came in descending order".
 * Such a loop must compute i and j from the number first.
 *
 * You will see: the same energies from both.  The counter asks rank 0 for each
 * task; Evenkeel asks nobody as long as a rank has tasks of its own, and from
 * the second step on most ranks have as many as they need.
 */
#include <evenkeel_loop.h>
#include <evenkeel_pull.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 5,
    PARTICLES = 3000
};

/* Positions are the same on all ranks; energies of tasks that ran elsewhere are
 * 0 until they are summed. */
struct box {
    double x[PARTICLES], y[PARTICLES], z[PARTICLES];
    double energy[PARTICLES];
};

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void box_fill(struct box *box, int step)
{
    for (int i = 0; i < PARTICLES; i++) {
        double t = i + 0.01 * step;
        box->x[i] = 10 * fabs(sin(1.1 * t));
        box->y[i] = 10 * fabs(sin(1.3 * t + 1));
        box->z[i] = 10 * fabs(sin(1.7 * t + 2));
    }
    memset(box->energy, 0, sizeof box->energy);
}

/* The task: the energy of a particle with all before it. */
static void add_forces(struct box *box, int64_t i)
{
    double energy = 0;
    for (int64_t j = 0; j < i; j++) {
        double x = box->x[i] - box->x[j], y = box->y[i] - box->y[j];
        double z = box->z[i] - box->z[j], r = x * x + y * y + z * z + 0.01;
        energy += exp(-r) / r;
    }
    box->energy[i] = energy;
}

/* Summed in the order of particles: the same digits on any number of ranks. */
static double box_energy(struct box *box)
{
    double sum = 0;
    MPI_Allreduce(MPI_IN_PLACE, box->energy, PARTICLES, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < PARTICLES; i++)
        sum += box->energy[i];
    return sum;
}

struct counter {
    int64_t *value; /* on rank 0 */
    MPI_Win window;
};

static void counter_create(struct counter *counter)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? sizeof(int64_t) : 0, sizeof(int64_t),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &counter->value,
                     &counter->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, counter->window);
}

static void counter_destroy(struct counter *counter)
{
    MPI_Win_unlock_all(counter->window);
    MPI_Win_free(&counter->window);
}

static void counter_reset(struct counter *counter)
{
    int rank;
    int64_t zero = 0, old;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Fetch_and_op(&zero, &old, MPI_INT64_T, 0, 0, MPI_REPLACE,
                         counter->window);
        MPI_Win_flush(0, counter->window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool counter_next(struct counter *counter, int64_t *i)
{
    int64_t one = 1;
    MPI_Fetch_and_op(&one, i, MPI_INT64_T, 0, 0, MPI_SUM, counter->window);
    MPI_Win_flush(0, counter->window);
    return *i < PARTICLES;
}

static void loop_with_counter(struct counter *counter, struct box *box)
{
    int64_t i;
    counter_reset(counter);
    while (counter_next(counter, &i))
        add_forces(box, i);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Once: each rank gets a block of the numbers, which takes no memory. */
static void tasks_create(ek_collection **tasks)
{
    ek_options options = EK_OPTIONS_INIT;
    ek_function number;
    options.workers = 1; /* this loop has one thread per rank */
    check(ek_create(MPI_COMM_WORLD, &options, tasks));
    check(ek_register(*tasks, "particle", NULL, NULL, &number));
    check(ek_set_range(*tasks, number, PARTICLES));
}

static bool tasks_next(ek_collection *tasks, int64_t *i)
{
    ek_task task;
    check(ek_next(tasks, 0, &task));
    if (task.worker == NULL)
        return false;
    memcpy(i, task.payload, sizeof *i);
    return true;
}

static void loop_with_evenkeel(ek_collection *tasks, struct box *box)
{
    int64_t i;
    check(ek_begin(tasks));
    while (tasks_next(tasks, &i))
        add_forces(box, i);
    check(ek_end(tasks, NULL));
    check(ek_restore(tasks, EK_RESTORE_RETAIN, NULL));
}

static void run(bool has_counter)
{
    static struct box box;
    struct counter counter;
    ek_collection *tasks;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (has_counter)
        counter_create(&counter);
    else
        tasks_create(&tasks);

    for (int step = 0; step < STEPS; step++) {
        box_fill(&box, step);
        double start = MPI_Wtime();
        if (has_counter)
            loop_with_counter(&counter, &box);
        else
            loop_with_evenkeel(tasks, &box);
        double seconds = MPI_Wtime() - start, energy = box_energy(&box);
        if (rank == 0)
            printf("step %d: energy %.8f, %.1f ms\n", step, energy,
                   1e3 * seconds);
    }

    if (has_counter)
        counter_destroy(&counter);
    else
        ek_destroy(&tasks);
}

int main(int argc, char **argv)
{
    int provided, status = 0;
    bool has_counter = argc == 2 && strcmp(argv[1], "counter") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (has_counter || (argc == 2 && strcmp(argv[1], "evenkeel") == 0)) {
        run(has_counter);
    } else {
        fprintf(stderr, "usage: 03_counter_loop counter|evenkeel\n");
        status = 2;
    }
    MPI_Finalize();
    return status;
}
