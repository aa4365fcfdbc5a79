/* SPDX-License-Identifier: BSD-3-Clause */
/* What all collections of the tool have in common. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>

ek_options bench_options(const struct bench *bench, int workers)
{
    ek_options options = EK_OPTIONS_INIT;
    options.ignore_environment = true;
    options.workers = workers;
    if (bench->deque)
        bench_check(ek_options_set(&options, "deque", bench->deque));
    return options;
}

void bench_set(ek_options *options, const char *option, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    bench_check(ek_options_set(options, option, text));
}

void bench_check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}
