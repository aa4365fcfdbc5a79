/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker without tasks: its own shared part, its inbox, workers that have no
 * thread yet, stealing in two steps, requests to other nodes.
 */
#include "engine/internal.h"

#define MILLISECOND 1000000u
/* Back-off after another node had nothing: doubled up to a millisecond, which
 * takes most of the traffic and no efficiency. */
#define ASK_FIRST_NS 20000u
/* Requests of one worker that may be open at a time. */
#define ASK_MOST 4

/* Room for N more tasks; without, the phase ends in an error. */
static bool has_room(struct ek_worker *worker, int64_t n)
{
    if (eki_local_reserve(&worker->local, n))
        return true;
    eki_set_error(worker, EK_ERR_NOMEM, 0, "no memory for stolen tasks");
    eki_set_stop(worker->engine);
    return false;
}

/* Room for a stolen block, so that a claim can always be copied. */
static bool has_room_for_block(struct ek_worker *worker)
{
    return has_room(worker, eki_deque_block_max(worker->engine->capacity));
}

/* Copy a claimed block of a worker of the node to the stack. */
static void copy_block(struct ek_worker *worker, int from,
                       const struct eki_block *block)
{
    struct eki_local *local = &worker->local;
    size_t bytes = (size_t)block->count * local->slot_bytes;
    memcpy(local->stack_top,
           eki_slots_of(worker->engine, from) +
               (size_t)block->first * local->slot_bytes,
           bytes);
    local->stack_top += bytes;
    if (EKI_PLANTED(NO_FINISH) && from == worker->local_number)
        return;
    eki_deque_finish(worker->deque.kind,
                     &eki_words_of(worker->engine, from)->deque, block);
}

/* Take back what nobody claimed; if it could not be published anew, claim. */
static bool take_own(struct ek_worker *worker)
{
    struct eki_deque_shared *shared = &worker->words->deque;
    struct eki_block block;
    if (worker->deque.open == 0)
        return false;
    if (eki_deque_exhausted(&worker->deque, shared)) {
        uint32_t first;
        eki_deque_room(&worker->deque, shared, &first);
        eki_local_published(&worker->local);
        return false;
    }
    if (eki_deque_other_room(&worker->deque, shared)) {
        eki_local_take_back(&worker->local,
                            eki_deque_acquire(&worker->deque, shared));
        return !eki_local_is_empty(&worker->local);
    }
    if (!has_room_for_block(worker) ||
        !eki_deque_claim(worker->deque.kind, worker->engine->capacity, shared,
                         &block))
        return false;
    copy_block(worker, worker->local_number, &block);
    return true;
}

/* Put chunks back that found no room: they are taken when there is memory. */
static void return_chunks(struct ek_worker *holder, struct eki_chunk *chunk)
{
    struct eki_chunk *last = chunk;
    while (last->next)
        last = last->next;
    /* relaxed: we only link it. */
    struct eki_chunk *head =
        atomic_load_explicit(&holder->inbox, memory_order_relaxed);
    do
        last->next = head;
    /* release: pairs with the acquire in take_inbox(): the chunks are linked.
     * relaxed on failure: only the new head is wanted. */
    while (!atomic_compare_exchange_weak_explicit(&holder->inbox, &head, chunk,
                                                  memory_order_release,
                                                  memory_order_relaxed));
}

/* What the server has brought for HOLDER, who is the worker itself or without
 * a thread, to our stack. */
static bool take_inbox(struct ek_worker *worker, struct ek_worker *holder)
{
    /* relaxed: a look only. */
    if (!atomic_load_explicit(&holder->inbox, memory_order_relaxed))
        return false;
    /* acquire: pairs with the release in eki_server_deliver(): the chunks are
     * filled. */
    struct eki_chunk *chunk =
        atomic_exchange_explicit(&holder->inbox, NULL, memory_order_acquire);
    while (chunk) {
        struct eki_chunk *next = chunk->next;
        struct eki_local *local = &worker->local;
        if (!has_room(worker, chunk->count)) {
            return_chunks(holder, chunk);
            return false;
        }
        size_t bytes = (size_t)chunk->count * local->slot_bytes;
        memcpy(local->stack_top, chunk->slots, bytes);
        local->stack_top += bytes;
        if (chunk->is_stolen) {
            worker->counts.successful += chunk->is_whole;
            worker->counts.stolen += chunk->count;
        }
        eki_free(chunk);
        chunk = next;
    }
    return true;
}

/*
 * Move the longer half of the seeds of a worker without thread to our stack.
 * From the top: it has run none, and what it has published lies at the base.
 */
static bool take_half(struct ek_worker *worker, struct ek_worker *absent)
{
    struct eki_local *from = &absent->local, *to = &worker->local;
    int64_t n =
        (eki_local_slots(from, from->seed_base, from->seed_top) + 1) / 2;
    if (n == 0 || !has_room(worker, n))
        return false;
    size_t bytes = (size_t)(n * from->slot_bytes);
    from->seed_top -= bytes;
    from->seed_end = from->seed_top;
    memcpy(to->stack_top, from->seed_top, bytes);
    to->stack_top += bytes;
    return true;
}

/* Do for a worker without thread, whom we hold, what it cannot: nobody else
 * takes its inbox, cancels what it published or says that it is idle. */
static bool stand_in(struct ek_worker *worker, struct ek_worker *absent)
{
    if (take_inbox(worker, absent))
        return true;
    if (eki_is_stopped(worker->engine))
        eki_worker_cancel(absent, &worker->counts);
    else if (take_half(worker, absent))
        return true;
    eki_worker_note_idle(absent);
    return false;
}

static bool take_absent(struct ek_worker *worker)
{
    struct eki_engine *engine = worker->engine;
    /* relaxed: a hint; presence decides. */
    if (atomic_load_explicit(&engine->absent, memory_order_relaxed) == 0)
        return false;
    for (int i = 0; i < engine->topology->workers_here; i++) {
        struct ek_worker *absent = engine->workers[i];
        int expected = EKI_ABSENT;
        /* acquire: pairs with the releases of presence: what was done to the
         * worker before.  relaxed on failure: nothing is touched. */
        if (absent == worker || !atomic_compare_exchange_strong_explicit(
                                    &absent->presence, &expected, EKI_BUSY,
                                    memory_order_acquire, memory_order_relaxed))
            continue;
        bool taken = stand_in(worker, absent);
        /* release: pairs with the acquire of whoever takes it next. */
        atomic_store_explicit(&absent->presence, EKI_ABSENT,
                              memory_order_release);
        if (taken)
            return true;
    }
    return false;
}

/* Looked at once in a phase: the words lie on another line than the deque. */
static bool is_trusted(struct ek_worker *worker, int victim,
                       const struct eki_worker_words *words)
{
    const struct eki_engine *engine = worker->engine;
    if (EKI_LIKELY(worker->trusted[victim] == engine->phase))
        return true;
    if (!eki_is_alike(engine, words))
        return false;
    worker->trusted[victim] = engine->phase;
    return true;
}

static void probe(struct ek_worker *worker, int victim)
{
    struct eki_engine *engine = worker->engine;
    struct eki_worker_words *words = eki_words_of(engine, victim);
    worker->counts.attempted++;
    worker->thief.failures++;
    if (eki_deque_visible(worker->deque.kind, engine->capacity,
                          &words->deque) == 0 ||
        !is_trusted(worker, victim, words) || !has_room_for_block(worker))
        return;
    if (eki_deque_claim(worker->deque.kind, engine->capacity, &words->deque,
                        &worker->block))
        worker->steal_from = victim;
}

/* Second step of a steal: what was claimed is ours. */
static void finish_steal(struct ek_worker *worker)
{
    copy_block(worker, worker->steal_from, &worker->block);
    worker->steal_from = -1;
    worker->counts.successful++;
    worker->counts.stolen += worker->block.count;
}

/* What has become of the requests; the number that are open. */
static int open_requests(struct ek_worker *worker, uint64_t now)
{
    /* acquire, both: pair with the releases in eki_server_answer(). */
    uint64_t denied =
        atomic_load_explicit(&worker->answers[0], memory_order_acquire);
    uint64_t granted =
        atomic_load_explicit(&worker->answers[1], memory_order_acquire);
    if (denied != worker->denied_seen) {
        worker->ask_backoff =
            worker->ask_backoff == 0 ? ASK_FIRST_NS : 2 * worker->ask_backoff;
        if (worker->ask_backoff > MILLISECOND)
            worker->ask_backoff = MILLISECOND;
        worker->ask_after = now + worker->ask_backoff;
    }
    worker->denied_seen = denied;
    worker->granted_seen = granted;
    return (int)(worker->asked - denied - granted);
}

/* Ask another node; false: enough requests are open, or it is too early. */
static bool ask(struct ek_worker *worker, int node, uint64_t now)
{
    int open = open_requests(worker, now);
    /* relaxed, both: written by this worker and by the server as hints. */
    uint64_t last =
        atomic_load_explicit(&worker->asked_at, memory_order_relaxed);
    uint64_t patience =
        20 * atomic_load_explicit(&worker->round_trip_ns, memory_order_relaxed);
    if (patience < MILLISECOND)
        patience = MILLISECOND;
    if (open >= ASK_MOST || (open == 0 && now < worker->ask_after) ||
        (open > 0 && now < last + patience))
        return false;
    worker->asked++;
    worker->counts.attempted++;
    worker->thief.failures++;
    atomic_store_explicit(&worker->asked_at, now, memory_order_relaxed);
    /* relaxed: ordered by the release below. */
    atomic_store_explicit(&worker->ask, node + 1, memory_order_relaxed);
    /* release: pairs with the acquire in eki_server_asks(). */
    atomic_fetch_add_explicit(&worker->engine->asks, 1, memory_order_release);
    return true;
}

static void seek(struct ek_worker *worker, uint64_t now)
{
    struct eki_victim victim = worker->policy->choose(&worker->thief);
    /* relaxed: only this worker sets it; a request not yet fetched waits. */
    if (victim.node >= 0 &&
        atomic_load_explicit(&worker->ask, memory_order_relaxed) == 0 &&
        ask(worker, victim.node, now))
        return;
    /* Who waits for another node goes on in its own. */
    if (victim.node >= 0)
        victim.local = eki_victim_in_node(&worker->thief);
    if (victim.local >= 0)
        probe(worker, victim.local);
}

enum eki_step eki_worker_idle(struct ek_worker *worker, uint64_t now)
{
    struct eki_engine *engine = worker->engine;
    if (take_own(worker))
        return EKI_STEP_AGAIN;
    if (!worker->is_idle)
        eki_worker_become_idle(worker, now);
    if (worker->steal_from >= 0) {
        finish_steal(worker);
        return EKI_STEP_AGAIN;
    }
    if (take_inbox(worker, worker) || take_absent(worker))
        return EKI_STEP_AGAIN;
    if (engine->steal == EK_STEAL_COUNTER && eki_counter_draw(worker))
        return EKI_STEP_AGAIN;
    if (!eki_is_stopped(engine))
        seek(worker, now);
    if (worker->steal_from >= 0)
        return EKI_STEP_AGAIN;
    return eki_worker_wait(worker, now);
}
