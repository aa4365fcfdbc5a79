/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hartree-Fock on a real molecule, balanced by Evenkeel.
 *
 *     mpirun -n 2 hartree_fock --xyz data/water05.xyz --basis data/6-31gs.g94
 *
 * prints a row per iteration and the energy.  The rows show what Evenkeel is
 * for: the first iteration finds out which tasks matter and how long they take,
 * the later ones start with a good distribution and hardly steal.  --compare
 * runs the same with a static distribution, a shared counter, and three ways of
 * stealing.  fock.c is where the work is handed out.
 */
#include "arguments.h"
#include "compare.h"
#include "scf.h"

const char program_name[] = "hartree_fock";

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

static void print_head(const struct arguments *arguments,
                       const struct system *system)
{
    if (!is_first_rank())
        return;
    printf("%s in %s: %d functions, %d electrons\n", arguments->input.xyz_path,
           arguments->input.basis_path, system->basis.functions,
           2 * system->occupied);
}

static void print_row(const struct scf_row *row, void *context)
{
    const ek_process_report *process = &row->fock.process;
    (void)context;
    if (!is_first_rank())
        return;
    printf("%4d %18.10f %9.1e %9.4f %9lld %9lld %6.1f%% %9.1f %9.1f\n",
           row->iteration, row->energy, row->error, row->fock.seconds,
           (long long)process->tasks, (long long)process->null_tasks,
           100 * process->efficiency, process->attempted_mean,
           process->successful_mean);
    fflush(stdout);
}

static void print_columns(const struct fock *fock)
{
    if (!is_first_rank())
        return;
    printf("%lld tasks, %d workers, %s\n\n", (long long)fock_tasks(fock),
           fock_workers(fock), "steals per worker");
    printf("%4s %18s %9s %9s %9s %9s %7s %9s %9s\n", "", "energy", "DIIS",
           "Fock", "", "null", "effi-", "steals", "steals");
    printf("%4s %18s %9s %9s %9s %9s %7s %9s %9s\n", "it", "hartree", "error",
           "s", "tasks", "tasks", "ciency", "tried", "success");
}

/* One scheme, with a row per iteration. */
static int run_ordinary(const struct arguments *arguments,
                        const struct system *system)
{
    struct message message;
    struct scf_options options = {arguments->iterations, false, print_row,
                                  NULL};
    struct scf_result result;
    struct fock *fock;
    ek_status status =
        fock_create(MPI_COMM_WORLD, system, &arguments->fock, &fock);
    if (status != EK_OK) {
        message_set(&message, "%s", ek_error_message());
        return complain(&message,
                        status == EK_ERR_ARG ? EXIT_BAD_INPUT : EXIT_FAILED);
    }
    print_columns(fock);
    bool is_good =
        scf_run(MPI_COMM_WORLD, system, fock, &options, &result, &message);
    fock_destroy(&fock);
    if (!is_good)
        return complain(&message, EXIT_FAILED);
    if (is_first_rank()) {
        printf("\nenergy %.10f hartree%s\n", result.energy,
               result.is_converged ? "" : " (not converged)");
        fflush(stdout);
    }
    return result.is_converged ? EXIT_GOOD : EXIT_FAILED;
}

static int run_compare(const struct arguments *arguments,
                       const struct system *system)
{
    struct message message;
    if (!compare_schemes(MPI_COMM_WORLD, system, arguments, &message))
        return complain(&message, EXIT_FAILED);
    return EXIT_GOOD;
}

static int run(const struct arguments *arguments)
{
    struct message message;
    struct system system;
    int status;
    if (system_load(MPI_COMM_WORLD, &arguments->input, &system, &message)) {
        print_head(arguments, &system);
        status = arguments->has_compare ? run_compare(arguments, &system)
                                        : run_ordinary(arguments, &system);
    } else {
        status = complain(&message, EXIT_BAD_INPUT);
    }
    system_free(&system);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct message message;
    int provided, status = EXIT_GOOD;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    algebra_start();
    integrals_start();
    if (!arguments_parse(argv, &arguments, &message))
        status = complain(&message, EXIT_BAD_INPUT);
    else if (!arguments.has_help)
        status = run(&arguments);
    else if (is_first_rank())
        arguments_help(stdout);
    integrals_stop();
    MPI_Finalize();
    return status;
}
