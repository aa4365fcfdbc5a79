/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeds: adding, clearing, visiting.
 *
 * The thread that created the collection adds to the workers without a lock;
 * other threads add to a list of their own under a mutex, which the next
 * collective call deals out.  Tasks of other collections add to inlets.
 */
#include "collection/seeds.h"

#include <math.h>

void eki_adding_open(struct eki_adding *seeds, uint32_t slot_bytes)
{
    seeds->home_thread = eki_thread_identity();
    seeds->home = (struct eki_dealer){0, 0, EKI_OTHER_NUMBERS, 0};
    eki_inlet_open(&seeds->foreign, EKI_OTHER_NUMBERS, EKI_INLET_NUMBERS,
                   slot_bytes);
}

/* The worker whose turn it is. */
static inline struct ek_worker *deal_worker(const ek_collection *tasks,
                                            struct eki_dealer *dealer)
{
    struct ek_worker *worker = tasks->engine->workers[dealer->next_worker];
    dealer->next_worker++;
    if (dealer->next_worker == tasks->topology->workers_here)
        dealer->next_worker = 0;
    return worker;
}

/* SLOT, the last of the seeds of other threads, is pinned, or leaves for
 * another rank, where its hint says so. */
static ek_status move_hinted(ek_collection *tasks, const struct eki_slot *slot,
                             const ek_hint *hint)
{
    struct eki_local *seeds = &tasks->seeds.foreign.seeds;
    ek_status status = EK_OK;
    if (!hint->pinned &&
        (hint->rank < 0 || hint->rank == tasks->topology->rank))
        return EK_OK;
    if (!hint->pinned)
        status = eki_engine_depart(tasks->engine, slot, hint->rank);
    else if (!eki_pinned_add(&tasks->engine->pinned, slot))
        status = eki_error(EK_ERR_NOMEM, "no memory for a task");
    seeds->seed_end -= seeds->slot_bytes;
    seeds->seed_top = seeds->seed_end;
    return status;
}

/* What was given, whose struct may be of another version. */
static ek_status read_hint(const ek_collection *tasks, const ek_hint *given,
                           ek_hint *hint)
{
    if (!eki_struct_copy(given, given->struct_bytes, offsetof(ek_hint, rank),
                         hint, sizeof *hint))
        return eki_error(EK_ERR_ARG,
                         "ek_add_task: hint.struct_bytes is %zu; set the hint "
                         "by EK_HINT_INIT",
                         given->struct_bytes);
    if (!(hint->cost > 0) || isinf(hint->cost))
        return eki_error(EK_ERR_ARG,
                         "ek_add_task: hint.cost is %g; allowed: above 0, and "
                         "finite",
                         hint->cost);
    if (hint->rank < -1 || hint->rank >= tasks->topology->size)
        return eki_error(EK_ERR_ARG,
                         "ek_add_task: hint.rank is %d; allowed: -1 ... %d",
                         hint->rank, tasks->topology->size - 1);
    if (hint->pinned && hint->rank >= 0 && hint->rank != tasks->topology->rank)
        return eki_error(EK_ERR_ARG,
                         "ek_add_task: hint.rank is %d, and the task is pinned "
                         "to this rank; allowed: -1, %d",
                         hint->rank, tasks->topology->rank);
    return EK_OK;
}

/* Add a task with a hint, without payload, or from another thread than the home
 * thread. */
static ek_status add_with_care(ek_collection *tasks, ek_function function,
                               const void *payload, size_t bytes,
                               const ek_hint *given)
{
    struct eki_inlet *foreign = &tasks->seeds.foreign;
    struct eki_dealer *dealer = eki_dealer_here(tasks);
    ek_hint hint = EK_HINT_INIT;
    ek_status status = EK_OK;
    if (!payload && bytes > 0)
        return eki_error(EK_ERR_ARG, "ek_add_task: payload is NULL");
    if (given)
        EKI_TRY(read_hint(tasks, given, &hint));
    pthread_mutex_lock(&foreign->mutex);
    struct eki_slot *slot = eki_local_add_seed(&foreign->seeds);
    if (slot) {
        const struct ek_worker *worker = deal_worker(tasks, dealer);
        eki_seed_fill(slot, function, payload, bytes,
                      eki_id(worker->id, eki_dealer_take(dealer, 1)));
        if (given)
            slot->deviation = eki_hint_byte(hint.cost);
        status = move_hinted(tasks, slot, &hint);
    }
    pthread_mutex_unlock(&foreign->mutex);
    return slot ? status : eki_error(EK_ERR_NOMEM, "no memory for a task");
}

EKI_COLD static ek_status add_slowly(ek_collection *tasks, ek_function function,
                                     const void *payload, size_t bytes,
                                     const ek_hint *hint)
{
    return eki_collection_outcome_often(
        tasks, add_with_care(tasks, function, payload, bytes, hint));
}

/* Make room in the worker whose turn it is, then add. */
EKI_COLD static ek_status add_to_full(ek_collection *tasks,
                                      ek_function function, const void *payload,
                                      size_t bytes)
{
    struct ek_worker *worker = deal_worker(tasks, &tasks->seeds.home);
    struct eki_slot *slot = eki_local_add_seed(&worker->local);
    if (!slot)
        return eki_collection_outcome_often(
            tasks, eki_error(EK_ERR_NOMEM, "no memory for a task"));
    eki_seed_fill(slot, function, payload, bytes,
                  eki_id(worker->id, eki_dealer_take(&tasks->seeds.home, 1)));
    return EK_OK;
}

static inline ek_status add_seed(ek_collection *tasks, ek_function function,
                                 const void *payload, size_t bytes,
                                 const ek_hint *hint)
{
    if (EKI_UNLIKELY(!payload || hint ||
                     tasks->seeds.home_thread != eki_thread_identity()))
        return add_slowly(tasks, function, payload, bytes, hint);
    struct ek_worker *worker =
        tasks->engine->workers[tasks->seeds.home.next_worker];
    struct eki_local *local = &worker->local;
    if (EKI_UNLIKELY(local->seed_end == local->seed_limit))
        return add_to_full(tasks, function, payload, bytes);
    deal_worker(tasks, &tasks->seeds.home);
    eki_seed_fill(eki_local_add_seed(local), function, payload, bytes,
                  eki_id(worker->id, eki_dealer_take(&tasks->seeds.home, 1)));
    return EK_OK;
}

/* Add after a look at the payload, or refuse. */
EKI_COLD static ek_status add_looked_at(ek_collection *tasks,
                                        ek_function function,
                                        const void *payload, size_t bytes,
                                        const ek_hint *hint)
{
    ek_status status =
        eki_collection_check_add(tasks, "ek_add_task", function, bytes);
    if (status != EK_OK)
        return eki_collection_outcome_often(tasks, status);
    /* A pinned task stays in the process that its pointers are of. */
    if (!hint || hint->struct_bytes <= offsetof(ek_hint, pinned) ||
        !hint->pinned)
        eki_collection_check_payload(tasks, "ek_add_task", function, payload,
                                     bytes);
    return add_seed(tasks, function, payload, bytes, hint);
}

/* Every call that this function makes is inline or its last, so that it saves
 * no registers. */
ek_status ek_add_task(ek_collection *tasks, ek_function function,
                      const void *payload, size_t bytes, const ek_hint *hint)
{
    if (EKI_UNLIKELY(!tasks || tasks->state == EKI_STATE_OPEN ||
                     (unsigned)function >=
                         (unsigned)tasks->engine->function_count ||
                     bytes > tasks->seeds.payload_limit))
        return add_looked_at(tasks, function, payload, bytes, hint);
    return add_seed(tasks, function, payload, bytes, hint);
}

ek_status eki_collection_gather(ek_collection *tasks)
{
    struct eki_local *foreign = &tasks->seeds.foreign.seeds;
    int first = tasks->topology->first_worker[tasks->topology->rank];
    while (foreign->seed_end != foreign->seeds) {
        const struct eki_slot *slot =
            (const struct eki_slot *)(foreign->seed_end - foreign->slot_bytes);
        struct ek_worker *worker =
            tasks->engine->workers[eki_id_home(slot->id) - first];
        struct eki_slot *added = eki_local_add_seed(&worker->local);
        if (!added)
            return eki_error(EK_ERR_NOMEM, "no memory for a task");
        memcpy(added, slot, foreign->slot_bytes);
        worker->local.has_hints |=
            slot->bin == EKI_BIN_NEVER && slot->deviation != EKI_NO_HINT;
        worker->local.has_ranges |= (slot->flags & EKI_SLOT_RANGE) != 0;
        foreign->seed_end -= foreign->slot_bytes;
        foreign->seed_top = foreign->seed_end;
    }
    return eki_inlets_gather(tasks);
}

void eki_collection_forget(ek_collection *tasks)
{
    for (int here = 0; here < tasks->topology->workers_here; here++)
        eki_local_clear(&tasks->engine->workers[here]->local);
    eki_local_clear(&tasks->engine->pinned.local);
    eki_local_clear(&tasks->seeds.foreign.seeds);
    eki_inlets_clear(tasks);
    tasks->engine->moves.count = 0;
    eki_collection_note_all_indices(tasks, 0);
    tasks->agreed.is_behind = false;
    /* Other ranks may go on with what they hold, and this one with them. */
    if (tasks->state == EKI_STATE_RAN && !tasks->restores.continues)
        tasks->state = EKI_STATE_READY;
}

static ek_status clear_seeds(ek_collection *tasks)
{
    EKI_TRY(eki_collection_check_idle(tasks, "ek_clear", ""));
    eki_collection_forget(tasks);
    return EK_OK;
}

ek_status ek_clear(ek_collection *tasks)
{
    return eki_collection_outcome(tasks, clear_seeds(tasks));
}

bool eki_collection_is_bare(const ek_collection *tasks)
{
    const struct eki_engine *engine = tasks->engine;
    /* Other threads' tasks are seeds, and run elsewhere. */
    const struct eki_local *foreign = &tasks->seeds.foreign.seeds;
    bool is_bare =
        engine->moves.count == 0 && eki_local_is_bare(&engine->pinned.local) &&
        foreign->seed_end == foreign->seeds &&
        /* relaxed: no task that adds runs now. */
        !atomic_load_explicit(&tasks->seeds.has_arrivals, memory_order_relaxed);
    for (int here = 0; is_bare && here < engine->topology->workers_here; here++)
        is_bare = eki_local_is_bare(&engine->workers[here]->local);
    return is_bare;
}

int64_t eki_collection_held(const ek_collection *tasks)
{
    const struct eki_local *pinned = &tasks->engine->pinned.local;
    int64_t held =
        tasks->engine->moves.count +
        eki_local_slots(pinned, pinned->seed_base, pinned->seed_end) +
        pinned->done;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        const struct eki_local *local = &tasks->engine->workers[here]->local;
        held += eki_local_slots(local, local->seed_base, local->seed_end) +
                eki_local_slots(local, local->log, local->log_end) +
                eki_local_stacked(local) + local->aside;
    }
    return held;
}
