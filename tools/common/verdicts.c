/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdicts.h"

#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 100,
    BYTES = 600
};

/* What a mode gains is not worth switching to, or not worth a figure. */
#define SMALL_GAIN 0.02
#define NO_GAIN 0.0005

void verdict_print(const char *text)
{
    printf("\n");
    while (*text) {
        int bytes = (int)strlen(text);
        if (bytes > WIDTH) {
            for (bytes = WIDTH; bytes > 1 && text[bytes] != ' '; bytes--)
                ;
        }
        printf("%.*s\n", bytes, text);
        text += bytes;
        text += strspn(text, " ");
    }
}

void verdict_print_tasks(const char *prefix, const float *seconds,
                         int64_t count, int workers)
{
    struct eki_verdict_tasks tasks = {.tasks = count, .workers = workers};
    char text[BYTES] = "";
    for (int64_t k = 0; k < count; k++) {
        tasks.sum_s += seconds[k];
        if (seconds[k] > tasks.longest_s)
            tasks.longest_s = seconds[k];
    }
    for (int64_t k = 0; k < count; k++)
        tasks.above += seconds[k] > tasks.sum_s / workers;
    snprintf(text, sizeof text, "%s", prefix);
    if (eki_verdict_tasks(&tasks, text, sizeof text))
        verdict_print(text);
}

void verdict_print_run(const char *prefix, const struct eki_verdict_run *run)
{
    char text[BYTES];
    snprintf(text, sizeof text, "%s", prefix);
    for (int k = 0; eki_verdict_run(run, k, text, sizeof text); k++) {
        verdict_print(text);
        snprintf(text, sizeof text, "%s", prefix);
    }
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double verdict_median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[(n - 1) / 2];
}

/* Over the iterations that count. */
static double median_of(double *seconds, int figure, int iterations)
{
    int first = iterations > 1;
    return verdict_median(seconds + (ptrdiff_t)figure * iterations + first,
                          iterations - first);
}

void compared_add(struct compared *compared, const struct mode *mode,
                  const struct eki_verdict_run *run, double *seconds,
                  int iterations)
{
    if (!eki_grow(&compared->modes, compared->count, &compared->room, 8,
                  sizeof *compared->modes))
        return;
    compared->modes[compared->count++] = (struct compared_mode){
        .name = mode->name,
        .restore = mode->restore,
        .steal = mode->steal,
        .iteration_s = median_of(seconds, COMPARED_ITERATION, iterations),
        .restore_s = median_of(seconds, COMPARED_RESTORE, iterations),
        .run = *run};
    compared->bound_s = median_of(seconds, COMPARED_BOUND, iterations);
}

static double cost_s(const struct compared_mode *mode)
{
    return mode->iteration_s + mode->restore_s;
}

/* The fastest, other than EXCEPT; NULL: there is none. */
static const struct compared_mode *
find_fastest(const struct compared *compared,
             const struct compared_mode *except)
{
    const struct compared_mode *best = NULL;
    for (int i = 0; i < compared->count; i++) {
        const struct compared_mode *mode = &compared->modes[i];
        if (mode != except && (!best || cost_s(mode) < cost_s(best)))
            best = mode;
    }
    return best;
}

static const struct compared_mode *find_mode(const struct compared *compared,
                                             const char *const policies[2])
{
    for (int i = 0; i < compared->count; i++) {
        const struct compared_mode *mode = &compared->modes[i];
        if (strcmp(mode->restore, policies[0]) == 0 &&
            strcmp(mode->steal, policies[1]) == 0)
            return mode;
    }
    return NULL;
}

/* Simple ways first: one that is as good as the fastest is enough. */
static const struct compared_mode *find_enough(const struct compared *compared)
{
    static const char *const simple[][2] = {{"original", "none"},
                                            {"retain", "random"}};
    const struct compared_mode *best = find_fastest(compared, NULL);
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++) {
        const struct compared_mode *mode = find_mode(compared, simple[i]);
        if (mode && cost_s(mode) <= (1 + SMALL_GAIN) * cost_s(best))
            return mode;
    }
    return NULL;
}

static void append_name(const struct compared_mode *mode, char *text,
                        size_t bytes)
{
    eki_append(text, bytes, "%s (%s, %s)", mode->name, mode->restore,
               mode->steal);
}

static void append_enough(const struct compared_mode *mode,
                          const struct compared_mode *next, char *text,
                          size_t bytes)
{
    double gain = 1 - cost_s(next) / cost_s(mode);
    append_name(mode, text, bytes);
    eki_append(text, bytes, " is enough: %s ", next->name);
    if (gain > NO_GAIN)
        eki_append(text, bytes, "gains %.1f %%", 100 * gain);
    else if (gain < -NO_GAIN)
        eki_append(text, bytes, "takes %.1f %% longer", -100 * gain);
    else
        eki_append(text, bytes, "is as fast");
    eki_append(text, bytes, ", restoring costs it %s",
               eki_seconds(next->restore_s).text);
}

static void append_fastest(const struct compared_mode *best,
                           const struct compared_mode *next, char *text,
                           size_t bytes)
{
    append_name(best, text, bytes);
    eki_append(text, bytes,
               " is the fastest, %.1f %% faster than %s: "
               "EVENKEEL_RESTORE=%s EVENKEEL_STEAL=%s",
               100 * (cost_s(next) / cost_s(best) - 1), next->name,
               best->restore, best->steal);
}

const struct compared_mode *compared_append(const struct compared *compared,
                                            char *text, size_t bytes)
{
    const struct compared_mode *chosen = find_enough(compared);
    bool is_enough = chosen != NULL;
    if (!is_enough)
        chosen = find_fastest(compared, NULL);
    const struct compared_mode *next = find_fastest(compared, chosen);
    if (!next)
        return NULL;
    if (is_enough)
        append_enough(chosen, next, text, bytes);
    else
        append_fastest(chosen, next, text, bytes);
    eki_append(text, bytes, "; it comes to %.0f %% of the best possible",
               cost_s(chosen) > 0 ? 100 * compared->bound_s / cost_s(chosen)
                                  : 0);
    return chosen;
}

void compared_end(struct compared *compared)
{
    char text[BYTES] = "", prefix[80];
    const struct compared_mode *chosen =
        compared_append(compared, text, sizeof text);
    if (chosen) {
        verdict_print(text);
        snprintf(prefix, sizeof prefix, "%s: ", chosen->name);
        verdict_print_run(prefix, &chosen->run);
    }
    free(compared->modes);
    *compared = (struct compared){0};
}
