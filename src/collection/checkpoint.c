/* SPDX-License-Identifier: BSD-3-Clause */
/* ek_restore(), and the checkpoints that it writes when one is due; what the
 * program adds to saves, and finds again. */
#include "collection/saving.h"
#include "record/record.h"

/* No part is shorter: tasks begin in it, however short the interval is. */
#define PART_LEAST_NS UINT64_C(10000000)

bool eki_checkpoint_may_pause(const ek_collection *tasks)
{
    return tasks->parts.saves.every.ns > 0 && !tasks->is_pulled &&
           !tasks->parts.replaying &&
           tasks->settings.options.on_stop == EKI_ON_STOP_CONTINUE;
}

/* Rank 0 says, once, that its pull loops do not pause. */
static void tell_of_pulling(const ek_collection *tasks, struct eki_saves *saves)
{
    if (!tasks->is_pulled || saves->is_told ||
        tasks->settings.options.on_stop != EKI_ON_STOP_CONTINUE)
        return;
    saves->is_told = true;
    eki_log(EK_LEVEL_INFO, 0, tasks->fabric->size, "collection",
            "'%s': iterations of ek_begin and ek_end have no checkpoints in "
            "their middle (option checkpoint)",
            tasks->settings.name);
}

void eki_checkpoint_watch(ek_collection *tasks)
{
    struct eki_saves *saves = &tasks->parts.saves;
    if (saves->every.ns == 0 || tasks->fabric->rank != 0)
        return;
    uint64_t due = saves->last_ns + saves->every.ns;
    uint64_t soon = eki_clock_ns() + PART_LEAST_NS;
    due = due > soon ? due : soon;
    eki_lookout_save_at(&tasks->lookout,
                        eki_checkpoint_may_pause(tasks) ? due : 0);
    tell_of_pulling(tasks, saves);
}

void eki_checkpoint_set(ek_collection *tasks)
{
    struct eki_saves *saves = &tasks->parts.saves;
    bool had_some = saves->every.folder != 0;
    eki_checkpoint_read(tasks->settings.checkpoint, &saves->every);
    if (had_some)
        eki_lookout_save_at(&tasks->lookout, 0);
    saves->last_ns = eki_clock_ns();
    eki_checkpoint_watch(tasks);
    /* Checkpoints end, even if the environment asks for them. */
    if (had_some && saves->every.folder == 0 && tasks->fabric->rank == 0)
        eki_log(EK_LEVEL_INFO, 0, tasks->fabric->size, "collection",
                "'%s' writes no checkpoints: its option checkpoint has been "
                "set to 0",
                tasks->settings.name);
}

ek_status eki_collection_checkpoint(ek_collection *tasks)
{
    struct eki_saves *saves = &tasks->parts.saves;
    char text[EKI_OPTION_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)saves->every.folder,
             tasks->settings.checkpoint);
    char *folder = eki_record_path(text, tasks->settings.name);
    struct eki_saving saving = {tasks, "checkpoint", folder, 0};
    enum eki_called called = tasks->lookout.look.called;
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_CHECKPOINT, tasks->iteration);
    ek_status status = eki_saving_write(
        &saving, folder ? EK_OK
                        : eki_error(EK_ERR_NOMEM, "no memory for the folder of "
                                                  "checkpoints"));
    eki_free(folder);
    eki_lookout_enter(&tasks->lookout, called, tasks->iteration);
    saves->is_due = false;
    saves->last_iteration = tasks->iteration;
    saves->last_ns = eki_clock_ns();
    eki_checkpoint_watch(tasks);
    return status == EK_ERR_MPI ? status : EK_OK;
}

static ek_status call_restore(ek_collection *tasks, ek_restore_policy policy,
                              ek_restore_report *report,
                              struct eki_caller caller)
{
    ek_restore_report whole = EK_RESTORE_REPORT_INIT;
    ek_status status;
    EKI_TRY(eki_collection_start(tasks, caller, EKI_CALLED_RESTORE, &status));
    tasks->agreed.is_behind = false;
    if (status == EK_OK)
        status = eki_collection_check_report("ek_restore: ", report,
                                             "EK_RESTORE_REPORT_INIT");
    status = eki_collection_restore(tasks, policy, status, &whole);
    if (EKI_UNLIKELY(tasks->parts.saves.is_due))
        status = eki_collection_checkpoint(tasks);
    eki_lookout_leave(&tasks->lookout, eki_clock_ns());
    EKI_ASSERT_SLOW(eki_collection_check(tasks));
    eki_collection_release();
    if (status == EK_OK && report) {
        size_t bytes = report->struct_bytes;
        eki_collection_fill_restored(tasks, &whole);
        whole.struct_bytes = bytes;
        memcpy(report, &whole, bytes < sizeof whole ? bytes : sizeof whole);
    }
    return status;
}

ek_status ek_restore(ek_collection *tasks, ek_restore_policy policy,
                     ek_restore_report *report)
{
    struct eki_caller caller = EKI_CALLER("ek_restore");
    return eki_collection_outcome(tasks,
                                  call_restore(tasks, policy, report, caller));
}

ek_status ek_set_save(ek_collection *tasks, ek_save_fn *write, void *context)
{
    ek_status status = eki_collection_check_idle(tasks, "ek_set_save", "");
    if (status == EK_OK) {
        tasks->parts.saves.write = write;
        tasks->parts.saves.context = context;
    }
    return eki_collection_outcome(tasks, status);
}

bool ek_goes_on(const ek_collection *tasks)
{
    return eki_collection_goes_on(tasks);
}

const char *ek_loaded(const ek_collection *tasks, int64_t *iteration)
{
    const struct eki_saves *saves = &tasks->parts.saves;
    if (iteration && saves->loaded)
        *iteration = saves->loaded_iteration;
    return saves->loaded;
}
