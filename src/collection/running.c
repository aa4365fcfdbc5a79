/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for running tasks. */
#include "collection/collection.h"
#include "engine/spawn.h"

_Static_assert(EK_SPAWN_KEEP == EKI_SLOT_SEED, "a flag of the slot as it is");

EKI_COLD static ek_status bad_spawn(const ek_worker *worker,
                                    ek_function function, const void *payload,
                                    size_t bytes, int flags)
{
    const struct eki_engine *engine = worker->engine;
    if (!engine->is_open)
        return eki_error(EK_ERR_STATE,
                         "ek_spawn: no iteration is open; the worker was kept "
                         "from one before");
    if (function < 0 || function >= engine->function_count)
        return eki_error(EK_ERR_ARG,
                         "ek_spawn: function %d is not registered; allowed: 0 "
                         "... %d",
                         function, engine->function_count - 1);
    if (bytes > (size_t)engine->setup.payload_bytes)
        return eki_error(EK_ERR_ARG,
                         "ek_spawn: payload of %zu bytes; allowed: 0 ... %lld "
                         "(option payload_bytes)",
                         bytes, (long long)engine->setup.payload_bytes);
    if (!payload && bytes > 0)
        return eki_error(EK_ERR_ARG, "ek_spawn: payload is NULL");
    return eki_error(EK_ERR_ARG,
                     "ek_spawn: flags %d; allowed: 0, EK_SPAWN_KEEP", flags);
}

/* Spawn where the stack has reached its mark, a task has no payload, the
 * arguments are bad, or the calls of tasks are checked. */
EKI_COLD static ek_status spawn_slowly(ek_worker *worker, ek_function function,
                                       const void *payload, size_t bytes,
                                       int flags)
{
    const struct eki_engine *engine = worker->engine;
    unsigned functions = engine->is_open ? (unsigned)engine->function_count : 0;
    if ((unsigned)function >= functions ||
        bytes > worker->local.payload_limit || (!payload && bytes > 0) ||
        (flags & ~EK_SPAWN_KEEP) != 0)
        return eki_collection_outcome_often(
            engine->owner, bad_spawn(worker, function, payload, bytes, flags));
    if (engine->setup.is_checked) {
        ek_status status = eki_collection_check_thread(
            engine->owner, worker->here, "ek_spawn");
        if (status != EK_OK)
            return eki_collection_outcome_often(engine->owner, status);
        eki_collection_check_payload(engine->owner, "ek_spawn", function,
                                     payload, bytes);
    }
    if (!eki_worker_push_at_mark(worker, function, payload, bytes, flags))
        return eki_collection_outcome_often(
            engine->owner,
            eki_error(EK_ERR_NOMEM, "no memory for a spawned task"));
    return EK_OK;
}

/* Every call that this function makes is inline or its last, so that it saves
 * no registers. */
ek_status ek_spawn(ek_worker *worker, ek_function function, const void *payload,
                   size_t bytes, int flags)
{
#ifdef EKI_DEBUG
    if (!worker)
        return eki_collection_outcome(
            NULL, eki_error(EK_ERR_ARG, "ek_spawn: worker is NULL"));
#endif
    const struct eki_local *local = &worker->local;
    if (EKI_UNLIKELY((unsigned)function >= worker->local.function_limit ||
                     bytes > worker->local.payload_limit || !payload ||
                     (flags & ~EK_SPAWN_KEEP) != 0 ||
                     local->stack_top >= local->stack_mark))
        return spawn_slowly(worker, function, payload, bytes, flags);
    eki_worker_push(worker, function, payload, bytes, flags);
    return EK_OK;
}

void ek_skip(ek_worker *worker)
{
    worker->batch.marks |= EKI_MARK_SKIP;
}

void ek_discard(ek_worker *worker)
{
    worker->batch.marks |= EKI_MARK_DISCARD;
}

void ek_fail(ek_worker *worker, int code, const char *message)
{
    eki_worker_fail(worker, code, message);
}

void ek_stop(ek_worker *worker)
{
    worker->batch.marks |= EKI_MARK_STOP;
    eki_engine_stop(worker->engine);
}

void ek_set_cost(ek_worker *worker, double seconds)
{
    /* NaN, a negative time, or one beyond the clock is no cost. */
    if (!(seconds >= 0) || seconds > 1e9)
        return;
    worker->batch.cost_ns = (uint64_t)(seconds * 1e9 + 0.5);
    worker->batch.marks |= EKI_MARK_COST;
}

void ek_poll(ek_worker *worker)
{
    eki_team_poll(worker->engine->stepper, worker);
}

uint64_t ek_task_id(const ek_worker *worker)
{
    return eki_worker_task_id(worker);
}

int ek_worker_id(const ek_worker *worker)
{
    return worker->id;
}

int ek_worker_here(const ek_worker *worker)
{
    return worker->here;
}

void *ek_worker_data(const ek_worker *worker)
{
    return worker->local.data;
}
