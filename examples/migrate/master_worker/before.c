/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep over parameters of the logistic map: is the orbit periodic?
 *
 *     tools/mpirun -n 3 build/examples/migrate/master_worker_before [ORBITS]
 *
 * In before.c rank 0 sends numbers to the other ranks, and they return results.
 * In after.c Evenkeel deals the numbers, and rank 0 computes, too.  Both print
 * the same: docs/migrate/from-master-worker.md.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PASSES = 3,
    LONGEST = 2000 /* steps of an orbit */
};

struct result {
    int64_t number;
    int64_t period;  /* 0: there is none */
    double exponent; /* of Lyapunov; above 0: chaos */
};

/* The task: chaotic orbits take longer. */
static struct result simulate(int64_t number, int64_t count, int pass)
{
    double r = 3.4 + 0.6 * ((double)number + 0.2 * pass) / (double)count;
    double x = 0.5, sum = 0, kept = x;
    int64_t step = 0, kept_at = 0;
    for (; step < LONGEST; step++) {
        x = r * x * (1 - x);
        sum += log(fabs(r - 2 * r * x) + 1e-300);
        if (fabs(x - kept) < 1e-13)
            break;
        if (step == 2 * kept_at + 100)
            kept = x, kept_at = step;
    }
    int64_t period = step < LONGEST ? step - kept_at : 0;
    return (struct result){number, period, sum / (double)(step + 1)};
}

/* Rank 0: numbers go out, and results come in. */
static void lead(struct result *results, int64_t count, int size)
{
    int64_t next = 0, end = -1;
    int busy = 0;
    for (int rank = 1; rank < size; rank++) {
        MPI_Send(next < count ? &next : &end, 1, MPI_INT64_T, rank, 0,
                 MPI_COMM_WORLD);
        busy += next++ < count;
    }
    while (busy > 0) {
        struct result result;
        MPI_Status from;
        MPI_Recv(&result, sizeof result, MPI_BYTE, MPI_ANY_SOURCE, 0,
                 MPI_COMM_WORLD, &from);
        results[result.number] = result;
        MPI_Send(next < count ? &next : &end, 1, MPI_INT64_T, from.MPI_SOURCE,
                 0, MPI_COMM_WORLD);
        busy -= next++ >= count;
    }
}

/* The other ranks. */
static void follow(int64_t count, int pass)
{
    for (;;) {
        int64_t number;
        MPI_Recv(&number, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (number < 0)
            return;
        struct result result = simulate(number, count, pass);
        MPI_Send(&result, sizeof result, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static void print(const struct result *results, int64_t count, int pass)
{
    int64_t periodic = 0;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        periodic += results[i].period > 0;
        sum += results[i].exponent;
    }
    printf("pass %d: %lld periodic, sum of exponents %.15g\n", pass,
           (long long)periodic, sum);
}

int main(int argc, char **argv)
{
    int rank, size;
    double seconds = 0;
    int64_t count = argc > 1 ? atoi(argv[1]) : 1000;
    struct result *results = malloc((size_t)count * sizeof *results);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int pass = 0; pass < PASSES; pass++) {
        seconds -= MPI_Wtime();
        if (rank == 0)
            lead(results, count, size);
        else
            follow(count, pass);
        seconds += MPI_Wtime();
        if (rank == 0)
            print(results, count, pass);
    }
    if (rank == 0)
        printf("seconds: %.4f\n", seconds);

    free(results);
    MPI_Finalize();
    return 0;
}
