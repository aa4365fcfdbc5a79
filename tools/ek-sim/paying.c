/* SPDX-License-Identifier: BSD-3-Clause */
#include "paying.h"

#include "data.h"
#include "verdicts.h"

#include <math.h>
#include <stdlib.h>

/* A gain below that is none, as in the verdict on modes. */
#define GAIN_LEAST 0.02

enum {
    TEXT_BYTES = 400
};

/* The fastest mode of a kind: with its restores. */
struct fastest {
    const char *name; /* NULL: there is none */
    double s, bytes;  /* in an iteration, median and mean */
};

/* What an iteration of a mode takes and moves, from the second on: where moving
 * is not worth it the library soon leaves it. */
static struct fastest look_at(const struct row *rows, int iterations)
{
    int first = iterations > 1, n = iterations - first;
    double *values = allocate((size_t)n, sizeof *values), bytes = 0;
    for (int i = 0; i < n; i++) {
        const double *row = rows[first + i].values;
        double restore_s = row[FIELD_RESTORE];
        values[i] = row[FIELD_MAKESPAN] + (isnan(restore_s) ? 0 : restore_s);
        bytes += row[FIELD_DATA_BYTES];
    }
    struct fastest mode = {rows->mode->name, verdict_median(values, n),
                           bytes / n};
    free(values);
    return mode;
}

/* The fastest mode that moves data, and the fastest that moves none. */
static void find(const struct run *run, const struct row *rows, int modes,
                 struct fastest *mover, struct fastest *stayer)
{
    int n = run->arguments->iterations;
    *mover = *stayer = (struct fastest){NULL, INFINITY, 0};
    for (int m = 0; m < modes; m++) {
        struct fastest mode = look_at(&rows[m * n], n);
        struct fastest *kind = mode.bytes > 0 ? mover : stayer;
        if (mode.s < kind->s)
            *kind = mode;
    }
}

/* 12.3 kB. */
static void write_bytes(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(text, size, "%.3g %s", bytes, units[unit]);
}

static bool pays(double mover_s, double stayer_s)
{
    return mover_s < (1 - GAIN_LEAST) * stayer_s;
}

static void print_job(const struct fastest *mover, const struct fastest *stayer,
                      double mean_bytes)
{
    char text[TEXT_BYTES], moved[32], mean[32];
    write_bytes(moved, sizeof moved, mover->bytes);
    write_bytes(mean, sizeof mean, mean_bytes);
    if (!mover->name)
        snprintf(text, sizeof text, "No mode moves data with %s for a task.",
                 mean);
    else if (!stayer->name)
        snprintf(text, sizeof text,
                 "Every mode moves data: %s in an iteration of %s. Compare "
                 "with static, one of --modes.",
                 moved, mover->name);
    else if (pays(mover->s, stayer->s))
        snprintf(text, sizeof text,
                 "Moving data pays with %s for a task: %s moves %s in an "
                 "iteration and takes %.3f x the time of %s, which moves none.",
                 mean, mover->name, moved, mover->s / stayer->s, stayer->name);
    else
        snprintf(text, sizeof text,
                 "Moving data does not pay with %s for a task: %s, which moves "
                 "%s in an iteration, takes %.3f x the time of %s, which "
                 "moves none.",
                 mean, mover->name, moved, mover->s / stayer->s, stayer->name);
    verdict_print(text);
}

/* Of the sizes of as many cores so far, which --bytes-scale sorts. */
static void print_sizes(const struct paying *paying)
{
    char text[TEXT_BYTES], most[32], least[32];
    write_bytes(most, sizeof most, paying->most_bytes);
    write_bytes(least, sizeof least, paying->least_bytes);
    if (paying->most_bytes == 0)
        snprintf(text, sizeof text,
                 "On %d cores moving data pays with none of these sizes, down "
                 "to %s for a task.",
                 paying->cores, least);
    else if (isinf(paying->least_bytes))
        snprintf(text, sizeof text,
                 "On %d cores moving data pays with all of these sizes, up to "
                 "%s for a task.",
                 paying->cores, most);
    else
        snprintf(text, sizeof text,
                 "On %d cores moving data pays up to %s for a task, and no "
                 "longer pays at %s.",
                 paying->cores, most, least);
    verdict_print(text);
}

void print_paying(const struct run *run, const struct row *rows, int modes)
{
    struct paying *paying = run->paying;
    struct fastest mover, stayer;
    double mean_bytes = data_mean_bytes(run);
    find(run, rows, modes, &mover, &stayer);
    print_job(&mover, &stayer, mean_bytes);
    if (paying->cores != run->cores)
        *paying = (struct paying){.cores = run->cores, .least_bytes = INFINITY};
    if (!stayer.name)
        return;
    paying->sizes++;
    if (!mover.name || !pays(mover.s, stayer.s))
        paying->least_bytes = fmin(paying->least_bytes, mean_bytes);
    else if (isinf(paying->least_bytes))
        paying->most_bytes = mean_bytes;
    if (run->is_last_size && paying->sizes > 1)
        print_sizes(paying);
}
