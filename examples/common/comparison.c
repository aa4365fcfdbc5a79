/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void trial_begin(struct trial *trial, const struct job *job)
{
    static const char titles[] = "%-*s %8s %8s %8s %6s %9s %17s %17s %7s  %s\n";
    if (!trial->is_first || !is_first_rank())
        return;
    printf("%lld tasks, %d workers\n\n", (long long)job->total,
           job_workers(job));
    printf(titles, name_width(), "", "it 1", "it 2", "it >= 2", "effi-",
           "tasks", "steals it 1", "steals last", "speed",
           trial->comparison->quantity);
    printf(titles, name_width(), "mode", "s", "s", "mean s", "ciency",
           "last it", "tried/successful", "tried/successful", "/static",
           trial->comparison->unit);
}

void trial_add(struct trial *trial, double seconds,
               const ek_process_report *process)
{
    if (trial->done == 0) {
        trial->first_s = seconds;
        trial->attempted_first = process->attempted_mean;
        trial->successful_first = process->successful_mean;
    } else {
        if (trial->done == 1)
            trial->second_s = seconds;
        trial->later_s += seconds;
        trial->later_efficiency += process->efficiency;
    }
    trial->done++;
    trial->attempted_last = process->attempted_mean;
    trial->successful_last = process->successful_mean;
    trial->tasks_last = process->tasks;
}

void trial_end(struct trial *trial, double value, bool is_converged)
{
    trial->value = value;
    trial->is_converged = is_converged;
}

/* Mean of a sum over iterations 2 and more; NaN: there were none. */
static double later_mean(const struct trial *trial, double sum)
{
    return trial->done > 1 ? sum / (trial->done - 1) : NAN;
}

static void print_row(const struct trial *trial, const struct trial *base)
{
    double mean_s = later_mean(trial, trial->later_s);
    if (!is_first_rank())
        return;
    printf("%-*s %8.4f %8.4f %8.4f %5.1f%% %9lld %9.1f/%7.1f %9.1f/%7.1f "
           "%7.2f  %.*f\n",
           name_width(), trial->mode->name, trial->first_s, trial->second_s,
           mean_s, 100 * later_mean(trial, trial->later_efficiency),
           (long long)trial->tasks_last, trial->attempted_first,
           trial->successful_first, trial->attempted_last,
           trial->successful_last, later_mean(base, base->later_s) / mean_s,
           trial->comparison->decimals, trial->value);
    fflush(stdout);
}

static void print_end(const struct trial *base)
{
    const struct comparison *comparison = base->comparison;
    if (is_first_rank())
        printf("\n%d iterations each; seconds of %s, steals per worker\n"
               "%s %.*f %s%s\n",
               base->done, comparison->work, comparison->quantity,
               comparison->decimals, base->value, comparison->unit,
               base->is_converged ? "" : " (not converged)");
}

/* Whatever the order and the place of tasks, they add up to the same. */
static bool check_value(const struct trial *trial, const struct trial *base,
                        struct message *message)
{
    double difference = trial->value - base->value;
    if (fabs(difference) <= trial->comparison->tolerance)
        return true;
    return message_set(message,
                       "%s and %s differ by %.1e %s; at most %.0e is rounding",
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

bool comparison_run(const struct comparison *comparison,
                    struct message *message)
{
    struct trial base = {.iterations = comparison->iterations};
    for (int i = 0; i < compared_count; i++) {
        struct trial trial = {.comparison = comparison,
                              .mode = &compared_modes[i],
                              .is_first = i == 0,
                              .iterations = base.iterations};
        if (!run_trial(&trial, message))
            return false;
        if (i == 0) {
            base = trial;
            base.iterations = trial.done;
        }
        print_row(&trial, &base);
        if (!check_value(&trial, &base, message))
            return false;
    }
    print_end(&base);
    return true;
}
