/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include "common/tally.h"

#include <math.h>

/* Rounding of sums in another order stays far below, hartree. */
#define ENERGY_DIFFERENCE_MAX 1e-10

/* What one scheme came to. */
struct outcome {
    enum scheme scheme;
    struct tally tally;
    struct scf_result result;
};

static void add_row(const struct scf_row *row, void *context)
{
    tally_add(context, row->iteration, row->fock.seconds, &row->fock.process);
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

static void print_outcome(const struct outcome *outcome,
                          const struct outcome *base)
{
    double mean = tally_mean(&outcome->tally, outcome->tally.later_s);
    printf("%-12s %8.4f %8.4f %8.4f %5.1f%% %8lld %9.1f/%7.1f %9.1f/%7.1f "
           "%7.2f  %.10f\n",
           scheme_name(outcome->scheme), outcome->tally.first_s,
           outcome->tally.second_s, mean,
           100 * tally_mean(&outcome->tally, outcome->tally.later_efficiency),
           (long long)outcome->tally.tasks_last, outcome->tally.attempted_first,
           outcome->tally.successful_first, outcome->tally.attempted_last,
           outcome->tally.successful_last,
           tally_mean(&base->tally, base->tally.later_s) / mean,
           outcome->result.energy);
    fflush(stdout);
}

static bool run_scheme(MPI_Comm comm, const struct system *system,
                       const struct fock_options *options,
                       const struct scf_options *scf, struct outcome *outcome,
                       struct message *message)
{
    struct fock *fock;
    if (fock_create(comm, system, options, &fock) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && options->scheme == SCHEME_STATIC)
        print_head(fock);
    bool is_good = scf_run(comm, system, fock, scf, &outcome->result, message);
    fock_destroy(&fock);
    return is_good;
}

static bool check_energies(const struct outcome *outcomes,
                           struct message *message)
{
    for (int s = 1; s < SCHEMES; s++) {
        double difference =
            outcomes[s].result.energy - outcomes[0].result.energy;
        if (!(fabs(difference) <= ENERGY_DIFFERENCE_MAX))
            return message_set(message,
                               "%s and %s differ by %.1e hartree; at most "
                               "%.0e is rounding",
                               scheme_name(outcomes[s].scheme),
                               scheme_name(outcomes[0].scheme), difference,
                               ENERGY_DIFFERENCE_MAX);
    }
    return true;
}

bool compare_schemes(MPI_Comm comm, const struct system *system,
                     const struct arguments *arguments, struct message *message)
{
    struct outcome outcomes[SCHEMES] = {0};
    int rank, iterations = arguments->iterations;
    MPI_Comm_rank(comm, &rank);
    for (int s = 0; s < SCHEMES; s++) {
        struct fock_options options = arguments->fock;
        options.scheme = outcomes[s].scheme = (enum scheme)s;
        options.ignore_environment = true;
        struct scf_options scf = {iterations, s > 0, add_row,
                                  &outcomes[s].tally};
        if (!run_scheme(comm, system, &options, &scf, &outcomes[s], message))
            return false;
        iterations = outcomes[s].result.iterations;
        if (rank == 0)
            print_outcome(&outcomes[s], &outcomes[0]);
    }
    if (rank == 0)
        printf("\n%d iterations each; seconds of Fock builds, steals per "
               "worker\nenergy %.10f hartree%s\n",
               iterations, outcomes[0].result.energy,
               outcomes[0].result.is_converged ? "" : " (not converged)");
    return check_energies(outcomes, message);
}
