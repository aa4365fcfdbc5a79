/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that run tasks, between two steps; in a header for the two that
 * have them: the team, and the measurement of what handing out takes.
 */
#ifndef EKI_TEAM_RUN_H
#define EKI_TEAM_RUN_H

#include "engine/engine.h"

static inline void eki_run_slot(struct ek_worker *worker,
                                const struct eki_function *functions,
                                const struct eki_slot *slot)
{
    const struct eki_function *function = &functions[slot->function];
    int code =
        function->fn(worker, slot->payload, slot->bytes, function->context);
    if (EKI_UNLIKELY((worker->batch.marks | (unsigned)code) != 0))
        eki_worker_mark(worker, code);
}

/* The tasks of a batch, one clock reading for all. */
static inline void eki_run_batch(struct ek_worker *worker)
{
    /* It stays while a phase is open. */
    const struct eki_function *functions = worker->functions;
    const struct eki_slot *slot;
    while ((slot = eki_worker_take(worker)) != NULL)
        eki_run_slot(worker, functions, slot);
}

/* The indices of a piece; only remaining ones read the clock. */
static inline void eki_run_piece(struct ek_worker *worker)
{
    const struct eki_function *function =
        &worker->functions[worker->piece.function];
    ek_task_fn *fn = function->fn;
    void *context = function->context;
    int64_t index;
    while (eki_worker_take_index(worker, &index)) {
        int code = fn(worker, &index, sizeof index, context);
        if (!eki_worker_index_is_null(worker, code))
            eki_worker_index_end(worker, code, eki_clock_ns());
    }
}

#endif
