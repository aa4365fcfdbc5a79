/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boxes of bytes with an owner rank each, and tasks that advance them: byte 0
 * is the version of a box, of which the others follow.  What arrives, and what
 * returns, is looked at byte by byte; callbacks see that they are alone.
 */
#ifndef BOXES_H
#define BOXES_H

#include "job.h"

#include <evenkeel_data.h>

enum {
    BOXES = 80, /* of each rank */
    BOX_RANKS = 4,
    BOX_LARGEST = 1 << 20
};

/* What a task does after it has run. */
enum box_mode {
    BOX_ADVANCE,
    BOX_FAIL, /* some of them */
    BOX_SKIP,
    BOX_DISCARD,
    BOX_STOP
};

struct box {
    int64_t bytes;
    unsigned char *values; /* NULL: it is not here */
};

/* A box that has travelled. */
struct object {
    int64_t number, bytes;
    unsigned char values[];
};

static struct {
    struct box boxes[BOX_RANKS * BOXES];
    _Atomic int64_t advanced[BOX_RANKS * BOXES];
    enum box_mode mode;
    int64_t nap_us;
    _Atomic int inside; /* a callback */
    _Atomic int64_t packed, unpacked, returned, dropped, kept, released;
    _Atomic int64_t at_home, away;
    _Atomic int64_t in_bytes, out_bytes;
} field;

/* Short ones; what does, and does not, fit one message on one host and between
 * hosts; several messages. */
static inline int64_t box_bytes(int64_t number)
{
    int64_t i = number % BOXES;
    if (i < 4)
        return i;
    if (i < 60)
        return 4000 + 2 * (i - 4) + number / BOXES % 2;
    if (i < 68)
        return 65536 - 64 + 8 * (i - 60);
    return number < BOXES && i == BOXES - 1 ? BOX_LARGEST : 200 * i;
}

/* Results of some are shorter. */
static inline int64_t box_result_bytes(int64_t number)
{
    return number % 3 == 0 ? box_bytes(number) / 2 : box_bytes(number);
}

static inline void box_fill(int64_t number, unsigned char version, int64_t from,
                            int64_t to, unsigned char *values)
{
    int64_t sum = number + version * 7;
    for (int64_t i = from; i < to; i++)
        values[i] = (unsigned char)(sum + i + (i >> 8));
    if (from == 0 && to > 0)
        values[0] = version;
}

/* Whether the first BYTES are those of a version. */
static inline bool box_is_whole(int64_t number, const unsigned char *values,
                                int64_t bytes)
{
    int64_t sum = bytes > 0 ? number + values[0] * 7 : 0, wrong = 0;
    for (int64_t i = 1; i < bytes; i++)
        wrong += values[i] != (unsigned char)(sum + i + (i >> 8));
    return wrong == 0;
}

static inline int64_t box_number(const void *payload)
{
    int64_t number;
    memcpy(&number, payload, sizeof number);
    return number;
}

/* Of the task at hand; ranges count the boxes of their home. */
static inline int64_t box_of(const ek_task *task)
{
    int64_t number = box_number(task->payload);
    CHECK_EQ_INT(task->bytes, sizeof number);
    return number;
}

/* Callbacks of a rank run one at a time. */
static inline void box_enter(const ek_task *task, bool is_home)
{
    CHECK_EQ_INT(atomic_fetch_add(&field.inside, 1), 0);
    CHECK_EQ_INT(task->home == job_rank, is_home);
    CHECK(task->worker == NULL && task->worker_id == -1 && task->count == 1);
}

static inline void box_leave(void)
{
    CHECK_EQ_INT(atomic_fetch_sub(&field.inside, 1), 1);
}

static inline size_t box_pack_input(const ek_task *task, void *buffer,
                                    void *context)
{
    (void)context;
    box_enter(task, true);
    const struct box *box = &field.boxes[box_of(task)];
    CHECK(box->values != NULL);
    if (box->values)
        memcpy(buffer, box->values, (size_t)box->bytes);
    field.packed++;
    field.in_bytes += box->bytes;
    box_leave();
    return (size_t)box->bytes;
}

static inline void *box_unpack_input(const ek_task *task, void *buffer,
                                     size_t bytes, void *context)
{
    (void)context;
    box_enter(task, false);
    int64_t number = box_of(task);
    CHECK_EQ_INT(bytes, box_bytes(number));
    CHECK_EQ_INT((uintptr_t)buffer % 64, 0);
    struct object *object = malloc(sizeof *object + bytes);
    object->number = number;
    object->bytes = (int64_t)bytes;
    memcpy(object->values, buffer, bytes);
    CHECK(box_is_whole(number, object->values, object->bytes));
    field.unpacked++;
    box_leave();
    return object;
}

static inline size_t box_pack_result(const ek_task *task, void *object,
                                     void *buffer, void *context)
{
    struct object *box = object;
    (void)context;
    box_enter(task, false);
    CHECK_EQ_INT(box->number, box_of(task));
    size_t bytes = (size_t)box_result_bytes(box->number);
    if (buffer) {
        memcpy(buffer, box->values, bytes);
        field.returned++;
        field.out_bytes += (int64_t)bytes;
    } else {
        field.dropped++;
    }
    free(object);
    box_leave();
    return bytes;
}

static inline void box_place(int64_t number)
{
    struct box *box = &field.boxes[number];
    box->bytes = box_bytes(number);
    box->values = malloc((size_t)box->bytes + 1);
    box_fill(number, 0, 0, box->bytes, box->values);
}

static inline void box_unpack_result(const ek_task *task, const void *buffer,
                                     size_t bytes, void *context)
{
    (void)context;
    int64_t number = box_of(task);
    struct box *box = &field.boxes[number];
    const unsigned char *values = buffer;
    box_enter(task, true);
    CHECK(box_is_whole(number, values, (int64_t)bytes));
    if (task->is_new) {
        CHECK(box->values == NULL);
        CHECK_EQ_INT(bytes, box_bytes(number));
        box_place(number);
        memcpy(box->values, buffer, bytes);
    } else if (CHECK(box->values != NULL)) {
        CHECK_EQ_INT(bytes, box_result_bytes(number));
        unsigned char next = (unsigned char)(box->values[0] + 1);
        CHECK(bytes == 0 || values[0] == next);
        memcpy(box->values, buffer, bytes);
        box_fill(number, next, (int64_t)bytes, box->bytes, box->values);
        field.kept++;
    }
    box_leave();
}

static inline void box_release(const ek_task *task, void *context)
{
    (void)context;
    CHECK_EQ_INT(atomic_fetch_add(&field.inside, 1), 0);
    struct box *box = &field.boxes[box_of(task)];
    CHECK(box->values != NULL);
    free(box->values);
    box->values = NULL;
    field.released++;
    box_leave();
}

static inline void box_step(int64_t number, unsigned char *values,
                            int64_t bytes)
{
    CHECK(box_is_whole(number, values, bytes));
    if (bytes > 0)
        box_fill(number, (unsigned char)(values[0] + 1), 0, bytes, values);
}

/* How the task of a box ends. */
static inline enum box_mode box_end_of(int64_t number)
{
    return number % 5 == 1 ? field.mode : BOX_ADVANCE;
}

/* End a task as MODE says; true: nothing comes of it. */
static inline bool box_end(ek_worker *worker, enum box_mode mode)
{
    switch (mode) {
    case BOX_FAIL:
        ek_fail(worker, 7, "as it should");
        return true;
    case BOX_SKIP:
        ek_skip(worker);
        return true;
    case BOX_DISCARD:
        ek_discard(worker);
        return true;
    case BOX_STOP:
        ek_stop(worker);
        return false;
    case BOX_ADVANCE:
        break;
    }
    return false;
}

/* The task of box NUMBER, wherever it is. */
static inline int box_run(ek_worker *worker, int64_t number)
{
    struct object *object = ek_task_data(worker);
    struct box *box = &field.boxes[number];
    if (field.nap_us > 0)
        job_nap(field.nap_us);
    bool is_over = box_end(worker, box_end_of(number));
    CHECK_EQ_INT(ek_task_data_bytes(worker), object ? object->bytes : 0);
    if (object) {
        CHECK_EQ_INT(object->number, number);
        /* What is not returned may be anything. */
        box_step(number, object->values, object->bytes);
        field.away++;
    } else {
        CHECK(box->values != NULL);
        if (!is_over && box->values)
            box_step(number, box->values, box->bytes);
        field.at_home++;
    }
    field.advanced[number] += !is_over;
    return 0;
}

static inline int box_task(ek_worker *worker, const void *payload, size_t bytes,
                           void *context)
{
    (void)bytes, (void)context;
    return box_run(worker, box_number(payload));
}

static inline ek_data_ops box_ops(void)
{
    ek_data_ops ops = EK_DATA_OPS_INIT;
    ops.bytes_max = BOX_LARGEST;
    ops.pack_input = box_pack_input;
    ops.unpack_input = box_unpack_input;
    ops.pack_result = box_pack_result;
    ops.unpack_result = box_unpack_result;
    ops.release = box_release;
    return ops;
}

/* Boxes of the beginning on all ranks. */
static inline void boxes_begin(void)
{
    for (int64_t i = 0; i < BOX_RANKS * BOXES; i++)
        free(field.boxes[i].values);
    memset(&field, 0, sizeof field);
    for (int64_t i = 0; i < BOXES; i++)
        box_place(job_rank * BOXES + i);
}

/* What is counted of an iteration starts anew. */
static inline void boxes_forget(void)
{
    field.packed = field.unpacked = field.returned = field.dropped = 0;
    field.kept = field.released = field.at_home = field.away = 0;
    field.in_bytes = field.out_bytes = 0;
}

/* Each box is with one rank, at the version to which tasks have brought it, and
 * what has left has come. */
static inline void boxes_check(void)
{
    static int64_t all[BOX_RANKS * BOXES], here[BOX_RANKS * BOXES];
    int count = job_size * BOXES;
    for (int i = 0; i < count; i++) {
        const struct box *box = &field.boxes[i];
        here[i] = box->values != NULL;
        all[i] = atomic_load(&field.advanced[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, all, count, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, here, count, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        const struct box *box = &field.boxes[i];
        CHECK_EQ_INT(here[i], 1);
        if (!box->values)
            continue;
        CHECK(box_is_whole(i, box->values, box->bytes));
        if (box->bytes > 0)
            CHECK_EQ_INT(box->values[0], (unsigned char)all[i]);
    }
    CHECK_EQ_INT(job_sum(field.unpacked), job_sum(field.away));
    CHECK_EQ_INT(job_sum(field.returned), job_sum(field.kept));
    CHECK_EQ_INT(field.returned + field.dropped, field.unpacked);
}

/* Tasks of the boxes of each rank, which start SHIFT ranks further. */
static inline void boxes_add(ek_collection *tasks, ek_function function,
                             int shift)
{
    for (int64_t i = 0; i < BOXES; i++) {
        int64_t number = job_rank * BOXES + i;
        ek_hint hint = EK_HINT_INIT;
        hint.rank = (job_rank + shift) % job_size;
        CHECK_OK(ek_add_task(tasks, function, &number, sizeof number, &hint));
    }
}

/* A collection with these tasks. */
static inline ek_collection *boxes_collection(const ek_options *options,
                                              int shift, ek_function *function)
{
    ek_data_ops ops = box_ops();
    ek_collection *tasks = job_create(options);
    *function = job_register(tasks, "box", box_task, NULL);
    CHECK_OK(ek_set_data_ops(tasks, *function, &ops));
    boxes_begin();
    boxes_add(tasks, *function, shift);
    return tasks;
}

#endif
