/* SPDX-License-Identifier: BSD-3-Clause */
/* A way for tasks that have arrived to a worker of this rank. */
#include "engine/internal.h"

struct ek_worker *eki_server_worker(struct eki_engine *engine, int id)
{
    const struct eki_topology *topology = engine->topology;
    int here = id - topology->first_worker[topology->rank];
    if (here < 0 || here >= topology->workers_here) {
        here = engine->post.next_worker;
        engine->post.next_worker = (here + 1) % topology->workers_here;
    }
    return engine->workers[here];
}

/* There is no memory for BYTES of tasks. */
static void note_bytes(struct eki_engine *engine, size_t bytes)
{
    engine->lack.bytes = (int64_t)bytes;
    eki_note_lack(engine, EKI_LACKS_SERVER);
}

/* The tasks of a message, stolen ones or others; NULL: no memory. */
static struct eki_chunk *make_chunk(struct eki_engine *engine,
                                    const struct eki_message *message,
                                    bool is_stolen, uint64_t asked_at)
{
    size_t bytes = (size_t)message->head.count * engine->slot_bytes;
    struct eki_chunk *chunk = eki_alloc(1, sizeof *chunk + bytes);
    if (!chunk) {
        note_bytes(engine, bytes);
        return NULL;
    }
    memcpy(chunk->slots, message->body, bytes);
    chunk->count = message->head.count;
    chunk->is_stolen = is_stolen;
    chunk->is_whole = message->head.first == 0;
    chunk->asked_at = asked_at;
    chunk->rank = message->head.source;
    return chunk;
}

bool eki_push_chunk(struct ek_worker *worker, _Atomic(struct eki_chunk *) *box,
                    struct eki_chunk *chunk)
{
    /* The note is taken back before the chunk can be taken: the worker, who
     * says that it is idle when all is done, must have the last word.  relaxed:
     * the release below orders it. */
    atomic_store_explicit(&worker->words->idle, 0, memory_order_relaxed);
    /* relaxed: the exchange below orders the chunk. */
    struct eki_chunk *head = atomic_load_explicit(box, memory_order_relaxed);
    do {
        if (head == eki_shut(worker))
            return false;
        chunk->next = head;
        /* release: pairs with the acquires in take_box() and eki_worker_shut().
         * relaxed on failure: we only take the new head. */
    } while (!atomic_compare_exchange_weak_explicit(
        box, &head, chunk, memory_order_release, memory_order_relaxed));
    return true;
}

void eki_worker_clear(struct ek_worker *worker,
                      _Atomic(struct eki_chunk *) *box)
{
    /* relaxed: nobody else is about; handed to the worker's thread by the start
     * of the team. */
    struct eki_chunk *chunk =
        atomic_exchange_explicit(box, eki_shut(worker), memory_order_relaxed);
    while (chunk && chunk != eki_shut(worker)) {
        struct eki_chunk *next = chunk->next;
        eki_free(chunk);
        chunk = next;
    }
}

bool eki_server_deliver(struct eki_engine *engine, struct ek_worker *worker,
                        const struct eki_message *message)
{
    struct eki_chunk *chunk = make_chunk(engine, message, false, 0);
    return chunk ? eki_push_chunk(worker, &worker->inbox, chunk)
                 : eki_pass_on(engine, message->body, message->head.count);
}

bool eki_server_share(struct eki_engine *engine, const unsigned char *slots,
                      int64_t count)
{
    struct eki_local *local = &engine->post.brought.local;
    size_t bytes = (size_t)count * engine->slot_bytes;
    if (!eki_local_reserve(local, count)) {
        note_bytes(engine, bytes);
        return eki_pass_on(engine, slots, count);
    }
    memcpy(local->stack_top, slots, bytes);
    local->stack_top += bytes;
    eki_server_show(engine, true);
    return true;
}

bool eki_server_bring(struct eki_engine *engine, struct ek_worker *worker,
                      const struct eki_message *message, uint64_t asked_at)
{
    /* relaxed: a look, that saves a chunk. */
    if (atomic_load_explicit(&worker->answers, memory_order_relaxed) ==
        eki_shut(worker))
        return eki_server_share(engine, message->body, message->head.count);
    struct eki_chunk *chunk = make_chunk(engine, message, true, asked_at);
    if (!chunk)
        return eki_pass_on(engine, message->body, message->head.count);
    if (eki_push_chunk(worker, &worker->answers, chunk))
        return true;
    eki_free(chunk);
    return eki_server_share(engine, message->body, message->head.count);
}
