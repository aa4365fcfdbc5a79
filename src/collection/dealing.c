/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that other ranks or workers have saved: they get ids of this job, and
 * are dealt out. */
#include "collection/saving.h"
#include "printed/printed.h"

/* Whether a task stays as it is, with data where that does. */
static bool keeps_id(const struct eki_engine *engine, bool data_stays,
                     const struct eki_slot *slot)
{
    return data_stays && eki_data_ops_of(engine, slot->function);
}

/* Slots of worker HOME, or of the first one, but those that keep their ids. */
static void number_slots(const struct eki_engine *engine,
                         struct eki_dealer *dealer, bool data_stays,
                         unsigned char *slots, const unsigned char *end,
                         int home)
{
    for (; slots != end; slots += engine->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)slots;
        if (!keeps_id(engine, data_stays, slot))
            slot->id = eki_id(
                home, eki_dealer_take(dealer, (uint64_t)eki_slot_tasks(slot)));
    }
}

/* Spawned tasks that wait have numbers of their own. */
static void number_waiting(struct ek_worker *worker, bool data_stays)
{
    struct eki_local *local = &worker->local;
    for (unsigned char *at = local->stack_bottom; at != local->stack_top;
         at += local->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)at;
        if (!keeps_id(worker->engine, data_stays, slot))
            slot->id = local->next_id++;
    }
    worker->first_id = local->next_id;
}

void eki_saving_number(struct eki_engine *engine, struct eki_dealer *dealer,
                       bool data_stays)
{
    struct eki_moves *moves = &engine->moves;
    const struct eki_local *local = &engine->pinned.local;
    uint32_t bytes = engine->slot_bytes;
    int first = engine->workers[0]->id;
    number_slots(engine, dealer, data_stays, local->seed_base, local->seed_end,
                 first);
    number_slots(engine, dealer, data_stays, local->log, local->log_end, first);
    if (moves->count > 0)
        number_slots(engine, dealer, data_stays, moves->slots,
                     moves->slots + moves->count * (int64_t)bytes, first);
    for (int here = 0; here < engine->topology->workers_here; here++) {
        local = &engine->workers[here]->local;
        number_slots(engine, dealer, data_stays, local->seed_base,
                     local->seed_end, first + here);
        number_slots(engine, dealer, data_stays, local->log, local->log_end,
                     first + here);
        number_waiting(engine->workers[here], data_stays);
    }
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
    /* No task may travel whose home there is not. */
    eki_saving_number(tasks->engine, &tasks->seeds.home, false);
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
    eki_saving_number(tasks->engine, &tasks->seeds.home, data_stays);
    return EK_OK;
}
