/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking what was measured into a machine. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void bench_take(struct measured *measured, double *field, const char *key,
                double value)
{
    char text[32];
    if (!(value > 0) || isinf(value)) {
        eki_append(measured->kept, sizeof measured->kept, "%s%s",
                   measured->kept[0] != '\0' ? ", " : "", key);
        return;
    }
    snprintf(text, sizeof text, "%.3g", value);
    *field = strtod(text, NULL);
}

void bench_take_rate(struct measured *measured, double *field, const char *key,
                     double value)
{
    double rate = 0;
    bench_take(measured, &rate, key, 1 / value);
    if (rate > 0)
        *field = 1 / rate;
}
