/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inputs come and results go by the library's own protocol, without bytes: the
 * network charges them.  A task that is away takes the time to copy both, too.
 */
#include "data.h"

#include "payload.h"

#include <math.h>
#include <stdlib.h>

/* A task of a worker. */
struct wait {
    bool is_on;
    uint64_t since; /* when it began to wait */
    uint64_t sum_ns;
};

struct data {
    const struct run *run;
    struct eki_sim *sim;
    struct wait waits[]; /* [workers] */
};

bool data_has(const struct run *run, int64_t k)
{
    const struct workload *workload = run->workload;
    return workload->input_bytes &&
           (workload->input_bytes[k] > 0 || workload->result_bytes[k] > 0);
}

static size_t scaled(const struct run *run, uint32_t bytes)
{
    return (size_t)((double)bytes * run->bytes_scale + 0.5);
}

double data_mean_bytes(const struct run *run)
{
    const struct workload *workload = run->workload;
    double sum = 0;
    if (!workload->input_bytes)
        return 0;
    for (int64_t k = 0; k < workload->count; k++)
        sum += (double)scaled(run, workload->input_bytes[k]) +
               (double)scaled(run, workload->result_bytes[k]);
    return sum / (double)workload->count;
}

static int64_t number_of(const ek_task *task)
{
    struct payload payload;
    memcpy(&payload, task->payload, sizeof payload);
    return payload.index;
}

static size_t pack_input(const ek_task *task, void *buffer, void *context)
{
    const struct data *data = context;
    (void)buffer;
    return scaled(data->run, data->run->workload->input_bytes[number_of(task)]);
}

static size_t pack_result(const ek_task *task, void *object, void *buffer,
                          void *context)
{
    const struct data *data = context;
    (void)object, (void)buffer;
    return scaled(data->run,
                  data->run->workload->result_bytes[number_of(task)]);
}

static void unpack_result(const ek_task *task, const void *buffer, size_t bytes,
                          void *context)
{
    (void)task, (void)buffer, (void)bytes, (void)context;
}

static void release(const ek_task *task, void *context)
{
    (void)task, (void)context;
}

/* The longest input or result. */
static size_t longest(const struct run *run)
{
    const struct workload *workload = run->workload;
    uint32_t most = 0;
    for (int64_t k = 0; k < workload->count; k++) {
        most =
            workload->input_bytes[k] > most ? workload->input_bytes[k] : most;
        most =
            workload->result_bytes[k] > most ? workload->result_bytes[k] : most;
    }
    return scaled(run, most);
}

ek_status data_open(const struct run *run, struct eki_sim *sim,
                    struct data **made)
{
    ek_data_ops ops = EK_DATA_OPS_INIT;
    struct data *data =
        allocate(1, sizeof *data + (size_t)run->workers * sizeof *data->waits);
    *made = data;
    data->run = run;
    data->sim = sim;
    ops.bytes_max = longest(run);
    ops.pack_input = pack_input;
    ops.pack_result = pack_result;
    ops.unpack_result = unpack_result;
    ops.release = release;
    ops.context = data;
    for (int r = 0; r < run->ranks; r++)
        EKI_TRY(eki_data_set(sim->ranks[r].engine, DATA_FUNCTION, &ops));
    return EK_OK;
}

void data_close(struct data *data)
{
    free(data);
}

static struct wait *wait_of(const struct data *data,
                            const struct eki_sim_worker *worker)
{
    return (struct wait *)&data->waits[worker->actor];
}

bool data_is_waiting(const struct data *data,
                     const struct eki_sim_worker *worker)
{
    return wait_of(data, worker)->is_on;
}

bool data_begin(struct data *data, struct eki_sim_worker *worker, int64_t k,
                double *copy_ns)
{
    struct wait *wait = wait_of(data, worker);
    const struct workload *workload = data->run->workload;
    uint64_t now = data->sim->now;
    enum eki_data_begun begun = eki_sim_begin_data(data->sim, worker);
    *copy_ns = 0;
    if (begun == EKI_DATA_WAITS) {
        wait->since = wait->is_on ? wait->since : now;
        wait->is_on = true;
        return false;
    }
    if (begun == EKI_DATA_READY)
        *copy_ns = data->run->machine.copy_byte *
                   (double)(scaled(data->run, workload->input_bytes[k]) +
                            scaled(data->run, workload->result_bytes[k]));
    uint64_t waited = wait->is_on ? now - wait->since : 0;
    wait->is_on = false;
    wait->sum_ns += waited;
    worker->worker->batch.stamp += waited + (uint64_t)*copy_ns;
    return true;
}

void data_take(struct data *data, struct eki_sim_rank *rank, double *values)
{
    struct eki_data_counts counts = eki_data_counts_of(rank->engine);
    values[FIELD_TRAVELLED] += (double)counts.travelled;
    values[FIELD_DATA_BYTES] +=
        (double)counts.bytes_in + (double)counts.bytes_out;
    values[FIELD_DATA_HELD] =
        fmax(values[FIELD_DATA_HELD], (double)counts.bytes_most);
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct wait *wait = wait_of(data, &rank->workers[w]);
        values[FIELD_DATA_WAIT] += (double)wait->sum_ns;
        wait->sum_ns = 0;
    }
}
