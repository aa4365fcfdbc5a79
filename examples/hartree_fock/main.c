/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hartree-Fock on a real molecule, balanced by Evenkeel.
 *
 *     mpirun -n 2 hartree_fock --xyz data/water05.xyz --basis data/6-31gs.g94
 *
 * prints a row per iteration and the energy.  The rows show what Evenkeel is
 * for: the first iteration finds out which tasks matter and how long they take,
 * the later ones start with a good distribution and hardly steal.  --compare
 * runs the same with several ways to balance.  ../common/job.c is where the
 * work is handed out, repulsion.c what a task does.
 */
#include "arguments.h"
#include "scf/problem.h"

#include <math.h>

const char program_name[] = "hartree_fock";

/* The field is self-consistent when the DIIS error is below. */
#define SCF_ERROR_MAX 1e-8

static void print_head(const struct arguments *arguments,
                       const struct system *system)
{
    if (!is_first_rank())
        return;
    printf("%s in %s: %d functions, %d electrons\n", arguments->input.xyz_path,
           arguments->input.basis_path, system->basis.functions,
           2 * system->scf.occupied);
}

static void print_row(const struct scf_row *row, void *context)
{
    const struct figures *figures = &row->fock.figures;
    (void)context;
    printf("%4d %18.10f %9.1e %9.4f %9lld %9lld %6.1f%% %9.1f %9.1f\n",
           row->iteration, row->energy, row->error, row->fock.seconds,
           (long long)figures->tasks, (long long)figures->null_tasks,
           100 * figures->efficiency, figures->tries, figures->steals);
    fflush(stdout);
}

static void print_columns(const struct job *job)
{
    printf("%lld tasks, %d workers, steals per worker\n\n",
           (long long)job->total, job_workers(job));
    printf("%4s %18s %9s %9s %9s %9s %7s %9s %9s\n", "", "energy", "DIIS",
           "Fock", "", "null", "effi-", "", "");
    printf("%4s %18s %9s %9s %9s %9s %7s %9s %9s\n", "it", "hartree", "error",
           "s", "tasks", "tasks", "ciency", "tries", "steals");
}

static int run(void *context)
{
    const struct arguments *arguments = context;
    struct message message;
    struct system system;
    int status;
    const struct problem problem = {.system = &system,
                                    .scf_system = &system.scf,
                                    .fock_options = &arguments->fock,
                                    .storage = &arguments->shared.storage,
                                    .error_max = SCF_ERROR_MAX,
                                    .change_max = INFINITY,
                                    .print_head = print_columns,
                                    .print_row = print_row};
    algebra_start();
    integrals_start();
    if (system_load(MPI_COMM_WORLD, &arguments->input, &system, &message)) {
        print_head(arguments, &system);
        status = problem_run(&problem, &arguments->shared.modes);
    } else {
        status = complain(&message, EXIT_BAD_INPUT);
    }
    system_free(&system);
    integrals_stop();
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = arguments_default;
    return command_line_main(&arguments_line, argc, argv, &arguments, run);
}
