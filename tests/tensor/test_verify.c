/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks of C: they pass what Evenkeel has computed, whose norm is that of
 * the plain loop, and find whatever is done to it.
 */
#include "../unit/check.h"
#include "tensor_contraction/plain.h"
#include "tensor_contraction/task.h"
#include "tensor_contraction/verify.h"

const char program_name[] = "test_verify";

static const enum verify checks[] = {VERIFY_VECTOR, VERIFY_DENSE};

static struct contraction contraction;
static struct operands operands;

static void make(enum symmetry symmetry)
{
    struct irrep_list irreps = {0};
    struct message message;
    const struct contraction_options options = {
        "C[l,i,k,j] += A[b,j,i,a] * B[l,a,k,b]",
        &irreps,
        3,
        symmetry,
        TASK_TILE,
        kernel_multiplier()};
    CHECK(irrep_list_add(&irreps, "i=5,4,1,3", &message));
    CHECK(irrep_list_add(&irreps, "a=2,3,4,2", &message));
    CHECK(contraction_make(&options, &contraction, &message));
    CHECK_OK(operands_open(&operands));
    CHECK_OK(operands_make(&contraction, 0, &operands));
}

static void unmake(void)
{
    operands_close(&operands);
    contraction_free(&contraction);
}

static void run(int iterations)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .ignore_environment = true};
    const struct task_options options = {.prefetch = 1};
    struct tensor_job job;
    struct figures figures;
    CHECK_OK(tensor_job_open(&setup, &contraction, &operands, &options, &job));
    for (int i = 0; i < iterations; i++)
        CHECK_OK(job_run(&job.job, &figures));
    tensor_job_close(&job);
}

static double error_of(enum verify how, double factor)
{
    double error = -1;
    CHECK_OK(verify_run(&contraction, &operands, how, factor, &error));
    return error;
}

/* Both checks find more than rounding. */
static void are_found(const char *what)
{
    for (int i = 0; i < 2; i++) {
        if (!CHECK(error_of(checks[i], 1) > 1e3 * VERIFY_ERROR_MAX))
            fprintf(stderr, "    check %d, %s\n", i, what);
    }
}

static void what_tasks_compute_passes(void)
{
    for (enum symmetry s = SYMMETRY_NONE; s <= SYMMETRY_SPIN; s++) {
        double seconds, norm, stored;
        make(s);
        run(1);
        plain_loop(&contraction, 2, &seconds, &norm);
        CHECK_OK(ek_tiles_norm(operands.c, &stored));
        CHECK_NEAR(norm / stored, 1, 1e-14);
        run(2);
        for (int i = 0; i < 2; i++) {
            double error = error_of(checks[i], 3);
            CHECK(error > 0 && error <= VERIFY_ERROR_MAX);
        }
        CHECK(error_of(VERIFY_NONE, 1) == 0);
        unmake();
    }
}

static void another_multiple_is_found(void)
{
    make(SYMMETRY_SPATIAL);
    are_found("zeros");
    run(2);
    are_found("twice");
    unmake();
}

static void one_bad_entry_is_found(void)
{
    make(SYMMETRY_SPATIAL);
    run(1);
    for (int64_t tile = 0; tile < contraction.c.tiles; tile += 7) {
        double *values;
        int64_t length;
        CHECK_OK(ek_tiles_local(operands.c, tile, &values, &length));
        double kept = values[length / 2];
        values[length / 2] += 1e-6;
        are_found("a millionth");
        values[length / 2] = NAN;
        are_found("no number");
        values[length / 2] = kept;
    }
    CHECK(error_of(VERIFY_DENSE, 1) <= VERIFY_ERROR_MAX);
    unmake();
}

static void entries_in_each_others_places_are_found(void)
{
    make(SYMMETRY_SPATIAL);
    run(1);
    double *values;
    int64_t length;
    CHECK_OK(ek_tiles_local(operands.c, 0, &values, &length));
    double kept = values[0];
    values[0] = values[1];
    values[1] = kept;
    are_found("exchanged");
    unmake();
}

/* The checks do not believe the stores of A and B. */
static void bad_factors_are_found(void)
{
    make(SYMMETRY_SPATIAL);
    CHECK_OK(ek_tiles_fill(operands.b, 0));
    run(1);
    are_found("B of zeros");
    unmake();
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    kernel_start();
    RUN(what_tasks_compute_passes);
    RUN(another_multiple_is_found);
    RUN(one_bad_entry_is_found);
    RUN(entries_in_each_others_places_are_found);
    RUN(bad_factors_are_found);
    MPI_Finalize();
    return check_result();
}
