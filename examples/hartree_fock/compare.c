/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <math.h>

/* Rounding of sums in another order stays far below, hartree. */
#define ENERGY_DIFFERENCE_MAX 1e-10

/* What the iterations of one scheme took. */
struct tally {
    enum scheme scheme;
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

static void print_head(const struct fock *fock)
{
    printf("%lld tasks, %d workers\n\n", (long long)fock_tasks(fock),
           fock_workers(fock));
    printf("%-12s %8s %8s %8s %6s %8s %17s %17s %7s  %s\n", "", "it 1", "it 2",
           "it >= 2", "effi-", "tasks", "steals it 1", "steals last", "speed",
           "energy");
    printf("%-12s %8s %8s %8s %6s %8s %17s %17s %7s  %s\n", "scheme", "s", "s",
           "mean s", "ciency", "last it", "tried/successful",
           "tried/successful", "/static", "hartree");
}

static void print_tally(const struct tally *tally, const struct tally *base)
{
    double mean = later_mean(tally, tally->later_s);
    printf("%-12s %8.4f %8.4f %8.4f %5.1f%% %8lld %9.1f/%7.1f %9.1f/%7.1f "
           "%7.2f  %.10f\n",
           scheme_name(tally->scheme), tally->first_s, tally->second_s, mean,
           100 * later_mean(tally, tally->later_efficiency),
           (long long)tally->tasks_last, tally->attempted_first,
           tally->successful_first, tally->attempted_last,
           tally->successful_last, later_mean(base, base->later_s) / mean,
           tally->result.energy);
    fflush(stdout);
}

static bool run_scheme(MPI_Comm comm, const struct system *system,
                       const struct fock_options *options,
                       const struct scf_options *scf, struct tally *tally,
                       struct message *message)
{
    struct fock *fock;
    if (fock_create(comm, system, options, &fock) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && options->scheme == SCHEME_STATIC)
        print_head(fock);
    bool is_good = scf_run(comm, system, fock, scf, &tally->result, message);
    fock_destroy(&fock);
    return is_good;
}

static bool check_energies(const struct tally *tally, struct message *message)
{
    for (int s = 1; s < SCHEMES; s++) {
        double difference = tally[s].result.energy - tally[0].result.energy;
        if (!(fabs(difference) <= ENERGY_DIFFERENCE_MAX))
            return message_set(message,
                               "%s and %s differ by %.1e hartree; at most "
                               "%.0e is rounding",
                               scheme_name(tally[s].scheme),
                               scheme_name(tally[0].scheme), difference,
                               ENERGY_DIFFERENCE_MAX);
    }
    return true;
}

bool compare_schemes(MPI_Comm comm, const struct system *system,
                     const struct arguments *arguments, struct message *message)
{
    struct tally tally[SCHEMES] = {0};
    int rank, iterations = arguments->iterations;
    MPI_Comm_rank(comm, &rank);
    for (int s = 0; s < SCHEMES; s++) {
        struct fock_options options = arguments->fock;
        options.scheme = tally[s].scheme = (enum scheme)s;
        options.ignore_environment = true;
        struct scf_options scf = {iterations, s > 0, add_row, &tally[s]};
        if (!run_scheme(comm, system, &options, &scf, &tally[s], message))
            return false;
        iterations = tally[s].result.iterations;
        if (rank == 0)
            print_tally(&tally[s], &tally[0]);
    }
    if (rank == 0)
        printf("\n%d iterations each; seconds of Fock builds, steals per "
               "worker\nenergy %.10f hartree%s\n",
               iterations, tally[0].result.energy,
               tally[0].result.is_converged ? "" : " (not converged)");
    return check_energies(tally, message);
}
