/* SPDX-License-Identifier: BSD-3-Clause */
/* The life cycle of a phase: entering, the arrival of threads, leaving. */
#include "base/wait.h"
#include "engine/away.h"
#include "engine/detect.h"
#include "engine/internal.h"

/* In a process. */
static uint8_t duties_of(const struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    int duties = eki_pinned_has_any(&engine->pinned) ? EKI_DUTY_PINNED : 0;
    duties |= engine->setup.watch_ns ? EKI_DUTY_STORE : 0;
    duties |= engine->is_traced ? EKI_DUTY_NOTE : 0;
    duties |= worker->track ? EKI_DUTY_TRACK : 0;
    duties |= engine->replay ? EKI_DUTY_REPLAY : 0;
    return (uint8_t)duties;
}

/* What the worker's own thread does on arriving; in a restore, which it does
 * not see, the thread that enters. */
static void begin(struct ek_worker *worker, uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    struct eki_batch *batch = &worker->batch;
    memset(&worker->counts, 0, sizeof worker->counts);
    if (engine->function_count)
        memset(worker->function_counts, 0,
               (size_t)engine->function_count *
                   sizeof *worker->function_counts);
    batch->size = worker->piece.size = 1;
    batch->most = engine->publishing ? 1 : EKI_BATCH_MAX;
    batch->budget = batch->count = 0;
    batch->marks = 0;
    batch->held_ns = 0;
    batch->wants_server = engine->scheme && engine->scheme->serves_first;
    if (EKI_UNLIKELY(engine->is_traced))
        eki_worker_note_anew(worker);
    batch->duties = engine->kind == EKI_PHASE_PROCESS ? duties_of(worker) : 0;
    /* relaxed: nothing of a task is looked at. */
    atomic_store_explicit(&batch->current, NULL, memory_order_relaxed);
    worker->search.is_idle = false;
    worker->search.thief.failures = 0;
    worker->search.steal_since = 0;
    worker->counts.first_ns = batch->stamp = worker->search.since = now;
    if (worker->track && engine->kind == EKI_PHASE_PROCESS) {
        worker->track->counted = 0;
        worker->track->told = 0;
        eki_track_state(worker->track, EKI_EVENT_START, -1, 0, now, 0);
    }
}

/* Count what is to be done here; a worker without tasks is left alone. */
static void count_seeds(struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    const struct eki_local *local = &worker->local;
    uint64_t first_spawned = eki_id_first_spawned(worker->id);
    uint64_t seeds = 0;
    bool is_process = engine->kind == EKI_PHASE_PROCESS;
    if (is_process && local->seed_top != local->seed_base)
        seeds = (uint64_t)eki_local_seed_tasks(local);
    if (worker->here == 0) {
        seeds += (uint64_t)engine->moves.count;
        if (is_process && eki_pinned_has_any(&engine->pinned) &&
            !EKI_PLANTED(PINNED_FREE))
            seeds += (uint64_t)eki_pinned_count(&engine->pinned);
    }
    if (seeds == 0 && worker->local.next_id == worker->first_id)
        return;
    worker->created = eki_worker_created(worker) + seeds;
    /* After a quarter of the numbers, some 10^11 tasks, they start anew. */
    if (worker->local.next_id - first_spawned > EKI_NUMBERS / 4)
        worker->local.next_id = first_spawned;
    worker->first_id = worker->local.next_id;
    eki_worker_store(worker);
}

/* Count what waits on stacks, too, unless it is a restore. */
EKI_COLD static void count_stacked(struct eki_engine *engine)
{
    int workers = engine->topology->workers_here;
    for (int here = 0; engine->kind == EKI_PHASE_PROCESS && here < workers;
         here++) {
        struct ek_worker *worker = engine->workers[here];
        worker->created += (uint64_t)eki_local_stacked(&worker->local);
        eki_worker_store(worker);
    }
}

/* Nobody else of the node looks at the worker in this phase yet. */
static void prepare_worker(struct ek_worker *worker, bool has_thread,
                           uint64_t now)
{
    const struct eki_engine *engine = worker->engine;
    bool is_awaited = has_thread && !engine->victims;
    /* relaxed, both: handed to the worker's thread by the start of the team. */
    atomic_store_explicit(&worker->presence,
                          is_awaited ? EKI_AWAITED : EKI_ABSENT,
                          memory_order_relaxed);
    /* No answers come yet.  What came when the last phase was over had been
     * asked by nobody. */
    if (!engine->alone)
        eki_worker_clear(worker, &worker->answers);
    if (engine->kind == EKI_PHASE_RESTORE)
        begin(worker, now);
    count_seeds(worker);
}

/* Whether a worker that others may wait for has nothing to run by itself. */
static bool has_nothing(const struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    return eki_local_is_empty(&worker->local) &&
           worker->share.deque.open == 0 && !engine->lineup.is_due &&
           !eki_pinned_has_any(&engine->pinned) && !engine->kept;
}

/* Whether workers with nothing to run say so on entering, so that others find
 * all in one look: unless a rank may still make the phase an error. */
static bool are_idle_at_once(const struct eki_engine *engine,
                             const struct eki_phase *phase, bool is_refused)
{
    return engine->alone && phase->kind == EKI_PHASE_PROCESS &&
           phase->has_threads && !phase->may_fail && !is_refused &&
           !eki_is_held(engine);
}

/* The worker is in the phase from now on, and IS_IDLE. */
static void enter_worker(struct ek_worker *worker, bool is_idle)
{
    const struct eki_engine *engine = worker->engine;
    eki_worker_store_load(worker, 0, 0);
    if (is_idle)
        /* relaxed: ordered by the release of phase. */
        atomic_store_explicit(&worker->words->idle, engine->phase,
                              memory_order_relaxed);
    /* relaxed: ordered by the release of phase. */
    atomic_store_explicit(&worker->words->signature[engine->phase & 1],
                          engine->signature, memory_order_relaxed);
    /* release: pairs with the acquire of whoever sums: the seeds count. */
    atomic_store_explicit(&worker->words->phase, engine->phase,
                          memory_order_release);
}

/* Set how workers without work get some.  In a restore nobody steals.  Ranks
 * whose schemes differ learn that from messages. */
static void set_scheme(struct eki_engine *engine, const struct eki_phase *phase)
{
    const struct eki_scheme *scheme =
        phase->kind == EKI_PHASE_PROCESS ? phase->scheme : NULL;
    eki_victims_fn *victims = scheme ? scheme->victims : NULL;
    if (victims && phase->victims)
        victims = phase->victims;
    if (scheme != engine->scheme)
        engine->elsewhere = scheme && scheme->elsewhere
                                ? eki_engine_protocol(engine, scheme->elsewhere)
                                : NULL;
    engine->scheme = scheme;
    engine->publishing = scheme ? scheme->publishing : NULL;
    engine->is_plain = scheme && scheme->is_plain;
    engine->notes_thieves = scheme && scheme->notes_thieves;
    engine->has_thieves = victims && engine->topology->workers > 1;
    engine->victims = victims;
}

/* Whether a protocol wants the servers of the node stepped. */
static bool enter_protocols(struct eki_engine *engine,
                            const struct eki_phase *phase, uint64_t now)
{
    bool wants_servers = false;
    for (int i = 0; i < engine->protocol_count; i++) {
        struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->enter)
            wants_servers |= protocol->ops->enter(protocol, phase, now);
    }
    return wants_servers;
}

uint64_t eki_engine_pause_ns(const struct eki_engine *engine)
{
    const struct eki_setup *setup = &engine->setup;
    uint64_t ns = engine->paced_ns / 100;
    if (engine->is_plain)
        return 0;
    if (ns < EKI_SLEEP_FIRST_NS)
        ns = EKI_SLEEP_FIRST_NS;
    if (engine->paced_ns == 0 || ns > EKI_SLEEP_MOST_NS)
        ns = EKI_SLEEP_MOST_NS;
    return setup->has_pause && setup->pause_ns < ns ? setup->pause_ns : ns;
}

/* Of several nodes: how the end is found. */
static void set_detector(struct eki_engine *engine,
                         const struct eki_phase *phase)
{
    EKI_ASSERT(!engine->scheme ||
               engine->scheme->detectors >> phase->detector & 1);
    engine->detect.rule = phase->kind == EKI_PHASE_PROCESS
                              ? eki_detection_of(phase->detector)
                              : NULL;
    eki_detect_enter(engine);
    if (engine->answered)
        memset(engine->answered, 0, sizeof *engine->answered);
}

static void open_server(struct eki_engine *engine,
                        const struct eki_phase *phase)
{
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&engine->holds, 0, memory_order_relaxed);
    if (!engine->alone)
        set_detector(engine, phase);
    engine->exchange.across = engine->in_vain = 0;
}

/* Whether a seed is of a function that is not registered: it has come where
 * ranks differed, and they do still. */
static bool holds_strange(struct eki_engine *engine)
{
    if (EKI_LIKELY(!engine->has_strange))
        return false;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_local *local = &engine->workers[here]->local;
        for (unsigned char *at = local->seed_base; at != local->seed_end;
             at += local->slot_bytes) {
            if (((const struct eki_slot *)at)->function >=
                engine->function_count)
                return true;
        }
    }
    engine->has_strange = false;
    return false;
}

static void show_seeds(struct eki_engine *engine)
{
    if (eki_lineup_form(engine))
        return;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        if (!eki_local_is_empty(&engine->workers[here]->local))
            eki_worker_publish_seeds(engine->workers[here]);
    }
}

void eki_engine_hold(struct eki_engine *engine, uint64_t until)
{
    /* So that a worker that waits writes nothing to what is shown then. */
    for (int here = 0; here < engine->topology->workers_here; here++)
        eki_local_reset_stack(&engine->workers[here]->local);
    eki_engine_hold_on(engine, until);
    /* relaxed: handed on by the start of the team. */
    atomic_fetch_add_explicit(&engine->holds, 1, memory_order_relaxed);
}

void eki_engine_hold_on(struct eki_engine *engine, uint64_t until)
{
    /* relaxed: who has seen it too early looks again then. */
    atomic_store_explicit(&engine->held_until, until, memory_order_relaxed);
}

void eki_engine_let_go(struct eki_engine *engine)
{
    /* relaxed: this thread alone lets go. */
    bool is_last =
        atomic_load_explicit(&engine->holds, memory_order_relaxed) == 1;
    if (engine->kind == EKI_PHASE_PROCESS && is_last)
        show_seeds(engine);
    engine->post.moved++;
    /* release: pairs with the acquire in eki_is_held(): the seeds. */
    atomic_fetch_sub_explicit(&engine->holds, 1, memory_order_release);
}

static void arm_scheme(struct eki_engine *engine)
{
    const struct eki_scheme *scheme = engine->scheme;
    const char *why = scheme->unsuitable ? scheme->unsuitable(engine) : NULL;
    if (why)
        eki_engine_fail(engine, EK_ERR_ARG, why);
    else if (!scheme->arm(engine))
        eki_engine_fail(engine, EK_ERR_NOMEM, "no memory for lists of victims");
}

void eki_engine_enter(struct eki_engine *engine, const struct eki_phase *phase,
                      uint64_t now)
{
    int workers = engine->topology->workers_here;
    engine->phase++;
    engine->kind = phase->kind;
    engine->processes += phase->kind == EKI_PHASE_PROCESS;
    engine->signature = phase->signature;
    engine->exchange.phase = engine->phase;
    engine->exchange.signature = engine->signature;
    engine->on_failure = phase->on_failure;
    engine->function_limit = engine->setup.is_checked || engine->is_traced
                                 ? 0
                                 : (uint32_t)engine->function_count;
    engine->entered_ns = now;
    engine->paced_ns = engine->process_ns;
    engine->is_open = true;
    set_scheme(engine, phase);
    open_server(engine, phase);
    /* A message of the phase before did not fit: this one runs nothing, and the
     * servers make it an error. */
    bool is_refused = eki_refused(engine) != EKI_FITS;
    if (is_refused)
        eki_set_stop(engine);
    if (phase->kind == EKI_PHASE_PROCESS && holds_strange(engine))
        eki_set_mismatch(engine);
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&engine->absent, workers, memory_order_relaxed);
    if (EKI_UNLIKELY(engine->setup.watch_ns) &&
        phase->kind == EKI_PHASE_PROCESS)
        eki_headway_enter(engine);
    for (int here = 0; here < workers; here++)
        prepare_worker(engine->workers[here], phase->has_threads, now);
    if (EKI_UNLIKELY(engine->has_parts))
        count_stacked(engine);
    eki_pinned_enter(&engine->pinned);
    if (EKI_UNLIKELY(engine->kept) && phase->kind == EKI_PHASE_PROCESS)
        eki_away_enter(engine, phase->is_retained);
    bool wants_servers = enter_protocols(engine, phase, now);
    wants_servers |= is_refused;
    /* Between nodes the servers of all ranks are stepped in any case. */
    if (wants_servers && engine->alone)
        /* relaxed: ordered by the release of phase, below. */
        atomic_store_explicit(&engine->node->mail[engine->phase & 1],
                              engine->phase, memory_order_relaxed);
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(
        &engine->messages,
        engine->exchange.fabric &&
            (wants_servers || phase->kind == EKI_PHASE_RESTORE),
        memory_order_relaxed);
    eki_lineup_enter(engine, phase);
    bool may_be_idle = are_idle_at_once(engine, phase, is_refused);
    for (int here = 0; here < workers; here++)
        enter_worker(engine->workers[here],
                     may_be_idle && has_nothing(engine->workers[here]));
    if (phase->kind == EKI_PHASE_PROCESS && !eki_is_held(engine))
        show_seeds(engine);
    if (EKI_UNLIKELY(engine->scheme && engine->scheme->arm))
        arm_scheme(engine);
    EKI_ASSERT_SLOW(eki_node_check(engine));
}

/*
 * How often a thread that finds its worker held looks again at once: a few
 * microseconds, in which a copy of some hundred slots ends.  Then it gives its
 * core away between two looks.  Whoever holds the worker may be copying half of
 * its seeds, megabytes, or may need this very core to go on.
 */
enum {
    ARRIVE_SPINS = 64
};

void eki_worker_arrive(struct ek_worker *worker, uint64_t now)
{
    int spins = 0;
    /* What it probably is: a look would fetch the line once more. */
    int expected = worker->engine->victims ? EKI_ABSENT : EKI_AWAITED;
    /* acquire: pairs with the release in take_absent(): what was taken from
     * this worker is gone. */
    while (expected == EKI_BUSY ||
           !atomic_compare_exchange_weak_explicit(
               &worker->presence, &expected, EKI_PRESENT, memory_order_acquire,
               memory_order_relaxed)) {
        if (expected != EKI_BUSY)
            continue;
        if (spins < ARRIVE_SPINS) {
            spins++;
            eki_pause();
        } else {
            eki_yield();
        }
        /* relaxed: the exchange orders it. */
        expected =
            atomic_load_explicit(&worker->presence, memory_order_relaxed);
    }
    /* relaxed: a hint. */
    atomic_fetch_sub_explicit(&worker->engine->absent, 1, memory_order_relaxed);
    /* Who stood in may have said that it is idle; a worker with a result under
     * way is not.  relaxed: for first_pass() the release of `executed` orders
     * it. */
    if (eki_is_set(&worker->words->idle, worker->engine->phase) &&
        !has_nothing(worker) && !EKI_PLANTED(ARRIVES_IDLE))
        atomic_store_explicit(&worker->words->idle, 0, memory_order_relaxed);
    begin(worker, now);
}

void eki_worker_give_up(struct ek_worker *worker)
{
    int expected = EKI_AWAITED;
    /* relaxed, both: what the thread that enters did to the worker was handed
     * on by the start of the team to all who may stand in. */
    atomic_compare_exchange_strong_explicit(&worker->presence, &expected,
                                            EKI_ABSENT, memory_order_relaxed,
                                            memory_order_relaxed);
}

/* Whether no worker of this rank has a task.  Protocols may hide tasks: those
 * of a lone rank are counted here, those of several by eki_worker_passes(). */
static bool are_all_idle(const struct eki_engine *engine)
{
    uint64_t open = 0;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct ek_worker *worker = engine->workers[here];
        if (!eki_is_set(&worker->words->idle, engine->phase))
            return false;
        open += eki_worker_created(worker) - worker->executed;
    }
    return engine->topology->size > 1 || open == 0;
}

bool eki_engine_pass(struct eki_engine *engine, int looks)
{
    int workers = engine->topology->workers_here;
    /* relaxed: written by this thread. */
    if (!engine->alone ||
        atomic_load_explicit(&engine->messages, memory_order_relaxed) ||
        !are_all_idle(engine) ||
        (engine->topology->size > 1 &&
         !eki_worker_passes(engine->workers[0], looks)))
        return false;
    for (int here = 0; here < workers; here++) {
        struct ek_worker *worker = engine->workers[here];
        /* Of the last phase, unless that was passed, too. */
        if (worker->done != worker->check.passed || worker->done == 0)
            begin(worker, engine->entered_ns);
        worker->check.passed = worker->done = engine->phase;
        /* The shortest process that there is; see eki_engine_pause_ns(). */
        worker->counts.done_ns = engine->entered_ns + 1;
    }
    return true;
}

/* The counters of the workers begin anew: a planted bug, they are cumulative.
 */
static void forget_counters(struct eki_engine *engine)
{
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        worker->created = worker->executed = 0;
        worker->first_id = worker->local.next_id;
        eki_worker_store(worker);
    }
}

/* Whether all nodes know that the phase is over. */
static bool is_announced(const struct eki_engine *engine)
{
    /* acquire: pairs with the release of the announcement: its error. */
    return !engine->alone &&
           atomic_load_explicit(&engine->node->announced,
                                memory_order_acquire) >= engine->phase;
}

/* What all ranks return. */
static void phase_error(struct eki_engine *engine, struct eki_error *error)
{
    /* relaxed: every worker here has ended. */
    int broken = atomic_load_explicit(&engine->broken, memory_order_relaxed);
    if (broken != EK_OK) {
        eki_error_init(error, broken);
        snprintf(error->text, sizeof error->text, "%.159s",
                 engine->exchange.fabric ? engine->exchange.fabric->failure
                                         : "");
    } else if (is_announced(engine)) {
        *error = engine->node->announced_error;
    } else if (eki_is_broken(engine)) {
        *error = engine->node->refusal;
    } else {
        eki_node_error(engine, error);
    }
}

/* How long the process took, by the worker that has ended last. */
static void note_time(struct eki_engine *engine)
{
    if (engine->kind != EKI_PHASE_PROCESS)
        return;
    engine->process_ns = 0;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        uint64_t ns = eki_ns_since(engine->entered_ns,
                                   engine->workers[here]->counts.done_ns);
        if (ns > engine->process_ns)
            engine->process_ns = ns;
    }
}

void eki_engine_leave(struct eki_engine *engine, struct eki_error *error)
{
    EKI_ASSERT_SLOW(eki_node_check(engine));
    if (EKI_UNLIKELY(engine->lineup.count > 0))
        eki_lineup_leave(engine);
    if (EKI_UNLIKELY(engine->elsewhere && engine->elsewhere->ops->leave))
        engine->elsewhere->ops->leave(engine->elsewhere);
    phase_error(engine, error);
    note_time(engine);
    engine->moves.count = 0;
    engine->is_open = false;
    if (engine->topology->size > 1) {
        struct eki_local *brought = &engine->post.brought.local;
        eki_share_settle(brought, &engine->post.brought.share);
        eki_local_reset_stack(brought);
        if (EKI_UNLIKELY(eki_has_lacked(engine)))
            eki_lack_forget(engine);
    }
    if (EKI_PLANTED(RESET_COUNTERS))
        forget_counters(engine);
    /* release: pairs with the acquire in eki_node_all_left(): no claimant of
     * this rank is about any more. */
    atomic_store_explicit(
        &engine->rank_words[engine->topology->node_index].left, engine->phase,
        memory_order_release);
}
