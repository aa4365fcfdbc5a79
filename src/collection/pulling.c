/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations whose tasks the program fetches: ek_begin, ek_next, ek_end. */
#include "collection/iterations.h"
#include "collection/seeds.h"

#include <evenkeel_pull.h>

/* Iterations may pause again. */
static void end_pulling(ek_collection *tasks)
{
    tasks->is_pulled = false;
    eki_checkpoint_watch(tasks);
}

static ek_status begin_pull(ek_collection *tasks, struct eki_caller caller)
{
    EKI_TRY(eki_collection_start(tasks, caller, EKI_CALLED_PULL, NULL));
    tasks->is_pulled = true;
    eki_checkpoint_watch(tasks);
    ek_status status = eki_iteration_open(tasks, EKI_CALLED_PULL, NULL, EK_OK);
    if (status == EK_OK) {
        eki_lookout_begin(&tasks->lookout);
        return EK_OK;
    }
    eki_iteration_not_opened(tasks, status);
    end_pulling(tasks);
    if (tasks->state == EKI_STATE_BROKEN)
        return status;
    tasks->state = EKI_STATE_VOID;
    return EK_OK;
}

ek_status ek_begin(ek_collection *tasks)
{
    return eki_collection_outcome(tasks,
                                  begin_pull(tasks, EKI_CALLER("ek_begin")));
}

static inline void fetch_task(ek_collection *tasks, int here, ek_task *task)
{
    if (!eki_team_next(tasks->team, here, task))
        *task = (ek_task){0};
    else if (EKI_UNLIKELY(task->starts_run) && task->bytes == sizeof(int64_t) &&
             /* relaxed: a hint. */
             !atomic_load_explicit(&tasks->has_descended, memory_order_relaxed))
        eki_collection_check_order(tasks, here, task);
}

/* Fetch in the checking mode, or where tasks have data or a tool, or refuse. */
EKI_COLD static ek_status next_looked_at(ek_collection *tasks, int here,
                                         ek_task *task)
{
    if (!tasks || !task)
        return eki_error(EK_ERR_ARG,
                         "ek_next: collection and task must not be NULL");
    if (tasks->state == EKI_STATE_VOID) {
        *task = (ek_task){0};
        return EK_OK;
    }
    if (tasks->state != EKI_STATE_OPEN || !tasks->is_pulled)
        return eki_error(EK_ERR_STATE,
                         "ek_next: no iteration is open; call ek_begin first");
    if (here < 0 || here >= tasks->topology->workers_here)
        return eki_error(EK_ERR_ARG, "ek_next: worker %d; allowed: 0 ... %d",
                         here, tasks->topology->workers_here - 1);
    EKI_TRY(eki_collection_check_thread(tasks, here, "ek_next"));
    eki_tool_end_fetched(tasks, here);
    /* Until the input of one is here. */
    do
        fetch_task(tasks, here, task);
    while (tasks->callbacks && task->worker &&
           eki_data_ops_of(tasks->engine, task->function) &&
           !eki_collection_begin_data(task->worker));
    eki_tool_begin_fetched(tasks, here, task);
    return EK_OK;
}

ek_status ek_next(ek_collection *tasks, int here, ek_task *task)
{
    if (EKI_UNLIKELY(!tasks || !task || !tasks->may_fetch || here < 0 ||
                     here >= tasks->topology->workers_here))
        return eki_collection_outcome_often(tasks,
                                            next_looked_at(tasks, here, task));
    fetch_task(tasks, here, task);
    return EK_OK;
}

static ek_status end_pull(ek_collection *tasks, ek_process_report *report)
{
    if (tasks && tasks->state == EKI_STATE_VOID) {
        tasks->state = EKI_STATE_RAN;
        return eki_error(EK_ERR_ARG,
                         "ek_end: other ranks have failed in this iteration, "
                         "because ek_restore differed between ranks");
    }
    if (!tasks || tasks->state != EKI_STATE_OPEN || !tasks->is_pulled)
        return eki_error(EK_ERR_STATE,
                         "ek_end: no iteration is open; call ek_begin first");
    if (EKI_UNLIKELY(eki_lookouts_are_over()) && eki_mpi_is_finalized())
        return eki_error(EK_ERR_STATE, "ek_end: MPI is finalized already");
    EKI_TRY(eki_collection_check_region("ek_end"));
    /* A bad report counts as none: then all ranks hear that they differ. */
    ek_status checked =
        eki_collection_check_report("", report, "EK_PROCESS_REPORT_INIT");
    ek_status status =
        eki_iteration_close(tasks, checked == EK_OK ? report : NULL);
    end_pulling(tasks);
    return status == EK_OK ? checked : status;
}

ek_status ek_end(ek_collection *tasks, ek_process_report *report)
{
    return eki_collection_outcome(tasks, end_pull(tasks, report));
}
