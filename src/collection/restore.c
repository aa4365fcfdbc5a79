/* SPDX-License-Identifier: BSD-3-Clause */
/* Restores: where each task of the next iteration starts. */
#include "collection/collection.h"

struct restore_work {
    ek_collection *tasks;
    enum eki_order order;
    _Atomic int64_t discarded;
    _Atomic int status;
};

static void restore_worker(int here, void *argument)
{
    struct restore_work *work = argument;
    int64_t discarded = 0;
    ek_status status = eki_engine_restore_worker(work->tasks->engine, here,
                                                 work->order, &discarded);
    /* relaxed, both: the end of the team orders them. */
    atomic_fetch_add_explicit(&work->discarded, discarded,
                              memory_order_relaxed);
    if (status != EK_OK)
        atomic_store_explicit(&work->status, status, memory_order_relaxed);
}

static ek_status retain(ek_collection *tasks, int64_t *discarded)
{
    /* Threads are woken for at least this many slots: about 0.1 ms of work. */
    enum {
        LARGE = 20000
    };
    struct restore_work work = {.tasks = tasks,
                                .order = tasks->settings.options.order ==
                                                 EK_ORDER_EXECUTED
                                             ? EKI_ORDER_EXECUTED
                                             : EKI_ORDER_LONGEST};
    eki_team_each(tasks->team, eki_collection_held(tasks) > LARGE,
                  restore_worker, &work);
    *discarded = atomic_load_explicit(&work.discarded, memory_order_relaxed);
    return (ek_status)atomic_load_explicit(&work.status, memory_order_relaxed);
}

static ek_status check_policy(ek_restore_policy policy)
{
    EKI_TRY(eki_collection_check_region("ek_restore"));
    if (policy == EK_RESTORE_DEFAULT || policy == EK_RESTORE_ORIGINAL ||
        policy == EK_RESTORE_RETAIN)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "ek_restore: policy %d is not allowed; allowed: "
                     "EK_RESTORE_DEFAULT, _ORIGINAL, _RETAIN",
                     (int)policy);
}

/* Everything home; a phase moves what is on other ranks, and tells them of a
 * STATUS that only this one knows. */
static ek_status original(ek_collection *tasks, ek_status status,
                          int64_t *discarded, int64_t *moved)
{
    struct eki_error error = {0};
    ek_status packed = eki_engine_restore_pack(tasks->engine, discarded);
    if (status == EK_OK)
        status = packed;
    *moved = tasks->engine->departing.count;
    if (tasks->topology->size > 1) {
        eki_collection_enter(tasks, EKI_PHASE_RESTORE, status);
        eki_team_run_restore(tasks->team);
        eki_team_finish(tasks->team);
        eki_engine_leave(tasks->engine, &error);
        status = eki_collection_error(tasks, &error);
    }
    /* Also after a failure: what has arrived is here. */
    ek_status ended = eki_engine_restore_end(tasks->engine);
    return status == EK_OK ? ended : status;
}

static ek_restore_policy policy_now(const ek_collection *tasks,
                                    ek_restore_policy policy)
{
    if (policy == EK_RESTORE_DEFAULT)
        policy = tasks->settings.options.restore;
    return (ek_restore_policy)eki_schedule_at(&tasks->settings.restore,
                                              tasks->iteration, (int)policy);
}

ek_status ek_restore(ek_collection *tasks, ek_restore_policy policy,
                     ek_restore_report *report)
{
    if (!tasks)
        return eki_error(EK_ERR_ARG, "ek_restore: collection is NULL");
    /* From inside a region one thread tells the other ranks. */
    if (!eki_team_is_first())
        EKI_TRY(eki_collection_check_region("ek_restore"));
    EKI_TRY(eki_collection_claim(tasks, "ek_restore"));
    uint64_t start = eki_clock_ns();
    int64_t discarded = 0, moved = 0;
    ek_status status = check_policy(policy);
    if (status == EK_OK)
        policy = policy_now(tasks, policy);
    eki_collection_note(tasks, "ek_restore with policy", policy);
    ek_status gathered = eki_collection_gather(tasks);
    if (status == EK_OK)
        status = gathered;
    if (status == EK_OK && policy == EK_RESTORE_RETAIN)
        status = retain(tasks, &discarded);
    else if (policy != EK_RESTORE_RETAIN)
        status = original(tasks, status, &discarded, &moved);
    /* What could not be retained may be tried again. */
    if (tasks->state == EKI_STATE_RAN &&
        (status == EK_OK || policy != EK_RESTORE_RETAIN))
        tasks->state = EKI_STATE_READY;
    double seconds = (double)(eki_clock_ns() - start) * 1e-9;
    tasks->restore_s += seconds;
    eki_collection_release();
    if (status == EK_OK && report) {
        ek_restore_report whole = {report->struct_bytes,
                                   policy,
                                   eki_collection_held(tasks),
                                   discarded,
                                   moved,
                                   seconds};
        size_t bytes = report->struct_bytes;
        memcpy(report, &whole, bytes < sizeof whole ? bytes : sizeof whole);
    }
    return status;
}
