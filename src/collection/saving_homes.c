/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Homes of data in saves.  The data is the program's, which saves it itself: a
 * save says which rank has it.  On another number of ranks the program says so,
 * or else whoever gets a task becomes its home.
 */
#include "collection/saving.h"

#include <evenkeel_save.h>

int eki_saving_home(const void *context, const struct eki_slot *slot)
{
    const struct eki_engine *engine = context;
    return eki_data_ops_of(engine, slot->function)
               ? eki_engine_home(engine, slot)
               : -1;
}

bool eki_saving_keep_home(const struct eki_engine *engine,
                          struct eki_save_task *task)
{
    if (!eki_data_ops_of(engine, task->head.function) ||
        eki_engine_home(engine, &task->head) == task->home)
        task->home = -1;
    return task->home < 0 || engine->setup.has_homes;
}

ek_status eki_saving_ask_owner(const ek_collection *tasks, const ek_task *task,
                               int *rank)
{
    const struct eki_callbacks *callbacks = tasks->callbacks;
    int owner = callbacks->owner(task, callbacks->owner_context);
    if (owner < 0 || owner >= tasks->topology->size)
        return eki_error(EK_ERR_ARG,
                         "ek_load: owner of a task of '%s' is rank %d; "
                         "allowed: 0 ... %d",
                         tasks->engine->functions[task->function].name, owner,
                         tasks->topology->size - 1);
    *rank = owner;
    return EK_OK;
}

static ek_status set_owner(ek_collection *tasks, ek_owner_fn *owner,
                           void *context)
{
    EKI_TRY(eki_collection_check_idle(tasks, "ek_set_owner", ""));
    if (!tasks->callbacks)
        return eki_error(EK_ERR_STATE,
                         "ek_set_owner: no function of '%s' has data; call "
                         "ek_set_data_ops or ek_set_data_blocks first",
                         tasks->settings.name);
    tasks->callbacks->owner = owner;
    tasks->callbacks->owner_context = context;
    return EK_OK;
}

ek_status ek_set_owner(ek_collection *tasks, ek_owner_fn *owner, void *context)
{
    return eki_collection_outcome(tasks, set_owner(tasks, owner, context));
}
