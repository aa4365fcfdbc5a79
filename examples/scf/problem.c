/* SPDX-License-Identifier: BSD-3-Clause */
#include "scf/problem.h"

#include "common/comparison.h"

#include <stdio.h>

/* Rounding of sums in another order stays far below, hartree. */
#define ENERGY_DIFFERENCE_MAX 1e-10

/* Of each worker's cache, where --cache does not say it. */
#define CACHE_MB 1.0

#define AT(field) offsetof(struct problem_arguments, field)

static const struct option problem_options[] = {
    {"--distributed", NULL, AT(storage.is_distributed), OPTION_FLAG,
     .help = "spread the matrices of tasks over the ranks"},
    {"--cache", "MB", AT(storage.cache_mb), OPTION_NUMBER(0, 1e6),
     .help = "with --distributed: MB per worker for density tiles of other "
             "nodes (1)"},
    {"--iterations", "N", AT(modes.iterations), OPTION_ITERATIONS,
     .help = "iterations at most (50)"},
    {"--resume", "DIR", AT(modes.resume), OPTION_TEXT, .help = RESUME_HELP},
};

static bool check_together(void *arguments, struct message *message)
{
    struct fock_storage *storage =
        &((struct problem_arguments *)arguments)->storage;
    if (storage->cache_mb >= 0 && !storage->is_distributed)
        return message_set(message, "--cache needs --distributed");
    if (storage->cache_mb < 0)
        storage->cache_mb = CACHE_MB;
    return true;
}

const struct command_line problem_command_line = {OPTION_ROWS(problem_options),
                                                  .shared = &mode_command_line,
                                                  .check = check_together};

static int print_result(const struct scf_result *result)
{
    if (is_first_rank())
        printf("\nenergy %.10f hartree%s\n", result->energy,
               result->is_converged ? "" : " (not converged)");
    return result->is_converged ? EXIT_GOOD : EXIT_FAILED;
}

static struct scf_options options_of(const struct problem *problem)
{
    return (struct scf_options){.error_max = problem->error_max,
                                .change_max = problem->change_max};
}

/* Call: Collective. */
static void print_memory(const struct fock *fock)
{
    int64_t bytes = fock_bytes(fock);
    if (is_first_rank())
        printf("matrices of tasks: %.3f MB per rank at most, beside the linear "
               "algebra of rank 0\n",
               (double)bytes * 1e-6);
}

static int solve(const struct problem *problem,
                 const struct mode_arguments *arguments)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = arguments->mode,
                                    .record = arguments->record,
                                    .resume = arguments->resume};
    struct scf_options options = options_of(problem);
    struct scf_result result;
    struct message message;
    struct fock *fock;
    ek_status status =
        fock_create(&setup, problem->system, problem->fock_options,
                    problem->storage, &fock);
    if (status != EK_OK)
        return complain_status(status);
    print_memory(fock);
    options.iterations = arguments->iterations;
    if (is_first_rank()) {
        problem->print_head(fock_job(fock));
        options.row = problem->print_row;
    }
    bool is_good =
        scf_run(problem->scf_system, fock, &options, &result, NULL, &message);
    fock_destroy(&fock);
    return is_good ? print_result(&result) : complain(&message, EXIT_FAILED);
}

static void add_row(const struct scf_row *row, void *context)
{
    trial_add(context, row->fock.seconds, &row->fock.figures);
}

static bool run_trial(struct trial *trial, const void *context,
                      struct message *message)
{
    const struct problem *problem = context;
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = *trial->mode};
    struct scf_options options = options_of(problem);
    struct scf_result result;
    struct fock *fock;
    if (fock_create(&setup, problem->system, problem->fock_options,
                    problem->storage, &fock) != EK_OK)
        return message_leave(message);
    if (trial->is_first)
        print_memory(fock);
    options.iterations = trial->iterations;
    options.is_unending = !trial->is_first;
    options.row = add_row;
    options.row_context = trial;
    trial_begin(trial, fock_job(fock));
    bool is_good =
        scf_run(problem->scf_system, fock, &options, &result, NULL, message);
    trial_end(trial, result.energy, result.is_converged);
    fock_destroy(&fock);
    return is_good;
}

static int compare(const struct problem *problem,
                   const struct mode_arguments *arguments)
{
    struct message message;
    const struct comparison comparison = {.quantity = "energy",
                                          .unit = "hartree",
                                          .decimals = 10,
                                          .tolerance = ENERGY_DIFFERENCE_MAX,
                                          .work = "Fock builds",
                                          .iterations = arguments->iterations,
                                          .rounds = arguments->rounds,
                                          .modes = &arguments->compared,
                                          .run = run_trial,
                                          .context = problem};
    if (!comparison_run(&comparison, &message))
        return complain(&message, EXIT_FAILED);
    return EXIT_GOOD;
}

int problem_run(const struct problem *problem,
                const struct mode_arguments *arguments)
{
    return arguments->has_compare ? compare(problem, arguments)
                                  : solve(problem, arguments);
}
