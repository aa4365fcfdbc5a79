/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for running tasks. */
#include "collection/collection.h"
#include "engine/spawn.h"

#include <evenkeel_inline.h>

enum {
    UNWRITTEN = 0xa5 /* bytes of a payload, where calls are checked */
};

/* The head of a worker and of a slot as compiled programs have them. */
#define SAME(mine, theirs)                                             \
    _Static_assert(offsetof(struct ek_worker, local.mine) ==           \
                           offsetof(struct ek_worker_head, theirs) &&  \
                       sizeof((struct eki_local *)0)->mine ==          \
                           sizeof((struct ek_worker_head *)0)->theirs, \
                   #theirs)
SAME(layout, layout);
SAME(slot_bytes, slot_bytes);
SAME(stack_top, top);
SAME(stack_mark, mark);
SAME(next_id, next_id);
SAME(spawned_word, slot_word);
SAME(function_limit, functions);
SAME(payload_limit, payload_bytes);
SAME(data, data);
SAME(id, id);
SAME(here, here);

_Static_assert(EK_SPAWN_KEEP == EKI_SLOT_SEED, "a flag of the slot as it is");

/* A call that spawns. */
struct spawn {
    const char *name;
    ek_worker *worker;
    ek_function function;
    bool has_payload; /* or the program writes it */
    size_t bytes;
    int flags;
};

/* Look at the arguments, and at the thread if calls are checked. */
static ek_status check_spawn(const struct spawn *spawn)
{
    const struct eki_engine *engine = spawn->worker->engine;
    if (!engine->is_open)
        return eki_error(
            EK_ERR_STATE,
            "%s: no iteration is open; the worker is of an earlier one",
            spawn->name);
    EKI_TRY(eki_collection_check_task(engine, spawn->name, "", spawn->function,
                                      spawn->bytes));
    if (!spawn->has_payload && spawn->bytes > 0)
        return eki_error(EK_ERR_ARG, "%s: payload is NULL", spawn->name);
    if ((spawn->flags & ~EK_SPAWN_KEEP) != 0)
        return eki_error(EK_ERR_ARG, "%s: flags %d; allowed: 0, EK_SPAWN_KEEP",
                         spawn->name, spawn->flags);
    return engine->setup.is_checked
               ? eki_collection_check_thread(engine->owner, spawn->worker->here,
                                             spawn->name)
               : EK_OK;
}

/* The last task of ek_spawn_at(), which has its payload by now: its slot is
 * that below the top, or the one above if it has been taken meanwhile. */
static void check_last_at(ek_worker *worker)
{
    const struct eki_local *local = &worker->local;
    for (int i = 0; worker->unchecked_id != 0 && i < 2; i++) {
        const unsigned char *at =
            local->stack_top - i * (ptrdiff_t)local->slot_bytes;
        const struct eki_slot *slot = (const struct eki_slot *)at;
        if (at < local->stack || at >= local->stack_limit ||
            slot->id != worker->unchecked_id)
            continue;
        worker->unchecked_id = 0;
        eki_collection_check_payload(worker->engine->owner, "ek_spawn_at",
                                     slot->function, slot->payload,
                                     slot->bytes);
        return;
    }
}

static void note_child(struct ek_worker *worker)
{
    if (EKI_UNLIKELY(worker->engine->is_traced))
        eki_worker_note_child(worker);
}

/* Push a task in any state of the stack; false: no memory. */
static bool push_task(struct ek_worker *worker, int function,
                      const void *payload, size_t bytes, int flags)
{
    const struct eki_local *local = &worker->local;
    if (local->stack_top < local->stack_mark)
        eki_worker_push(worker, function, payload, bytes, flags);
    else if (!eki_worker_push_at_mark(worker, function, payload, bytes, flags))
        return false;
    note_child(worker);
    return true;
}

/* Likewise, where the caller writes the payload; NULL: no memory. */
static struct eki_slot *push_slot(struct ek_worker *worker, int function,
                                  size_t bytes, int flags)
{
    const struct eki_local *local = &worker->local;
    struct eki_slot *slot =
        local->stack_top < local->stack_mark
            ? eki_worker_push_slot(worker, function, bytes, flags)
            : eki_worker_push_slot_at_mark(worker, function, bytes, flags);
    if (slot)
        note_child(worker);
    return slot;
}

/* Spawn where the stack has reached its mark, a task has no payload, the
 * arguments are bad, or the calls of tasks are checked or recorded. */
EKI_COLD static ek_status spawn_slowly(ek_worker *worker, ek_function function,
                                       const void *payload, size_t bytes,
                                       int flags)
{
    const struct eki_engine *engine = worker->engine;
    const struct spawn spawn = {"ek_spawn",      worker, function,
                                payload != NULL, bytes,  flags};
    ek_status status = check_spawn(&spawn);
    if (status == EK_OK && engine->setup.is_checked) {
        check_last_at(worker);
        eki_collection_check_payload(engine->owner, spawn.name, function,
                                     payload, bytes);
    }
    if (status == EK_OK && !push_task(worker, function, payload, bytes, flags))
        status = eki_error(EK_ERR_NOMEM, "no memory for a spawned task");
    return status == EK_OK
               ? EK_OK
               : eki_collection_outcome_often(engine->owner, status);
}

EKI_COLD static void *spawn_at_slowly(ek_worker *worker, ek_function function,
                                      size_t bytes, int flags)
{
    const struct eki_engine *engine = worker->engine;
    const struct spawn spawn = {"ek_spawn_at", worker, function,
                                true,          bytes,  flags};
    struct eki_slot *slot = NULL;
    ek_status status = check_spawn(&spawn);
    if (status == EK_OK && engine->setup.is_checked)
        check_last_at(worker);
    if (status == EK_OK) {
        slot = push_slot(worker, function, bytes, flags);
        if (!slot)
            status = eki_error(EK_ERR_NOMEM, "no memory for a spawned task");
    }
    if (status != EK_OK) {
        eki_collection_outcome_often(engine->owner, status);
        return NULL;
    }
    if (engine->setup.is_checked) {
        worker->unchecked_id = slot->id;
        memset(slot->payload, UNWRITTEN, bytes);
    }
    return slot->payload;
}

/* Whether no more is to be done than to push: what include/evenkeel_inline.h
 * asks, too. */
static inline bool is_simple(const ek_worker *worker, ek_function function,
                             size_t bytes, int flags)
{
    const struct eki_local *local = &worker->local;
    return (unsigned)function < local->function_limit &&
           bytes <= local->payload_limit && (flags & ~EK_SPAWN_KEEP) == 0 &&
           local->stack_top < local->stack_mark;
}

/* Every call that these two make is inline or their last, so that they save no
 * registers. */
ek_status(ek_spawn)(ek_worker *worker, ek_function function,
                    const void *payload, size_t bytes, int flags)
{
#ifdef EKI_DEBUG
    if (!worker)
        return eki_collection_outcome(
            NULL, eki_error(EK_ERR_ARG, "ek_spawn: worker is NULL"));
#endif
    if (EKI_UNLIKELY(!is_simple(worker, function, bytes, flags) || !payload))
        return spawn_slowly(worker, function, payload, bytes, flags);
    eki_worker_push(worker, function, payload, bytes, flags);
    return EK_OK;
}

void *(ek_spawn_at)(ek_worker *worker, ek_function function, size_t bytes,
                    int flags)
{
#ifdef EKI_DEBUG
    if (!worker) {
        eki_collection_outcome(
            NULL, eki_error(EK_ERR_ARG, "ek_spawn_at: worker is NULL"));
        return NULL;
    }
#endif
    if (EKI_UNLIKELY(!is_simple(worker, function, bytes, flags)))
        return spawn_at_slowly(worker, function, bytes, flags);
    return eki_worker_push_slot(worker, function, bytes, flags)->payload;
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
    return eki_task_key(worker);
}

int(ek_worker_id)(const ek_worker *worker)
{
    return worker->id;
}

int(ek_worker_here)(const ek_worker *worker)
{
    return worker->here;
}

void *(ek_worker_data)(const ek_worker *worker)
{
    return worker->local.data;
}
