/* SPDX-License-Identifier: BSD-3-Clause */
/* ek_visit_tasks(): what this rank holds, and removing some of it. */
#include "collection/seeds.h"

struct visit {
    const struct eki_engine *engine;
    ek_visit_fn *visitor;
    void *context;
    bool has_run;
    bool is_pinned; /* pinned tasks are shown */
    int worker;     /* of the slots, unless these are pinned */
};

/* A pinned task is held by who ran it, until it is restored. */
static int holder_of(const struct visit *visit, const struct eki_slot *slot)
{
    const struct eki_engine *engine = visit->engine;
    if (!visit->is_pinned)
        return visit->worker;
    int ran_on = visit->has_run ? eki_pinned_ran_on(&engine->pinned, slot) : -1;
    return engine->workers[ran_on < 0 ? 0 : ran_on]->id;
}

static bool is_gone(const struct visit *visit, const struct eki_slot *slot)
{
    if (!(slot->flags & EKI_SLOT_SEED) || slot->flags & EKI_SLOT_DISCARDED)
        return true;
    return visit->has_run && slot->flags & EKI_SLOT_RANGE &&
           !(slot->flags & EKI_SLOT_CANCELLED);
}

/* Show one slot; false: it is removed. */
static bool show_slot(const struct visit *visit, struct eki_slot *slot)
{
    ek_task task;
    if (is_gone(visit, slot))
        return true;
    task = eki_engine_show(visit->engine, slot);
    task.worker_id = holder_of(visit, slot);
    task.is_pinned = visit->is_pinned;
    task.has_run = visit->has_run && eki_slot_has_run(slot);
    if (visit->visitor(&task, visit->context))
        return true;
    slot->flags |= EKI_SLOT_DISCARDED;
    if (task.is_range)
        slot->flags &= (uint8_t)~EKI_SLOT_CANCELLED;
    return false;
}

static int64_t visit_slots(const struct visit *visit, unsigned char *first,
                           unsigned char *last, uint32_t slot_bytes)
{
    int64_t removed = 0;
    while (last != first) {
        last -= slot_bytes;
        removed += !show_slot(visit, (struct eki_slot *)last);
    }
    return removed;
}

/* Close the gaps of removed slots; legal only while nothing has run.  Returns
 * the new end. */
static unsigned char *compact(unsigned char *at, const unsigned char *end,
                              uint32_t slot_bytes)
{
    unsigned char *kept = at;
    for (; at != end; at += slot_bytes) {
        if (((const struct eki_slot *)at)->flags & EKI_SLOT_DISCARDED)
            continue;
        if (kept != at)
            memcpy(kept, at, slot_bytes);
        kept += slot_bytes;
    }
    return kept;
}

static void visit_seeds(const struct visit *visit, struct eki_local *local)
{
    int64_t removed = visit_slots(visit, local->seed_base, local->seed_end,
                                  local->slot_bytes);
    if (removed > 0 && !visit->has_run)
        local->seed_top = local->seed_end =
            compact(local->seed_base, local->seed_end, local->slot_bytes);
}

static void visit_log(const struct visit *visit, struct eki_local *local)
{
    int64_t removed =
        visit_slots(visit, local->log, local->log_end, local->slot_bytes);
    if (removed == 0 || visit->has_run)
        return;
    /* All of it is done, of an iteration that goes on. */
    local->log_end = compact(local->log, local->log_end, local->slot_bytes);
    local->done = eki_local_slots(local, local->log, local->log_end);
}

static void visit_departing(struct visit *visit, ek_collection *tasks)
{
    struct eki_moves *moves = &tasks->engine->moves;
    uint32_t slot_bytes = tasks->engine->slot_bytes;
    int64_t kept = 0;
    for (int64_t i = 0; i < moves->count; i++) {
        struct eki_slot *slot = eki_slot_at(moves->slots, i, slot_bytes);
        visit->worker = tasks->topology->first_worker[moves->ranks[i]];
        if (!show_slot(visit, slot))
            continue;
        memmove(eki_slot_at(moves->slots, kept, slot_bytes), slot, slot_bytes);
        moves->workers[kept] = moves->workers[i];
        moves->ranks[kept++] = moves->ranks[i];
    }
    moves->count = kept;
}

ek_status eki_collection_visit(ek_collection *tasks, ek_visit_fn *visitor,
                               void *context)
{
    EKI_TRY(eki_collection_gather(tasks));
    struct visit visit = {.engine = tasks->engine,
                          .visitor = visitor,
                          .context = context,
                          .has_run = tasks->state == EKI_STATE_RAN,
                          .is_pinned = true};
    visit_seeds(&visit, &tasks->engine->pinned.local);
    visit_log(&visit, &tasks->engine->pinned.local);
    visit.is_pinned = false;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        struct ek_worker *worker = tasks->engine->workers[here];
        struct eki_local *local = &worker->local;
        visit.worker = worker->id;
        visit_seeds(&visit, local);
        visit_log(&visit, local);
        visit_slots(&visit,
                    local->stack_bottom - local->aside * local->slot_bytes,
                    local->stack_bottom, local->slot_bytes);
    }
    visit_departing(&visit, tasks);
    return EK_OK;
}

static ek_status visit_tasks(ek_collection *tasks, ek_visit_fn *visitor,
                             void *context)
{
    if (!tasks || !visitor)
        return eki_error(EK_ERR_ARG,
                         "ek_visit_tasks: collection and visitor must not be "
                         "NULL");
    EKI_TRY(eki_collection_check_idle(tasks, "ek_visit_tasks", ""));
    return eki_collection_visit(tasks, visitor, context);
}

ek_status ek_visit_tasks(ek_collection *tasks, ek_visit_fn *visitor,
                         void *context)
{
    return eki_collection_outcome(tasks, visit_tasks(tasks, visitor, context));
}
