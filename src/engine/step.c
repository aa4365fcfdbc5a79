/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of a worker: run what is here, or find work, or wait for the end. */
#include "engine/internal.h"
#include "engine/replay.h"

/* The search ends with tasks in hand, maybe by a steal. */
static void count_search(struct ek_worker *worker, uint64_t now)
{
    struct eki_search *search = &worker->search;
    worker->counts.search_ns += now - search->since;
    if (EKI_UNLIKELY(worker->track))
        eki_worker_track_search(worker, now);
    if (search->steal_since == 0)
        return;
    /* What was asked for may be older than the search. */
    worker->counts.stealing_ns +=
        now - (search->steal_since > search->since ? search->steal_since
                                                   : search->since);
    search->steal_since = 0;
    if (worker->counts.tasks == 0)
        worker->counts.first_steal_ns =
            eki_ns_since(worker->engine->entered_ns, now);
}

/* False: there is no memory for what has come at the last moment. */
static bool end_search(struct ek_worker *worker, uint64_t now)
{
    if (!eki_worker_shut(worker))
        return false;
    worker->search.is_idle = false;
    count_search(worker, now);
    worker->batch.stamp = now;
    worker->search.thief.failures = 0;
    /* relaxed: a hint that votes may wait for; for first_pass() the release of
     * `executed` orders it. */
    atomic_store_explicit(&worker->words->idle, 0, memory_order_relaxed);
    return true;
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
    eki_worker_no_memory(worker, n, "the log of tasks");
    return false;
}

/* Show others what they may steal; false, only where a bug is planted: nothing
 * is left to run. */
static inline bool show(struct ek_worker *worker)
{
    if (eki_worker_publish(worker, EKI_PLANTED(PUBLISH_FIRST)))
        eki_worker_has_shown(worker);
    return !EKI_PLANTED(PUBLISH_FIRST) || !eki_local_is_empty(&worker->local);
}

/* Open a batch, or a piece of a range: there are tasks. */
static enum eki_step start(struct ek_worker *worker, uint64_t now)
{
    struct eki_local *local = &worker->local;
    eki_worker_note_depth(worker);
    if ((worker->search.is_idle && !end_search(worker, now)) || !show(worker))
        return EKI_STEP_AGAIN;
    eki_worker_set_mark(worker);
    local->function_limit = worker->engine->function_limit;
    if (eki_worker_top(worker)->flags & EKI_SLOT_RANGE)
        return eki_worker_start_range(worker);
    if (!has_log_room(worker, worker->batch.size))
        return EKI_STEP_AGAIN;
    worker->batch.budget = worker->batch.size;
    /* A long task publishes while it runs, all of its children; what has data
     * is held. */
    worker->batch.is_in_place = worker->batch.size > 1 && !worker->engine->kept;
    worker->batch.seed = local->seed_top;
    worker->batch.log = eki_local_slots(local, local->log, local->log_end);
    return EKI_STEP_RUN;
}

/* Open a batch of one task, which is pinned. */
static enum eki_step start_pinned(struct ek_worker *worker,
                                  struct eki_slot *slot)
{
    struct eki_local *local = &worker->local;
    struct eki_batch *batch = &worker->batch;
    if (eki_worker_publish(worker, true))
        eki_worker_has_shown(worker);
    eki_worker_set_mark(worker);
    local->function_limit = worker->engine->function_limit;
    batch->is_pinned = true;
    batch->budget = batch->count = 1;
    batch->seed = local->seed_top;
    batch->log = eki_local_slots(local, local->log, local->log_end);
    /* It runs in no seeds of the worker, where others would look. */
    eki_slot_show_head(batch->scratch, slot);
    /* release: pairs with the acquire in see_task(): the header. */
    atomic_store_explicit(&batch->current, slot, memory_order_release);
    return EKI_STEP_PINNED;
}

/* What has run is closed; false: there is no memory for what is left of it. */
static inline bool close_run(struct ek_worker *worker, uint64_t now)
{
    if (worker->batch.count != 0)
        eki_worker_close(worker, now);
    if (EKI_UNLIKELY(worker->piece.first >= 0)) {
        if (!eki_worker_put_back(worker))
            return false;
        eki_worker_close_piece(worker, now);
    }
    if (EKI_UNLIKELY(eki_is_stopped(worker->engine)))
        eki_worker_cancel(worker, &worker->counts);
    return true;
}

/* Run what is here, or find work. */
static inline enum eki_step run_or_seek(struct ek_worker *worker, uint64_t now)
{
    if (EKI_LIKELY(!eki_local_is_empty(&worker->local)) ||
        (worker->share.deque.open == 0 && eki_lineup_take(worker)))
        return start(worker, now);
    return eki_worker_idle(worker, now);
}

/* The same two with what else is to be done. */
EKI_COLD static enum eki_step step_with_duties(struct ek_worker *worker,
                                               uint64_t now)
{
    bool is_noted = worker->batch.duties & EKI_DUTY_NOTE &&
                    (worker->batch.count != 0 || worker->piece.first >= 0);
    struct eki_stretch stretch = eki_stretch_of(worker);
    struct eki_span span = eki_span_of(worker);
    if (worker->batch.duties & EKI_DUTY_TRACK)
        eki_worker_track_run(worker, now);
    if (!close_run(worker, now))
        return EKI_STEP_RANGE;
    if (is_noted) {
        eki_worker_note_span(worker, span);
        eki_worker_note_stretch(worker, stretch);
    }
    if (worker->batch.duties & EKI_DUTY_STORE)
        eki_headway_store(worker);
    if (worker->batch.duties & EKI_DUTY_REPLAY) {
        struct eki_slot *pinned = eki_replay_step(worker);
        if (pinned && worker->search.is_idle)
            end_search(worker, now); /* no answers come: it has room */
        if (pinned)
            return start_pinned(worker, pinned);
    }
    if (worker->batch.duties & EKI_DUTY_PINNED) {
        if (worker->search.is_idle && !end_search(worker, now))
            return EKI_STEP_AGAIN;
        struct eki_slot *pinned = eki_pinned_take(worker);
        if (pinned)
            return start_pinned(worker, pinned);
    }
    if (worker->batch.duties & EKI_DUTY_NOTE &&
        !eki_local_is_empty(&worker->local))
        eki_worker_note_range(worker);
    return run_or_seek(worker, now);
}

enum eki_step eki_worker_step(struct ek_worker *worker, uint64_t now)
{
    if (EKI_UNLIKELY(eki_worker_is_done(worker)))
        return EKI_STEP_DONE;
    if (EKI_UNLIKELY(eki_is_held(worker->engine))) {
        /* Its seeds are not its own yet. */
        eki_worker_become_idle(worker, now);
        return EKI_STEP_WAIT;
    }
    EKI_ASSERT_SLOW(eki_worker_check(worker));
    if (EKI_UNLIKELY(worker->engine->kind == EKI_PHASE_RESTORE))
        return eki_worker_wait(worker, now);
    if (EKI_UNLIKELY(worker->batch.duties))
        return step_with_duties(worker, now);
    if (EKI_UNLIKELY(!close_run(worker, now)))
        return EKI_STEP_RANGE;
    return run_or_seek(worker, now);
}
