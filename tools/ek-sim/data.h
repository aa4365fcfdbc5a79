/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that travels with tasks: as many bytes as the workload says. */
#ifndef EK_SIM_DATA_H
#define EK_SIM_DATA_H

#include "ek_sim.h"

struct data;

/* Let tasks of function DATA_FUNCTION of SIM have data.  EK_ERR_NOMEM, or
 * EK_ERR_ARG: they do not fit --data-bytes. */
ek_status data_open(const struct run *run, struct eki_sim *sim,
                    struct data **data);
void data_close(struct data *data);

/* Whether task K has data, then it is of that function. */
bool data_has(const struct run *run, int64_t k);
enum {
    DATA_FUNCTION = 1
};

/* The task of WORKER, K, begins, or goes on where it has waited: false, it
 * waits for its input; else COPY_NS is what the worker does with its data. */
bool data_begin(struct data *data, struct eki_sim_worker *worker, int64_t k,
                double *copy_ns);
/* Whether the task of WORKER waits for its input. */
bool data_is_waiting(const struct data *data,
                     const struct eki_sim_worker *worker);

/* Add what came of an iteration on RANK to VALUES [FIELDS], in bytes and ns. */
void data_take(struct data *data, struct eki_sim_rank *rank, double *values);
/* Mean bytes of input and result of a task in RUN. */
double data_mean_bytes(const struct run *run);

#endif
