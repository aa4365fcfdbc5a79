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
