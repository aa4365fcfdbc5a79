/* SPDX-License-Identifier: BSD-3-Clause */
/* Two lone engines whose tasks have data, and the messages between them. */
#ifndef PAIR_H
#define PAIR_H

#include "data/internal.h"
#include "lone.h"

enum {
    TASKS = 16,
    BYTES_MOST = 6000,
    QUEUE = 512
};

/* Two ranks of a worker each, on two nodes. */
struct pair {
    struct lone lones[2];
    struct lone_message queue[2][QUEUE]; /* to a rank, the oldest first */
    int waiting[2];
    bool is_stuck[2]; /* what is sent to a rank stays in the queue */
    ek_data_ops ops;
    size_t bytes; /* of an input and a result */
    /* Values of the tasks, at home: the first byte of their data. */
    int value[TASKS], packed[TASKS], unpacked[TASKS], ran[TASKS];
    int dropped, released, moved_in[TASKS];
    uint32_t marks; /* of each task, as it ends */
    bool pack_fails, unpack_fails, result_fails;
};

static inline uint64_t number_of(const ek_task *task)
{
    uint64_t number;
    memcpy(&number, task->payload, sizeof number);
    return number;
}

static inline size_t pack_input(const ek_task *task, void *buffer,
                                void *context)
{
    struct pair *pair = context;
    uint64_t number = number_of(task);
    pair->packed[number]++;
    memset(buffer, 0x33, pair->ops.bytes_max);
    if (pair->bytes > 0)
        *(unsigned char *)buffer = (unsigned char)pair->value[number];
    return pair->pack_fails ? EK_DATA_FAILED : pair->bytes;
}

/* The object is the buffer. */
static inline void *unpack_input(const ek_task *task, void *buffer,
                                 size_t bytes, void *context)
{
    struct pair *pair = context;
    (void)task;
    CHECK_EQ_INT(bytes, pair->bytes);
    for (size_t i = 1; i < bytes; i++)
        CHECK_EQ_INT(((unsigned char *)buffer)[i], 0x33);
    return pair->unpack_fails ? NULL : buffer;
}

static inline size_t pack_result(const ek_task *task, void *object,
                                 void *buffer, void *context)
{
    struct pair *pair = context;
    (void)task;
    if (!buffer) {
        pair->dropped++;
        return 0;
    }
    memcpy(buffer, object, pair->bytes);
    return pair->result_fails ? pair->ops.bytes_max + 1 : pair->bytes;
}

static inline void unpack_result(const ek_task *task, const void *buffer,
                                 size_t bytes, void *context)
{
    struct pair *pair = context;
    uint64_t number = number_of(task);
    pair->unpacked[number]++;
    pair->moved_in[number] += task->is_new;
    CHECK_EQ_INT(bytes, pair->bytes);
    if (bytes > 0)
        pair->value[number] = *(const unsigned char *)buffer;
}

static inline void release(const ek_task *task, void *context)
{
    CHECK(task->is_new);
    ((struct pair *)context)->released++;
}

/* Inputs and results of BYTES, for a budget of so many bytes; 0: as it is. */
static inline void pair_open(struct pair *pair, size_t bytes, int64_t budget)
{
    memset(pair, 0, sizeof *pair);
    pair->bytes = bytes;
    pair->ops = (ek_data_ops){.struct_bytes = sizeof pair->ops,
                              .bytes_max = BYTES_MOST,
                              .pack_input = pack_input,
                              .unpack_input = unpack_input,
                              .pack_result = pack_result,
                              .unpack_result = unpack_result,
                              .release = release,
                              .context = pair};
    for (int rank = 0; rank < 2; rank++) {
        struct lone *lone = &pair->lones[rank];
        struct eki_data_setup setup = {.budget_bytes = budget,
                                       .has_bytes = true};
        lone_open(lone, rank);
        lone->setup.has_homes = true;
        lone->setup.payload_bytes = LONE_SLOT - 16 - EKI_SLOT_HOME_BYTES;
        lone_make(lone);
        CHECK_OK(eki_data_join(lone->engine, &setup));
        CHECK_OK(eki_data_set(lone->engine, 0, &pair->ops));
    }
}

static inline void pair_close(struct pair *pair)
{
    lone_close(&pair->lones[0]);
    lone_close(&pair->lones[1]);
}

static inline void pair_enter(struct pair *pair, enum eki_phase_kind kind)
{
    lone_enter(&pair->lones[0], kind, EK_STEAL_NONE);
    lone_enter(&pair->lones[1], kind, EK_STEAL_NONE);
}

/* What a rank has sent goes to the queue of the other. */
static inline void collect(struct pair *pair, int rank)
{
    struct lone *lone = &pair->lones[rank];
    for (int i = 0; i < lone->sent_count; i++) {
        int to = lone->to[i];
        struct lone_message *message = &pair->queue[to][pair->waiting[to]];
        if (!CHECK(pair->waiting[to] + 1 < QUEUE))
            break;
        *message = lone->sent[i];
        ((struct eki_message *)message->bytes)->head.source = rank;
        pair->waiting[to]++;
    }
    lone->buffers = LONE_SENT;
    lone_forget(lone);
}

/* A step of the server of a rank, with the message that comes next. */
static inline void serve(struct pair *pair, int rank)
{
    struct lone *lone = &pair->lones[rank];
    if (!lone->has_got && pair->waiting[rank] > 0 && !pair->is_stuck[rank]) {
        lone->got = pair->queue[rank][0];
        lone->has_got = true;
        pair->waiting[rank]--;
        memmove(&pair->queue[rank][0], &pair->queue[rank][1],
                (size_t)pair->waiting[rank] * sizeof lone->got);
    }
    lone_serve(lone);
    collect(pair, rank);
}

/* The task that runs ends. */
static inline void end_task(struct pair *pair, struct ek_worker *worker)
{
    worker->batch.marks |= pair->marks;
    if (worker->batch.marks != 0)
        eki_worker_mark(worker, 0);
}

/* The task adds 1 to its value. */
static inline void run(struct pair *pair, struct lone *lone,
                       const struct eki_slot *slot)
{
    struct ek_worker *worker = lone_worker(lone);
    uint64_t number = lone_number(slot);
    enum eki_data_begun begun = EKI_DATA_WAITS;
    for (int i = 0; i < 1000 && begun == EKI_DATA_WAITS; i++) {
        begun = eki_data_begin(worker, lone->now);
        serve(pair, 0);
        serve(pair, 1);
    }
    unsigned char *object = eki_data_object(worker);
    if (begun == EKI_DATA_HOME)
        pair->value[number]++;
    else if (begun == EKI_DATA_READY && pair->bytes > 0)
        object[0]++;
    pair->ran[number] += begun == EKI_DATA_HOME || begun == EKI_DATA_READY;
    CHECK(begun != EKI_DATA_WAITS);
    CHECK((object != NULL) == (begun == EKI_DATA_READY));
    CHECK_EQ_INT(eki_data_input_bytes(worker),
                 begun == EKI_DATA_READY ? pair->bytes : 0);
    end_task(pair, worker);
}

/* A step of a worker; true: it is done. */
static inline bool step(struct pair *pair, int rank)
{
    struct lone *lone = &pair->lones[rank];
    const struct eki_slot *slot;
    enum eki_step step = lone_step(lone);
    while (step == EKI_STEP_RUN &&
           (slot = eki_worker_take(lone_worker(lone))) != NULL)
        run(pair, lone, slot);
    serve(pair, rank);
    return step == EKI_STEP_DONE;
}

static inline bool try_end(struct pair *pair, int steps)
{
    bool done[2] = {false, false};
    for (int i = 0; i < steps && !(done[0] && done[1]); i++) {
        done[0] = step(pair, 0);
        done[1] = step(pair, 1);
    }
    return done[0] && done[1];
}

/* Run the phase to its end; what it returns. */
static inline struct eki_error pair_end(struct pair *pair)
{
    struct eki_error error = {0};
    CHECK(try_end(pair, 2000));
    for (int i = 0; i < 20; i++)
        serve(pair, i % 2);
    for (int rank = 0; rank < 2; rank++)
        eki_engine_leave(pair->lones[rank].engine, &error);
    return error;
}

/* COUNT tasks with their home on rank 0, which lie on rank 1. */
static inline void seed_away(struct pair *pair, int count)
{
    lone_seed(&pair->lones[1], count, 0);
}

static inline void check_all(const struct pair *pair, int count, int changes)
{
    for (int i = 0; i < count; i++) {
        CHECK_EQ_INT(pair->packed[i], 1);
        CHECK_EQ_INT(pair->ran[i], 1);
        CHECK_EQ_INT(pair->unpacked[i], changes);
        CHECK_EQ_INT(pair->value[i], changes);
    }
}

/* An ASK of rank 1 for task NUMBER; its tasks have waited so long. */
static inline void ask(struct lone *home, uint64_t number, int fetch_ns)
{
    struct eki_message *message = lone_message(home, EKI_KIND_ASK);
    message->head.worker = 1;
    message->head.first = EKI_DATA_OPS_MOST + (int64_t)number;
    message->head.detail = 2 * fetch_ns;
    message->head.count = 1;
    message->head.bytes = LONE_SLOT;
    lone_fill_slot((struct eki_slot *)message->body, number);
    lone_serve(home);
}

#endif
