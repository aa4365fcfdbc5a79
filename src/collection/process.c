/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations: phases of the engine, run by the team. */
#include "collection/iterations.h"
#include "collection/seeds.h"

static ek_status check_functions(const struct eki_engine *engine,
                                 bool is_pulled)
{
    for (int f = 0; f < engine->function_count; f++) {
        const struct eki_function *function = &engine->functions[f];
        if (!function->fn && !is_pulled)
            return eki_error(EK_ERR_ARG,
                             "ek_process: function '%s' was registered without "
                             "a body; only ek_next() hands out its tasks",
                             function->name);
        if (function->indices < 0)
            return eki_error(EK_ERR_ARG,
                             "ek_process: ek_set_range of function '%s' has "
                             "failed, or has differed between ranks; all ranks "
                             "must call it again",
                             function->name);
    }
    return EK_OK;
}

/* Whether the steal policy works in this job. */
static ek_status check_scheme(const ek_collection *tasks,
                              const struct eki_scheme *scheme)
{
    const char *why =
        scheme->unsuitable ? scheme->unsuitable(tasks->engine) : NULL;
    if (!why)
        return EK_OK;
    return eki_error(EK_ERR_ARG,
                     "ek_process: steal policy '%s' is not for this job: %s",
                     eki_option_choice_name("steal", (int)scheme->policy), why);
}

/* Set how nodes find the end of this iteration.  Nothing was wrong before, by
 * STATUS, or that is what is told. */
EKI_COLD static ek_status choose_detector(const ek_collection *tasks,
                                          struct eki_phase *phase,
                                          ek_status status)
{
    const struct eki_settings *settings = &tasks->settings;
    int detector = eki_schedule_at(&settings->termination, tasks->iteration,
                                   settings->options.termination);
    const char *why = eki_scheme_undetected(phase->scheme, detector,
                                            tasks->engine->kept != NULL);
    if (!why && detector == EKI_DETECTOR_FRANCEZ &&
        tasks->engine->moves.count > 0)
        why = "a task was added for another rank, which may get it, unasked, "
              "after its vote";
    /* What all ranks refuse alike; they hear of that all the same. */
    phase->detector = phase->scheme->detectors >> detector & 1
                          ? detector
                          : EKI_DETECTOR_COUNTING;
    if (!why || status != EK_OK)
        return status;
    return eki_error(
        EK_ERR_ARG,
        "ek_process: termination '%s' is not for steal policy '%s' here: %s",
        eki_option_choice_name("termination", detector),
        eki_option_choice_name("steal", (int)phase->scheme->policy), why);
}

/* What was restored is in order, but for numbers that are to ascend. */
static ek_status order_seeds(ek_collection *tasks, bool is_counted)
{
    bool ascends = tasks->settings.options.order == EKI_ORDER_ASCENDING;
    enum eki_order order = !ascends     ? EKI_ORDER_LONGEST
                           : is_counted ? EKI_ORDER_COUNTED
                                        : EKI_ORDER_ASCENDING;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        if (ascends || tasks->engine->workers[here]->local.has_hints)
            EKI_TRY(
                eki_engine_restore_worker(tasks->engine, here, order, NULL));
    }
    return EK_OK;
}

/* Make the seeds ready, unless the rank is bare.  An error here may be this
 * rank's alone: the phase shares it. */
static ek_status prepare(ek_collection *tasks, const struct eki_scheme *scheme,
                         bool is_pulled, bool is_bare)
{
    EKI_TRY(check_functions(tasks->engine, is_pulled));
    EKI_TRY(check_scheme(tasks, scheme));
    EKI_TRY(eki_collection_join_stores(tasks));
    if (is_bare)
        return EK_OK;
    EKI_TRY(eki_collection_gather(tasks));
    EKI_TRY(order_seeds(tasks, scheme->policy == EK_STEAL_COUNTER));
    return tasks->engine->pinned.local.has_hints
               ? eki_engine_restore_pinned(tasks->engine, NULL)
               : EK_OK;
}

/* What is left of the last iteration where it could not be restored must not
 * count.  The slots stay, for the restore that mends it. */
static void hide_executed(ek_collection *tasks)
{
    struct eki_local *pinned = &tasks->engine->pinned.local;
    pinned->seed_top = pinned->seed_base;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        struct eki_local *local = &tasks->engine->workers[here]->local;
        local->seed_top = local->seed_base;
    }
}

/* Restore by the options, because the program has not. */
EKI_COLD static ek_status restore_due(ek_collection *tasks, ek_status status)
{
    ek_restore_report whole = EK_RESTORE_REPORT_INIT;
    status = eki_collection_restore(tasks, EK_RESTORE_DEFAULT, status, &whole);
    return tasks->parts.saves.is_due ? eki_collection_checkpoint(tasks)
                                     : status;
}

/* The same where an iteration has run, or hints have come. */
static inline ek_status restore_if_due(ek_collection *tasks, ek_status status,
                                       bool *is_bare)
{
    bool is_hinted =
        EKI_UNLIKELY(tasks->parts.hints) && eki_collection_has_hints(tasks);
    if (!is_hinted &&
        (tasks->state != EKI_STATE_RAN ||
         (*is_bare && status == EK_OK && eki_collection_restore_bare(tasks))))
        return status;
    *is_bare = false;
    return restore_due(tasks, status);
}

/* Whether the seeds lie longest first, and not where they were added. */
static bool lies_ordered(const ek_collection *tasks)
{
    return tasks->restores.policy != EK_RESTORE_ORIGINAL &&
           tasks->settings.options.order == EKI_ORDER_LONGEST;
}

/* Tell the engine what the record says of this iteration, in which nobody
 * steals then; collective. */
EKI_COLD static ek_status
enter_replay(ek_collection *tasks, struct eki_phase *phase, ek_status status)
{
    ek_status entered = eki_replaying_enter(tasks->parts.replaying,
                                            tasks->engine, tasks->iteration);
    struct eki_replay *replay = tasks->engine->replay;
    if (replay) {
        replay->has_threads = !tasks->is_pulled;
        entered = eki_replay_enter(tasks->engine);
        phase->scheme = eki_scheme_of(EK_STEAL_NONE);
        phase->detector = EKI_DETECTOR_COUNTING;
        phase->is_ordered = false;
        phase->may_fail = true;
    }
    return status == EK_OK ? entered : status;
}

ek_status eki_iteration_open(ek_collection *tasks, enum eki_called call,
                             const ek_process_report *report, ek_status status)
{
    bool is_bare = eki_collection_is_bare(tasks);
    status = restore_if_due(tasks, status, &is_bare);
    if (tasks->state == EKI_STATE_BROKEN)
        return status;
    if (tasks->agreed.is_behind) {
        tasks->agreed.is_behind = false;
        tasks->iteration++;
        return status != EK_OK
                   ? status
                   : eki_error(EK_ERR_ARG, "ek_process: other ranks have "
                                           "failed in this iteration, because "
                                           "ek_restore differed between ranks");
    }
    eki_collection_note(tasks, call,
                        call == EKI_CALLED_PROCESS ? report != NULL : -1);
    eki_course_begin(&tasks->restores.course);
    if (tasks->state == EKI_STATE_RAN)
        hide_executed(tasks);
    int steal = eki_collection_steal_now(tasks);
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .is_retained = tasks->restores.is_retained,
                              .is_ordered = lies_ordered(tasks),
                              .scheme = eki_scheme_of((ek_steal_policy)steal),
                              .chunk = eki_chunk_of(steal)};
    if (EKI_UNLIKELY(tasks->parts.hints))
        phase.load = &tasks->parts.hints->told.load;
    if (status == EK_OK)
        status = prepare(tasks, phase.scheme, call == EKI_CALLED_PULL, is_bare);
    if (EKI_UNLIKELY(tasks->settings.options.termination |
                     tasks->settings.termination.count))
        status = choose_detector(tasks, &phase, status);
    if (status == EK_OK)
        status =
            eki_collection_check_report("", report, "EK_PROCESS_REPORT_INIT");
    if (EKI_UNLIKELY(tasks->parts.replaying))
        status = enter_replay(tasks, &phase, status);
    tasks->wants_report =
        report != NULL || eki_settings_report(&tasks->settings);
    tasks->team->is_measured = tasks->wants_report;
    if (tasks->callbacks)
        tasks->callbacks->ns = 0;
    if (eki_log_is_on(EK_LEVEL_DEBUG))
        eki_collection_trace_begin(tasks, phase.scheme->policy);
    /* Until here a rank with tasks was not in the iteration. */
    eki_collection_enter(tasks, &phase, status,
                         is_bare ? tasks->lookout.entered_ns : eki_clock_ns());
    tasks->state = EKI_STATE_OPEN;
    tasks->may_fetch = tasks->is_pulled && !tasks->engine->setup.is_checked &&
                       !tasks->callbacks && !tasks->parts.watch;
    EKI_ASSERT_SLOW(eki_collection_check(tasks));
    return EK_OK;
}

static void end_hooks(ek_collection *tasks)
{
    const struct eki_options *options = &tasks->settings.options;
    if (!options->hooks.end)
        return;
    /* Others see that this rank has not come to the report yet. */
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_PROCESS, tasks->iteration);
    for (int here = 0; here < options->workers; here++)
        options->hooks.end(tasks->engine->workers[here]->local.data, here,
                           options->hooks.context);
}

/* A pull loop says at its end only whether it wants a report: all, or none. */
static ek_status agree_on_report(ek_collection *tasks,
                                 const ek_process_report *report)
{
    int64_t wishes = report != NULL;
    EKI_TRY(eki_fabric_mpi_sum(tasks->fabric, &wishes, 1));
    tasks->wants_report |= wishes > 0;
    if (wishes == 0 || wishes == tasks->topology->size)
        return EK_OK;
    ek_status status = EK_OK;
    if (tasks->topology->rank == 0)
        status = eki_error(EK_ERR_ARG,
                           "ek_end: %lld of %d ranks passed a report; allowed: "
                           "all or none",
                           (long long)wishes, tasks->topology->size);
    return eki_fabric_mpi_agree(tasks->fabric, status);
}

/* Make the report, if a rank wants one; collective, and only after a phase in
 * which ranks agree. */
static ek_status share_report(ek_collection *tasks, uint64_t left,
                              ek_process_report *report)
{
    ek_status status = EK_OK, made = EK_OK;
    if (tasks->is_pulled)
        status = agree_on_report(tasks, report);
    if (tasks->wants_report)
        made = eki_iteration_report(tasks, left, report);
    return status == EK_OK ? made : status;
}

/* Write the log to the record; collective.  A phase that failed with
 * EK_ERR_STATE ran nothing: the log is that of the phase before. */
static ek_status record_log(ek_collection *tasks, uint64_t left,
                            const struct eki_error *error)
{
    if (!tasks->recording || error->status == EK_ERR_STATE)
        return EK_OK;
    struct eki_record_head head = {.iteration = tasks->iteration,
                                   .wall_ns = left - tasks->engine->entered_ns,
                                   .status = (ek_status)error->status,
                                   .restore = tasks->restores.policy,
                                   .steal = tasks->engine->scheme->policy,
                                   .order = tasks->settings.options.order,
                                   .on_failure = tasks->engine->on_failure};
    if (eki_error_is_stopped(error))
        head.stopped = tasks->restores.stopped;
    return eki_recording_write(tasks->recording, tasks->fabric, &head);
}

/* Nothing is replayed any more; collective, unless ranks disagree by ERROR or
 * cannot talk.  What is wrong is an error of its own only without that. */
EKI_COLD static ek_status leave_replay(ek_collection *tasks,
                                       struct eki_error *error)
{
    const struct eki_replay *replay = tasks->engine->replay;
    /* What it has left did not come to a worker that could cancel it. */
    if (replay && replay->stopped && error->status == EK_OK)
        error->code = EKI_CANCELLED;
    ek_status status = eki_replaying_leave(
        tasks->parts.replaying, tasks->engine,
        error->status != EK_OK || eki_is_stopped(tasks->engine));
    return error->status == EK_OK ? eki_fabric_mpi_agree(tasks->fabric, status)
                                  : EK_OK;
}

/* The phase has ended early, by ERROR, or ends an iteration with parts, or one
 * that is replayed; collective. */
EKI_COLD static ek_status settle_end(ek_collection *tasks,
                                     struct eki_error *error)
{
    ek_status shared = EK_OK;
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_CLOSE, tasks->iteration);
    if (tasks->parts.replaying)
        shared = leave_replay(tasks, error);
    if (error->status != EK_OK)
        eki_collection_excuse(tasks, error);
    if (error->code | tasks->engine->has_parts)
        eki_part_end(tasks, error);
    return shared;
}

ek_status eki_iteration_close(ek_collection *tasks, ek_process_report *report)
{
    struct eki_error error;
    ek_status shared = EK_OK;
    eki_tool_end_all(tasks);
    eki_team_finish(tasks->team);
    uint64_t left = eki_clock_ns();
    eki_lookout_move(&tasks->lookout, EKI_STAGE_OUTSIDE);
    if (EKI_UNLIKELY(tasks->lookout.status_s != 0))
        eki_log_live(NULL);
    eki_collection_leave(tasks, &error);
    tasks->state = EKI_STATE_RAN;
    tasks->may_fetch = false;
    if (EKI_UNLIKELY((error.status | error.code) != 0 ||
                     tasks->engine->has_parts || tasks->parts.replaying)) {
        shared = settle_end(tasks, &error);
        if (tasks->parts.saves.is_paused)
            return eki_part_save(tasks, left);
    }
    end_hooks(tasks);
    if (eki_log_is_on(EK_LEVEL_DEBUG))
        eki_collection_trace_end(tasks, left, (ek_status)error.status);
    bool shares = error.status != EK_OK || tasks->wants_report ||
                  tasks->is_pulled || tasks->recording || tasks->parts.hints ||
                  tasks->parts.tracking || tasks->parts.replaying;
    /* Where ranks have nothing to share, none waits for another. */
    if (shares)
        eki_lookout_enter(&tasks->lookout, EKI_CALLED_CLOSE, tasks->iteration);
    /* All ranks have this status.  After a mismatch or a failure of MPI no
     * collective call may follow. */
    if (error.status != EK_ERR_ARG && error.status != EK_ERR_MPI) {
        ek_status recorded = record_log(tasks, left, &error);
        ek_status reported = share_report(tasks, left, report);
        recorded = recorded == EK_OK ? reported : recorded;
        shared = shared == EK_OK ? recorded : shared;
        if (EKI_UNLIKELY(tasks->parts.hints)) {
            ek_status hinted = eki_collection_end_hints(tasks);
            shared = shared == EK_OK ? hinted : shared;
        }
    }
    if (EKI_UNLIKELY(tasks->parts.tracking)) {
        ek_status tracked =
            eki_tracking_left(tasks, left, (ek_status)error.status);
        shared = shared == EK_OK ? tracked : shared;
    }
    tasks->iteration++;
    eki_course_end(&tasks->restores.course);
    /* This call comes last, because it sets the message of the status. */
    ek_status status = EK_OK;
    if (error.status != EK_OK) {
        status = eki_collection_error(tasks, &error);
        if (status != EK_OK)
            eki_report_trouble(tasks->report);
    }
    tasks->restores.seconds = 0;
    tasks->left_ns =
        shares || tasks->settings.options.hooks.end ? eki_clock_ns() : left;
    eki_lookout_leave(&tasks->lookout, tasks->left_ns);
    EKI_ASSERT_SLOW(eki_collection_check(tasks));
    eki_collection_release();
    return status == EK_OK ? shared : status;
}

ek_status eki_iteration_not_opened(ek_collection *tasks, ek_status status)
{
    if (tasks->state != EKI_STATE_BROKEN)
        tasks->state = EKI_STATE_RAN;
    EKI_ASSERT_SLOW(eki_collection_check(tasks));
    eki_lookout_leave(&tasks->lookout, eki_clock_ns());
    eki_collection_release();
    return status;
}

/* After a pause, which was saved with STATUS, until the iteration is over. */
EKI_COLD static ek_status go_on(ek_collection *tasks, ek_process_report *report,
                                ek_status status)
{
    while (tasks->parts.saves.is_paused) {
        if (status == EK_OK)
            status =
                eki_iteration_open(tasks, EKI_CALLED_PROCESS, report, EK_OK);
        if (status != EK_OK) {
            end_hooks(tasks);
            eki_part_give_up(tasks);
            return eki_iteration_not_opened(tasks, status);
        }
        eki_checkpoint_watch(tasks);
        eki_lookout_move(&tasks->lookout, EKI_STAGE_PHASE);
        eki_team_run(tasks->team);
        status = eki_iteration_close(tasks, report);
    }
    eki_part_give_up(tasks);
    return status;
}

ek_status eki_collection_process(ek_collection *tasks,
                                 ek_process_report *report,
                                 struct eki_caller caller, ek_status before)
{
    ek_status wrong;
    EKI_TRY(eki_collection_start(tasks, caller, EKI_CALLED_PROCESS, &wrong));
    if (wrong == EK_OK)
        wrong = before;
    ek_status status =
        eki_iteration_open(tasks, EKI_CALLED_PROCESS, report, wrong);
    if (status != EK_OK)
        return eki_iteration_not_opened(tasks, status);
    if (wrong != EK_OK || tasks->recording || !eki_team_pass(tasks->team)) {
        /* A phase that passes is too short to be looked at. */
        eki_lookout_begin(&tasks->lookout);
        if (wrong == EK_OK)
            eki_team_run(tasks->team);
    }
    status = eki_iteration_close(tasks, report);
    return EKI_UNLIKELY(tasks->parts.saves.is_paused)
               ? go_on(tasks, report, status)
               : status;
}

ek_status ek_process(ek_collection *tasks, ek_process_report *report)
{
    struct eki_caller caller = EKI_CALLER("ek_process");
    return eki_collection_outcome(
        tasks, eki_collection_process(tasks, report, caller, EK_OK));
}
