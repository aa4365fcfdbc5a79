/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent for workers here: they ask, and return results. */
#include "data/internal.h"

static bool send_ask(struct eki_data *data, const struct ek_worker *worker,
                     const struct eki_data_op *op)
{
    uint32_t bytes = data->protocol.engine->slot_bytes;
    struct eki_message *message =
        eki_data_reserve(data, EKI_KIND_ASK, bytes, 0);
    if (!message)
        return false;
    memcpy(message->body, op->slot, bytes);
    message->head.count = 1;
    /* relaxed: a guess. */
    message->head.detail =
        (op->seed != NULL) +
        2 * (int32_t)atomic_load_explicit(&data->fetch_ns[op->slot->function],
                                          memory_order_relaxed);
    eki_data_post(data, message, worker->id, op->number, op->home);
    return true;
}

/* A short result, or the word that there is a long one. */
static bool send_first(struct eki_data *data, const struct ek_worker *worker,
                       struct eki_data_op *op)
{
    uint32_t slot = data->protocol.engine->slot_bytes;
    bool is_short = op->total <= eki_data_room(data, slot);
    struct eki_message *message =
        eki_data_reserve(data, EKI_KIND_RESULT, slot, is_short ? op->total : 0);
    if (!message)
        return false;
    memcpy(message->body, op->slot, slot);
    eki_data_copy(data, message, slot, op->buffer);
    if (is_short)
        op->moved = op->total;
    message->head.count = op->total;
    message->head.detail = is_short ? EKI_RESULT_SHORT : EKI_RESULT_LONG;
    eki_data_post(data, message, worker->id, op->number, op->home);
    return true;
}

/* Send what there are buffers for of a result that may be sent; true: all. */
static bool send_rest(struct eki_data *data, const struct ek_worker *worker,
                      struct eki_data_op *op, int *left)
{
    while (*left > 0 && op->moved < op->total) {
        int64_t count =
            eki_least(op->total - op->moved, eki_data_room(data, 0));
        struct eki_message *message =
            eki_data_reserve(data, EKI_KIND_RESULT, 0, count);
        if (!message)
            return false;
        eki_data_copy(data, message, 0,
                      op->buffer ? op->buffer + op->moved : NULL);
        message->head.detail = (int32_t)op->moved;
        eki_data_post(data, message, worker->id, op->number, op->home);
        op->moved += count;
        eki_data_note_part(data, op->moved < op->total);
        --*left;
    }
    return op->moved == op->total;
}

/* Send what an operation wants; true: nothing more for now. */
static bool send_op(struct eki_data *data, const struct ek_worker *worker,
                    struct eki_data_op *op, int *left)
{
    bool is_sent;
    if (op->is_given)
        return send_rest(data, worker, op, left);
    if (eki_op_state(op) == EKI_DATA_ASKED)
        is_sent = send_ask(data, worker, op);
    else
        is_sent = send_first(data, worker, op);
    *left -= is_sent;
    op->is_sent = is_sent;
    return is_sent;
}

/* Send what a worker wants; false: no more buffers for now. */
static bool send_for(struct eki_data *data, const struct ek_worker *worker,
                     int *left)
{
    struct eki_carrier *carrier = &data->carriers[worker->here];
    /* acquire: pairs with the release in eki_carrier_want(): the operations. */
    uint64_t asked =
        atomic_load_explicit(&carrier->asked, memory_order_acquire);
    for (; asked != 0 && *left > 0; asked &= asked - 1) {
        int place = __builtin_ctzll(asked);
        if (!send_op(data, worker, &carrier->ops[place], left))
            continue;
        /* relaxed, both: who sets the bit again has heard of the answer. */
        atomic_fetch_and_explicit(&carrier->asked, ~(UINT64_C(1) << place),
                                  memory_order_relaxed);
        atomic_fetch_sub_explicit(&data->wants, 1, memory_order_relaxed);
    }
    return *left > 0;
}

/* Workers take turns in being the first. */
void eki_data_send_wants(struct eki_data *data, int *left)
{
    const struct eki_engine *engine = data->protocol.engine;
    int workers = engine->topology->workers_here;
    for (int i = 0; i < workers; i++) {
        int here = (data->next_worker + i) % workers;
        if (!send_for(data, engine->workers[here], left)) {
            data->next_worker = here;
            return;
        }
    }
    data->next_worker = (data->next_worker + 1) % workers;
}
