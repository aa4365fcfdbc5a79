/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that other ranks or workers have saved: they are dealt out, and whoever
 * gets one becomes its home. */
#include "collection/saving.h"
#include "printed/printed.h"

/* Worker HOME is the home of SLOTS; if DATA_STAYS, not of those with data. */
static void move_slots(const struct eki_engine *engine, bool data_stays,
                       unsigned char *slots, const unsigned char *end, int home)
{
    for (; slots != end; slots += engine->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)slots;
        if (!data_stays || !eki_data_ops_of(engine, slot->function))
            slot->id = eki_id(home, slot->id % EKI_NUMBERS);
    }
}

static void move_local(const struct eki_engine *engine, bool data_stays,
                       const struct eki_local *local, int home)
{
    move_slots(engine, data_stays, local->seed_base, local->seed_end, home);
    move_slots(engine, data_stays, local->log, local->log_end, home);
    move_slots(engine, data_stays, local->stack_bottom, local->stack_top, home);
}

void eki_saving_make_homes(struct eki_engine *engine, bool data_stays)
{
    struct eki_moves *moves = &engine->moves;
    int first = engine->workers[0]->id;
    move_local(engine, data_stays, &engine->pinned.local, first);
    if (moves->count > 0)
        move_slots(engine, data_stays, moves->slots,
                   moves->slots + moves->count * (int64_t)engine->slot_bytes,
                   first);
    for (int here = 0; here < engine->topology->workers_here; here++)
        move_local(engine, data_stays, &engine->workers[here]->local,
                   first + here);
    /* They are known by their old ids. */
    moves->arrived = 0;
}

ek_status eki_saving_wait_again(struct eki_engine *engine)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct eki_local *local = &engine->workers[here]->local;
        if (!eki_local_stand_down(local))
            return eki_error(EK_ERR_NOMEM, "no memory for spawned tasks");
        engine->has_parts |= local->stack_top != local->stack_bottom;
    }
    return EK_OK;
}

ek_status eki_saving_deal(ek_collection *tasks, bool data_stays)
{
    ek_restore_report whole = EK_RESTORE_REPORT_INIT;
    bool is_grouped =
        eki_balance_wish_of(EK_RESTORE_AUTO, tasks->topology->workers,
                            &tasks->settings.options)
            .group > 0;
    /* The program may read data after the call: where homes are not told, none
     * is anywhere yet. */
    int away_count = tasks->engine->away_count;
    if (!data_stays)
        tasks->engine->away_count = 0;
    tasks->restores.leaves_data = true;
    ek_status status = eki_collection_restore_by(
        tasks, is_grouped ? EK_RESTORE_HIERARCHICAL : EK_RESTORE_CENTRALIZED,
        EK_OK, &whole);
    tasks->restores.leaves_data = false;
    tasks->engine->away_count = away_count;
    if (status == EK_OK)
        status = eki_saving_wait_again(tasks->engine);
    /* One that cannot put in order what has come is alone with that. */
    EKI_TRY(eki_fabric_mpi_agree(tasks->fabric, status));
    eki_saving_make_homes(tasks->engine, data_stays);
    return EK_OK;
}
