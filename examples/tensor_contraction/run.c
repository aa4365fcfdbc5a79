/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"
#include "common/comparison.h"
#include "plain.h"

#include <math.h>
#include <stdio.h>

/* Norms of the same C, relative: sums in another order. */
#define NORM_DIFFERENCE_MAX 1e-12

/* One iteration; SECONDS is what it took. */
static ek_status iterate(struct tensor_job *job, struct figures *figures,
                         double *seconds)
{
    double start = MPI_Wtime();
    ek_status status = job_run(&job->job, figures);
    *seconds = MPI_Wtime() - start;
    return status;
}

static void print_columns(const struct job *job)
{
    static const char format[] =
        "%4s %9s %8s %7s %9s %9s %9s %9s %10s %7s %7s\n";
    if (!is_first_rank())
        return;
    printf("%lld tasks, %d workers, steals per worker\n\n",
           (long long)job->total, job_workers(job));
    printf(format, "", "", "", "effi-", "", "null", "", "", "between", "cache",
           "");
    printf(format, "it", "s", "GF/s", "ciency", "tasks", "tasks", "tries",
           "steals", "nodes MB", "hits", "waiting");
}

static void print_error(const struct run *run, double error)
{
    if (run->verify != VERIFY_NONE && is_first_rank())
        printf("relative error %.1e\n", error);
}

static void print_row(int iteration, double seconds, double flop,
                      const struct figures *figures)
{
    if (!is_first_rank())
        return;
    printf("%4d %9.4f %8.2f %6.1f%% %9lld %9lld %9.1f %9.1f %10.1f %6.1f%% "
           "%6.1f%%\n",
           iteration, seconds, flop * 1e-9 / seconds, 100 * figures->efficiency,
           (long long)figures->tasks, (long long)figures->null_tasks,
           figures->tries, figures->steals, figures->tile_bytes * 1e-6,
           100 * figures->tile_hits / fmax(figures->tile_gets, 1),
           100 * figures->tile_wait_s / fmax(figures->work_s, 1e-9));
    fflush(stdout);
}

/* What so many iterations have made of C. */
struct result {
    double norm, error;
};

/* Look at C; BEFORE is the status of what made it. */
static ek_status look(const struct run *run, int iterations, ek_status before,
                      struct result *result)
{
    *result = (struct result){0};
    if (before != EK_OK)
        return before;
    ek_status status = ek_tiles_norm(run->operands->c, &result->norm);
    return status == EK_OK ? verify_run(run->contraction, run->operands,
                                        run->verify, iterations, &result->error)
                           : status;
}

static bool is_right(const struct result *result, struct message *message)
{
    return result->error <= VERIFY_ERROR_MAX ||
           message_set(message,
                       "C is wrong: the relative error is %.1e; rounding "
                       "explains at most %.0e",
                       result->error, VERIFY_ERROR_MAX);
}

/* Run all iterations for a TRIAL, or else with a row for each. */
static ek_status contract(const struct run *run, const struct job_setup *setup,
                          int iterations, struct trial *trial,
                          struct result *result)
{
    struct tensor_job job;
    ek_status status = tensor_job_open(setup, run->contraction, run->operands,
                                       run->options, &job);
    if (status == EK_OK && trial)
        trial_begin(trial, &job.job);
    else if (status == EK_OK)
        print_columns(&job.job);
    for (int i = 1; status == EK_OK && i <= iterations; i++) {
        struct figures figures;
        double seconds;
        status = iterate(&job, &figures, &seconds);
        if (status == EK_OK && trial)
            trial_add(trial, seconds, &figures);
        else if (status == EK_OK)
            print_row(i, seconds, (double)run->contraction->total.flop,
                      &figures);
    }
    tensor_job_close(&job);
    return look(run, iterations, status, result);
}

static int run_one(const struct run *run,
                   const struct mode_arguments *arguments)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = arguments->mode,
                                    .record = arguments->record};
    struct message message;
    struct result result;
    ek_status status =
        contract(run, &setup, arguments->iterations, NULL, &result);
    if (status != EK_OK)
        return complain_status(status);
    if (is_first_rank())
        printf("\nnorm of C %.10e\n", result.norm);
    print_error(run, result.error);
    return is_right(&result, &message) ? EXIT_GOOD
                                       : complain(&message, EXIT_FAILED);
}

/* What a comparison runs, and what has come out. */
struct comparing {
    const struct run *run;
    /* Of the last mode, the norm for one iteration, and the error of the worst
     * of all modes. */
    struct result *result;
};

static ek_status run_mode(struct trial *trial, const struct run *run,
                          struct result *result)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = *trial->mode};
    ek_status status = ek_tiles_fill(run->operands->c, 0);
    if (status == EK_OK)
        status = contract(run, &setup, trial->iterations, trial, result);
    if (status == EK_OK)
        trial_end(trial, result->norm, true);
    return status;
}

static bool run_trial(struct trial *trial, const void *context,
                      struct message *message)
{
    const struct comparing *comparing = context;
    double error = comparing->result->error;
    if (run_mode(trial, comparing->run, comparing->result) != EK_OK)
        return message_leave(message);
    bool is_good = is_right(comparing->result, message);
    comparing->result->error = fmax(error, comparing->result->error);
    comparing->result->norm /= trial->iterations;
    return is_good;
}

static bool run_loop(const void *context, double *seconds,
                     struct message *message)
{
    const struct comparing *comparing = context;
    const struct operands *operands = comparing->run->operands;
    double norm, expected = comparing->result->norm;
    plain_loop(comparing->run->contraction, ek_rank_workers(operands->home),
               seconds, &norm);
    return fabs(norm - expected) <= NORM_DIFFERENCE_MAX * expected ||
           message_set(message, "plain: the norm of C is %.10e, expected %.10e",
                       norm, expected);
}

static bool run_product(const void *context, double *seconds,
                        struct message *message)
{
    const struct comparing *comparing = context;
    const struct run *run = comparing->run;
    (void)message;
    plain_product((double)run->contraction->total.flop,
                  ek_job_workers(run->operands->home), seconds);
    return true;
}

/* About the norm of C: entries of A and B have a variance of 1 / 3. */
static double expected_norm(const struct run *run, int iterations)
{
    return iterations * sqrt((double)run->contraction->total.flop / 18);
}

static int compare(const struct run *run,
                   const struct mode_arguments *arguments)
{
    static const struct peer peers[] = {
        {"plain", run_loop}, {"dgemm", run_product}, {NULL, NULL}};
    struct message message;
    struct result result = {0};
    const struct comparing comparing = {run, &result};
    const struct comparison comparison = {
        .quantity = "norm of C",
        .unit = "",
        .decimals = 6,
        .tolerance =
            NORM_DIFFERENCE_MAX * expected_norm(run, arguments->iterations),
        .work = "contractions",
        .iterations = arguments->iterations,
        .rounds = arguments->rounds,
        .operations = (double)run->contraction->total.flop,
        .modes = &arguments->compared,
        .run = run_trial,
        .peers = run->has_peers ? peers : NULL,
        .context = &comparing};
    if (!comparison_run(&comparison, &message))
        return complain(&message, EXIT_FAILED);
    print_error(run, result.error);
    return EXIT_GOOD;
}

int run_iterations(const struct run *run,
                   const struct mode_arguments *arguments)
{
    return arguments->has_compare ? compare(run, arguments)
                                  : run_one(run, arguments);
}
