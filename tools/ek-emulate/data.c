/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Homes keep no bytes: they follow from the task's number and the iteration, so
 * that data of any size fits; that they are right is seen by the first and the
 * last one.
 */
#include "data.h"

#include <string.h>

static int byte_of(int64_t task, int iteration)
{
    return (int)((task * 31 + iteration) & 0xff);
}

static void fill(void *buffer, size_t bytes, int64_t task, int iteration)
{
    memset(buffer, byte_of(task, iteration), bytes);
}

static void note_wrong(struct data *data)
{
    /* relaxed: read when the iteration has ended. */
    atomic_store_explicit(&data->wrong, true, memory_order_relaxed);
}

static void check(struct data *data, const void *buffer, size_t bytes,
                  int64_t task, int iteration)
{
    const unsigned char *at = buffer;
    int expected = byte_of(task, iteration);
    if (bytes > 0 && (at[0] != expected || at[bytes - 1] != expected))
        note_wrong(data);
}

static int64_t number_of(const ek_task *task)
{
    return *(const int64_t *)task->payload;
}

static size_t pack_input(const ek_task *task, void *buffer, void *context)
{
    const struct data *data = context;
    int64_t k = number_of(task);
    size_t bytes = data->workload->input_bytes[k];
    fill(buffer, bytes, k, data->iteration);
    return bytes;
}

static size_t pack_result(const ek_task *task, void *object, void *buffer,
                          void *context)
{
    const struct data *data = context;
    int64_t k = number_of(task);
    size_t bytes = data->workload->result_bytes[k];
    (void)object;
    if (buffer)
        fill(buffer, bytes, k, data->iteration + 1);
    return bytes;
}

static void keep(struct data *data, int64_t task)
{
    /* relaxed: the end of the iteration comes before it is read. */
    atomic_fetch_add_explicit(&data->kept[task], 1, memory_order_relaxed);
}

static void unpack_result(const ek_task *task, const void *buffer, size_t bytes,
                          void *context)
{
    struct data *data = context;
    int64_t k = number_of(task);
    if (task->is_new) {
        check(data, buffer, bytes, k, data->iteration);
        return;
    }
    check(data, buffer, bytes, k, data->iteration + 1);
    if (bytes != data->workload->result_bytes[k])
        note_wrong(data);
    keep(data, k);
}

static void release(const ek_task *task, void *context)
{
    (void)task, (void)context;
}

void data_run(struct data *data, ek_worker *worker, int64_t task)
{
    const void *input = ek_task_data(worker);
    if (!data->workload->input_bytes)
        return;
    if (input)
        check(data, input, data->workload->input_bytes[task], task,
              data->iteration);
    else
        keep(data, task);
}

ek_status data_set(struct data *data, ek_collection *tasks,
                   ek_function function)
{
    const struct workload *workload = data->workload;
    ek_data_ops ops = EK_DATA_OPS_INIT;
    if (!workload->input_bytes)
        return EK_OK;
    for (int64_t k = 0; k < workload->count; k++) {
        if (workload->input_bytes[k] > ops.bytes_max)
            ops.bytes_max = workload->input_bytes[k];
        if (workload->result_bytes[k] > ops.bytes_max)
            ops.bytes_max = workload->result_bytes[k];
    }
    ops.pack_input = pack_input;
    ops.pack_result = pack_result;
    ops.unpack_result = unpack_result;
    ops.release = release;
    ops.context = data;
    return ek_set_data_ops(tasks, function, &ops);
}
