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
 * without doing their work.  job.c is where the work is handed out.
 */
#include "arguments.h"
#include "compare.h"
#include "count.h"
#include "scf.h"

const char program_name[] = "hf_be";

enum exit_status {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,
    EXIT_BAD_INPUT = 2
};

static bool is_first_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

static int complain(const struct message *message, int status)
{
    if (is_first_rank())
        fprintf(stderr, "%s: %s\n", program_name, message->text);
    return status;
}

/* What Evenkeel could not do; a bad policy is bad input. */
static int complain_status(ek_status status)
{
    struct message message;
    message_set(&message, "%s", ek_error_message());
    return complain(&message,
                    status == EK_ERR_ARG ? EXIT_BAD_INPUT : EXIT_FAILED);
}

static void print_head(const struct arguments *arguments)
{
    if (is_first_rank())
        printf("Be%d, %g bohr apart: %d functions in tiles of %d, screening "
               "%g\n",
               arguments->atoms, arguments->spacing,
               arguments->atoms * CHAIN_ATOM_FUNCTIONS, arguments->fock.width,
               arguments->fock.screen);
}

static void print_columns(const struct fock *fock)
{
    if (!is_first_rank())
        return;
    printf("%lld tasks, %d workers, steals per worker\n\n",
           (long long)fock_tasks(fock), fock_workers(fock));
    printf("%4s %18s %9s %9s %10s %10s %13s %7s %9s %9s\n", "", "energy",
           "density", "Fock", "", "null", "", "effi-", "steals", "steals");
    printf("%4s %18s %9s %9s %10s %10s %13s %7s %9s %9s\n", "it", "hartree",
           "change", "s", "tasks", "tasks", "integrals", "ciency", "tried",
           "success");
}

static void print_row(const struct scf_row *row, void *context)
{
    const ek_process_report *process = &row->fock.process;
    (void)context;
    if (!is_first_rank())
        return;
    printf("%4d %18.10f %9.1e %9.4f %10lld %10lld %13lld %6.1f%% %9.1f %9.1f\n",
           row->iteration, row->energy, row->change, row->fock.seconds,
           (long long)process->tasks, (long long)process->null_tasks,
           (long long)row->fock.integrals, 100 * process->efficiency,
           process->attempted_mean, process->successful_mean);
    fflush(stdout);
}

static int print_result(const struct scf_result *result)
{
    if (is_first_rank())
        printf("\nenergy %.10f hartree%s\n", result->energy,
               result->is_converged ? "" : " (not converged)");
    return result->is_converged ? EXIT_GOOD : EXIT_FAILED;
}

/* One mode, with a row per iteration. */
static int run_ordinary(const struct arguments *arguments,
                        struct system *system)
{
    struct message message;
    struct scf_options options = {.iterations = arguments->iterations,
                                  .converge = arguments->converge,
                                  .row = print_row};
    struct scf_result result;
    struct fock *fock;
    ek_status status =
        fock_create(MPI_COMM_WORLD, &system->chain, &arguments->fock, &fock);
    if (status != EK_OK)
        return complain_status(status);
    print_columns(fock);
    bool is_good = scf_run(MPI_COMM_WORLD, system, fock, &options,
                           system->guess, &result, &message);
    fock_destroy(&fock);
    return is_good ? print_result(&result) : complain(&message, EXIT_FAILED);
}

static int run_compare(const struct arguments *arguments,
                       const struct system *system)
{
    struct message message;
    if (!compare_modes(MPI_COMM_WORLD, system, arguments, &message))
        return complain(&message, EXIT_FAILED);
    return EXIT_GOOD;
}

static int run_scf(const struct arguments *arguments)
{
    struct message message;
    struct system system;
    int status;
    bool is_made = system_make(arguments->atoms, arguments->spacing, &system);
    if (!is_made)
        message_set(&message, "LAPACK failed on the overlap matrix");
    if (!is_made || !scf_guess(&system, &message))
        status = complain(&message, EXIT_FAILED);
    else if (arguments->has_compare)
        status = run_compare(arguments, &system);
    else
        status = run_ordinary(arguments, &system);
    system_free(&system);
    return status;
}

static int run_count(const struct arguments *arguments)
{
    struct chain chain;
    struct count count;
    chain_make(arguments->atoms, arguments->spacing, &chain);
    ek_status status =
        count_tasks(MPI_COMM_WORLD, &chain, &arguments->fock, &count);
    chain_free(&chain);
    if (status != EK_OK)
        return complain_status(status);
    if (is_first_rank())
        printf("%lld tasks, %lld non-null, %d workers, %.2e tasks/s per "
               "worker\n",
               (long long)count.tasks, (long long)count.non_null, count.workers,
               count.rate);
    return EXIT_GOOD;
}

static int run(const struct arguments *arguments)
{
    print_head(arguments);
    return arguments->has_count ? run_count(arguments) : run_scf(arguments);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct message message;
    int provided, status = EXIT_GOOD;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    algebra_start();
    if (!arguments_parse(argv, &arguments, &message))
        status = complain(&message, EXIT_BAD_INPUT);
    else if (!arguments.has_help)
        status = run(&arguments);
    else if (is_first_rank())
        arguments_help(stdout);
    MPI_Finalize();
    return status;
}
