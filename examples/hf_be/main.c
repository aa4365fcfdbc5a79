/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Hartree-Fock benchmark of HPDC 2012, balanced by Evenkeel.
 *
 *     mpirun -n 2 hf_be --atoms 16 --tile 10
 *
 * prints a row per iteration and the energy.  Nearly all tasks are null, and
 * only running a task tells: the first iteration gets rid of millions of them,
 * the later ones start from what is left.  --compare runs the same with several
 * ways to balance; --count runs all tasks of a chain as long as the paper's
 * without doing their work, and --record writes how long they would take.
 * ../common/job.c is where the work is handed out.
 */
#include "arguments.h"
#include "count.h"
#include "guess.h"
#include "scf/problem.h"

#include <math.h>

const char program_name[] = "hf_be";

static void print_head(const struct arguments *arguments)
{
    if (is_first_rank())
        printf("Be%d, %g bohr apart: %d functions in tiles of %d, screening "
               "%g\n",
               arguments->atoms, arguments->spacing,
               arguments->atoms * CHAIN_ATOM_FUNCTIONS, arguments->fock.width,
               arguments->fock.screen);
}

static void print_columns(const struct job *job)
{
    printf("%lld tasks, %d workers, steals per worker\n\n",
           (long long)job->total, job_workers(job));
    printf("%4s %18s %9s %9s %10s %10s %13s %7s %9s %9s\n", "", "energy",
           "density", "Fock", "", "null", "", "effi-", "", "");
    printf("%4s %18s %9s %9s %10s %10s %13s %7s %9s %9s\n", "it", "hartree",
           "change", "s", "tasks", "tasks", "integrals", "ciency", "tries",
           "steals");
}

static void print_row(const struct scf_row *row, void *context)
{
    const struct figures *figures = &row->fock.figures;
    (void)context;
    printf("%4d %18.10f %9.1e %9.4f %10lld %10lld %13lld %6.1f%% %9.1f %9.1f\n",
           row->iteration, row->energy, row->change, row->fock.seconds,
           (long long)figures->tasks, (long long)figures->null_tasks,
           (long long)row->fock.integrals, 100 * figures->efficiency,
           figures->tries, figures->steals);
    fflush(stdout);
}

static int run_scf(const struct arguments *arguments)
{
    struct message message;
    struct system system;
    int status;
    bool is_good = system_make(arguments->atoms, arguments->spacing,
                               is_first_rank(), &system);
    const struct problem problem = {.system = &system,
                                    .scf_system = &system.scf,
                                    .fock_options = &arguments->fock,
                                    .storage = &arguments->shared.storage,
                                    .error_max = INFINITY,
                                    .change_max = arguments->converge,
                                    .print_head = print_columns,
                                    .print_row = print_row};
    if (!is_good)
        message_set(&message, "LAPACK failed on the overlap matrix");
    else if (is_first_rank())
        is_good = guess_make(&system, &message);
    if (!first_rank_says(is_good, &message))
        status = complain(&message, EXIT_FAILED);
    else
        status = problem_run(&problem, &arguments->shared.modes);
    system_free(&system);
    return status;
}

static int run_count(const struct arguments *arguments)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = arguments->shared.modes.mode,
                                    .record = arguments->shared.modes.record};
    struct chain chain;
    chain_make(arguments->atoms, arguments->spacing, &chain);
    int status =
        count_tasks(&setup, &chain, &arguments->fock, &arguments->cost);
    chain_free(&chain);
    return status;
}

static int run(void *context)
{
    const struct arguments *arguments = context;
    algebra_start();
    print_head(arguments);
    return arguments->has_count ? run_count(arguments) : run_scf(arguments);
}

int main(int argc, char **argv)
{
    struct arguments arguments = arguments_default;
    return command_line_main(&arguments_line, argc, argv, &arguments, run);
}
