/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/exchange.h"

enum {
    SENDS_MOST = 32 /* messages of a step */
};

struct eki_message *eki_exchange_reserve(struct eki_exchange *exchange,
                                         int kind)
{
    struct eki_fabric *fabric = exchange->fabric;
    struct eki_message *message = fabric->ops->reserve(fabric);
    if (!message)
        return NULL;
    message->head.kind = (uint16_t)kind;
    message->head.collection = exchange->number;
    message->head.phase = exchange->phase;
    message->head.signature = exchange->signature;
    message->head.count = message->head.bytes = message->head.first = 0;
    message->head.worker = message->head.detail = -1;
    return message;
}

bool eki_exchange_send(struct eki_exchange *exchange,
                       const struct eki_note *note, const void *items,
                       int64_t count, size_t bytes)
{
    struct eki_message *message = eki_exchange_reserve(exchange, note->kind);
    if (!message)
        return false;
    eki_note_write(message, note, items, count, bytes);
    eki_exchange_post(exchange, message, note->to);
    return true;
}

void eki_outbox_begin(struct eki_outbox *outbox, struct eki_exchange *exchange)
{
    outbox->exchange = exchange;
    outbox->left = SENDS_MOST;
    outbox->lacks_spare = outbox->lacks_any = false;
}

struct eki_message *eki_outbox_reserve(struct eki_outbox *outbox, int kind,
                                       bool is_full)
{
    if (outbox->left == 0 || outbox->lacks_any)
        return NULL;
    if (is_full && !outbox->lacks_spare)
        outbox->lacks_spare = !eki_fabric_has_spare(outbox->exchange->fabric);
    if (is_full && outbox->lacks_spare)
        return NULL;
    struct eki_message *message = eki_exchange_reserve(outbox->exchange, kind);
    outbox->lacks_any = !message;
    outbox->left -= message != NULL;
    return message;
}

static unsigned char *item_of(const struct eki_queue *queue, int64_t i)
{
    return (unsigned char *)queue->items + (size_t)i * queue->item_bytes;
}

bool eki_queue_grow(struct eki_queue *queue)
{
    return eki_grow(&queue->items, queue->count, &queue->room, queue->first,
                    queue->item_bytes);
}

bool eki_queue_add(struct eki_queue *queue, const void *item)
{
    if (!eki_queue_has_room(queue))
        return false;
    memcpy(item_of(queue, queue->count++), item, queue->item_bytes);
    return true;
}

void eki_queue_serve_some(struct eki_queue *queue, eki_serve_fn *serve,
                          void *context)
{
    int64_t served = 0;
    while (served < queue->count && serve(context, item_of(queue, served)))
        served++;
    if (served == 0)
        return;
    queue->count -= served;
    if (queue->count == 0)
        return;
    memmove(queue->items, item_of(queue, served),
            (size_t)queue->count * queue->item_bytes);
}

int64_t eki_queue_serve_all(struct eki_queue *queue, eki_serve_fn *serve,
                            void *context)
{
    int64_t waiting = 0;
    for (int64_t i = 0; i < queue->count; i++) {
        if (serve(context, item_of(queue, i)))
            continue;
        if (waiting < i)
            memcpy(item_of(queue, waiting), item_of(queue, i),
                   queue->item_bytes);
        waiting++;
    }
    queue->count = waiting;
    return waiting;
}
