/* SPDX-License-Identifier: BSD-3-Clause */
/* Means over seeds, and how sure they are. */
#include "ek_sim.h"

#include <math.h>
#include <stdlib.h>

/* Student's t of 97.5 %; from 10 degrees on, of its series (Abramowitz and
 * Stegun 26.7.5), to 1e-5. */
static double student_t(int degrees)
{
    static const double t[] = {0,        12.706205, 4.302653, 3.182446,
                               2.776445, 2.570582,  2.446912, 2.364624,
                               2.306004, 2.262157};
    static const double series[] = {1.959963984540054, 2.372271230298562,
                                    2.8224986157396112, 2.555849679507722,
                                    1.5895340533938225};
    double sum = 0;
    if (degrees < (int)(sizeof t / sizeof *t))
        return t[degrees];
    for (int i = (int)(sizeof series / sizeof *series) - 1; i >= 0; i--)
        sum = sum / degrees + series[i];
    return sum;
}

/* Values that are NaN do not count. */
static void summarize_values(const double *values, int count,
                             double *statistics)
{
    double sum = 0, squares = 0;
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        sum += values[i];
        n++;
    }
    double mean = n > 0 ? sum / n : NAN;
    for (int i = 0; i < count; i++) {
        double off = values[i] - mean;
        squares += isnan(off) ? 0 : off * off;
    }
    double deviation = n > 1 ? sqrt(squares / (n - 1)) : NAN;
    statistics[STATISTIC_MEAN] = mean;
    statistics[STATISTIC_DEVIATION] = deviation;
    statistics[STATISTIC_CI95] =
        n > 1 ? student_t(n - 1) * deviation / sqrt(n) : NAN;
}

/* As most times are: its mean share of the makespan. */
static double mean_inside_s(const struct row *rows, int seeds, int count,
                            double makespan_s)
{
    double sum = 0;
    for (int seed = 0; seed < seeds; seed++) {
        const struct row *row = &rows[(ptrdiff_t)seed * count];
        sum += row->inside_s / row->values[FIELD_MAKESPAN];
    }
    return makespan_s * sum / seeds;
}

void summarize(const struct row *rows, int seeds, int count,
               struct row *summary)
{
    double *values = allocate((size_t)seeds, sizeof *values);
    double statistics[STATISTICS];
    for (int i = 0; i < count; i++) {
        for (int s = 0; s < STATISTICS; s++)
            summary[s * count + i] = rows[i];
        for (int f = 0; f < FIELDS; f++) {
            for (int seed = 0; seed < seeds; seed++)
                values[seed] = rows[(ptrdiff_t)seed * count + i].values[f];
            summarize_values(values, seeds, statistics);
            for (int s = 0; s < STATISTICS; s++)
                summary[s * count + i].values[f] = statistics[s];
        }
        struct row *mean = &summary[STATISTIC_MEAN * count + i];
        mean->inside_s =
            mean_inside_s(&rows[i], seeds, count, mean->values[FIELD_MAKESPAN]);
    }
    free(values);
}
