/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker without tasks: its own shared part, its inbox and answers, what
 * servers were brought, workers that have no thread yet, stealing on the node
 * in two steps, other ranks by a protocol.
 */
#include "engine/away.h"
#include "engine/internal.h"
#include "engine/replay.h"

/* Room for N more tasks; without, the phase ends in an error. */
static bool has_room_for_block(struct ek_worker *worker, int64_t n)
{
    if (eki_local_reserve(&worker->local, n))
        return true;
    eki_worker_no_memory(worker, n, "stolen tasks");
    return false;
}

/* Room for a block that is not claimed yet, so that a claim can always be
 * copied: without, others may take it and end the phase meanwhile, so that it
 * is no error. */
static bool may_claim(struct ek_worker *worker)
{
    return eki_local_reserve(&worker->local,
                             eki_deque_block_max(worker->engine->capacity));
}

/* Planted: the first task of a block takes the place of its last one, too. */
static void mistake_last(struct eki_local *local, size_t bytes)
{
    struct eki_slot *last =
        (struct eki_slot *)(local->stack_top - local->slot_bytes);
    const struct eki_slot *first =
        (const struct eki_slot *)(local->stack_top - bytes);
    if (EKI_PLANTED(COPIED_TWICE) &&
        !((first->flags | last->flags) & EKI_SLOT_RANGE))
        memmove(last, first, local->slot_bytes);
}

/* Copy a claimed block of a deque of the node to the stack; its slots are free
 * again. */
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
    mistake_last(local, bytes);
    if (EKI_PLANTED(NO_FINISH) && from == worker->local_number)
        return;
    eki_deque_finish(eki_deque_of(worker->engine, from), block);
}

/* Take back what nobody claimed; if it could not be published anew, claim. */
static bool take_own(struct ek_worker *worker)
{
    struct eki_share *share = &worker->share;
    struct eki_block block;
    if (share->deque.open == 0)
        return false;
    if (eki_deque_exhausted(&share->deque, share->shared)) {
        uint32_t first;
        eki_deque_room(&share->deque, share->shared, &first);
        eki_local_published(&worker->local);
        return false;
    }
    if (eki_share_reclaim(&worker->local, share)) {
        eki_worker_acquire(worker);
        return !eki_local_is_empty(&worker->local);
    }
    if (!may_claim(worker) ||
        !eki_deque_claim(share->deque.kind, share->deque.capacity,
                         share->shared, &block))
        return false;
    copy_block(worker, worker->local_number, &block);
    return true;
}

/* The last SLOTS of the stack were stolen; indices of a range are tasks. */
static void count_stolen(struct ek_worker *worker, int64_t slots)
{
    const struct eki_local *local = &worker->local;
    const unsigned char *at = local->stack_top;
    for (; slots > 0; slots--) {
        at -= local->slot_bytes;
        worker->counts.stolen += eki_slot_tasks((const struct eki_slot *)at);
    }
}

/* Chunks to the stack; those for which there is no memory. */
static struct eki_chunk *copy_chunks(struct ek_worker *worker,
                                     struct eki_chunk *chunk)
{
    struct eki_local *local = &worker->local;
    while (chunk && has_room_for_block(worker, chunk->count)) {
        struct eki_chunk *next = chunk->next;
        size_t bytes = (size_t)chunk->count * local->slot_bytes;
        memcpy(local->stack_top, chunk->slots, bytes);
        local->stack_top += bytes;
        if (chunk->is_stolen) {
            worker->counts.steals += chunk->is_whole;
            count_stolen(worker, chunk->count);
            worker->search.from = ~chunk->rank;
            eki_worker_steals(worker, chunk->asked_at);
        }
        eki_free(chunk);
        chunk = next;
    }
    return chunk;
}

/* What the server has brought into BOX of HOLDER, who is the worker itself or
 * without a thread, to our stack. */
static bool take_box(struct ek_worker *worker, struct ek_worker *holder,
                     _Atomic(struct eki_chunk *) *box)
{
    /* relaxed: a look only; a worker shuts its own box. */
    struct eki_chunk *chunk = atomic_load_explicit(box, memory_order_relaxed);
    if (!chunk || chunk == eki_shut(holder))
        return false;
    /* acquire: pairs with the release in eki_push_chunk(): the chunks are
     * filled. */
    chunk = atomic_exchange_explicit(box, NULL, memory_order_acquire);
    chunk = copy_chunks(worker, chunk);
    if (!chunk)
        return true;
    /* What has found no room is taken when there is memory. */
    for (struct eki_chunk *next; chunk; chunk = next) {
        next = chunk->next;
        bool is_back = eki_push_chunk(holder, box, chunk);
        EKI_ASSERT(is_back); /* nobody else shuts the box */
        (void)is_back;
    }
    return false;
}

bool eki_worker_shut(struct ek_worker *worker)
{
    if (worker->engine->alone)
        return true;
    /* acquire: pairs with the release in eki_push_chunk(): the chunks are
     * filled. */
    struct eki_chunk *chunk = atomic_exchange_explicit(
        &worker->answers, eki_shut(worker), memory_order_acquire);
    chunk = copy_chunks(worker, chunk);
    /* release: pairs with the acquire in collect(): nobody puts anything there
     * while it is shut. */
    if (chunk)
        atomic_store_explicit(&worker->answers, chunk, memory_order_release);
    return !chunk;
}

/*
 * Move the longer half of the seeds of a worker without thread to our stack, or
 * where it has none, of what waits on its own since an earlier part of the
 * iteration.  From the top: it has run none, and what it has published lies at
 * the base.
 */
static bool take_half(struct ek_worker *worker, struct ek_worker *absent)
{
    struct eki_local *from = &absent->local, *to = &worker->local;
    bool has_seeds = from->seed_top != from->seed_base;
    unsigned char **top = has_seeds ? &from->seed_top : &from->stack_top;
    int64_t n =
        (eki_local_slots(from, has_seeds ? from->seed_base : from->stack_bottom,
                         *top) +
         1) /
        2;
    if (n == 0 || !has_room_for_block(worker, n))
        return false;
    size_t bytes = (size_t)(n * from->slot_bytes);
    *top -= bytes;
    if (has_seeds)
        from->seed_end = from->seed_top;
    memcpy(to->stack_top, *top, bytes);
    to->stack_top += bytes;
    return true;
}

/* Who has no room for a block takes back what a worker without thread shows: of
 * that it takes less, or says that it has no room, while nobody else has it. */
EKI_COLD static bool take_shown(struct ek_worker *worker,
                                struct ek_worker *absent)
{
    return eki_visible(worker->engine, absent->local_number) != 0 &&
           !may_claim(worker) &&
           eki_share_reclaim(&absent->local, &absent->share) &&
           take_half(worker, absent);
}

static bool is_of_this_rank(const struct eki_engine *engine, int deque)
{
    int here = deque - engine->topology->node_first;
    return here >= 0 && here < engine->topology->workers_here;
}

/* Whether tasks of a deque may run here.  The words of who has it are looked at
 * once in a phase, because they lie on another line. */
static bool is_trusted(struct ek_worker *worker, int deque, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    if (EKI_LIKELY(worker->search.trusted[deque] == engine->phase))
        return true;
    if (!eki_is_alike(engine, eki_words_behind(engine, deque)))
        return false;
    /* Which may change at any time. */
    if (engine->kept && !is_of_this_rank(engine, deque))
        return eki_away_is_in_time(engine, deque, now);
    worker->search.trusted[deque] = engine->phase;
    return true;
}

/* Whether a deque shows tasks that may run here. */
static bool shows_tasks(struct ek_worker *worker, int deque, uint64_t now)
{
    return eki_visible(worker->engine, deque) != 0 &&
           is_trusted(worker, deque, now);
}

static bool claim(struct ek_worker *worker, int deque, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    if (!eki_deque_claim(worker->share.deque.kind, engine->capacity,
                         eki_deque_of(engine, deque), &worker->search.block))
        return false;
    if (EKI_UNLIKELY(engine->kept) && !is_of_this_rank(engine, deque))
        eki_away_leave(worker->engine, deque, worker->search.block.count, now);
    worker->search.steal_from = deque;
    if (EKI_UNLIKELY(engine->notes_thieves) &&
        deque < engine->topology->node_workers)
        /* relaxed: a hint. */
        atomic_store_explicit(&eki_words_of(engine, deque)->robber,
                              worker->local_number + 1, memory_order_relaxed);
    if (EKI_UNLIKELY(worker->track))
        worker->search.from = eki_worker_behind(engine, deque);
    eki_worker_steals(worker, now);
    return true;
}

/* Do for a worker without thread, whom we hold, what it cannot: nobody else
 * takes its inbox, cancels what it published or says that it is idle. */
static bool stand_in(struct ek_worker *worker, struct ek_worker *absent,
                     uint64_t now)
{
    if (take_box(worker, absent, &absent->inbox))
        return true;
    if (eki_is_stopped(worker->engine))
        eki_worker_cancel(absent, &worker->counts);
    else if (take_half(worker, absent) || take_shown(worker, absent))
        return true;
    /* Where lists name the victims, maybe nobody else looks there; nor does who
     * waits until a request may leave, after a vote. */
    else if (EKI_UNLIKELY(worker->engine->scheme &&
                          (worker->engine->scheme->arm ||
                           eki_needs_asking(worker->engine))) &&
             shows_tasks(worker, absent->local_number, now) &&
             may_claim(worker) && claim(worker, absent->local_number, now))
        return true;
    if (EKI_LIKELY(!worker->engine->replay) ||
        eki_replay_stand_in(worker, absent))
        eki_worker_note_idle(absent);
    return false;
}

static bool take_absent(struct ek_worker *worker, uint64_t now)
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
        bool taken = stand_in(worker, absent, now);
        /* release: pairs with the acquire of whoever takes it next. */
        atomic_store_explicit(&absent->presence, EKI_ABSENT,
                              memory_order_release);
        if (taken)
            return true;
    }
    return false;
}

/* Look at VICTIM, and claim what it shows; who has looked in vain for a while,
 * and so looks seldom, goes through the whole node, unless the scheme is
 * plain. */
static void probe(struct ek_worker *worker, int victim, uint64_t now)
{
    int workers = worker->engine->topology->node_workers;
    bool is_one = worker->engine->is_plain ||
                  worker->search.thief.failures < (uint32_t)workers;
    int looks = is_one ? 1 : workers;
    worker->counts.tries++;
    worker->search.thief.failures++;
    for (; looks > 0; looks--, victim = (victim + 1) % workers) {
        if (victim != worker->local_number &&
            shows_tasks(worker, victim, now) && may_claim(worker) &&
            claim(worker, victim, now))
            return;
    }
}

/*
 * Claim what was brought for workers that have others by now: from the server
 * of this rank, also to cancel it, else from one of another rank of the node,
 * in turn.  A look at nothing is no attempt.
 */
static bool claim_brought(struct ek_worker *worker, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    const struct eki_topology *topology = engine->topology;
    if (topology->size == 1)
        return false;
    int deque = eki_server_deque(engine);
    if (shows_tasks(worker, deque, now)) {
        worker->counts.tries++;
        return has_room_for_block(worker,
                                  eki_deque_block_max(engine->capacity)) &&
               claim(worker, deque, now);
    }
    if (topology->node_ranks == 1 || !engine->has_thieves ||
        eki_is_stopped(engine))
        return false;
    worker->search.rank = (worker->search.rank + 1) % topology->node_ranks;
    deque = topology->node_workers + worker->search.rank;
    if (!shows_tasks(worker, deque, now))
        return false;
    worker->counts.tries++;
    return may_claim(worker) && claim(worker, deque, now);
}

/* Second step of a steal: what was claimed is ours. */
static void finish_steal(struct ek_worker *worker)
{
    copy_block(worker, worker->search.steal_from, &worker->search.block);
    worker->search.steal_from = -1;
    worker->counts.steals++;
    count_stolen(worker, worker->search.block.count);
}

/*
 * Look for work with others: whom the victim policy names on this node, and the
 * scheme's protocol elsewhere.  Who waits for another node goes on in its own,
 * unless the scheme is plain.  True: something is here, or is claimed.
 */
static bool seek(struct ek_worker *worker, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    struct eki_search *search = &worker->search;
    struct eki_protocol *elsewhere = engine->elsewhere;
    struct eki_victim victim = EKI_VICTIM_NONE;
    if (!elsewhere && !engine->has_thieves)
        return false;
    if (engine->victims) {
        if (eki_is_stopped(engine) ||
            (engine->is_plain && !engine->scheme->seeker &&
             eki_worker_awaits(worker)))
            return false;
        victim = engine->victims(&search->thief);
    }
    if (elsewhere && (victim.node >= 0 || !engine->victims)) {
        enum eki_sought sought =
            elsewhere->ops->seek(elsewhere, worker, &victim, now);
        if (sought != EKI_SOUGHT_NOTHING)
            return sought == EKI_SOUGHT_FOUND;
    }
    if (victim.node >= 0)
        victim.local = eki_victim_in_node(&search->thief);
    if (victim.local >= 0)
        probe(worker, victim.local, now);
    return search->steal_from >= 0;
}

enum eki_step eki_worker_idle(struct ek_worker *worker, uint64_t now)
{
    if (take_own(worker) || eki_lineup_take(worker))
        return EKI_STEP_AGAIN;
    eki_worker_become_idle(worker, now);
    if (worker->search.steal_from >= 0) {
        finish_steal(worker);
        return EKI_STEP_AGAIN;
    }
    if (take_box(worker, worker, &worker->inbox) ||
        take_box(worker, worker, &worker->answers) ||
        claim_brought(worker, now) || take_absent(worker, now) ||
        seek(worker, now))
        return EKI_STEP_AGAIN;
    return eki_worker_wait(worker, now);
}

/* Ask the protocol that brings work from elsewhere; nothing where there is
 * none.
 */
static bool ask_elsewhere(const struct ek_worker *worker, bool *awaits,
                          uint64_t *due)
{
    const struct eki_protocol *elsewhere = worker->engine->elsewhere;
    return elsewhere && elsewhere->ops->calls &&
           elsewhere->ops->calls(elsewhere, worker, awaits, due);
}

uint64_t eki_worker_due(const struct ek_worker *worker)
{
    uint64_t due = UINT64_MAX;
    if (eki_is_held(worker->engine))
        /* relaxed: see eki_engine_hold_on(). */
        return atomic_load_explicit(&worker->engine->held_until,
                                    memory_order_relaxed);
    if (!eki_is_stopped(worker->engine))
        ask_elsewhere(worker, NULL, &due);
    return due;
}

bool eki_worker_calls(const struct ek_worker *worker)
{
    return ask_elsewhere(worker, NULL, NULL);
}

bool eki_worker_awaits(const struct ek_worker *worker)
{
    bool awaits = eki_is_held(worker->engine);
    if (!awaits)
        ask_elsewhere(worker, &awaits, NULL);
    return awaits;
}
