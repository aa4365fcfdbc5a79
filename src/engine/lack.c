/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is gone for long.
 *
 * Whoever gets none tries again in later steps, because others may give some
 * back.  While a rank lacks memory its steps note that.  After half of stall_ms
 * it is *out* of memory: the phase ends in EK_ERR_NOMEM on all ranks, and tasks
 * that have come here, and find no room, go on to the other ranks in turn.  A
 * message needs no memory, so all tasks come to lie with a worker, who cancels
 * them, and the end counts them as ever.
 */
#include "engine/internal.h"

/* Where stall_ms is 0. */
#define PATIENCE_NS UINT64_C(5000000000)

struct eki_message *eki_pass_begin(struct eki_engine *engine)
{
    if (!engine->lack.is_out || engine->topology->size == 1)
        return NULL;
    struct eki_message *message =
        eki_exchange_reserve(&engine->exchange, EKI_KIND_MOVE);
    engine->lack.waits |= !message;
    if (!message)
        eki_note_lack(engine, EKI_LACKS_SERVER);
    return message;
}

void eki_pass_end(struct eki_engine *engine, struct eki_message *message,
                  const void *slots, int64_t count)
{
    const struct eki_topology *topology = engine->topology;
    struct eki_lack *lack = &engine->lack;
    int to = (topology->rank + 1 + lack->next) % topology->size;
    const struct eki_note note = {EKI_KIND_MOVE, to, -1, -1, 0};
    eki_note_write(message, &note, slots, count, engine->slot_bytes);
    eki_exchange_post(&engine->exchange, message, to);
    lack->next = (lack->next + 1) % (topology->size - 1);
    lack->passed = lack->now;
}

bool eki_pass_on(struct eki_engine *engine, const unsigned char *slots,
                 int64_t count)
{
    struct eki_message *message = NULL;
    if (count <= eki_message_slots(engine))
        message = eki_pass_begin(engine);
    if (message)
        eki_pass_end(engine, message, slots, count);
    return message != NULL;
}

/* What has come for a worker that has no room for it is the server's again. */
static void collect(struct eki_lack *lack, struct ek_worker *worker,
                    _Atomic(struct eki_chunk *) *box)
{
    /* relaxed: a look. */
    struct eki_chunk *chunk = atomic_load_explicit(box, memory_order_relaxed);
    do {
        if (!chunk || chunk == eki_shut(worker))
            return;
        /* acquire: pairs with the releases in eki_push_chunk() and
         * eki_worker_shut(): the chunks are filled. */
    } while (!atomic_compare_exchange_weak_explicit(
        box, &chunk, NULL, memory_order_acquire, memory_order_relaxed));
    struct eki_chunk *last = chunk;
    while (last->next)
        last = last->next;
    last->next = lack->chunks;
    lack->chunks = chunk;
}

/* Pass on what was brought, and what has come for workers. */
static void pass_all_on(struct eki_engine *engine)
{
    struct eki_lack *lack = &engine->lack;
    struct eki_local *brought = &engine->post.brought.local;
    struct eki_share *share = &engine->post.brought.share;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        collect(lack, worker, &worker->inbox);
        collect(lack, worker, &worker->answers);
    }
    while (lack->chunks &&
           eki_pass_on(engine, lack->chunks->slots, lack->chunks->count)) {
        struct eki_chunk *chunk = lack->chunks;
        lack->chunks = chunk->next;
        eki_free(chunk);
    }
    if (share->deque.open != 0 && !eki_share_reclaim(brought, share))
        return;
    for (int64_t n; (n = eki_local_stacked(brought)) > 0;
         brought->stack_top -= n * (int64_t)engine->slot_bytes) {
        int64_t most = eki_message_slots(engine);
        n = n < most ? n : most;
        if (!eki_pass_on(engine,
                         brought->stack_top - n * (int64_t)engine->slot_bytes,
                         n))
            return;
    }
}

static void note_error(struct eki_engine *engine)
{
    char text[80];
    snprintf(text, sizeof text, "no memory for tasks that came (%lld bytes)",
             (long long)engine->lack.bytes);
    eki_engine_lacks(engine,
                     engine->lack.bytes ? text : "no memory for messages");
}

void eki_lack_step(struct eki_engine *engine, uint64_t now)
{
    struct eki_lack *lack = &engine->lack;
    uint64_t patience_ns =
        engine->setup.stall_ns ? engine->setup.stall_ns / 2 : PATIENCE_NS;
    /* relaxed, both: see eki_note_lack(). */
    unsigned lacks =
        atomic_exchange_explicit(&engine->lacks, 0, memory_order_relaxed);
    if (lacks == EKI_LACKED && !lack->is_out) {
        lack->since = 0;
        return;
    }
    /* The next step looks whether the server lacks memory still. */
    eki_note_lack(engine, EKI_LACKED | (lacks & EKI_LACKS_WORKER));
    lack->now = now;
    if (lack->since == 0)
        lack->since = now;
    lack->is_out |= eki_ns_since(lack->since, now) >= patience_ns;
    if (!lack->is_out)
        return;
    lack->waits = lack->waits && lacks & EKI_LACKS_SERVER;
    /* That a worker does is an error already, and the phase may be over. */
    if (lacks & EKI_LACKS_SERVER)
        note_error(engine);
    pass_all_on(engine);
}

void eki_lack_forget(struct eki_engine *engine)
{
    struct eki_lack *lack = &engine->lack;
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&engine->lacks, 0, memory_order_relaxed);
    while (lack->chunks) {
        struct eki_chunk *chunk = lack->chunks;
        lack->chunks = chunk->next;
        eki_free(chunk);
    }
    *lack = (struct eki_lack){.next = lack->next};
}
