/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop over cells, whose later cells take longer.
 *
 *     tools/mpirun -n 2 build/examples/migrate/openmp_loop_before [CELLS]
 *
 * In before.c each rank has a block of cells, and OpenMP deals it to threads.
 * In after.c Evenkeel deals all cells to the threads of all ranks.  Both print
 * the same energies: docs/migrate/from-openmp-loop.md.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS = 5
};

/* The same on all ranks, but for the energies: 0 where another rank computed
 * them. */
struct model {
    double *cells, *energies;
};

/* The loop body. */
static double simulate(const double *cells, int64_t i)
{
    double sum = 0;
    for (int64_t k = 0; k < 10 * i; k++)
        sum += exp(-cells[i] * (double)k);
    return sum;
}

static void run(struct model *model, int64_t count)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = count * rank / size; i < count * (rank + 1) / size; i++)
        model->energies[i] = simulate(model->cells, i);
    MPI_Allreduce(MPI_IN_PLACE, model->energies, (int)count, MPI_DOUBLE,
                  MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int level, rank;
    double seconds = 0;
    int64_t count = argc > 1 ? atoi(argv[1]) : 300;
    struct model model = {calloc((size_t)count, sizeof(double)),
                          calloc((size_t)count, sizeof(double))};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    for (int step = 0; step < STEPS; step++) {
        double energy = 0;
        for (int64_t i = 0; i < count; i++) {
            model.cells[i] = 1 + 1 / (double)(i + step + 1);
            model.energies[i] = 0;
        }
        seconds -= MPI_Wtime();
        run(&model, count);
        seconds += MPI_Wtime();
        for (int64_t i = 0; i < count; i++)
            energy += model.energies[i];
        if (rank == 0)
            printf("step %d: energy %.15g\n", step, energy);
    }
    if (rank == 0)
        printf("seconds: %.4f\n", seconds);

    free(model.cells);
    free(model.energies);
    MPI_Finalize();
    return 0;
}
