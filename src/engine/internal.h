/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the engine only. */
#ifndef EKI_ENGINE_INTERNAL_H
#define EKI_ENGINE_INTERNAL_H

#include "engine/offers.h"

/* Signatures differ: the phase is void, and nothing starts any more. */
void eki_set_mismatch(struct eki_engine *engine);
/* Of two errors, the one that all ranks report. */
void eki_error_worse(struct eki_error *error, const struct eki_error *other);
/* Of no worker and no task: EK_ERR_ARG where signatures differ. */
void eki_error_init(struct eki_error *error, ek_status status);
/* The worst error of the node in this phase; EK_OK: there is none. */
void eki_node_error(const struct eki_engine *engine, struct eki_error *error);

/*
 * If the shared part is exhausted, or shows little while what lasts longer than
 * EKI_HIDDEN_NS is hidden: publish half of what is here, or all but what lasts
 * that long; without the next task, unless another runs already.  Whether that
 * took time.  Of a worker that is held, the server does it.
 */
bool eki_worker_publish(struct ek_worker *worker, bool is_running);
EKI_COLD void eki_worker_track_shown(struct ek_worker *worker);
/* That took time. */
static inline void eki_worker_has_shown(struct ek_worker *worker)
{
    worker->batch.restamp = true;
    if (EKI_UNLIKELY(worker->track))
        eki_worker_track_shown(worker);
}
/* On entering: the seeds have been added. */
void eki_worker_publish_seeds(struct ek_worker *worker);
/* The worker has taken back what it showed, all that it has: by a publishing
 * rule it keeps a part of that. */
void eki_worker_acquire(struct ek_worker *worker);
/* Show what was brought and is not shown yet; AGAIN: together with what is. */
void eki_server_show(struct eki_engine *engine, bool again);
/* Take back what nobody claimed; false: nothing could be published instead. */
bool eki_share_reclaim(struct eki_local *local, struct eki_share *share);
/* An exhausted publication is settled: outside a phase nothing is open. */
void eki_share_settle(struct eki_local *local, struct eki_share *share);
/* See how many tasks lie on the stack: where that costs nothing. */
static inline void eki_worker_note_depth(struct ek_worker *worker)
{
    ptrdiff_t bytes = worker->local.stack_top - worker->local.stack_bottom;
    if (EKI_UNLIKELY(bytes > worker->counts.deepest_bytes))
        worker->counts.deepest_bytes = bytes;
}
/* How much a running task may spawn before it publishes. */
void eki_worker_set_mark(struct ek_worker *worker);
/* A task, of that id and function, took NS. */
static inline void eki_counts_note(struct eki_counts *counts, uint64_t ns,
                                   uint64_t id, int function)
{
    if (ns <= counts->largest_ns)
        return;
    counts->largest_ns = ns;
    counts->largest_id = id;
    counts->largest_function = function;
}
/* Close the batch that ended at NOW. */
void eki_worker_close(struct ek_worker *worker, uint64_t now);
void eki_worker_close_piece(struct ek_worker *worker, uint64_t now);
/* Of the ELAPSED time of what has just run: that in which it had no core, which
 * is no part of its duration; while a record is written it is noted. */
EKI_COLD uint64_t eki_worker_take_held(struct ek_worker *worker,
                                       uint64_t elapsed);
/* Tell the track of a worker that has one: what eki_worker_close() is to close
 * has ended at NOW. */
EKI_COLD void eki_worker_track_run(struct ek_worker *worker, uint64_t now);
/* Likewise: N tasks have ended at END, in a time from BEGIN on of which they
 * were held up for HELD; a search ends at NOW. */
EKI_COLD void eki_worker_track_tasks(struct ek_worker *worker, int64_t n,
                                     uint64_t begin, uint64_t end,
                                     uint64_t held);
EKI_COLD void eki_worker_track_search(struct ek_worker *worker, uint64_t now);
/* The worker that has a deque of the node, or the first of the rank. */
EKI_COLD int eki_worker_behind(const struct eki_engine *engine, int deque);
/* Tasks of this phase were cancelled. */
void eki_set_cancelled(const struct eki_engine *engine);
/* Cancel what this worker has; others do the same with theirs.  Counted by
 * COUNTS. */
void eki_worker_cancel(struct ek_worker *worker, struct eki_counts *counts);
/* Marks of tasks whose end concerns protocols. */
#define EKI_MARK_ENDS (EKI_MARK_TRANSFER | EKI_MARK_DATA)
/* Transfers that the task which ends has left open make it a failure; what has
 * travelled goes home. */
EKI_COLD void eki_worker_end_transfers(struct ek_worker *worker);
/* The task ends with these MARKS: where it has failed its result goes. */
static inline void eki_worker_end_result(struct ek_worker *worker,
                                         uint32_t marks)
{
    const uint32_t both = EKI_MARK_RESULT | EKI_MARK_FAIL;
    if (EKI_UNLIKELY((marks & both) == both))
        worker->results.used = worker->results.last;
}
/* Open a piece of the range on top of the local part. */
enum eki_step eki_worker_start_range(struct ek_worker *worker);
/* What is about to be closed, for a record; and, when that is done, note it. */
EKI_COLD struct eki_stretch eki_stretch_of(const struct ek_worker *worker);
EKI_COLD void eki_worker_note_stretch(struct ek_worker *worker,
                                      struct eki_stretch stretch);
/* Likewise of a piece; before one is begun the range on top is noted. */
EKI_COLD struct eki_span eki_span_of(const struct ek_worker *worker);
EKI_COLD void eki_worker_note_span(struct ek_worker *worker,
                                   struct eki_span span);
EKI_COLD void eki_worker_note_range(struct ek_worker *worker);
/* Nothing is noted yet. */
EKI_COLD void eki_worker_note_anew(struct ek_worker *worker);
/* Free what a worker has noted for a record. */
void eki_worker_forget(struct ek_worker *worker);
/* Find work, or the end. */
enum eki_step eki_worker_idle(struct ek_worker *worker, uint64_t now);
/* Who lacks memory. */
enum eki_lacks {
    EKI_LACKS_SERVER = 1, /* since its last step */
    EKI_LACKS_WORKER = 2, /* a worker, in this phase */
    EKI_LACKED = 4        /* one of them did before */
};
static inline void eki_note_lack(struct eki_engine *engine, unsigned who)
{
    /* relaxed: a later step of the server sees it. */
    if (engine->topology->size > 1)
        atomic_fetch_or_explicit(&engine->lacks, who, memory_order_relaxed);
}
static inline bool eki_has_lacked(const struct eki_engine *engine)
{
    /* relaxed: see eki_note_lack(). */
    return atomic_load_explicit(&engine->lacks, memory_order_relaxed) != 0;
}
/* By a server that has lacked memory, or whose workers have. */
EKI_COLD void eki_lack_step(struct eki_engine *engine, uint64_t now);
/* A phase, or the engine, ends. */
void eki_lack_forget(struct eki_engine *engine);
/* This rank has no memory to go on: the phase is an error, but all tasks stay.
 */
EKI_COLD void eki_engine_lacks(struct eki_engine *engine, const char *text);
/* Put a chunk into a box of a worker; false: it is shut. */
bool eki_push_chunk(struct ek_worker *worker, _Atomic(struct eki_chunk *) *box,
                    struct eki_chunk *chunk);
/* Free what lies in a box of a worker, and shut it. */
void eki_worker_clear(struct ek_worker *worker,
                      _Atomic(struct eki_chunk *) *box);
/* Take the last answers, and let no further ones come: the worker has tasks.
 * False: there is no memory for them. */
bool eki_worker_shut(struct ek_worker *worker);
/* The worker has run out of tasks, if it has not said so before. */
void eki_worker_become_idle(struct ek_worker *worker, uint64_t now);
/* Say that the end need not wait for this worker; a delivery takes that back.
 */
void eki_worker_note_idle(struct ek_worker *worker);
/*
 * The roll: who answers it holds no task, not even a claimed one.  While any
 * worker has something it runs a task before it answers.  So sums of executed
 * and created that are equal before and after a roll show that nothing moves.
 */
bool eki_node_answers(const struct eki_engine *engine);
void eki_node_call_roll(struct eki_engine *engine);
/* Sums of the node, executed before created; false: not all of its workers are
 * in this phase, or not idle. */
bool eki_node_sums(const struct eki_engine *engine, uint64_t *executed,
                   uint64_t *created);
/* What tasks took here in this phase. */
void eki_worker_store_load(struct ek_worker *worker, uint64_t work_ns,
                           uint64_t task_ns);
/* Whether a phase of a lone node ends before the worker, which has nothing, has
 * stepped: it looks at the words of each worker twice, and LOOKS times more
 * where ranks are late.  Whoever has tasks is not waited for. */
bool eki_worker_passes(struct ek_worker *worker, int looks);
/* Look for the end of the phase, and for nothing else. */
enum eki_step eki_worker_wait(struct ek_worker *worker, uint64_t now);

/* Note why a message was refused, here or elsewhere; the first stays. */
void eki_note_refusal(struct eki_engine *engine, const struct eki_error *error);
/* Where a message did not fit: whether the phase is broken from now on; and
 * whether the other nodes are told. */
bool eki_refusal_breaks(struct eki_engine *engine);
bool eki_refusal_is_told(struct eki_engine *engine);
extern const struct eki_protocol_ops eki_refusal_ops;

/* The tree of nodes, for this rank. */
void eki_waves_open(struct eki_engine *engine);
/* Whether the server has heard, and passed on, that the phase is over. */
bool eki_waves_are_over(const struct eki_engine *engine);

#endif
