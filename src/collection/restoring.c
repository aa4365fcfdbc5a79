/* SPDX-License-Identifier: BSD-3-Clause */
/* Restores: where each task of the next iteration starts. */
#include "collection/seeds.h"
#include "printed/printed.h"

/* What the threads of the team share; each of them writes the last two. */
struct restore_work {
    struct eki_engine *engine;
    enum eki_order order;
    bool has_arrived; /* tasks are to be put in order among the seeds, alone */
    _Atomic int64_t discarded;
    _Atomic int status;
};

/* What fails first is told; both have been done. */
static ek_status first_error(ek_status first, ek_status second)
{
    return first == EK_OK ? second : first;
}

static void restore_worker(int here, void *argument)
{
    struct restore_work *work = argument;
    int64_t discarded = 0;
    ek_status status =
        work->has_arrived
            ? eki_engine_restore_arrived(work->engine, here, work->order)
            : eki_engine_restore_worker(work->engine, here, work->order,
                                        &discarded);
    /* relaxed, both: the end of the team orders it. */
    if (status != EK_OK)
        atomic_store_explicit(&work->status, status, memory_order_relaxed);
    atomic_fetch_add_explicit(&work->discarded, discarded,
                              memory_order_relaxed);
}

/* All workers; the status is the worst. */
static ek_status restore_workers(ek_collection *tasks,
                                 struct restore_work *work)
{
    /* Threads are woken for at least this many slots: about 0.1 ms of work. */
    enum {
        LARGE = 20000
    };
    work->engine = tasks->engine;
    eki_team_each(tasks->team, eki_collection_held(tasks) > LARGE,
                  restore_worker, work);
    /* relaxed: the team is over. */
    return (ek_status)atomic_load_explicit(&work->status, memory_order_relaxed);
}

static enum eki_order order_of(const ek_collection *tasks)
{
    return (enum eki_order)tasks->settings.options.order;
}

static ek_status retain_tasks(ek_collection *tasks, int64_t *discarded)
{
    struct restore_work work = {.order = order_of(tasks)};
    ek_status status = restore_workers(tasks, &work);
    /* relaxed: the team is over. */
    *discarded = atomic_load_explicit(&work.discarded, memory_order_relaxed);
    return first_error(status,
                       eki_engine_restore_pinned(tasks->engine, discarded));
}

/* Order what has arrived among the seeds. */
static ek_status order_arrived(ek_collection *tasks, enum eki_order order)
{
    struct restore_work work = {.order = order, .has_arrived = true};
    return restore_workers(tasks, &work);
}

/* POLICY becomes what is done, unless it is none. */
static ek_status resolve_restore_policy(const ek_collection *tasks,
                                        ek_restore_policy *policy)
{
    const struct eki_settings *settings = &tasks->settings;
    char allowed[200] = "";
    if (*policy == EK_RESTORE_DEFAULT)
        *policy = settings->options.restore;
    if (eki_option_choice_name("restore", (int)*policy)) {
        *policy = (ek_restore_policy)eki_schedule_at(
            &settings->restore, tasks->iteration, (int)*policy);
        return EK_OK;
    }
    eki_choice_list(eki_option_choices("restore"), allowed, sizeof allowed);
    return eki_error(EK_ERR_ARG,
                     "ek_restore: policy %d is not allowed; allowed: default, "
                     "%s",
                     (int)*policy, allowed);
}

/* Run a phase that moves tasks, and that tells other ranks of a STATUS which
 * only this one knows. */
static ek_status run_restore_phase(ek_collection *tasks,
                                   const struct eki_balance_wish *balance,
                                   ek_status status)
{
    struct eki_error error;
    struct eki_phase phase = {.kind = EKI_PHASE_RESTORE, .balance = balance};
    enum eki_called called = tasks->lookout.look.called;
    eki_collection_enter(tasks, &phase, status, eki_clock_ns());
    eki_lookout_move(&tasks->lookout, EKI_STAGE_PHASE);
    eki_team_run_restore(tasks->team);
    eki_team_finish(tasks->team);
    eki_lookout_enter(&tasks->lookout, called, tasks->iteration);
    eki_collection_leave(tasks, &error);
    return eki_collection_error(tasks, &error);
}

/* Whether data goes to where tasks start. */
static bool follows(const ek_collection *tasks)
{
    return tasks->callbacks && tasks->topology->size > 1 &&
           !tasks->restores.leaves_data &&
           tasks->settings.options.data == EKI_DATA_FOLLOW;
}

/* Tasks are where they start: fetch their data.  All ranks know of SHARED, this
 * one alone of HERE.  Seeds whose hint names another rank travel meanwhile, and
 * are put in order where they arrive. */
static ek_status follow_data(ek_collection *tasks, ek_status shared,
                             ek_status here, enum eki_order order)
{
    if (shared != EK_OK || !follows(tasks))
        return shared == EK_OK ? here : shared;
    if (here == EK_OK)
        eki_data_follow(tasks->engine);
    ek_status status = run_restore_phase(tasks, NULL, here);
    return first_error(status, order_arrived(tasks, order));
}

/* Send every task to the rank that added it. */
static ek_status restore_original(ek_collection *tasks, ek_status status,
                                  ek_restore_report *whole)
{
    status = first_error(
        status, eki_engine_restore_pack(tasks->engine, &whole->discarded));
    whole->moved = tasks->engine->moves.count;
    if (tasks->topology->size > 1)
        status = run_restore_phase(tasks, NULL, status);
    /* Tasks that have arrived stay here even if the phase has failed. */
    enum eki_order order = order_of(tasks) == EKI_ORDER_ASCENDING
                               ? EKI_ORDER_ASCENDING
                               : EKI_ORDER_ORIGINAL;
    return follow_data(tasks, status, order_arrived(tasks, order), order);
}

static const char *const stays_because[] = {
    [EKI_RESTORE_GAINS] = "no better places were found",
    [EKI_RESTORE_EVEN] = "not worth moving a task",
    [EKI_RESTORE_WARMS] = "too little to act on after the first iteration",
    [EKI_RESTORE_COSTS] = "moving tasks would cost more than it gains",
    [EKI_RESTORE_FAILED] =
        "tasks stay, because the last rebalance gained nothing"};

static const char *const steals_because[] = {
    [EKI_STEAL_SET] = NULL,
    [EKI_STEAL_LEARNS] = NULL,
    [EKI_STEAL_GAINS] = "workers steal",
    [EKI_STEAL_SPAWNS] = "workers steal, because tasks spawn others",
    [EKI_STEAL_FAILED] =
        "workers steal, because iterations without stealing took longer",
    [EKI_STEAL_COSTS] = "nobody steals, because looking for work costs more"};

/* Rank 0 says in plain words what was chosen and why. */
static void say_choice(const ek_collection *tasks)
{
    const struct eki_balance_report *report =
        eki_rebalance_report(tasks->engine);
    char text[300] = "";
    if (!eki_settings_report(&tasks->settings) || tasks->fabric->rank != 0)
        return;
    if (report->moved > 0)
        snprintf(
            text, sizeof text,
            "moved %lld tasks (no fewer than %lld can do): expected imbalance "
            "%.1f %% instead of %.1f %%",
            (long long)report->moved, (long long)report->fewest,
            100 * report->after, 100 * report->before);
    else
        snprintf(text, sizeof text, "imbalance %.1f %%: %s",
                 100 * report->before, stays_because[report->why_restore]);
    if (steals_because[report->why_steal])
        eki_append(text, sizeof text, "; %s",
                   steals_because[report->why_steal]);
    if (report->bound > 0.005)
        eki_append(text, sizeof text,
                   "; some worker must have %.2f x the mean load: no balancer "
                   "can exceed an efficiency of %.0f %% here",
                   1 + report->bound, 100 / (1 + report->bound));
    eki_log(EK_LEVEL_INFO, tasks->fabric->rank, tasks->fabric->size, "restore",
            "%s: %s", tasks->settings.name, text);
}

static void copy_balance(const struct eki_balance_report *balance,
                         ek_restore_report *whole)
{
    whole->imbalance_before = balance->before;
    whole->imbalance_after = balance->after;
    whole->imbalance_bound = balance->bound;
    whole->migrations = balance->moved;
    whole->fewest = balance->fewest;
    whole->decision = balance->hash;
    whole->across = balance->across;
    whole->fewest_across = balance->fewest_across;
}

/* Keep every task where it ran, but for those that are too much there. */
static ek_status rebalance_tasks(ek_collection *tasks, ek_restore_policy policy,
                                 ek_status status, ek_restore_report *whole)
{
    const struct eki_balance_report *report;
    struct eki_balance_wish wish = eki_balance_wish_of(
        policy, tasks->topology->workers, &tasks->settings.options);
    uint64_t start = eki_clock_ns();
    if (wish.is_chosen)
        wish.outlook = eki_course_outlook(
            &tasks->restores.course,
            tasks->parts.hints ? EKI_COURSE_HINTED : tasks->iteration,
            tasks->settings.options.iterations_expected,
            eki_scheme_of((ek_steal_policy)eki_collection_steal_set(tasks))
                    ->victims != NULL);
    status = first_error(status, retain_tasks(tasks, &whole->discarded));
    if (status == EK_OK)
        eki_rebalance_prepare(tasks->engine);
    uint64_t talk = eki_clock_ns();
    status = run_restore_phase(tasks, &wish, status);
    talk = eki_clock_ns() - talk;
    report = eki_rebalance_report(tasks->engine);
    if (status == EK_OK)
        eki_course_choose(&tasks->restores.course, report->is_quiet,
                          report->pause);
    copy_balance(report, whole);
    whole->moved = eki_rebalance_own(tasks->engine).sent;
    ek_status ended = order_arrived(tasks, order_of(tasks));
    eki_course_spend(&tasks->restores.course, report->moved > 0,
                     (double)(eki_clock_ns() - start), (double)talk);
    if (wish.is_chosen && status == EK_OK)
        say_choice(tasks);
    return follow_data(tasks, status, ended, order_of(tasks));
}

/* Whether every task stays where it ran, as auto may have chosen for some
 * restores. Then ranks do not talk, and no other rank hears of an error. */
static bool is_local(const ek_collection *tasks, ek_restore_policy policy)
{
    if (follows(tasks))
        return false;
    return policy == EK_RESTORE_RETAIN ||
           (policy == EK_RESTORE_AUTO &&
            eki_course_may_pause(&tasks->restores.course,
                                 eki_rebalance_is_calm(tasks->engine)));
}

/* No other rank knows of a failure, and this one may try again: only a success
 * is noted.  Retain is what a rank does that is not told to, and may do at any
 * time. */
static ek_status restore_alone(ek_collection *tasks, ek_restore_policy policy,
                               ek_restore_report *whole)
{
    EKI_TRY(retain_tasks(tasks, &whole->discarded));
    if (policy == EK_RESTORE_RETAIN)
        eki_course_choose(&tasks->restores.course, false, 0);
    else if (eki_course_pause(&tasks->restores.course))
        eki_collection_note(tasks, EKI_CALLED_RESTORE, policy);
    return EK_OK;
}

/* Do what POLICY says with the other ranks, which hear of a STATUS that is an
 * error. */
static ek_status restore_together(ek_collection *tasks,
                                  ek_restore_policy policy, ek_status status,
                                  ek_restore_report *whole)
{
    eki_collection_note(tasks, EKI_CALLED_RESTORE, policy);
    eki_course_choose(&tasks->restores.course, false, 0);
    if (policy == EK_RESTORE_ORIGINAL)
        return restore_original(tasks, status, whole);
    if (policy != EK_RESTORE_RETAIN)
        return rebalance_tasks(tasks, policy, status, whole);
    if (status == EK_OK)
        status = retain_tasks(tasks, &whole->discarded);
    return follow_data(tasks, EK_OK, status, order_of(tasks));
}

void eki_collection_fill_restored(const ek_collection *tasks,
                                  ek_restore_report *whole)
{
    whole->tasks = eki_collection_held(tasks);
    whole->chosen = tasks->restores.chosen;
    whole->steal = eki_collection_scheme(tasks)->policy;
    if (follows(tasks)) {
        struct eki_data_counts counts = eki_data_counts_of(tasks->engine);
        whole->data_tasks = counts.travelled;
        whole->data_bytes = counts.bytes_in;
    }
}

/* What auto did, which HAS_MOVED tasks. */
static ek_restore_policy chosen_policy(const ek_collection *tasks,
                                       ek_restore_policy policy, bool has_moved)
{
    if (policy != EK_RESTORE_AUTO)
        return policy;
    if (!has_moved)
        return EK_RESTORE_RETAIN;
    return eki_rebalance_report(tasks->engine)->is_grouped
               ? EK_RESTORE_HIERARCHICAL
               : EK_RESTORE_CENTRALIZED;
}

/* POLICY has been done, which HAS_MOVED tasks. */
static void note_restored(ek_collection *tasks, ek_restore_policy policy,
                          bool has_moved)
{
    tasks->restores.is_retained = policy != EK_RESTORE_ORIGINAL && !has_moved;
    tasks->restores.policy = policy;
    tasks->restores.chosen = chosen_policy(tasks, policy, has_moved);
}

static bool is_checkpoint_due(const ek_collection *tasks)
{
    const struct eki_saves *saves = &tasks->parts.saves;
    /* After a stop that somebody asked for the job may end. */
    if (tasks->restores.is_asked && tasks->iteration != saves->last_iteration)
        return true;
    return saves->every.iterations > 0
               ? tasks->iteration - saves->last_iteration >=
                     saves->every.iterations
               : eki_clock_ns() - saves->last_ns >= saves->every.ns;
}

/* Ranks that have restored with STATUS fail together, and know whether a
 * checkpoint is due; collective. */
static ek_status agree_on_checkpoint(ek_collection *tasks, ek_status status)
{
    /* Rank 0 says so: the others agree with a yes. */
    bool wants = tasks->fabric->rank != 0 || is_checkpoint_due(tasks), is_one;
    enum eki_called called = tasks->lookout.look.called;
    eki_lookout_enter(&tasks->lookout, EKI_CALLED_CHECKPOINT, tasks->iteration);
    status = eki_fabric_mpi_agree_on(tasks->fabric, status, wants, &is_one);
    eki_lookout_enter(&tasks->lookout, called, tasks->iteration);
    tasks->parts.saves.is_due = status == EK_OK && wants && is_one;
    /* All restore again. */
    if (status != EK_OK && tasks->state == EKI_STATE_READY)
        tasks->state = EKI_STATE_RAN;
    return status;
}

/* What was cancelled will wait.  All ranks, or none: they agree. */
static ek_status continue_iteration(ek_collection *tasks, ek_status status)
{
    EKI_TRY(eki_fabric_mpi_agree(
        tasks->fabric,
        first_error(status, eki_engine_continue(tasks->engine))));
    tasks->restores.continues = false;
    return EK_OK;
}

ek_status eki_collection_continue(ek_collection *tasks, ek_status status)
{
    uint64_t start = eki_clock_ns();
    int64_t discarded = 0;
    EKI_TRY(continue_iteration(tasks, status));
    status = first_error(eki_collection_gather(tasks),
                         retain_tasks(tasks, &discarded));
    EKI_TRY(eki_fabric_mpi_agree(tasks->fabric, status));
    tasks->restores.discarded += discarded;
    tasks->restores.is_retained = true;
    tasks->restores.seconds += (double)(eki_clock_ns() - start) * 1e-9;
    tasks->state = EKI_STATE_READY;
    return EK_OK;
}

ek_status eki_collection_restore_by(ek_collection *tasks,
                                    ek_restore_policy policy, ek_status status,
                                    ek_restore_report *whole)
{
    uint64_t start = eki_clock_ns();
    /* It may be left from a restore of ek_save(). */
    tasks->parts.saves.is_due = false;
    if (EKI_UNLIKELY(tasks->restores.continues))
        EKI_TRY(continue_iteration(tasks, status));
    if (EKI_UNLIKELY(tasks->engine->has_parts) && tasks->restores.ends_parts)
        eki_engine_end_parts(tasks->engine);
    status = first_error(status, eki_collection_gather(tasks));
    if (EKI_UNLIKELY(tasks->parts.hints))
        status = first_error(status, eki_collection_apply_hints(tasks));
    bool is_alone = is_local(tasks, policy);
    if (!is_alone)
        status = restore_together(tasks, policy, status, whole);
    else if (status == EK_OK)
        status = restore_alone(tasks, policy, whole);
    bool has_moved = whole->migrations > 0;
    tasks->restores.is_retained = false;
    if (status == EK_OK)
        note_restored(tasks, policy, has_moved);
    if (tasks->state == EKI_STATE_RAN &&
        (status == EK_OK || (!is_alone && status != EK_ERR_NOMEM)))
        tasks->state = EKI_STATE_READY;
    /* Ranks that differ in their calls are not all here. */
    if (EKI_UNLIKELY(tasks->parts.saves.every.folder != 0) &&
        tasks->state != EKI_STATE_BROKEN && (is_alone || status != EK_ERR_ARG))
        status = agree_on_checkpoint(tasks, status);
    whole->discarded += tasks->restores.discarded;
    tasks->restores.discarded = 0;
    whole->policy = policy;
    whole->seconds = (double)(eki_clock_ns() - start) * 1e-9;
    tasks->restores.seconds += whole->seconds;
    if (EKI_UNLIKELY(tasks->parts.tracking))
        eki_tracking_restored(tasks);
    if (eki_log_is_on(EK_LEVEL_DEBUG)) {
        eki_collection_fill_restored(tasks, whole);
        eki_collection_trace_restore(tasks, whole, status);
    }
    return status;
}

ek_status eki_collection_restore(ek_collection *tasks, ek_restore_policy policy,
                                 ek_status status, ek_restore_report *whole)
{
    status = first_error(status, resolve_restore_policy(tasks, &policy));
    return eki_collection_restore_by(tasks, policy, status, whole);
}

bool eki_collection_restore_bare(ek_collection *tasks)
{
    if (tasks->settings.options.restore != EK_RESTORE_RETAIN ||
        tasks->settings.restore.count > 0 || follows(tasks) ||
        tasks->parts.saves.every.folder != 0 || eki_log_is_on(EK_LEVEL_DEBUG))
        return false;
    /* As restore_alone() ends. */
    eki_course_choose(&tasks->restores.course, false, 0);
    note_restored(tasks, EK_RESTORE_RETAIN, false);
    tasks->state = EKI_STATE_READY;
    return true;
}
