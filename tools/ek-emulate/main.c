/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment in which threads wait cheaply, MPI, and the modes to run. */
#define _GNU_SOURCE
#include "emulate.h"

#include "team/team.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

const char program_name[] = "ek-emulate";

/*
 * Threads that wait must not take the cores of tasks that end.  OpenMP reads
 * its variables before main(), so the program starts again, once.
 */
static void start_passive(char **argv)
{
    if (getenv("OMP_WAIT_POLICY"))
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
    fprintf(stderr,
            "%s: could not start again with OMP_WAIT_POLICY=passive: set it, "
            "or idle threads take the cores\n",
            program_name);
}

/* Variables that would make all modes the same. */
static void clear_environment(const struct arguments *arguments)
{
    unsetenv("EVENKEEL_WORKERS");
    if (!arguments->shared.has_compare)
        return;
    unsetenv("EVENKEEL_RESTORE");
    unsetenv("EVENKEEL_STEAL");
}

static int run_mode(const struct run *run, const struct mode *mode, int round,
                    struct row *rows, bool is_first, struct message *message)
{
    int exit_status = emulate(run, mode, round, rows, message);
    if (exit_status == EXIT_GOOD && run->rank == 0)
        print_mode(run, rows, round, is_first);
    return exit_status;
}

static int run_chosen(const struct run *run, struct message *message)
{
    const struct run_arguments *shared = &run->arguments->shared;
    struct mode mode = {
        .name = "emulate", .restore = shared->policy, .steal = shared->steal};
    struct row *rows =
        allocate((size_t)run->arguments->iterations, sizeof *rows);
    int exit_status = run_mode(run, &mode, 0, rows, true, message);
    free(rows);
    return exit_status;
}

/* Each mode once; ROWS [modes][rounds][iterations]. */
static int run_round(const struct run *run, int round, struct row *rows,
                     struct message *message)
{
    const struct mode_list *compared = &run->arguments->shared.compared;
    int iterations = run->arguments->iterations;
    int rounds = run->arguments->rounds;
    int exit_status = EXIT_GOOD;
    bool is_first = true;
    for (int i = 0; exit_status == EXIT_GOOD && i < compared->count; i++) {
        const struct mode *mode = &compared->modes[i];
        struct row *all = rows + (ptrdiff_t)i * rounds * iterations;
        /* Without null tasks it would be another mode again; a range has no
         * data here. */
        if (mode->has_nulls &&
            (run->workload->nulls == 0 || run->workload->input_bytes ||
             workload_spawns(run->workload)))
            continue;
        exit_status =
            run_mode(run, mode, round, all + (ptrdiff_t)round * iterations,
                     round == 0 && is_first, message);
        if (exit_status == EXIT_GOOD && run->rank == 0 && round == rounds - 1)
            print_compared(run, all, is_first);
        is_first = false;
    }
    return exit_status;
}

static int run_compared(const struct run *run, struct message *message)
{
    size_t count = (size_t)run->arguments->shared.compared.count *
                   (size_t)run->arguments->rounds *
                   (size_t)run->arguments->iterations;
    struct row *rows = allocate(count, sizeof *rows);
    int exit_status = EXIT_GOOD;
    for (int round = 0;
         exit_status == EXIT_GOOD && round < run->arguments->rounds; round++)
        exit_status = run_round(run, round, rows, message);
    if (exit_status == EXIT_GOOD && run->rank == 0)
        print_verdict(run);
    free(rows);
    return exit_status;
}

static int run_modes(const struct run *run, struct message *message)
{
    if (run->rank == 0)
        print_head(run);
    return run->arguments->shared.has_compare ? run_compared(run, message)
                                              : run_chosen(run, message);
}

static int run_workload(struct run *run, struct message *message)
{
    run->start = start_find(run->arguments, run->workload,
                            run->ranks * run->arguments->workers, message);
    return run->start ? run_modes(run, message) : EXIT_BAD_INPUT;
}

/* Whether all ranks could read or draw their tasks. */
static bool make_workload(const struct run *run, struct message *message)
{
    int is_good =
        workload_make(&run->arguments->shared.source, run->workload, message);
    MPI_Allreduce(MPI_IN_PLACE, &is_good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return is_good;
}

static int run_arguments(const struct arguments *arguments,
                         struct message *message)
{
    struct workload workload;
    struct eki_affinity affinity;
    eki_affinity_look(&affinity);
    struct compared compared = {0};
    struct eki_verdict_run verdict = {0};
    struct run run = {.arguments = arguments,
                      .workload = &workload,
                      .compared = &compared,
                      .verdict = &verdict,
                      .cpus = affinity.cpus};
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    clear_environment(arguments);
    int exit_status = make_workload(&run, message) ? run_workload(&run, message)
                                                   : EXIT_BAD_INPUT;
    workload_free(&workload);
    return exit_status;
}

/* Of the ranks that have something to say, the first does. */
static void complain_once(const struct message *message)
{
    int rank, first;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &first);
    if (message->text[0])
        first = rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == first)
        fprintf(stderr, "%s: %s\n", program_name, message->text);
}

int main(int argc, char **argv)
{
    struct arguments arguments = arguments_default;
    struct message message = {""};
    int provided, exit_status = EXIT_GOOD;
    if (command_line_answer(&arguments_line, argv))
        return end_output(EXIT_GOOD);
    start_passive(argv);
    /* For waits of ranks, where MPI is Open MPI. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    /* Sleeps would end up to 50 us late by default; OpenMP's threads inherit
     * it. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (!command_line_parse(&arguments_line, argv, &arguments, &message))
        exit_status = EXIT_BAD_INPUT;
    else
        exit_status = run_arguments(&arguments, &message);
    command_line_release(&arguments_line, &arguments);
    if (exit_status != EXIT_GOOD)
        complain_once(&message);
    MPI_Finalize();
    return end_output(exit_status);
}
