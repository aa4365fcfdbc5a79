/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that have waited too long for their data start at home again, and those
 * that will wait begin behind others. */
#include "engine/away.h"

#include <stdlib.h>

enum {
    /* Of seeds, so many are looked at for one to begin with: of more a worker
     * does not ask for data ahead. */
    LOOKS_MOST = 32
};

void eki_away_note_late(struct ek_worker *worker, uint64_t id)
{
    struct eki_late *late = &worker->late;
    /* Without memory the task stays. */
    if (eki_grow(&late->ids, late->count, &late->room, 16, sizeof *late->ids))
        late->ids[late->count++] = id;
}

static int compare_late(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Send the seeds of a worker that were late home. */
static void send_late(struct eki_engine *engine, struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_late *late = &worker->late;
    unsigned char *kept = local->seed_base;
    /* What ran before and could not be restored is hidden, and stays. */
    if (local->seed_top == local->seed_base)
        return;
    qsort(late->ids, (size_t)late->count, sizeof *late->ids, compare_late);
    for (unsigned char *at = kept; at != local->seed_end;
         at += engine->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        int home = eki_engine_home(engine, slot);
        if (home != engine->topology->rank &&
            bsearch(&slot->id, late->ids, (size_t)late->count,
                    sizeof *late->ids, compare_late) &&
            eki_engine_depart_to(engine, slot, home, -1))
            continue;
        if (kept != at)
            memcpy(kept, at, engine->slot_bytes);
        kept += engine->slot_bytes;
    }
    local->seed_top = local->seed_end = kept;
}

/* Let a worker begin with a task whose data is here, so that the data of others
 * comes meanwhile. */
static void begin_at_home(const struct eki_engine *engine,
                          struct eki_local *local)
{
    size_t bytes = engine->slot_bytes;
    unsigned char *at = local->seed_top;
    int looks = 0;
    do {
        if (at == local->seed_base || looks++ == LOOKS_MOST)
            return;
        at -= bytes;
    } while (eki_engine_home(engine, (const struct eki_slot *)at) !=
             engine->topology->rank);
    unsigned char *top = local->seed_top - bytes;
    for (size_t i = 0; at != top && i < bytes; i++) {
        unsigned char byte = top[i];
        top[i] = at[i];
        at[i] = byte;
    }
}

void eki_away_enter(struct eki_engine *engine, bool is_retained)
{
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&engine->owed_until, 0, memory_order_relaxed);
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        /* Where nothing else moves tasks the program has placed them. */
        if (worker->late.count > 0 && (engine->has_thieves || !is_retained))
            send_late(engine, worker);
        begin_at_home(engine, &worker->local);
        worker->late.count = 0;
    }
}
