/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tasks have spawned, and which were held up, for a record.  While one is
 * written all calls that spawn take their slow way, which notes the child here,
 * and what is spawned is flagged to be logged where it runs.  Else nothing of
 * this costs anything.
 */
#include "engine/internal.h"
#include "engine/spawn.h"

enum {
    FIRST_ROOM = 64
};

void eki_engine_trace(struct eki_engine *engine, bool is_traced)
{
    engine->is_traced = is_traced;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        worker->local.spawned_word =
            eki_spawned_word(is_traced ? EKI_SLOT_TRACED : 0);
        if (!is_traced) {
            eki_families_free(&worker->families);
            eki_held_free(&worker->held);
        }
    }
}

void eki_families_free(struct eki_families *families)
{
    eki_free(families->list);
    *families = (struct eki_families){0};
}

void eki_held_free(struct eki_held *held)
{
    eki_free(held->ids);
    *held = (struct eki_held){0};
}

void eki_worker_note_held(struct ek_worker *worker)
{
    struct eki_held *held = &worker->held;
    if (eki_grow(&held->ids, held->count, &held->room, FIRST_ROOM,
                 sizeof *held->ids))
        held->ids[held->count++] = eki_worker_task_id(worker);
}

/* The first child of a task; false: no memory. */
static bool add_family(struct eki_families *families, uint64_t parent,
                       uint64_t child)
{
    if (!eki_grow(&families->list, families->count, &families->room, FIRST_ROOM,
                  sizeof *families->list))
        return false;
    families->list[families->count++] = (struct eki_family){parent, child, 1};
    return true;
}

void eki_worker_note_child(struct ek_worker *worker)
{
    struct eki_families *families = &worker->families;
    uint64_t parent = eki_worker_task_id(worker);
    uint64_t child = worker->local.next_id - 1;
    struct eki_family *last =
        families->count > 0 ? &families->list[families->count - 1] : NULL;
    /* Nobody but the task that runs takes numbers. */
    if (last && last->parent == parent && last->first + last->count == child)
        last->count++;
    else if (!add_family(families, parent, child))
        families->is_cut = true;
}
