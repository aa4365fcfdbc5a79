/* SPDX-License-Identifier: BSD-3-Clause */
/* What an engine holds between iterations: its tasks go to a file, and come
 * from files to where they were, or to another worker. */
#include "base/plant.h"
#include "save/save.h"

/* The seeds include what was spawned and is kept. */
static const unsigned char *end_of_seeds(const struct eki_local *local)
{
    bool is_lost =
        EKI_PLANTED(SAVE_KEPT_LOST) && local->seed_end != local->seed_base;
    return is_lost ? local->seed_end - local->slot_bytes : local->seed_end;
}

/* What worker HERE holds, or what is pinned. */
static ek_status write_local(struct eki_save_out *out,
                             const struct eki_topology *topology, int here,
                             const struct eki_local *local)
{
    int workers = topology->workers_here, ranks = topology->size;
    EKI_TRY(eki_save_slots(out, here, local->seed_base, end_of_seeds(local),
                           local->slot_bytes));
    EKI_TRY(eki_save_slots(out, eki_save_done(workers, ranks, here), local->log,
                           local->log_end, local->slot_bytes));
    return eki_save_slots(out, eki_save_waits(workers, ranks, here),
                          local->stack_bottom, local->stack_top,
                          local->slot_bytes);
}

/* Tasks that leave for another rank. */
static ek_status write_departing(struct eki_save_out *out,
                                 const struct eki_engine *engine)
{
    const struct eki_moves *moves = &engine->moves;
    int workers = engine->topology->workers_here;
    for (int64_t i = 0; i < moves->count; i++) {
        const unsigned char *slot =
            moves->slots + i * (int64_t)engine->slot_bytes;
        EKI_TRY(eki_save_slots(out, eki_save_departs(workers, moves->ranks[i]),
                               slot, slot + engine->slot_bytes,
                               engine->slot_bytes));
    }
    return EK_OK;
}

ek_status eki_save_held(struct eki_save_out *out,
                        const struct eki_engine *engine)
{
    int workers = engine->topology->workers_here;
    for (int here = 0; here < workers; here++)
        EKI_TRY(write_local(out, engine->topology, here,
                            &engine->workers[here]->local));
    EKI_TRY(write_local(out, engine->topology, eki_save_pinned(workers),
                        &engine->pinned.local));
    return write_departing(out, engine);
}

ek_status eki_save_hold(struct eki_engine *engine,
                        const struct eki_save_head *head,
                        const struct eki_save_task *task, int here,
                        bool is_dealt)
{
    int workers = head->workers_here;
    bool is_pinned = task->here == eki_save_pinned(workers);
    int departs_to = task->here - eki_save_departs(workers, 0);
    bool departs = departs_to >= 0 && head->ranks == engine->topology->size;
    struct eki_local *local =
        is_pinned ? &engine->pinned.local : &engine->workers[here]->local;
    struct eki_slot *slot =
        is_pinned ? eki_pinned_new(&engine->pinned) : eki_local_add_seed(local);
    if (!slot)
        return eki_error(EK_ERR_NOMEM, "no memory for a task");
    *slot = task->head;
    eki_copy_payload(slot, task->payload, slot->bytes);
    if (task->home >= 0)
        eki_slot_adopt(slot, engine->slot_bytes, task->home);
    local->has_hints |=
        slot->bin == EKI_BIN_NEVER && slot->deviation != EKI_NO_HINT;
    local->has_ranges |= (slot->flags & EKI_SLOT_RANGE) != 0;
    engine->has_parts |= task->is_done || task->waits;
    if (task->waits && is_dealt)
        slot->flags |= EKI_SLOT_STANDS;
    if (!departs && !task->is_done && (!task->waits || is_dealt))
        return EK_OK;
    local->seed_end -= local->slot_bytes;
    local->seed_top = local->seed_end;
    if (departs)
        return eki_engine_depart(engine, slot, departs_to);
    return eki_local_put_part(local, slot)
               ? EK_OK
               : eki_error(EK_ERR_NOMEM, "no memory for a task");
}
