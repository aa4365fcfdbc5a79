/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that all ranks make, phases of iterations and restores among them: who
 * may enter one, and entering it. */
#include "collection/collection.h"
#include "protocol/counter.h"
#include "protocol/requests.h"

/* 1 while an iteration or a restore is open in this process; written
 * by eki_collection_claim() and eki_collection_release() of any collection. */
static _Atomic int busy;

void eki_collection_check_left(const ek_collection *tasks,
                               struct eki_caller caller)
{
    if (!eki_team_was_left(caller.frame))
        return;
    eki_error(EK_ERR_STATE,
              "%s: the last call that ran tasks on this thread never returned: "
              "longjmp or the like left a task; a task must return",
              caller.name);
    eki_error_say(tasks->fabric->rank, tasks->fabric->size);
    eki_abort();
}

ek_status eki_collection_claim(const ek_collection *tasks,
                               struct eki_caller caller)
{
    const char *call = caller.name;
    int expected = 0;
    if (EKI_UNLIKELY(eki_lookouts_are_over()) && eki_mpi_is_finalized())
        return eki_error(EK_ERR_STATE, "%s: MPI is finalized already", call);
    if (tasks->state == EKI_STATE_BROKEN)
        return eki_error(EK_ERR_STATE,
                         "%s: communication has failed before; only ek_destroy "
                         "is allowed",
                         call);
    if (tasks->state == EKI_STATE_OPEN && tasks->is_pulled)
        return eki_error(EK_ERR_STATE,
                         "%s: the iteration that ek_begin opened is not "
                         "closed; call ek_end first",
                         call);
    /* acquire: pairs with the release in eki_collection_release(): one holder
     * after the other. */
    if (!atomic_compare_exchange_strong_explicit(
            &busy, &expected, 1, memory_order_acquire, memory_order_relaxed)) {
        eki_collection_check_left(tasks, caller);
        return eki_error(EK_ERR_STATE,
                         "%s: another iteration or restore is open in this "
                         "process; allowed: one at a time",
                         call);
    }
    return EK_OK;
}

ek_status eki_collection_start(ek_collection *tasks, struct eki_caller caller,
                               enum eki_called called, ek_status *wrong)
{
    if (!tasks)
        return eki_error(EK_ERR_ARG, "%s: collection is NULL", caller.name);
    ek_status status = eki_collection_check_region(caller.name);
    if (status != EK_OK && (!wrong || !eki_team_is_first())) {
        eki_collection_check_left(tasks, caller);
        return status;
    }
    EKI_TRY(eki_collection_claim(tasks, caller));
    eki_lookout_enter(&tasks->lookout, called, tasks->iteration);
    if (EKI_UNLIKELY(tasks->parts.tracking))
        eki_tracking_call(tasks);
    if (wrong)
        *wrong = status;
    return EK_OK;
}

void eki_collection_release(void)
{
    /* release: pairs with the acquire in eki_collection_claim(). */
    atomic_store_explicit(&busy, 0, memory_order_release);
}

bool eki_collection_is_busy(void)
{
    /* relaxed: of this thread, or of one that the program has ordered. */
    return atomic_load_explicit(&busy, memory_order_relaxed) != 0;
}

ek_status eki_collection_check_between(const ek_collection *tasks,
                                       const char *call)
{
    if (tasks->state == EKI_STATE_VOID || eki_collection_is_busy())
        return eki_error(EK_ERR_STATE,
                         "%s: an iteration is open; allowed: between "
                         "iterations",
                         call);
    /* Of a parallel region the first thread goes on, so that the other ranks
     * hear of the mistake. */
    if (!eki_team_is_first())
        EKI_TRY(eki_collection_check_region(call));
    if (eki_mpi_is_finalized())
        return eki_error(EK_ERR_STATE, "%s: MPI is finalized already", call);
    if (tasks->state == EKI_STATE_BROKEN)
        return eki_error(EK_ERR_STATE,
                         "%s: communication has failed before; only "
                         "ek_tiles_destroy and ek_destroy are allowed",
                         call);
    return EK_OK;
}

ek_status eki_collection_enter_call(ek_collection *tasks, const char *call,
                                    enum eki_called called)
{
    ek_status status =
        tasks ? eki_collection_check_between(tasks, call)
              : eki_error(EK_ERR_ARG, "%s: collection is NULL", call);
    if (status != EK_OK)
        return eki_collection_outcome(tasks, status);
    eki_lookout_enter(&tasks->lookout, called, tasks->iteration);
    return EK_OK;
}

ek_status eki_collection_leave_call(ek_collection *tasks, ek_status status)
{
    eki_lookout_leave(&tasks->lookout, eki_clock_ns());
    return eki_collection_outcome(tasks, status);
}

int eki_collection_steal_set(const ek_collection *tasks)
{
    return eki_schedule_at(&tasks->settings.steal, tasks->iteration,
                           (int)tasks->settings.options.steal);
}

int eki_collection_steal_now(const ek_collection *tasks)
{
    ek_steal_policy steal =
        eki_course_steal(&tasks->restores.course,
                         (ek_steal_policy)eki_collection_steal_set(tasks),
                         tasks->engine->kept &&
                             tasks->topology->workers > tasks->topology->nodes);
    return (int)eki_scheme_instead(tasks->engine, steal);
}

const struct eki_scheme *eki_collection_scheme(const ek_collection *tasks)
{
    return eki_scheme_of((ek_steal_policy)eki_collection_steal_now(tasks));
}

void eki_collection_enter(ek_collection *tasks, struct eki_phase *phase,
                          ek_status prepared, uint64_t now)
{
    phase->signature = eki_collection_signature(tasks);
    phase->has_threads = !tasks->is_pulled;
    phase->may_fail |= prepared != EK_OK;
    phase->on_failure = tasks->settings.options.on_failure;
    eki_engine_enter(tasks->engine, phase, now);
    if (prepared != EK_OK)
        eki_engine_fail(tasks->engine, prepared, ek_error_message());
    eki_team_enter(tasks->team, phase);
}

void eki_collection_leave(ek_collection *tasks, struct eki_error *error)
{
    eki_engine_leave(tasks->engine, error);
    /* What a phase has left under way, which may have been stopped. */
    EKI_ASSERT_SLOW(eki_requests_check(tasks->engine));
    EKI_ASSERT_SLOW(eki_counter_check(tasks->engine));
    EKI_ASSERT_SLOW(eki_tiles_check(tasks->engine));
    EKI_ASSERT_SLOW(eki_data_check(tasks->engine));
}
