/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange: what all that talks to other ranks sends through.  The engine fills
 * in what every message of a phase has; who talks says what, to whom, and in
 * which step.
 *
 * An *outbox* is what a protocol may send in one step of a server.  A *queue*
 * has what is to be sent, or answered, as soon as there is a buffer, first in,
 * first out.
 *
 * Threads.  The server's; opened and closed while nobody steps it.
 */
#ifndef EKI_EXCHANGE_EXCHANGE_H
#define EKI_EXCHANGE_EXCHANGE_H

#include "fabric/fabric.h"
#include "steal/steal.h"

#include <string.h>

/* The end of one rank; of its engine. */
struct eki_exchange {
    struct eki_fabric *fabric;           /* NULL: one rank */
    const struct eki_topology *topology; /* of the job */
    uint32_t number;                     /* of the line */
    uint64_t phase, signature;
    int64_t across; /* messages to other nodes in this phase */
    /* Messages that came, or went, with more right behind them; cumulative. */
    uint64_t streamed;
    /* Somebody wants to know of each message before it leaves; NULL: nobody. */
    void (*posts)(void *to, const struct eki_message *message);
    void *posts_to;
};

/* Bytes that the body of a message may have. */
static inline int64_t eki_exchange_room(const struct eki_exchange *exchange)
{
    return (int64_t)(exchange->fabric->message_bytes -
                     sizeof(struct eki_message));
}

/* What a message says beside its body. */
struct eki_note {
    int kind, to;           /* to: rank */
    int32_t worker, detail; /* their meaning depends on the kind */
    int64_t first;          /* as detail */
};
/* Send NOTE, with copies of COUNT items of BYTES each; false: no buffer. */
bool eki_exchange_send(struct eki_exchange *exchange,
                       const struct eki_note *note, const void *items,
                       int64_t count, size_t bytes);
/* Likewise, but to a message of any kind that was reserved, to be posted then;
 * NULL: the items are in its body. */
static inline void eki_note_write(struct eki_message *message,
                                  const struct eki_note *note,
                                  const void *items, int64_t count,
                                  size_t bytes)
{
    struct eki_head *head = &message->head;
    head->kind = (uint16_t)note->kind;
    head->worker = note->worker;
    head->detail = note->detail;
    head->first = note->first;
    head->count = count;
    head->bytes = count * (int64_t)bytes;
    if (items && head->bytes)
        memcpy(message->body, items, (size_t)head->bytes);
}

/* A buffer for a message of KIND without a body, of no worker; NULL: all are in
 * use. */
struct eki_message *eki_exchange_reserve(struct eki_exchange *exchange,
                                         int kind);
/* Send it, to a rank of any node. */
static inline void eki_exchange_post(struct eki_exchange *exchange,
                                     struct eki_message *message, int rank)
{
    exchange->across +=
        exchange->topology->node_of_rank[rank] != exchange->topology->node;
    if (EKI_UNLIKELY(exchange->posts != NULL))
        exchange->posts(exchange->posts_to, message);
    exchange->fabric->ops->post(exchange->fabric, message, rank);
}

struct eki_outbox {
    struct eki_exchange *exchange;
    int left; /* messages that the step may still send: others need buffers */
    /* No buffer was left for a message of a long row of them, or for any: to
     * find none takes as long as there are buffers, so once a step is enough.
     */
    bool lacks_spare, lacks_any;
};

/* A step begins. */
void eki_outbox_begin(struct eki_outbox *outbox, struct eki_exchange *exchange);
/* Likewise, a message; of a row of full ones, or another.  NULL: none any more
 * in this step. */
struct eki_message *eki_outbox_reserve(struct eki_outbox *outbox, int kind,
                                       bool is_full);
/* Send it; MORE is right behind it. */
static inline void eki_outbox_post(struct eki_outbox *outbox,
                                   struct eki_message *message, int rank,
                                   bool more)
{
    outbox->exchange->streamed += more;
    eki_exchange_post(outbox->exchange, message, rank);
}

/* Items of one size; the oldest first. */
struct eki_queue {
    void *items; /* [count]; owned */
    int64_t count, room;
    int64_t first; /* room to begin with */
    size_t item_bytes;
};

#define EKI_QUEUE(type, first)            \
    (struct eki_queue)                    \
    {                                     \
        NULL, 0, 0, (first), sizeof(type) \
    }

/* Whether one more item fits; false: no memory.  Where a protocol has asked
 * once when it was made, items that wait leave without memory, so one more fits
 * later. */
bool eki_queue_grow(struct eki_queue *queue);
static inline bool eki_queue_has_room(struct eki_queue *queue)
{
    return EKI_LIKELY(queue->count < queue->room) || eki_queue_grow(queue);
}
/* Append a copy of ITEM; false: no memory. */
bool eki_queue_add(struct eki_queue *queue, const void *item);
/* The first item is not answered for want of a buffer: false. */
typedef bool eki_serve_fn(void *context, void *item);
/* Give SERVE one item after the other, as long as it takes them; these are
 * taken out. */
void eki_queue_serve_some(struct eki_queue *queue, eki_serve_fn *serve,
                          void *context);
static inline void eki_queue_serve(struct eki_queue *queue, eki_serve_fn *serve,
                                   void *context)
{
    if (queue->count > 0)
        eki_queue_serve_some(queue, serve, context);
}
/* Likewise, but go on behind one that waits, which SERVE may change; how many
 * wait. */
int64_t eki_queue_serve_all(struct eki_queue *queue, eki_serve_fn *serve,
                            void *context);

static inline void eki_queue_clear(struct eki_queue *queue)
{
    queue->count = 0;
}

#endif
