/* SPDX-License-Identifier: BSD-3-Clause */
/* Restore: the next seeds of each worker; what has its home elsewhere departs.
 */
#include "engine/internal.h"

ek_status eki_engine_restore_worker(struct eki_engine *engine, int here,
                                    enum eki_order order, int64_t *discarded)
{
    if (!eki_local_restore(&engine->workers[here]->local, order, discarded))
        return eki_error(EK_ERR_NOMEM, "no memory to restore worker %d",
                         engine->workers[here]->id);
    return EK_OK;
}

ek_status eki_engine_continue(struct eki_engine *engine)
{
    bool done = eki_local_continue(&engine->pinned.local);
    for (int here = 0; done && here < engine->topology->workers_here; here++)
        done = eki_local_continue(&engine->workers[here]->local);
    return done ? EK_OK
                : eki_error(EK_ERR_NOMEM, "no memory to continue an iteration");
}

void eki_engine_end_parts(struct eki_engine *engine)
{
    engine->has_parts = false;
    engine->pinned.local.done = 0;
    for (int here = 0; here < engine->topology->workers_here; here++)
        engine->workers[here]->local.done = 0;
}

/* Bring a seed of another worker nearer to its home. */
static ek_status send_home(struct eki_engine *engine,
                           const struct eki_slot *slot, int home)
{
    const struct eki_topology *topology = engine->topology;
    int first = topology->first_worker[topology->rank];
    if (home < first || home >= first + topology->workers_here)
        return eki_engine_depart(engine, slot,
                                 eki_topology_rank(topology, home));
    if (!eki_local_log(&engine->workers[home - first]->local, slot))
        return eki_error(EK_ERR_NOMEM, "no memory to restore tasks");
    return EK_OK;
}

/* Give the seeds of a worker that have another home away; keep the others, and
 * those for which there is no memory. */
static ek_status pack_worker(struct eki_engine *engine,
                             struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    unsigned char *kept = local->seeds;
    ek_status worst = EK_OK;
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += engine->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        int home = eki_id_home(slot->id);
        ek_status status =
            home == worker->id ? EK_OK : send_home(engine, slot, home);
        if (status != EK_OK)
            worst = status;
        else if (home != worker->id)
            continue;
        memmove(kept, at, engine->slot_bytes);
        kept += engine->slot_bytes;
    }
    local->seed_base = local->seeds;
    local->seed_top = local->seed_end = kept;
    return worst;
}

ek_status eki_engine_restore_pack(struct eki_engine *engine, int64_t *discarded)
{
    int workers = engine->topology->workers_here;
    for (int here = 0; here < workers; here++)
        EKI_TRY(eki_engine_restore_worker(engine, here, EKI_ORDER_EXECUTED,
                                          discarded));
    for (int here = 0; here < workers; here++)
        EKI_TRY(pack_worker(engine, engine->workers[here]));
    return eki_engine_restore_pinned(engine, discarded);
}

ek_status eki_engine_restore_arrived(struct eki_engine *engine, int here,
                                     enum eki_order order)
{
    const struct eki_local *local = &engine->workers[here]->local;
    /* What has left left no gap: the others lie in their order, which is not
     * reversed once more. */
    if (order == EKI_ORDER_REVERSED)
        order = EKI_ORDER_EXECUTED;
    if (order != EKI_ORDER_ORIGINAL && order != EKI_ORDER_ASCENDING &&
        local->log_end == eki_local_logged(local))
        return EK_OK;
    return eki_engine_restore_worker(engine, here, order, NULL);
}

ek_status eki_engine_restore_end(struct eki_engine *engine,
                                 enum eki_order order)
{
    for (int here = 0; here < engine->topology->workers_here; here++)
        EKI_TRY(eki_engine_restore_arrived(engine, here, order));
    return EK_OK;
}
