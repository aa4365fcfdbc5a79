/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes, and what a step sends. */
#include "data/internal.h"

#include <inttypes.h>

enum {
    /* Of fetching times, the weight of the last one is 1 / this. */
    FETCH_WEIGHT = 4,
    /* As much as a message tells. */
    FETCH_NS_MOST = 1 << 29
};

void eki_data_step(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_data *data = (struct eki_data *)protocol;
    eki_outbox_begin(&data->outbox, &protocol->engine->exchange);
    if (data->follower.is_open)
        eki_follower_step(data, now);
    if (data->results.first)
        eki_guests_give(data);
    if (data->answers.count > 0)
        eki_guests_send(data);
    if (data->asks.first)
        eki_guests_serve(data);
    eki_tickets_send(&data->tickets, &data->outbox, eki_data_send_op, data);
}

/* The task that a message brings, of a function with data whose home is this
 * rank. */
static bool fits_task(const struct eki_decode *decode,
                      const struct eki_message *message)
{
    struct eki_engine *engine = decode->engine;
    const struct eki_slot *slot = (const struct eki_slot *)message->body;
    return eki_fits(decode, "bytes", message->head.bytes, engine->slot_bytes,
                    INT64_MAX) &&
           eki_fits_slot(decode, slot, engine->function_count) &&
           eki_fits_one(decode, "data of the function",
                        eki_data_ops_of(engine, slot->function) != NULL,
                        true) &&
           eki_fits_one(decode, "home", eki_engine_home(engine, slot),
                        engine->topology->rank);
}

/* An operation of a worker of RANK. */
static bool fits_asker(const struct eki_decode *decode,
                       const struct eki_head *head, int rank)
{
    return eki_fits_worker(decode, head->worker, rank) &&
           eki_fits(decode, "operation", head->first, EKI_DATA_OPS_MOST,
                    UINT32_MAX);
}

static enum eki_taken take_ask(const struct eki_decode *decode,
                               const struct eki_message *message)
{
    struct eki_engine *engine = decode->engine;
    struct eki_data *data = eki_data_of(engine);
    const struct eki_head *head = &message->head;
    bool is_restore = engine->kind == EKI_PHASE_RESTORE;
    /* Where ranks differ nothing runs. */
    bool is_alike = head->signature == engine->signature;
    if (!fits_asker(decode, head, head->source) ||
        !eki_fits_body(decode, head, 1, engine->slot_bytes) ||
        !eki_fits_one(decode, "new home", head->detail & 1, is_restore) ||
        !eki_fits(decode, "time of a fetch", head->detail, 0, INT32_MAX) ||
        (is_alike && !fits_task(decode, message)))
        return EKI_REFUSED;
    struct eki_guest *guest = eki_guest_add(data, &data->asks, message);
    if (!guest)
        return eki_guest_refuse(data, message) ? EKI_TAKEN : EKI_NO_MEMORY;
    guest->is_new = head->detail & 1;
    if (is_alike)
        eki_data_note_fetch(data,
                            ((const struct eki_slot *)message->body)->function,
                            head->detail / 2);
    guest->is_packed = !is_alike;
    guest->total = EKI_INPUT_FAILED;
    return EKI_TAKEN;
}

/* Bytes in the body behind WORDS. */
static bool fits_bytes(const struct eki_decode *decode,
                       const struct eki_head *head, int64_t words,
                       int64_t count)
{
    bool has_bytes = eki_data_of(decode->engine)->setup.has_bytes;
    return eki_fits_one(decode, "bytes", head->bytes,
                        words + (has_bytes ? count : 0));
}

/* Unpack a result, and answer that; there is room for the answer. */
static void keep(struct eki_data *data, const struct eki_slot *slot,
                 const unsigned char *bytes, int64_t count,
                 const struct eki_head *head)
{
    ek_task task = eki_engine_show(data->protocol.engine, slot);
    for (int times = EKI_PLANTED(TWICE_UNPACKED) ? 2 : 1; times > 0; times--)
        eki_data_unpack(data, &data->ops[slot->function], &task, bytes,
                        (size_t)count);
    struct eki_data_to to;
    eki_data_from(head, &to);
    eki_guests_answer(data, EKI_KIND_KEPT, &to);
}

/* A short result, or the word that there is a long one. */
static enum eki_taken take_first(const struct eki_decode *decode,
                                 const struct eki_message *message)
{
    struct eki_data *data = eki_data_of(decode->engine);
    const struct eki_head *head = &message->head;
    const struct eki_slot *slot = (const struct eki_slot *)message->body;
    if (!fits_asker(decode, head, head->source) || !fits_task(decode, message))
        return EKI_REFUSED;
    const ek_data_ops *ops = &data->ops[slot->function];
    int64_t words = decode->engine->slot_bytes,
            room = eki_data_room(data, words);
    bool is_short = head->detail == EKI_RESULT_SHORT;
    if (!eki_fits_one(decode, "results of the function",
                      ops->unpack_result != NULL, true) ||
        !eki_fits(decode, "count", head->count, is_short ? 0 : room + 1,
                  is_short ? eki_least(room, (int64_t)ops->bytes_max)
                           : (int64_t)ops->bytes_max) ||
        !fits_bytes(decode, head, words, is_short ? head->count : 0))
        return EKI_REFUSED;
    if (is_short) {
        if (!eki_queue_has_room(&data->answers))
            return EKI_NO_MEMORY;
        keep(data, slot, message->body + words, head->count, head);
        return EKI_TAKEN;
    }
    struct eki_guest *guest = eki_guest_add(data, &data->results, message);
    struct eki_data_to to;
    if (!guest &&
        (!decode->engine->lack.is_out || !eki_queue_has_room(&data->answers)))
        return EKI_NO_MEMORY;
    if (!guest) {
        eki_data_from(head, &to);
        eki_guests_answer(data, EKI_KIND_KEPT, &to);
        return EKI_TAKEN;
    }
    guest->total = head->count;
    return EKI_TAKEN;
}

static enum eki_taken take_rest(const struct eki_decode *decode,
                                const struct eki_message *message)
{
    struct eki_data *data = eki_data_of(decode->engine);
    const struct eki_head *head = &message->head;
    struct eki_guest **link = eki_guest_find(data, head), *guest = *link;
    if (!eki_fits_one(decode, "result under way", guest && guest->is_given,
                      true) ||
        !eki_fits_one(decode, "offset", head->detail, guest->moved) ||
        !eki_fits(decode, "count", head->count, 1,
                  guest->total - guest->moved) ||
        !fits_bytes(decode, head, 0, head->count))
        return EKI_REFUSED;
    bool is_last = guest->moved + head->count == guest->total;
    if (is_last && !eki_queue_has_room(&data->answers))
        return EKI_NO_MEMORY;
    if (data->setup.has_bytes)
        memcpy(guest->buffer + guest->moved, message->body,
               (size_t)head->count);
    guest->moved += head->count;
    data->protocol.engine->exchange.streamed += !is_last;
    if (is_last) {
        keep(data, (const struct eki_slot *)guest->slot, guest->buffer,
             guest->total, head);
        eki_guest_free(data, &data->results, link);
    }
    return EKI_TAKEN;
}

static struct eki_carrier *carrier_of(struct eki_data *data,
                                      const struct eki_head *head)
{
    const struct eki_topology *topology = data->protocol.engine->topology;
    return &data->carriers[head->worker -
                           topology->first_worker[topology->rank]];
}

/* The operation that an answer is about, in this state; NULL: refused. */
static struct eki_data_op *find_op(const struct eki_decode *decode,
                                   const struct eki_head *head,
                                   enum eki_data_state state)
{
    struct eki_engine *engine = decode->engine;
    if (!fits_asker(decode, head, engine->topology->rank))
        return NULL;
    struct eki_data_op *op = &carrier_of(eki_data_of(engine), head)
                                  ->ops[head->first % EKI_DATA_OPS_MOST];
    bool fits = eki_op_state(op) == (int)state && op->number == head->first &&
                op->is_sent;
    return eki_fits_one(decode, "operation under way", fits, true) &&
                   eki_fits_one(decode, "source", head->source, op->home)
               ? op
               : NULL;
}

/* All of an input is here. */
static void end_input(struct eki_carrier *carrier, struct eki_data_op *op,
                      uint64_t now)
{
    struct eki_data *data = carrier->data;
    /* relaxed, all: a guess, which the server alone writes. */
    uint64_t old =
        atomic_load_explicit(&carrier->fetch_ns, memory_order_relaxed);
    uint64_t took = eki_ns_since(op->since, now);
    atomic_store_explicit(
        &carrier->fetch_ns,
        old == 0 ? took : old - old / FETCH_WEIGHT + took / FETCH_WEIGHT,
        memory_order_relaxed);
    data->counts.bytes_in += op->total > 0 ? op->total : 0;
    /* A task has waited for just this one. */
    if (op->total >= 0 && op->expected_ns == 0 && !op->seed)
        eki_data_note_fetch(
            data, op->slot->function,
            eki_least((int64_t)took * (1 + (op->ops->unpack_result != NULL)),
                      FETCH_NS_MOST));
    if (op->seed)
        eki_follower_take(data, op);
    else
        eki_op_set(op, EKI_DATA_HERE);
}

static enum eki_taken take_input(const struct eki_decode *decode,
                                 const struct eki_message *message,
                                 uint64_t now)
{
    struct eki_data *data = eki_data_of(decode->engine);
    const struct eki_head *head = &message->head;
    struct eki_data_op *op = find_op(decode, head, EKI_DATA_ASKED);
    struct eki_data_words words;
    if (!op || !eki_fits(decode, "bytes", head->bytes, sizeof words, INT64_MAX))
        return EKI_REFUSED;
    memcpy(&words, message->body, sizeof words);
    int64_t total = words.total > 0 ? words.total : 0;
    if (!eki_fits_one(decode, "task", words.id == op->slot->id, true) ||
        !eki_fits(decode, "total", words.total, EKI_INPUT_NO_MEMORY,
                  (int64_t)op->ops->bytes_max) ||
        !eki_fits_one(decode, "total as before",
                      op->moved == 0 || words.total == op->total, true) ||
        !eki_fits_one(decode, "offset", head->detail, op->moved) ||
        !eki_fits(decode, "count", head->count, total > 0, total - op->moved) ||
        !fits_bytes(decode, head, sizeof words, head->count))
        return EKI_REFUSED;
    op->total = words.total;
    if (data->setup.has_bytes)
        memcpy(op->buffer + op->moved, message->body + sizeof words,
               (size_t)head->count);
    op->moved += head->count;
    data->protocol.engine->exchange.streamed += op->moved < total;
    if (op->moved == total)
        end_input(carrier_of(data, head), op, now);
    return EKI_TAKEN;
}

static enum eki_taken take_give(const struct eki_decode *decode,
                                const struct eki_head *head)
{
    struct eki_data_op *op = find_op(decode, head, EKI_DATA_ENDED);
    if (!op || !eki_fits_body(decode, head, 0, 0) ||
        !eki_fits_one(decode, "permission before it",
                      op->is_given || op->moved == op->total, false))
        return EKI_REFUSED;
    op->is_given = true;
    eki_carrier_want(carrier_of(eki_data_of(decode->engine), head), op);
    return EKI_TAKEN;
}

/* The home has no memory for a long result: its data is as it was, and the task
 * has failed.  eki_collection_error() adds " on rank R", which is this one. */
static void lose(struct eki_data *data, const struct eki_data_op *op)
{
    struct eki_engine *engine = data->protocol.engine;
    const struct eki_slot *slot = op->slot;
    char text[sizeof((struct eki_error *)0)->text];
    data->counts.lost++;
    if (engine->on_failure == EK_ON_FAILURE_CONTINUE)
        return;
    snprintf(
        text, sizeof text,
        "rank %d has no memory for the result of task %s of '%s', which ran",
        op->home, eki_key_words(engine->key_base, slot->id).text,
        engine->functions[slot->function].name);
    eki_engine_fail(engine, EK_ERR_NOMEM, text);
}

/* The result is unpacked; or, before any of a long one was sent, lost. */
static enum eki_taken take_kept(const struct eki_decode *decode,
                                const struct eki_head *head)
{
    struct eki_data *data = eki_data_of(decode->engine);
    struct eki_data_op *op = find_op(decode, head, EKI_DATA_ENDED);
    bool is_lost = op && !op->is_given && op->moved < op->total;
    if (!op || !eki_fits_body(decode, head, 0, 0) ||
        (!is_lost &&
         !eki_fits_one(decode, "bytes that were sent", op->moved, op->total)))
        return EKI_REFUSED;
    struct eki_carrier *carrier = carrier_of(data, head);
    if (is_lost)
        lose(data, op);
    else
        data->counts.bytes_out += op->total;
    eki_carrier_free(carrier, op);
    eki_ticket_let_go(&data->tickets, carrier->worker->here);
    return EKI_TAKEN;
}

enum eki_taken eki_data_take(struct eki_protocol *protocol,
                             const struct eki_message *message, uint64_t now)
{
    const struct eki_head *head = &message->head;
    struct eki_decode decode = eki_decode_of(protocol->engine, head);
    switch (head->kind) {
    case EKI_KIND_ASK:
        return take_ask(&decode, message);
    case EKI_KIND_INPUT:
        return take_input(&decode, message, now);
    case EKI_KIND_RESULT:
        return head->detail < 0 ? take_first(&decode, message)
                                : take_rest(&decode, message);
    case EKI_KIND_GIVE:
        return take_give(&decode, head);
    default:
        return take_kept(&decode, head);
    }
}
