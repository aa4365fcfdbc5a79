/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "common/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Characters of operations per second, with a blank. */
#define RATE_WIDTH 9

static int peers_of(const struct comparison *comparison)
{
    int count = 0;
    while (comparison->peers && comparison->peers[count].run)
        count++;
    return count;
}

/* Of a row: modes come first. */
static const char *name_of(const struct comparison *comparison, int row)
{
    int modes = comparison->modes->count;
    return row < modes ? comparison->modes->modes[row].name
                       : comparison->peers[row - modes].name;
}

/* Characters of the longest name. */
static int name_width(const struct comparison *comparison)
{
    size_t width = 0;
    for (int i = 0; i < comparison->modes->count + peers_of(comparison); i++) {
        size_t length = strlen(name_of(comparison, i));
        width = length > width ? length : width;
    }
    return (int)width;
}

void trial_begin(struct trial *trial, const struct job *job)
{
    static const char titles[] =
        "%-*s %8s %8s %15s %7s%*s %7s %7s %8s %9s %17s %17s  %s\n";
    if (!trial->is_first || !is_first_rank())
        return;
    int rate = trial->comparison->operations > 0 ? RATE_WIDTH : 0;
    printf("%lld tasks, %d workers\n\n", (long long)job->total,
           job_workers(job));
    printf(titles, name_width(trial->comparison), "", "it 1", "it >= 2",
           "least-most", "faster", rate, "", "effi-", "", "cpu per", "tasks",
           "steals it 1", "steals last", trial->comparison->quantity);
    printf(titles, name_width(trial->comparison), "mode", "s", "median s", "s",
           "x first", rate, rate > 0 ? "GF/s" : "", "ciency", "speed",
           "worker s", "last it", "tries/steals", "tries/steals",
           trial->comparison->unit);
}

void trial_add(struct trial *trial, double seconds,
               const struct figures *figures)
{
    struct samples *samples = trial->samples;
    if (trial->done++ == 0) {
        samples->first_s[trial->round] = seconds;
        samples->first = *figures;
    } else {
        samples->later_s[samples->later++] = seconds;
        figures_add(figures, &samples->sums);
    }
    samples->last = *figures;
}

void trial_end(struct trial *trial, double value, bool is_converged)
{
    trial->value = value;
    trial->is_converged = is_converged;
}

static int compare_numbers(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* The median of @p values, which are sorted; NaN: there are none. */
static double median(double *values, int count)
{
    if (count == 0)
        return NAN;
    qsort(values, (size_t)count, sizeof *values, compare_numbers);
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

/* The part of a row that modes and peers have. */
static void print_times(const struct comparison *comparison, int row,
                        const struct samples *samples, const char *first)
{
    const struct samples *of = &samples[row], *base = &samples[0];
    double later_s = median(of->later_s, of->later);
    char spread[40] = "-";
    if (of->later > 0)
        snprintf(spread, sizeof spread, "%.4f-%.4f", of->later_s[0],
                 of->later_s[of->later - 1]);
    printf("%-*s %8s %8.4f %15s %7.2f", name_width(comparison),
           name_of(comparison, row), first, later_s, spread,
           median(base->later_s, base->later) / later_s);
    if (comparison->operations > 0)
        printf("%*.2f", RATE_WIDTH, comparison->operations / later_s * 1e-9);
}

static void print_row(const struct trial *trial, int row,
                      const struct samples *samples)
{
    const struct samples *of = &samples[row];
    const struct figures *sums = &of->sums;
    const struct figures *first = &of->first, *last = &of->last;
    char first_s[40];
    if (!is_first_rank())
        return;
    snprintf(first_s, sizeof first_s, "%.4f",
             median(of->first_s, trial->comparison->rounds));
    print_times(trial->comparison, row, samples, first_s);
    printf(" %6.1f%% %6.1f%% %8.4f %9lld %9.1f/%7.1f %9.1f/%7.1f  %.*f\n",
           100 * sums->efficiency / of->later, 100 * sums->speed / of->later,
           sums->cpu_s / sums->workers, (long long)last->tasks, first->tries,
           first->steals, last->tries, last->steals,
           trial->comparison->decimals, trial->value);
    fflush(stdout);
}

/* What went between nodes; nothing where nothing did. */
static void print_tiles(const struct comparison *comparison,
                        const struct samples *samples)
{
    static const char titles[] = "%-*s %10s %7s %8s\n";
    double bytes = 0;
    for (int i = 0; i < comparison->modes->count; i++)
        bytes += samples[i].sums.tile_bytes;
    if (bytes == 0 || !is_first_rank())
        return;
    printf("\nper iteration >= 2\n");
    printf(titles, name_width(comparison), "", "tiles", "cache", "");
    printf(titles, name_width(comparison), "mode", "MB", "hits", "waiting");
    for (int i = 0; i < comparison->modes->count; i++) {
        const struct figures *sums = &samples[i].sums;
        printf("%-*s %10.2f %6.1f%% %7.1f%%\n", name_width(comparison),
               name_of(comparison, i),
               sums->tile_bytes * 1e-6 / samples[i].later,
               100 * sums->tile_hits / fmax(sums->tile_gets, 1),
               100 * sums->tile_wait_s / sums->work_s);
    }
}

/* Data of tasks that went between ranks; nothing where none did. */
static void print_data(const struct comparison *comparison,
                       const struct samples *samples)
{
    static const char titles[] = "%-*s %9s %9s %9s %9s %9s\n";
    double travelled = 0;
    for (int i = 0; i < comparison->modes->count; i++)
        travelled += samples[i].sums.travelled;
    if (travelled == 0 || !is_first_rank())
        return;
    printf("\nper iteration >= 2\n");
    printf(titles, name_width(comparison), "", "travelled", "inputs", "results",
           "callbacks", "waiting");
    printf(titles, name_width(comparison), "mode", "tasks", "MB", "MB", "ms",
           "ms");
    for (int i = 0; i < comparison->modes->count; i++) {
        const struct figures *sums = &samples[i].sums;
        int n = samples[i].later;
        printf("%-*s %9.1f %9.3f %9.3f %9.3f %9.3f\n", name_width(comparison),
               name_of(comparison, i), sums->travelled / n,
               1e-6 * sums->data_in_bytes / n, 1e-6 * sums->data_out_bytes / n,
               1e3 * sums->data_callback_s / n, 1e3 * sums->data_wait_s / n);
    }
}

static void print_end(const struct trial *base)
{
    const struct comparison *comparison = base->comparison;
    if (is_first_rank())
        printf("\n%d x %d iterations each; seconds of %s, steals per worker\n"
               "%s %.*f %s%s\n",
               comparison->rounds, base->done, comparison->work,
               comparison->quantity, comparison->decimals, base->value,
               comparison->unit, base->is_converged ? "" : " (not converged)");
}

/* Whatever the order and the place of tasks, they add up to the same. */
static bool check_value(const struct trial *trial, const struct trial *base,
                        struct message *message)
{
    double difference = trial->value - base->value;
    if (fabs(difference) <= trial->comparison->tolerance)
        return true;
    return message_set(
        message, "%s and %s differ by %.1e %s; rounding explains at most %.0e",
        trial->mode->name, base->mode->name, difference,
        trial->comparison->unit, trial->comparison->tolerance);
}

static bool run_trial(struct trial *trial, struct message *message)
{
    struct message reason;
    if (trial->comparison->run(trial, trial->comparison->context, &reason))
        return true;
    return message_set(message, "%s: %s", trial->mode->name,
                       reason.text[0] != '\0' ? reason.text : "failed");
}

static bool run_peers(const struct comparison *comparison, int round,
                      struct samples *samples, struct message *message)
{
    for (int i = 0; i < peers_of(comparison); i++) {
        int row = comparison->modes->count + i;
        struct samples *of = &samples[row];
        if (!comparison->peers[i].run(comparison->context,
                                      &of->later_s[of->later], message))
            return false;
        of->later++;
        if (round < comparison->rounds - 1 || !is_first_rank())
            continue;
        print_times(comparison, row, samples, "-");
        printf("\n");
    }
    return true;
}

/* One round; BASE is the first trial of all. */
static bool run_round(const struct comparison *comparison, int round,
                      struct samples *samples, struct trial *base,
                      struct message *message)
{
    for (int i = 0; i < comparison->modes->count; i++) {
        struct trial trial = {.comparison = comparison,
                              .mode = &comparison->modes->modes[i],
                              .round = round,
                              .is_first = round == 0 && i == 0,
                              .iterations = base->iterations,
                              .samples = &samples[i]};
        if (!run_trial(&trial, message))
            return false;
        if (trial.is_first) {
            *base = trial;
            base->iterations = trial.done;
        }
        if (!check_value(&trial, base, message))
            return false;
        if (round == comparison->rounds - 1)
            print_row(&trial, i, samples);
    }
    return run_peers(comparison, round, samples, message);
}

bool comparison_run(const struct comparison *comparison,
                    struct message *message)
{
    struct trial base = {.iterations = comparison->iterations};
    size_t rounds = (size_t)comparison->rounds;
    size_t later = rounds * (size_t)comparison->iterations;
    int rows = comparison->modes->count + peers_of(comparison);
    struct samples *samples = allocate((size_t)rows, sizeof *samples);
    for (int i = 0; i < rows; i++) {
        samples[i].first_s = allocate(rounds, sizeof(double));
        samples[i].later_s = allocate(later, sizeof(double));
    }
    unsetenv("EVENKEEL_RESTORE");
    unsetenv("EVENKEEL_STEAL");
    unsetenv("EVENKEEL_DATA");
    bool is_good = true;
    for (int round = 0; is_good && round < comparison->rounds; round++)
        is_good = run_round(comparison, round, samples, &base, message);
    if (is_good) {
        print_tiles(comparison, samples);
        print_data(comparison, samples);
        print_end(&base);
    }
    for (int i = 0; i < rows; i++) {
        free(samples[i].first_s);
        free(samples[i].later_s);
    }
    free(samples);
    return is_good;
}
