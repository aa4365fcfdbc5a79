/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that run tasks, between two steps; in a header for the two that
 * have them: the team, and the measurement of what handing out takes.
 */
#ifndef EKI_TEAM_RUN_H
#define EKI_TEAM_RUN_H

#include "team/poll.h"

/* Whether the task said something, or failed. */
static inline bool eki_run_slot(struct ek_worker *worker,
                                const struct eki_function *functions,
                                const struct eki_slot *slot)
{
    const struct eki_function *function = &functions[slot->function];
    int code =
        function->fn(worker, slot->payload, slot->bytes, function->context);
    if (EKI_LIKELY((worker->batch.marks | (unsigned)code) == 0))
        return false;
    eki_worker_mark(worker, code);
    return true;
}

/* Spawned tasks in their places, until something else is on top of the stack,
 * or the batch is over. */
static inline void eki_run_in_place(struct ek_worker *worker,
                                    const struct eki_function *functions,
                                    const uint32_t slot_bytes)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *scratch = worker->batch.scratch, *slot;
    int32_t most = worker->batch.budget - worker->batch.count, left = most;
    eki_worker_show_scratch(worker);
    while (left > 0 && (slot = eki_worker_take_place(worker, scratch,
                                                     slot_bytes)) != NULL) {
        left--;
        if (EKI_UNLIKELY(eki_run_slot(worker, functions, slot)) &&
            worker->batch.budget == 0)
            most -= left, left = 0;
        eki_local_leave(local, slot, slot_bytes);
    }
    local->running = NULL;
    worker->batch.count += most - left;
}

/* The tasks of a batch, one clock reading for all. */
static inline void eki_run_batch(struct ek_worker *worker)
{
    /* It stays while a phase is open. */
    const struct eki_function *functions = worker->functions;
    const struct eki_local *local = &worker->local;
    const struct eki_slot *slot;
    for (;;) {
        if (local->stack_top != local->stack_bottom &&
            worker->batch.is_in_place) {
            if (EKI_LIKELY(local->slot_bytes == EKI_SLOT_USUAL))
                eki_run_in_place(worker, functions, EKI_SLOT_USUAL);
            else
                eki_run_in_place(worker, functions, local->slot_bytes);
        }
        slot = eki_worker_take_away(worker);
        if (!slot)
            return;
        eki_run_slot(worker, functions, slot);
    }
}

/* The indices of a piece; only those read the clock that are not null.  TEAM:
 * whose thread this is; NULL: nobody's. */
static inline void eki_run_piece(struct ek_worker *worker,
                                 struct eki_team *team)
{
    const struct eki_function *function =
        &worker->functions[worker->piece.function];
    ek_task_fn *fn = function->fn;
    void *context = function->context;
    int64_t index;
    while (eki_worker_take_index(worker, &index)) {
        int code = fn(worker, &index, sizeof index, context);
        if (!eki_worker_index_is_null(worker, code))
            eki_team_end_index(team, worker, code, eki_clock_ns());
    }
}

#endif
