/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent: messages with bytes behind words, and what workers here want:
 * they ask, and return results. */
#include "data/internal.h"

int64_t eki_data_carried_bytes(const struct eki_engine *engine,
                               const struct eki_head *head)
{
    bool carries =
        head->kind == EKI_KIND_INPUT ||
        (head->kind == EKI_KIND_RESULT && head->detail != EKI_RESULT_LONG);
    return carries && !eki_data_of(engine)->setup.has_bytes ? head->count : 0;
}

struct eki_message *eki_data_reserve(struct eki_data *data, int kind,
                                     int64_t words, int64_t count)
{
    bool is_full = count > 0 && count == eki_data_room(data, words);
    struct eki_message *message =
        eki_outbox_reserve(&data->outbox, kind, is_full);
    if (!message)
        return NULL;
    message->head.count = count;
    message->head.bytes = words + (data->setup.has_bytes ? count : 0);
    return message;
}

void eki_data_post(struct eki_data *data, struct eki_message *message,
                   const unsigned char *from, const struct eki_data_to *to,
                   bool more)
{
    int64_t count = message->head.count;
    if (from && data->setup.has_bytes && count > 0)
        memcpy(message->body + (message->head.bytes - count), from,
               (size_t)count);
    message->head.worker = to->worker;
    message->head.first = to->op;
    eki_outbox_post(&data->outbox, message, to->rank, more);
}

static bool send_data_ask(struct eki_data *data, const struct eki_data_op *op,
                          const struct eki_data_to *to)
{
    uint32_t bytes = data->protocol.engine->slot_bytes;
    struct eki_message *message =
        eki_data_reserve(data, EKI_KIND_ASK, bytes, 0);
    if (!message)
        return false;
    memcpy(message->body, op->slot, bytes);
    message->head.count = 1;
    /* relaxed: a guess. */
    int64_t noted = atomic_load_explicit(&data->away_ns[op->slot->function],
                                         memory_order_relaxed);
    message->head.detail =
        (op->seed != NULL) + 2 * (int32_t)(noted > 0 ? noted : 0);
    eki_data_post(data, message, NULL, to, false);
    return true;
}

/* A short result, or the word that there is a long one. */
static bool send_result(struct eki_data *data, struct eki_data_op *op,
                        const struct eki_data_to *to)
{
    uint32_t slot = data->protocol.engine->slot_bytes;
    bool is_short = op->total <= eki_data_room(data, slot);
    struct eki_message *message =
        eki_data_reserve(data, EKI_KIND_RESULT, slot, is_short ? op->total : 0);
    if (!message)
        return false;
    memcpy(message->body, op->slot, slot);
    message->head.count = op->total;
    message->head.detail = is_short ? EKI_RESULT_SHORT : EKI_RESULT_LONG;
    if (is_short)
        op->moved = op->total;
    eki_data_post(data, message, is_short ? op->buffer : NULL, to, false);
    return true;
}

/* Send what there are buffers for of a result that may be sent; true: all. */
static bool send_result_rest(struct eki_data *data, struct eki_data_op *op,
                             const struct eki_data_to *to)
{
    while (op->moved < op->total) {
        int64_t count =
            eki_least(op->total - op->moved, eki_data_room(data, 0));
        struct eki_message *message =
            eki_data_reserve(data, EKI_KIND_RESULT, 0, count);
        if (!message)
            return false;
        message->head.detail = (int32_t)op->moved;
        eki_data_post(data, message, op->buffer ? op->buffer + op->moved : NULL,
                      to, op->moved + count < op->total);
        op->moved += count;
    }
    return true;
}

/* True: nothing more for now. */
bool eki_data_send_op(void *context, int here, int place)
{
    struct eki_data *data = context;
    struct eki_data_op *op = &data->carriers[here].ops[place];
    const struct eki_data_to to = {
        op->home, data->protocol.engine->workers[here]->id, op->number};
    if (op->is_given)
        return send_result_rest(data, op, &to);
    op->is_sent = eki_op_state(op) == EKI_DATA_ASKED
                      ? send_data_ask(data, op, &to)
                      : send_result(data, op, &to);
    return op->is_sent;
}
