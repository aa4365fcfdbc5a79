/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that travels with tasks: real bytes, as many as the workload says. */
#ifndef EMULATE_DATA_H
#define EMULATE_DATA_H

#include "workload.h"

#include <evenkeel_data.h>
#include <stdatomic.h>

struct data {
    const struct workload *workload;
    int iteration;      /* that runs: the version of what homes have */
    _Atomic int *kept;  /* [count] how often a task's result came home */
    _Atomic bool wrong; /* bytes were not those expected */
};

/* Tasks of FUNCTION have data, whose homes are where they are added. */
ek_status data_set(struct data *data, ek_collection *tasks,
                   ek_function function);
/* The task has run on WORKER. */
void data_run(struct data *data, ek_worker *worker, int64_t task);

#endif
