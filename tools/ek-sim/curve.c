/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many workers are in tasks, over the time of an iteration.
 *
 * Work lies in fine bins, and between their edges as a rate: a task costs the
 * same however long it is.  Bins double in width when the iteration gets longer
 * than all of them, so memory does not depend on tasks or time.  In the end
 * they are taken together to bins of equal width that end with the iteration.
 */
#include "curve.h"

#include "labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINE = 4096,
    BINS = 200
};

struct curve {
    FILE *file;
    int shift;             /* a fine bin is 2^shift ns wide */
    double work[FINE];     /* ns of all workers ... */
    double rate[FINE + 1]; /* ... and how many more from this bin on */
};

struct curve *curve_open(const char *path, struct message *message)
{
    FILE *file = rows_open(path, "time_s,width_s,utilization", message);
    if (!file)
        return NULL;
    struct curve *curve = allocate(1, sizeof *curve);
    curve->file = file;
    return curve;
}

void curve_begin(struct curve *curve)
{
    memset(curve->work, 0, sizeof curve->work);
    memset(curve->rate, 0, sizeof curve->rate);
    curve->shift = 0;
}

/* Turn rates into work. */
static void settle(struct curve *curve)
{
    double rate = 0;
    for (int i = 0; i < FINE; i++) {
        rate += curve->rate[i];
        curve->work[i] += ldexp(rate, curve->shift);
    }
    memset(curve->rate, 0, sizeof curve->rate);
}

static void widen(struct curve *curve)
{
    settle(curve);
    for (int i = 0; i < FINE / 2; i++)
        curve->work[i] = curve->work[2 * i] + curve->work[2 * i + 1];
    memset(curve->work + FINE / 2, 0, sizeof curve->work / 2);
    curve->shift++;
}

void curve_add(struct curve *curve, uint64_t begin, uint64_t end, double work)
{
    while (end >> curve->shift >= FINE)
        widen(curve);
    uint64_t first = begin >> curve->shift, last = end >> curve->shift;
    if (first == last) {
        curve->work[first] += work;
        return;
    }
    double rate = work / (double)(end - begin);
    curve->work[first] +=
        rate * (double)(((first + 1) << curve->shift) - begin);
    curve->work[last] += rate * (double)(end - (last << curve->shift));
    curve->rate[first + 1] += rate;
    curve->rate[last] -= rate;
}

/* Work until AT, of LENGTH, both in fine bins; bins have sums. */
static double work_until(const struct curve *curve, double at, double length)
{
    int i = (int)at;
    double before = i > 0 ? curve->work[i - 1] : 0;
    /* The last one ends with the iteration. */
    double width = fmin(1, length - i);
    return at > i ? before + (curve->work[i] - before) * (at - i) / width
                  : before;
}

void curve_end(struct curve *curve, const struct run *run,
               const struct mode *mode, int iteration, uint64_t ns)
{
    struct label label[LABELS];
    while (ns >> curve->shift >= FINE)
        widen(curve);
    settle(curve);
    for (int i = 1; i < FINE; i++)
        curve->work[i] += curve->work[i - 1];
    double length = ldexp((double)ns, -curve->shift), before = 0;
    double s = (double)ns * 1e-9, all = run->speed * (double)ns / BINS;
    fill_labels(label, run, run->source->seed, mode->name, iteration);
    for (int i = 0; i < BINS; i++) {
        double until = work_until(curve, length * (i + 1) / BINS, length);
        labels_csv(&(struct labels){label, LABELS}, curve->file);
        fprintf(curve->file, ",%.9g,%.9g,%.6g\n", s * i / BINS, s / BINS,
                fmax(until - before, 0) / all);
        before = until;
    }
}

bool curve_close(struct curve *curve, struct message *message)
{
    bool is_good = rows_close(curve->file, "--utilization", message);
    free(curve);
    return is_good;
}
