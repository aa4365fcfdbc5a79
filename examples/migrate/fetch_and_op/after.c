/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of particles, whose numbers ranks draw from a shared counter.
 *
 *     tools/mpirun -n 2 build/examples/migrate/fetch_and_op_before [PARTICLES]
 *
 * before.c draws from an MPI window, and after.c from Evenkeel.  Both print the
 * same energies: docs/migrate/from-counter-loop.md.
 */
#include <evenkeel_loop.h>
#include <evenkeel_pull.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS = 3
};

struct box {
    int64_t particles, pairs;
    double *x;      /* [particles] */
    double *energy; /* [pairs]; 0: computed on another rank */
};

/* The loop body: a pair that is closer takes longer. */
static void compute(struct box *box, int64_t ij, int64_t i, int64_t j)
{
    double r = fabs(box->x[i] - box->x[j]) + 0.01, sum = 0;
    for (int64_t k = 1; (double)k * r < 20; k++)
        sum += exp(-(double)k * r);
    box->energy[ij] = sum;
}

/* i and j <= i of the number ij = i * (i + 1) / 2 + j. */
static void decode(int64_t ij, int64_t *i, int64_t *j)
{
    int64_t k = (int64_t)((sqrt(8.0 * (double)ij + 1) - 1) / 2);
    while (k * (k + 1) / 2 > ij) /* sqrt() rounds */
        k--;
    while ((k + 1) * (k + 2) / 2 <= ij)
        k++;
    *i = k;
    *j = ij - k * (k + 1) / 2;
}

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static ek_collection *create_tasks(int64_t pairs)
{
    ek_collection *tasks;
    ek_function pair;
    ek_options options = EK_OPTIONS_INIT;
    options.workers = 1; /* one thread of each rank runs the loop */
    check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    check(ek_register(tasks, "pair", NULL, NULL, &pair)); /* no body: a loop */
    check(ek_set_range(tasks, pair, pairs));
    return tasks;
}

static void run(ek_collection *tasks, struct box *box)
{
    int64_t ij, i, j;
    ek_task task;
    check(ek_begin(tasks));
    while (check(ek_next(tasks, 0, &task)), task.worker) {
        ij = *(const int64_t *)task.payload;
        decode(ij, &i, &j);
        compute(box, ij, i, j);
    }
    check(ek_end(tasks, NULL));
}

/* The same on all ranks. */
static void move(struct box *box, int step)
{
    for (int64_t i = 0; i < box->particles; i++)
        box->x[i] = 10 * fabs(sin(1.1 * (double)i + 0.01 * step));
    for (int64_t ij = 0; ij < box->pairs; ij++)
        box->energy[ij] = 0;
}

/* Summed in the order of pairs: the same digits on any number of ranks. */
static double total(struct box *box)
{
    double sum = 0;
    MPI_Allreduce(MPI_IN_PLACE, box->energy, (int)box->pairs, MPI_DOUBLE,
                  MPI_SUM, MPI_COMM_WORLD);
    for (int64_t ij = 0; ij < box->pairs; ij++)
        sum += box->energy[ij];
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    double seconds = 0;
    struct box box = {.particles = argc > 1 ? atoi(argv[1]) : 120};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    box.pairs = box.particles * (box.particles + 1) / 2;
    box.x = malloc((size_t)box.particles * sizeof(double));
    box.energy = malloc((size_t)box.pairs * sizeof(double));
    ek_collection *tasks = create_tasks(box.pairs);

    for (int step = 0; step < STEPS; step++) {
        move(&box, step);
        seconds -= MPI_Wtime();
        run(tasks, &box);
        seconds += MPI_Wtime();
        double energy = total(&box);
        if (rank == 0)
            printf("step %d: energy %.15g\n", step, energy);
    }
    if (rank == 0)
        printf("seconds: %.4f\n", seconds);

    ek_destroy(&tasks);
    free(box.x);
    free(box.energy);
    MPI_Finalize();
    return 0;
}
