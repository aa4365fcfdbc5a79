/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker that has tasks: batches and their durations, publishing, marks,
 * cancelling.
 */
#include "engine/internal.h"

enum {
    BATCH_MAX = 64,
    /* Short tasks publish what they spawn when it is so much more. */
    SPAWN_SLOTS = 32,
    /* Tasks that others see, above which a spawn does not publish anew. */
    VISIBLE_ENOUGH = 16
};

void eki_worker_store(struct ek_worker *worker)
{
    struct eki_worker_words *words = worker->words;
    /* relaxed: ordered by the release below, and by that of a publication. */
    atomic_store_explicit(&words->created, eki_worker_created(worker),
                          memory_order_relaxed);
    /* release: pairs with the acquire of whoever sums: the work is done and
     * what it created is counted. */
    atomic_store_explicit(&words->executed, worker->executed,
                          memory_order_release);
}

/* Whether every rank of the node has left the last phase. */
static bool all_left(struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    if (worker->may_publish == engine->phase || EKI_PLANTED(EARLY_PUBLISH))
        return true;
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        /* acquire: pairs with the release in eki_engine_leave(): no claimant
         * of the last phase is about. */
        if (atomic_load_explicit(&engine->rank_words[i].left,
                                 memory_order_acquire) < engine->phase - 1)
            return false;
    }
    worker->may_publish = engine->phase;
    return true;
}

/* Fill a free buffer with the N oldest tasks; 0 where there is no room. */
static void publish(struct ek_worker *worker, int64_t n)
{
    struct eki_local *local = &worker->local;
    uint32_t first = 0;
    int64_t room =
        eki_deque_room(&worker->deque, &worker->words->deque, &first);
    if (n > room)
        n = room;
    if (n == 0)
        return;
    eki_local_publish(local, worker->slots + (size_t)first * local->slot_bytes,
                      n);
    /* relaxed: the release of the publication orders it: what a thief takes
     * is counted. */
    atomic_store_explicit(&worker->words->created, eki_worker_created(worker),
                          memory_order_relaxed);
    eki_deque_publish(&worker->deque, &worker->words->deque, (uint32_t)n);
    worker->restamp = true;
}

void eki_worker_publish(struct ek_worker *worker, bool is_running)
{
    if (!worker->engine->has_thieves ||
        !eki_deque_exhausted(&worker->deque, &worker->words->deque))
        return;
    eki_local_published(&worker->local);
    int64_t n = (eki_local_count(&worker->local) + is_running) / 2;
    if (n > 0 && all_left(worker))
        publish(worker, n);
}

/* Replace a publication that shows little by all that was spawned since. */
static void republish(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_deque_shared *shared = &worker->words->deque;
    if (!all_left(worker))
        return;
    if (!eki_deque_exhausted(&worker->deque, shared)) {
        if (eki_deque_visible(worker->deque.kind, worker->engine->capacity,
                              shared) >= VISIBLE_ENOUGH ||
            !eki_deque_other_room(&worker->deque, shared))
            return;
        eki_local_take_back(local, eki_deque_acquire(&worker->deque, shared));
    } else {
        eki_local_published(local);
    }
    int64_t spawned =
        eki_local_slots(local, local->stack_bottom, local->stack_top);
    publish(worker, spawned > 0 ? spawned : eki_local_count(local));
}

/* Long tasks publish at every spawn, short ones now and then. */
static void set_mark(struct ek_worker *worker)
{
    if (worker->engine->has_thieves)
        eki_local_set_mark(&worker->local,
                           worker->batch == 1 ? 0 : SPAWN_SLOTS - 1);
    else
        worker->local.stack_mark = worker->local.stack_limit;
}

void eki_worker_publish_now(struct ek_worker *worker)
{
    set_mark(worker);
    if (!worker->engine->has_thieves || eki_local_is_empty(&worker->local))
        return;
    if (worker->local.stack_top != worker->local.stack_bottom)
        republish(worker);
    else
        eki_worker_publish(worker, true);
}

static inline void record(struct eki_slot *slot, uint16_t bin)
{
    if (EKI_UNLIKELY(slot->flags & (EKI_SLOT_SKIPPED | EKI_SLOT_COSTED)))
        return;
    slot->deviation = slot->bin == EKI_BIN_NEVER
                          ? 0
                          : eki_deviation_next(slot->deviation, slot->bin, bin);
    slot->bin = bin;
    slot->flags &= (uint8_t)~EKI_SLOT_SET;
}

static void record_single(struct ek_worker *worker, uint64_t ns)
{
    struct eki_counts *counts = &worker->counts;
    const struct eki_slot *slot = worker->current;
    /* Long both times: shorter ones were timed in batches, or by chance. */
    if (slot->bin >= EKI_BIN_LONG && ns >= EKI_LONG_NS &&
        !(slot->flags & (EKI_SLOT_SKIPPED | EKI_SLOT_COSTED | EKI_SLOT_SET))) {
        counts->before_ns += (double)eki_bin_ns(slot->bin);
        counts->now_ns += (double)ns;
    }
    if (ns > counts->largest_ns) {
        counts->largest_ns = ns;
        counts->largest_id = slot->id;
        counts->largest_function = slot->function;
    }
}

static void adapt_batch(struct ek_worker *worker, uint64_t elapsed)
{
    if (elapsed > EKI_LONG_NS)
        worker->batch = 1;
    else if (elapsed < EKI_SHORT_NS && worker->in_batch == worker->batch &&
             worker->batch < BATCH_MAX)
        worker->batch *= 2;
}

void eki_worker_close(struct ek_worker *worker, uint64_t now)
{
    struct eki_local *local = &worker->local;
    int32_t n = worker->in_batch;
    if (n == 0)
        return;
    uint64_t elapsed = now - worker->stamp;
    uint16_t bin = eki_bin_of(elapsed / (uint32_t)n);
    if (n == 1)
        record_single(worker, elapsed);
    uint32_t step = local->slot_bytes;
    for (unsigned char *at = local->seed_top; at != worker->batch_seed;
         at += step)
        record((struct eki_slot *)at, bin);
    for (unsigned char *at = local->log + worker->batch_log * (int64_t)step;
         at < local->log_end; at += step)
        record((struct eki_slot *)at, bin);
    worker->executed += (uint32_t)n;
    worker->counts.tasks += n;
    worker->counts.work_ns += elapsed;
    struct eki_function_counts *function =
        &worker->function_counts[worker->current->function];
    function->tasks += n;
    function->work_ns += elapsed;
    adapt_batch(worker, elapsed);
    worker->in_batch = worker->budget = 0;
    worker->current = NULL;
    worker->stamp = now;
}

static void end_search(struct ek_worker *worker, uint64_t now)
{
    worker->is_idle = false;
    worker->counts.search_ns += now - worker->idle_since;
    worker->stamp = now;
    worker->thief.failures = 0;
    worker->ask_backoff = 0;
    /* relaxed: a hint that votes may wait for. */
    atomic_store_explicit(&worker->words->idle, 0, memory_order_relaxed);
}

/* Room in the log for all that the batch may take from the stack; without, the
 * phase ends in an error. */
static bool has_log_room(struct ek_worker *worker, int32_t n)
{
    struct eki_local *local = &worker->local;
    if (EKI_LIKELY(local->log_limit - local->log_end >=
                   n * (ptrdiff_t)local->slot_bytes) ||
        eki_local_log_reserve(local, n))
        return true;
    eki_set_error(worker, EK_ERR_NOMEM, 0, "no memory for the log of tasks");
    eki_set_stop(worker->engine);
    return false;
}

enum eki_step eki_worker_start(struct ek_worker *worker, uint64_t now)
{
    struct eki_local *local = &worker->local;
    if (worker->is_idle)
        end_search(worker, now);
    eki_worker_publish(worker, EKI_PLANTED(PUBLISH_FIRST));
    if (EKI_PLANTED(PUBLISH_FIRST) && eki_local_is_empty(local))
        return EKI_STEP_AGAIN;
    set_mark(worker);
    if (eki_worker_top(worker)->flags & EKI_SLOT_RANGE)
        return eki_worker_start_range(worker);
    if (!has_log_room(worker, worker->batch))
        return EKI_STEP_AGAIN;
    worker->budget = worker->batch;
    worker->batch_seed = local->seed_top;
    worker->batch_log = eki_local_slots(local, local->log, local->log_end);
    return EKI_STEP_RUN;
}

struct eki_slot *eki_worker_take_logged(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *slot =
        (struct eki_slot *)(local->stack_top - local->slot_bytes);
    if (slot->bin >= EKI_BIN_LONG && !eki_worker_may_begin(worker, slot))
        return NULL;
    struct eki_slot *logged = eki_local_log(local, slot);
    if (logged)
        local->stack_top = (unsigned char *)slot;
    return logged;
}

void eki_worker_fail(struct ek_worker *worker, int code, const char *text)
{
    if (worker->marks & EKI_MARK_FAIL)
        return;
    worker->marks |= EKI_MARK_FAIL;
    worker->counts.failed++;
    if (worker->engine->on_failure == EK_ON_FAILURE_CONTINUE)
        return;
    eki_set_error(worker, EK_ERR_TASK, code, text);
    eki_set_stop(worker->engine);
}

/* A discarded task that was copied to run is not needed any more. */
static void mark_discard(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    worker->counts.nulls++;
    worker->current->flags |= EKI_SLOT_DISCARDED;
    if (local->log_end != local->log && !local->keeps_discarded &&
        (unsigned char *)worker->current + local->slot_bytes ==
            local->log_end) {
        local->log_end -= local->slot_bytes;
        local->gone++;
    }
}

void eki_worker_mark(struct ek_worker *worker, int code)
{
    if (code != 0)
        eki_worker_fail(worker, code, "");
    uint32_t marks = worker->marks;
    struct eki_slot *slot = worker->current;
    worker->marks = 0;
    if (marks & EKI_MARK_COST) {
        uint16_t bin = eki_bin_of(worker->cost_ns);
        record(slot, bin);
        slot->flags |= EKI_SLOT_COSTED;
    }
    if (marks & EKI_MARK_SKIP && !(marks & EKI_MARK_DISCARD)) {
        slot->flags |= EKI_SLOT_SKIPPED;
        worker->counts.nulls++;
    }
    if (marks & EKI_MARK_DISCARD)
        mark_discard(worker);
    if (eki_is_stopped(worker->engine))
        worker->budget = 0;
}

void eki_worker_cancel(struct ek_worker *worker, struct eki_counts *counts)
{
    struct eki_local *local = &worker->local;
    if (worker->engine->steal == EK_STEAL_COUNTER)
        eki_counter_unhide(worker);
    eki_local_take_back(
        local, eki_deque_acquire(&worker->deque, &worker->words->deque));
    if (eki_local_is_empty(local))
        return;
    int64_t tasks = eki_local_cancel(local);
    worker->executed += (uint64_t)tasks;
    counts->cancelled += tasks;
    /* A worker that runs stores when it gets idle; one without thread never. */
    eki_worker_store(worker);
}

enum eki_step eki_worker_step(struct ek_worker *worker, uint64_t now)
{
    if (EKI_UNLIKELY(eki_worker_is_done(worker)))
        return EKI_STEP_DONE;
    if (EKI_UNLIKELY(worker->engine->kind == EKI_PHASE_RESTORE))
        return eki_balancer_is_open(worker->engine)
                   ? EKI_STEP_WAIT
                   : eki_worker_wait(worker, now);
    eki_worker_close(worker, now);
    if (EKI_UNLIKELY(worker->index_first >= 0)) {
        if (!eki_worker_put_back(worker))
            return EKI_STEP_RANGE;
        eki_worker_close_piece(worker, now);
    }
    if (EKI_UNLIKELY(eki_is_stopped(worker->engine)))
        eki_worker_cancel(worker, &worker->counts);
    if (EKI_LIKELY(!eki_local_is_empty(&worker->local)))
        return eki_worker_start(worker, now);
    return eki_worker_idle(worker, now);
}
