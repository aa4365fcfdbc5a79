/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of sums in another order stays far below, hartree. */
#define ENERGY_DIFFERENCE_MAX 1e-10

/* What the iterations of one mode took. */
struct tally {
    const struct mode *mode;
    double first_s, second_s; /* Fock build of iterations 1 and 2 */
    double later_s;           /* sums over iterations 2 and more */
    double later_efficiency;
    int later;
    double attempted_first, successful_first; /* steals per worker */
    double attempted_last, successful_last;
    int64_t tasks_last;
    struct scf_result result;
};

static void add_row(const struct scf_row *row, void *context)
{
    struct tally *tally = context;
    const ek_process_report *process = &row->fock.process;
    if (row->iteration == 1) {
        tally->first_s = row->fock.seconds;
        tally->attempted_first = process->attempted_mean;
        tally->successful_first = process->successful_mean;
    } else {
        if (row->iteration == 2)
            tally->second_s = row->fock.seconds;
        tally->later_s += row->fock.seconds;
        tally->later_efficiency += process->efficiency;
        tally->later++;
    }
    tally->attempted_last = process->attempted_mean;
    tally->successful_last = process->successful_mean;
    tally->tasks_last = process->tasks;
}

static double later_mean(const struct tally *tally, double sum)
{
    return tally->later > 0 ? sum / tally->later : NAN;
}

/* Characters of the longest name. */
static int name_width(void)
{
    size_t width = 0;
    for (int i = 0; i < compared_count; i++) {
        size_t length = strlen(compared_modes[i].name);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_head(const struct fock *fock)
{
    int width = name_width();
    printf("%lld tasks, %d workers\n\n", (long long)fock_tasks(fock),
           fock_workers(fock));
    printf("%-*s %8s %8s %8s %6s %9s %17s %17s %7s  %s\n", width, "", "it 1",
           "it 2", "it >= 2", "effi-", "tasks", "steals it 1", "steals last",
           "speed", "energy");
    printf("%-*s %8s %8s %8s %6s %9s %17s %17s %7s  %s\n", width, "mode", "s",
           "s", "mean s", "ciency", "last it", "tried/successful",
           "tried/successful", "/static", "hartree");
}

static void print_tally(const struct tally *tally, const struct tally *base)
{
    double mean = later_mean(tally, tally->later_s);
    printf("%-*s %8.4f %8.4f %8.4f %5.1f%% %9lld %9.1f/%7.1f %9.1f/%7.1f "
           "%7.2f  %.10f\n",
           name_width(), tally->mode->name, tally->first_s, tally->second_s,
           mean, 100 * later_mean(tally, tally->later_efficiency),
           (long long)tally->tasks_last, tally->attempted_first,
           tally->successful_first, tally->attempted_last,
           tally->successful_last, later_mean(base, base->later_s) / mean,
           tally->result.energy);
    fflush(stdout);
}

static bool run_mode(MPI_Comm comm, const struct system *system,
                     const struct fock_options *options,
                     const struct scf_options *scf, struct tally *tally,
                     struct message *message)
{
    struct fock *fock;
    if (fock_create(comm, &system->chain, options, &fock) != EK_OK)
        return message_set(message, "%s: %s", options->mode.name,
                           ek_error_message());
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && tally->mode == compared_modes)
        print_head(fock);
    size_t n = (size_t)system->chain.functions;
    double *density = allocate(n * n, sizeof(double));
    memcpy(density, system->guess, n * n * sizeof(double));
    bool is_good =
        scf_run(comm, system, fock, scf, density, &tally->result, message);
    free(density);
    fock_destroy(&fock);
    return is_good;
}

static bool check_energy(const struct tally *tally, const struct tally *base,
                         struct message *message)
{
    double difference = tally->result.energy - base->result.energy;
    if (fabs(difference) <= ENERGY_DIFFERENCE_MAX)
        return true;
    return message_set(message,
                       "%s and %s differ by %.1e hartree; at most %.0e is "
                       "rounding",
                       tally->mode->name, base->mode->name, difference,
                       ENERGY_DIFFERENCE_MAX);
}

/* Run the modes one after the other; the first says how many iterations. */
static bool run_modes(MPI_Comm comm, const struct system *system,
                      const struct arguments *arguments, struct tally *tally,
                      struct message *message)
{
    int rank, iterations = arguments->iterations;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < compared_count; i++) {
        struct fock_options options = arguments->fock;
        struct scf_options scf = {iterations, arguments->converge, i > 0,
                                  add_row, &tally[i]};
        tally[i].mode = &compared_modes[i];
        options.mode = compared_modes[i];
        options.ignore_environment = true;
        if (!run_mode(comm, system, &options, &scf, &tally[i], message))
            return false;
        iterations = tally[i].result.iterations;
        if (rank == 0)
            print_tally(&tally[i], &tally[0]);
        if (!check_energy(&tally[i], &tally[0], message))
            return false;
    }
    if (rank == 0)
        printf("\n%d iterations each; seconds of Fock builds, steals per "
               "worker\nenergy %.10f hartree%s\n",
               iterations, tally[0].result.energy,
               tally[0].result.is_converged ? "" : " (not converged)");
    return true;
}

bool compare_modes(MPI_Comm comm, const struct system *system,
                   const struct arguments *arguments, struct message *message)
{
    struct tally *tally = allocate((size_t)compared_count, sizeof *tally);
    bool is_good = run_modes(comm, system, arguments, tally, message);
    free(tally);
    return is_good;
}
