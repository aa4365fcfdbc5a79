/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks.h"

#include <evenkeel_data.h>

#include <string.h>

static int column_of(const void *payload)
{
    return (int)*(const int64_t *)payload;
}

/* The body of a task. */
static int react(ek_worker *worker, const void *payload, size_t bytes,
                 void *context)
{
    const struct hour *hour = context;
    int column = column_of(payload);
    double *state = ek_task_data(worker);
    (void)bytes;
    if (!state)
        state = hour->field->columns[column].state; /* at home */
    return hour_integrate(hour, column, state, worker);
}

/* At home: what the task needs. */
static size_t pack(const ek_task *task, void *buffer, void *context)
{
    const struct hour *hour = context;
    size_t bytes = field_column_bytes(&hour->field->size);
    memcpy(buffer, hour->field->columns[column_of(task->payload)].state, bytes);
    return bytes;
}

/* At home, or at a new one: what the task has made of it. */
static void unpack(const ek_task *task, const void *buffer, size_t bytes,
                   void *context)
{
    struct hour *hour = context;
    (void)bytes;
    field_take(hour->field, column_of(task->payload), buffer);
}

/* The column has a new home. */
static void release(const ek_task *task, void *context)
{
    struct hour *hour = context;
    field_give(hour->field, column_of(task->payload));
}

static ek_status set_data(struct hour *hour, struct job *job)
{
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ops.bytes_max = field_column_bytes(&hour->field->size);
    ops.pack_input = pack;
    ops.unpack_result = unpack;
    ops.release = release;
    ops.context = hour;
    return ek_set_data_ops(job->tasks, job->function, &ops);
}

ek_status tasks_open(const struct job_setup *setup, struct hour *hour,
                     struct job *job)
{
    const struct job_options options = {.name = "columns",
                                        .function = "chemistry",
                                        .total = hour->field->size.columns,
                                        .task = react,
                                        .context = hour};
    ek_options collection = EK_OPTIONS_INIT;
    ek_status status = ek_options_set(
        &collection, "data", setup->mode.has_follow ? "follow" : "return");
    if (status == EK_OK)
        status = job_open(setup, &options, collection, job);
    return status == EK_OK ? set_data(hour, job) : status;
}

/* Part of a save. */
static int write_field(const char *path, void *context)
{
    const struct hour *hour = context;
    return field_write(hour->field, path) ? 0 : 1;
}

/* A task starts here, or a range of those that have never run: its home has
 * the columns. */
static bool note_home(const ek_task *task, void *context)
{
    struct field *field = context;
    int first = column_of(task->payload);
    for (int i = 0; i < task->count; i++)
        field->owners[first + i] = task->home;
    return true;
}

bool tasks_resume(struct hour *hour, struct job *job, int *first,
                  struct message *message)
{
    struct field *field = hour->field;
    if (job_resume(job, write_field, hour) != EK_OK)
        return message_leave(message);
    const char *path = ek_loaded(job->tasks, NULL);
    *first = job->first;
    if (!path)
        return true;
    for (int i = 0; i < field->size.columns; i++)
        field->owners[i] = -1;
    if (ek_visit_tasks(job->tasks, note_home, field) != EK_OK)
        return message_leave(message);
    MPI_Allreduce(MPI_IN_PLACE, field->owners, field->size.columns, MPI_INT,
                  MPI_MAX, field->comm);
    return field_read(field, path) ||
           message_set(message, "%s: no field of this size", path);
}
