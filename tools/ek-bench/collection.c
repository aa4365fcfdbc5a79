/* SPDX-License-Identifier: BSD-3-Clause */
/* What all collections of the tool have in common. */
#include "bench.h"

ek_options bench_options(const struct bench *bench, int workers)
{
    ek_options options = EK_OPTIONS_INIT;
    options.ignore_environment = true;
    options.workers = workers;
    options.deque = bench->deque;
    return options;
}

void bench_check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}
