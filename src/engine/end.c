/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a phase as a worker sees it: on a lone node by the sums of all
 * workers, one worker's words per look, else by what a server announces.
 */
#include "engine/internal.h"

void eki_worker_note_idle(struct ek_worker *worker)
{
    struct eki_worker_words *words = worker->words;
    uint64_t phase = worker->engine->phase;
    /* Only where it changes something: others look there.  release: pairs with
     * the acquire in eki_is_idle(). */
    if (!eki_is_set(&words->idle, phase))
        atomic_store_explicit(&words->idle, phase, memory_order_release);
    /* relaxed: the answer tells of what was before it. */
    uint64_t roll =
        atomic_load_explicit(&worker->engine->node->roll, memory_order_relaxed);
    if (!eki_is_set(&words->roll, roll))
        /* release: pairs with the acquire in eki_node_answers(): `executed` of
         * what it had before. */
        atomic_store_explicit(&words->roll, roll, memory_order_release);
}

bool eki_node_answers(const struct eki_engine *engine)
{
    /* relaxed: one value, which all must have answered. */
    uint64_t roll =
        atomic_load_explicit(&engine->node->roll, memory_order_relaxed);
    for (int i = 0; i < engine->topology->node_workers; i++) {
        /* acquire: pairs with the release in eki_worker_note_idle(). */
        if (atomic_load_explicit(&eki_words_of(engine, i)->roll,
                                 memory_order_acquire) != roll)
            return false;
    }
    return true;
}

void eki_node_call_roll(struct eki_engine *engine)
{
    /* release: pairs with nothing that is read; what was summed before stays
     * before. */
    atomic_fetch_add_explicit(&engine->node->roll, 1, memory_order_release);
}

static void restart_check(struct ek_worker *worker)
{
    worker->check.at = worker->check.pass = 0;
    worker->check.executed = worker->check.created = 0;
}

static void add_executed(struct ek_worker *worker,
                         const struct eki_worker_words *words)
{
    /* acquire: pairs with the release in eki_worker_store(): the work is done
     * and what it created is counted. */
    worker->check.executed +=
        atomic_load_explicit(&words->executed, memory_order_acquire);
}

static void add_created(struct ek_worker *worker,
                        const struct eki_worker_words *words)
{
    /* relaxed: the acquires of the first pass make it no older. */
    worker->check.created +=
        atomic_load_explicit(&words->created, memory_order_relaxed);
}

/* What is summed in the first pass over the workers: `executed` ... */
static void count_first(struct ek_worker *worker,
                        const struct eki_worker_words *words)
{
    if (EKI_PLANTED(CREATED_FIRST) || EKI_PLANTED(MIXED_PASS))
        add_created(worker, words);
    if (!EKI_PLANTED(CREATED_FIRST))
        add_executed(worker, words);
}

/* ... and in the second one: `created`. */
static void count_second(struct ek_worker *worker,
                         const struct eki_worker_words *words)
{
    if (EKI_PLANTED(CREATED_FIRST))
        add_executed(worker, words);
    else if (!EKI_PLANTED(MIXED_PASS))
        add_created(worker, words);
}

/* Look at one worker; true: a later phase was seen, so this one has ended. */
static bool first_pass(struct ek_worker *worker)
{
    struct eki_engine *engine = worker->engine;
    const struct eki_worker_words *words =
        eki_words_of(engine, worker->check.at);
    /* acquire: pairs with the release in eki_engine_enter(): its seeds are
     * counted. */
    uint64_t phase = atomic_load_explicit(&words->phase, memory_order_acquire);
    if (phase != engine->phase) {
        restart_check(worker);
        return phase > engine->phase;
    }
    if (eki_signature_of(engine, words) != engine->signature)
        eki_set_mismatch(engine);
    /* `executed` before `idle`: whoever counts a task that a worker has run
     * since it was idle sees that it is idle no more. */
    count_first(worker, words);
    if (!eki_is_idle(words, engine->phase)) {
        restart_check(worker);
        return false;
    }
    if (++worker->check.at == engine->topology->node_workers) {
        worker->check.at = 0;
        worker->check.pass = 1;
    }
    return false;
}

/*
 * `executed` of all first, `created` second: equal sums are the end.  Idle,
 * too, must all be: a rank that has just entered may still make the phase an
 * error, and a worker whose results are under way waits for them.
 */
static bool check_next(struct ek_worker *worker)
{
    struct eki_engine *engine = worker->engine;
    if (worker->check.pass == 0)
        return first_pass(worker);
    count_second(worker, eki_words_of(engine, worker->check.at));
    if (++worker->check.at < engine->topology->node_workers)
        return false;
    bool is_done = worker->check.created == worker->check.executed;
    restart_check(worker);
    return is_done;
}

/* As many words as a step may look at, until the check begins anew. */
static bool check_alone(struct ek_worker *worker)
{
    int left = worker->engine->setup.check_words;
    do {
        if (check_next(worker))
            return true;
    } while (--left > 0 && (worker->check.at != 0 || worker->check.pass != 0));
    return false;
}

/* Whether the worker at AT of the node has tasks, as far as a hint tells. */
static bool has_tasks(const struct eki_engine *engine, int at)
{
    const struct eki_worker_words *words = eki_words_of(engine, at);
    return eki_is_set(&words->phase, engine->phase) &&
           !eki_is_set(&words->idle, engine->phase);
}

bool eki_worker_passes(struct ek_worker *worker, int looks)
{
    const struct eki_check *check = &worker->check;
    int at = 0;
    restart_check(worker);
    /* Each of two passes looks at all workers. */
    looks += 2 * worker->engine->topology->node_workers;
    for (; looks > 0; looks--, at = check->at) {
        if (check_next(worker))
            return true;
        if (check->at != 0 || check->pass != 0)
            continue;
        if (has_tasks(worker->engine, at))
            return false;
        eki_pause();
    }
    return false;
}

static bool is_finished(struct ek_worker *worker)
{
    struct eki_engine *engine = worker->engine;
    if (eki_is_broken(engine))
        return true;
    if (engine->alone)
        return check_alone(worker);
    /* acquire: pairs with the release in the server that announces: all that
     * tasks did anywhere is done. */
    return atomic_load_explicit(&engine->node->announced,
                                memory_order_acquire) >= engine->phase;
}

void eki_worker_become_idle(struct ek_worker *worker, uint64_t now)
{
    if (worker->search.is_idle)
        return;
    worker->search.is_idle = true;
    worker->search.since = now;
    worker->search.number++;
    worker->search.stolen = worker->counts.stolen;
    worker->search.rank = worker->engine->topology->node_index;
    /* What has come before stays.  relaxed: it says no more than that answers
     * may come. */
    struct eki_chunk *shut = eki_shut(worker);
    if (!worker->engine->alone)
        atomic_compare_exchange_strong_explicit(&worker->answers, &shut, NULL,
                                                memory_order_relaxed,
                                                memory_order_relaxed);
    worker->batch.size = worker->piece.size = 1;
    eki_local_reset_stack(&worker->local);
    eki_worker_store_load(worker, worker->counts.work_ns,
                          worker->counts.largest_ns);
    eki_worker_store(worker);
    restart_check(worker);
}

static void finish(struct ek_worker *worker, uint64_t now)
{
    eki_share_settle(&worker->local, &worker->share);
    /* Who has kept the worker is refused. */
    if (worker->local.function_limit != 0)
        worker->local.function_limit = 0;
    worker->done = worker->engine->phase;
    worker->counts.done_ns = now;
    worker->counts.end_ns += now - worker->search.since;
    if (worker->track && worker->engine->kind == EKI_PHASE_PROCESS)
        eki_track_state(worker->track, EKI_EVENT_END, -1, worker->search.since,
                        now, 0);
    worker->counts.spawned =
        (int64_t)(worker->local.next_id - worker->first_id);
}

enum eki_step eki_worker_wait(struct ek_worker *worker, uint64_t now)
{
    struct eki_engine *engine = worker->engine;
    eki_worker_become_idle(worker, now);
    if (EKI_UNLIKELY(engine->kept) && !EKI_PLANTED(RESULTS_LAST) &&
        eki_tickets_are_kept(engine->kept, worker->here) &&
        !eki_is_broken(engine))
        return EKI_STEP_WAIT;
    /* A delivery that brought nothing to run has taken the last note back. */
    eki_worker_note_idle(worker);
    if (is_finished(worker)) {
        finish(worker, now);
        return EKI_STEP_DONE;
    }
    if (EKI_UNLIKELY(worker->track) && now >= worker->track->due)
        eki_track_state(worker->track, EKI_EVENT_LOOK, -1, worker->search.since,
                        now, 0);
    /* relaxed, both: tasks travel to a node that needs no messages else. */
    if (engine->exchange.fabric &&
        eki_is_set(&engine->node->mail[engine->phase & 1], engine->phase))
        atomic_store_explicit(&engine->messages, true, memory_order_relaxed);
    return EKI_STEP_WAIT;
}
