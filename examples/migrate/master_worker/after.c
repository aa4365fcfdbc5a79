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
#include <evenkeel_loop.h>

#include <math.h>
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

/* What a task needs beside its number. */
struct sweep {
    int64_t count;
    int pass;
};

static int run_orbit(ek_worker *worker, const void *payload, size_t bytes,
                     void *context)
{
    const struct sweep *sweep = context;
    (void)bytes;
    struct result result =
        simulate(*(const int64_t *)payload, sweep->count, sweep->pass);
    return ek_set_result(worker, &result, sizeof result);
}

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
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
    int rank;
    double seconds = 0;
    int64_t count = argc > 1 ? atoi(argv[1]) : 1000;
    struct sweep sweep = {.count = count};
    ek_collection *tasks;
    ek_function orbit;
    ek_options options = EK_OPTIONS_INIT;
    ek_results results = EK_RESULTS_INIT;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    options.workers = 1; /* one thread of each rank, as before */
    check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    check(ek_register(tasks, "orbit", run_orbit, &sweep, &orbit));
    check(ek_set_range(tasks, orbit, count));

    for (int pass = 0; pass < PASSES; pass++) {
        seconds -= MPI_Wtime();
        sweep.pass = pass;
        check(ek_process(tasks, NULL));
        check(ek_gather(tasks, orbit, 0, &results));
        seconds += MPI_Wtime();
        if (rank == 0)
            print(results.bytes, results.count, pass);
    }
    if (rank == 0)
        printf("seconds: %.4f\n", seconds);

    ek_destroy(&tasks);
    MPI_Finalize();
    return 0;
}
