/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include "common/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of sums in another order stays far below, hartree. */
#define ENERGY_DIFFERENCE_MAX 1e-10

/* What one mode came to. */
struct outcome {
    const struct mode *mode;
    struct tally tally;
    struct scf_result result;
};

static void add_row(const struct scf_row *row, void *context)
{
    tally_add(context, row->iteration, row->fock.seconds, &row->fock.process);
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

static void print_outcome(const struct outcome *outcome,
                          const struct outcome *base)
{
    double mean = tally_mean(&outcome->tally, outcome->tally.later_s);
    printf("%-*s %8.4f %8.4f %8.4f %5.1f%% %9lld %9.1f/%7.1f %9.1f/%7.1f "
           "%7.2f  %.10f\n",
           name_width(), outcome->mode->name, outcome->tally.first_s,
           outcome->tally.second_s, mean,
           100 * tally_mean(&outcome->tally, outcome->tally.later_efficiency),
           (long long)outcome->tally.tasks_last, outcome->tally.attempted_first,
           outcome->tally.successful_first, outcome->tally.attempted_last,
           outcome->tally.successful_last,
           tally_mean(&base->tally, base->tally.later_s) / mean,
           outcome->result.energy);
    fflush(stdout);
}

static bool run_mode(MPI_Comm comm, const struct system *system,
                     const struct fock_options *options,
                     const struct scf_options *scf, struct outcome *outcome,
                     struct message *message)
{
    struct fock *fock;
    if (fock_create(comm, &system->chain, options, &fock) != EK_OK)
        return message_set(message, "%s: %s", options->mode.name,
                           ek_error_message());
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && outcome->mode == compared_modes)
        print_head(fock);
    size_t n = (size_t)system->chain.functions;
    double *density = allocate(n * n, sizeof(double));
    memcpy(density, system->guess, n * n * sizeof(double));
    bool is_good =
        scf_run(comm, system, fock, scf, density, &outcome->result, message);
    free(density);
    fock_destroy(&fock);
    return is_good;
}

static bool check_energy(const struct outcome *outcome,
                         const struct outcome *base, struct message *message)
{
    double difference = outcome->result.energy - base->result.energy;
    if (fabs(difference) <= ENERGY_DIFFERENCE_MAX)
        return true;
    return message_set(message,
                       "%s and %s differ by %.1e hartree; at most %.0e is "
                       "rounding",
                       outcome->mode->name, base->mode->name, difference,
                       ENERGY_DIFFERENCE_MAX);
}

/* Run the modes one after the other; the first says how many iterations. */
static bool run_modes(MPI_Comm comm, const struct system *system,
                      const struct arguments *arguments,
                      struct outcome *outcomes, struct message *message)
{
    int rank, iterations = arguments->iterations;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < compared_count; i++) {
        struct fock_options options = arguments->fock;
        struct scf_options scf = {iterations, arguments->converge, i > 0,
                                  add_row, &outcomes[i].tally};
        outcomes[i].mode = &compared_modes[i];
        options.mode = compared_modes[i];
        options.ignore_environment = true;
        if (!run_mode(comm, system, &options, &scf, &outcomes[i], message))
            return false;
        iterations = outcomes[i].result.iterations;
        if (rank == 0)
            print_outcome(&outcomes[i], &outcomes[0]);
        if (!check_energy(&outcomes[i], &outcomes[0], message))
            return false;
    }
    if (rank == 0)
        printf("\n%d iterations each; seconds of Fock builds, steals per "
               "worker\nenergy %.10f hartree%s\n",
               iterations, outcomes[0].result.energy,
               outcomes[0].result.is_converged ? "" : " (not converged)");
    return true;
}

bool compare_modes(MPI_Comm comm, const struct system *system,
                   const struct arguments *arguments, struct message *message)
{
    struct outcome *outcomes =
        allocate((size_t)compared_count, sizeof *outcomes);
    bool is_good = run_modes(comm, system, arguments, outcomes, message);
    free(outcomes);
    return is_good;
}
