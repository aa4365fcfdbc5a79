/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker that has tasks: batches and their durations, marks, cancelling. */
#include "engine/internal.h"

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
    struct eki_slot *slot = eki_worker_current(worker);
    /* Long both times: shorter ones were timed in batches, or by chance. */
    if (slot->bin >= EKI_BIN_LONG && ns >= EKI_LONG_NS &&
        !(slot->flags & (EKI_SLOT_SKIPPED | EKI_SLOT_COSTED | EKI_SLOT_SET))) {
        counts->before_ns += (double)eki_bin_ns(slot->bin);
        counts->now_ns += (double)ns;
    }
    eki_counts_note(counts, ns, slot->id, slot->function);
    if (EKI_UNLIKELY(worker->batch.is_pinned)) {
        record(slot, eki_bin_of(ns));
        worker->batch.is_pinned = false;
    }
}

static void adapt_batch(struct ek_worker *worker, uint64_t elapsed,
                        uint64_t task_ns)
{
    uint64_t *mean = &worker->batch.task_ns;
    *mean = task_ns > *mean ? *mean + (task_ns - *mean) / EKI_LATELY
                            : *mean - (*mean - task_ns) / EKI_LONG_AGO;
    if (elapsed > EKI_BATCH_NS)
        worker->batch.size = 1;
    else if (elapsed < EKI_SHORT_NS &&
             worker->batch.count == worker->batch.size &&
             worker->batch.size < worker->batch.most)
        worker->batch.size *= 2;
}

void eki_worker_close(struct ek_worker *worker, uint64_t now)
{
    struct eki_local *local = &worker->local;
    int32_t n = worker->batch.count;
    eki_worker_leave(worker);
    /* Clocks of two threads that a worker had may differ by a little. */
    uint64_t clock_ns = eki_ns_since(worker->batch.stamp, now);
    uint64_t elapsed = clock_ns;
    if (EKI_UNLIKELY(worker->batch.held_ns != 0))
        elapsed -= eki_worker_take_held(worker, clock_ns);
    uint64_t task_ns = elapsed / (uint32_t)n;
    uint16_t bin = eki_bin_of(task_ns);
    if (n == 1)
        record_single(worker, elapsed);
    uint32_t step = local->slot_bytes;
    unsigned char *logged = local->log + worker->batch.log * (int64_t)step;
    for (unsigned char *at = local->seed_top; at != worker->batch.seed;
         at += step)
        record((struct eki_slot *)at, bin);
    for (unsigned char *at = logged; at < local->log_end; at += step)
        record((struct eki_slot *)at, bin);
    worker->executed += (uint32_t)n;
    worker->counts.tasks += n;
    worker->counts.batches++;
    worker->counts.work_ns += clock_ns;
    struct eki_function_counts *function =
        &worker->function_counts[eki_worker_current(worker)->function];
    function->tasks += n;
    function->work_ns += clock_ns;
    adapt_batch(worker, elapsed, task_ns);
    worker->batch.count = worker->batch.budget = 0;
    /* relaxed: nothing of the task is looked at. */
    atomic_store_explicit(&worker->batch.current, NULL, memory_order_relaxed);
    worker->batch.stamp = now;
}

struct eki_slot *eki_worker_take_logged(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *slot =
        (struct eki_slot *)(local->stack_top - local->slot_bytes);
    /* A record knows no order of a batch but the log first, then the seeds. */
    if (slot->flags & EKI_SLOT_TRACED && local->seed_top != worker->batch.seed)
        return NULL;
    if (slot->bin >= EKI_BIN_LONG && !eki_worker_may_begin(worker, slot))
        return NULL;
    struct eki_slot *logged = eki_local_log(local, slot);
    if (logged) {
        logged->flags &= (uint8_t)~EKI_SLOT_TRACED;
        local->stack_top = (unsigned char *)slot;
        /* The log may move while somebody looks. */
        eki_slot_show_head(worker->batch.scratch, slot);
    }
    return logged;
}

void eki_worker_fail(struct ek_worker *worker, int code, const char *text)
{
    if (worker->batch.marks & EKI_MARK_FAIL)
        return;
    worker->batch.marks |= EKI_MARK_FAIL;
    worker->counts.failed++;
    if (worker->engine->on_failure == EK_ON_FAILURE_CONTINUE)
        return;
    eki_set_error(worker, EK_ERR_TASK, code, text);
    eki_set_stop(worker->engine);
}

static void mark_slot(struct ek_worker *worker, struct eki_slot *slot,
                      uint32_t marks)
{
    struct eki_local *local = &worker->local;
    if (marks & EKI_MARK_COST) {
        record(slot, eki_bin_of(worker->batch.cost_ns));
        slot->flags |= EKI_SLOT_COSTED;
    }
    if (!(marks & EKI_MARK_DISCARD)) {
        slot->flags |= marks & EKI_MARK_SKIP ? EKI_SLOT_SKIPPED : 0;
        return;
    }
    slot->flags |= EKI_SLOT_DISCARDED;
    /* A discarded task that was copied to run is not needed any more. */
    if (local->log_end != local->log && !local->keeps_discarded &&
        (unsigned char *)slot + local->slot_bytes == local->log_end) {
        local->log_end -= local->slot_bytes;
        local->gone++;
    }
}

void eki_worker_end_transfers(struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    for (int i = 0; i < engine->protocol_count; i++) {
        struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->end_task &&
            !protocol->ops->end_task(protocol, worker))
            eki_worker_fail(worker, EK_ERR_STATE,
                            "it returned without ek_tiles_wait() for a "
                            "transfer that it had started");
    }
}

void eki_worker_mark(struct ek_worker *worker, int code)
{
    if (code != 0)
        eki_worker_fail(worker, code, "");
    if (EKI_UNLIKELY(worker->batch.marks & EKI_MARK_ENDS))
        eki_worker_end_transfers(worker);
    uint32_t marks = worker->batch.marks;
    struct eki_slot *slot = eki_worker_current(worker);
    eki_worker_end_result(worker, marks);
    worker->batch.marks = 0;
    worker->counts.nulls += (marks & (EKI_MARK_SKIP | EKI_MARK_DISCARD)) != 0;
    /* A spawned task ends here, and others may look at its copy. */
    if (slot != worker->batch.scratch && !worker->local.running)
        mark_slot(worker, slot, marks);
    if (eki_is_stopped(worker->engine))
        worker->batch.budget = 0;
}

void eki_worker_cancel(struct ek_worker *worker, struct eki_counts *counts)
{
    struct eki_local *local = &worker->local;
    struct eki_protocol *elsewhere = worker->engine->elsewhere;
    int64_t tasks = 0;
    if (elsewhere && elsewhere->ops->cancel)
        tasks = elsewhere->ops->cancel(elsewhere, worker);
    eki_local_take_back(
        local, eki_deque_acquire(&worker->share.deque, worker->share.shared));
    tasks += eki_pinned_cancel(&worker->engine->pinned) +
             eki_lineup_cancel(&worker->engine->lineup);
    if (!eki_local_is_empty(local))
        tasks += eki_local_cancel(local);
    if (tasks == 0)
        return;
    worker->executed += (uint64_t)tasks;
    counts->cancelled += tasks;
    eki_set_cancelled(worker->engine);
    /* A worker that runs stores when it gets idle; one without thread never. */
    eki_worker_store(worker);
}
