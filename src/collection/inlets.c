/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inlets: seeds that running tasks of another collection add.
 *
 * A running worker adds to the inlet of its number, under a lock that it shares
 * with others only where the other collection has less workers on this rank.
 * One iteration is open in a process at a time, and whoever gathers enters
 * after it: so the next call of the other collection finds all, without a lock.
 */
#include "collection/seeds.h"

#include <evenkeel_spawn.h>

void eki_inlet_open(struct eki_inlet *inlet, uint64_t first, uint64_t last,
                    uint32_t slot_bytes)
{
    pthread_mutex_init(&inlet->mutex, NULL);
    inlet->dealer = (struct eki_dealer){first, first, last, 0};
    eki_local_init(&inlet->seeds, slot_bytes);
}

void eki_inlet_close(struct eki_inlet *inlet)
{
    eki_local_free(&inlet->seeds);
    pthread_mutex_destroy(&inlet->mutex);
}

ek_status eki_inlets_create(ek_collection *tasks)
{
    int workers = tasks->topology->workers_here;
    tasks->seeds.inlets =
        eki_alloc_lines((size_t)workers * sizeof *tasks->seeds.inlets);
    if (!tasks->seeds.inlets)
        return eki_error(EK_ERR_NOMEM, "no memory for %d workers", workers);
    for (int here = 0; here < workers; here++)
        eki_inlet_open(&tasks->seeds.inlets[here], EKI_INLET_NUMBERS,
                       EKI_SPAWNED_NUMBERS, tasks->engine->slot_bytes);
    return EK_OK;
}

void eki_inlets_destroy(ek_collection *tasks)
{
    if (!tasks->seeds.inlets)
        return;
    for (int here = 0; here < tasks->topology->workers_here; here++)
        eki_inlet_close(&tasks->seeds.inlets[here]);
    eki_free(tasks->seeds.inlets);
}

ek_status eki_inlets_gather(ek_collection *tasks)
{
    /* relaxed, here and below: no task that adds runs now. */
    if (EKI_LIKELY(!atomic_load_explicit(&tasks->seeds.has_arrivals,
                                         memory_order_relaxed)))
        return EK_OK;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        if (!eki_local_join_seeds(&tasks->engine->workers[here]->local,
                                  &tasks->seeds.inlets[here].seeds))
            return eki_error(EK_ERR_NOMEM, "no memory for a task");
    }
    /* What waits for a restore that goes on is looked at there, too. */
    atomic_store_explicit(&tasks->seeds.has_arrivals, tasks->restores.continues,
                          memory_order_relaxed);
    return EK_OK;
}

void eki_inlets_clear(ek_collection *tasks)
{
    for (int here = 0; here < tasks->topology->workers_here; here++)
        eki_local_clear(&tasks->seeds.inlets[here].seeds);
}

/* Whether OTHER takes seeds from tasks of WORKER. */
static ek_status check_other(const ek_worker *worker,
                             const ek_collection *other)
{
    if (!worker->engine->is_open)
        return eki_error(EK_ERR_STATE, "ek_add_task_to: no iteration is open; "
                                       "the worker is of an earlier one");
    if (!other)
        return eki_error(EK_ERR_ARG, "ek_add_task_to: collection is NULL");
    if (worker->engine->owner == other)
        return eki_error(
            EK_ERR_ARG,
            "ek_add_task_to: '%s' is the collection that runs this "
            "task; use ek_spawn",
            other->settings.name);
    return EK_OK;
}

/* Add a seed of worker HERE of this rank. */
static ek_status add_to_inlet(ek_collection *other, int here,
                              ek_function function, const void *payload,
                              size_t bytes)
{
    struct eki_inlet *inlet = &other->seeds.inlets[here];
    int64_t home = other->engine->workers[here]->id;
    pthread_mutex_lock(&inlet->mutex);
    struct eki_slot *slot = eki_local_add_seed(&inlet->seeds);
    if (slot)
        eki_seed_fill(slot, function, payload, bytes,
                      eki_id(home, eki_dealer_take(&inlet->dealer, 1)));
    pthread_mutex_unlock(&inlet->mutex);
    /* relaxed, both: handed on by the end of the iteration; looked at first, to
     * leave the line alone. */
    if (!atomic_load_explicit(&other->seeds.has_arrivals, memory_order_relaxed))
        atomic_store_explicit(&other->seeds.has_arrivals, true,
                              memory_order_relaxed);
    return slot ? EK_OK : eki_error(EK_ERR_NOMEM, "no memory for a task");
}

static ek_status add_task_to(const ek_worker *worker, ek_collection *other,
                             ek_function function, const void *payload,
                             size_t bytes)
{
    if (!worker)
        return eki_error(EK_ERR_ARG, "ek_add_task_to: worker is NULL");
    EKI_TRY(check_other(worker, other));
    EKI_TRY(eki_collection_check_task(other->engine, "ek_add_task_to",
                                      other->settings.name, function, bytes));
    if (!payload && bytes > 0)
        return eki_error(EK_ERR_ARG, "ek_add_task_to: payload is NULL");
    const struct eki_engine *engine = worker->engine;
    if (engine->setup.is_checked)
        EKI_TRY(eki_collection_check_thread(engine->owner, worker->here,
                                            "ek_add_task_to"));
    if (other->engine->setup.is_checked)
        eki_collection_check_payload(other, "ek_add_task_to", function, payload,
                                     bytes);
    return add_to_inlet(other, worker->here % other->topology->workers_here,
                        function, payload, bytes);
}

ek_status ek_add_task_to(ek_worker *worker, ek_collection *other,
                         ek_function function, const void *payload,
                         size_t bytes)
{
    return eki_collection_outcome_often(
        worker ? worker->engine->owner : NULL,
        add_task_to(worker, other, function, payload, bytes));
}
