/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must hold after every event: of the workers that it was about, of the
 * requests that their server has got, of what was announced, of the time since
 * something got on; and at the end of phases, restores and schedules.
 */
#include "explore.h"

#include "engine/offers.h"

#include <string.h>

enum {
    WALK_EVERY = 25 /* events: a task that is lost or twice there stays so */
};

void explore_note_counts(struct explore *explore, struct eki_sim_worker *worker)
{
    struct explore_actor *actor = explore_actor(explore, worker);
    int64_t cancelled = worker->worker->counts.cancelled;
    if (EKI_LIKELY(cancelled == actor->cancelled))
        return;
    explore_progress(explore);
    explore_tally(explore, worker->rank)->cancelled +=
        cancelled - actor->cancelled;
    explore_seen.cancelled += cancelled - actor->cancelled;
    actor->cancelled = cancelled;
}

/* Whether WORKER, which is there and looks for no work, has tasks and yet says
 * that it is idle. */
static bool is_falsely_idle(const struct ek_worker *worker)
{
    /* relaxed: there is one thread. */
    return atomic_load_explicit(&worker->presence, memory_order_relaxed) ==
               EKI_PRESENT &&
           !worker->search.is_idle &&
           eki_is_idle(worker->words, worker->engine->phase) &&
           (worker->batch.count > 0 || worker->share.deque.open != 0 ||
            !eki_local_is_empty(&worker->local));
}

static void check_worker(struct explore *explore,
                         const struct ek_worker *worker)
{
    const char *wrong = eki_worker_check(worker);
    int64_t asked = explore_asked(worker);
    int64_t answered = explore_answers(worker, 0) + explore_answers(worker, 1);
    if (EKI_UNLIKELY(wrong != NULL))
        ledger_fail(&explore->ledger, "worker %d: %s", worker->id, wrong);
    if (EKI_UNLIKELY(
            !eki_deque_check(&worker->share.deque, &worker->words->deque)))
        ledger_fail(&explore->ledger, "worker %d: its deque is broken",
                    worker->id);
    if (EKI_UNLIKELY(is_falsely_idle(worker)))
        ledger_fail(&explore->ledger, "worker %d has tasks and is idle",
                    worker->id);
    if (EKI_UNLIKELY(answered > asked))
        ledger_fail(&explore->ledger,
                    "worker %d got %lld answers to %lld requests", worker->id,
                    (long long)answered, (long long)asked);
}

/* Requests of this phase that the server has not looked at yet. */
static int64_t waiting_requests(const struct eki_engine *engine)
{
    int64_t waiting = 0;
    const struct eki_kept *kept = engine->line.first;
    const struct eki_message *held =
        engine->line.wire ? engine->line.wire->held : NULL;
    for (; kept; kept = kept->next) {
        const struct eki_head *head = &eki_kept_message(kept)->head;
        waiting +=
            head->kind == EKI_KIND_REQUEST && head->phase == engine->phase;
    }
    if (held)
        waiting += held->head.kind == EKI_KIND_REQUEST &&
                   held->head.phase == engine->phase;
    return waiting;
}

/* Each request is either answered or waits. */
static void check_requests(struct explore *explore,
                           const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_requests *server = eki_requests_of(engine);
    const struct explore_requests *requests =
        &explore->members[rank->number].requests[engine->phase & 3];
    int64_t waiting = server->waiting.count;
    if (requests->taken == 0 && requests->answered == 0 && waiting == 0)
        return;
    waiting += waiting_requests(engine);
    waiting += eki_grants_has_rest(&server->grants);
    if (requests->taken != requests->answered + waiting)
        ledger_fail(&explore->ledger,
                    "rank %d got %lld requests, %lld are answered and %lld "
                    "wait",
                    rank->number, (long long)requests->taken,
                    (long long)requests->answered, (long long)waiting);
}

static bool is_end(const struct eki_message *message)
{
    struct eki_verdict verdict;
    if (message->head.kind != EKI_KIND_WAVE)
        return false;
    memcpy(&verdict, message->body, sizeof verdict);
    return verdict.wave == EKI_WAVE_DONE;
}

/* Tasks that move go where they were told to. */
static void check_moved(struct explore *explore,
                        const struct eki_sim_rank *rank,
                        const struct eki_message *message, int to)
{
    const struct eki_moves *moves = &rank->engine->moves;
    const struct eki_head *head = &message->head;
    /* Those of this message; the server counts them when it is posted. */
    int64_t first = moves->next;
    if (rank->engine->lack.is_out && head->worker == -1) {
        explore_seen.passed += head->count;
        return;
    }
    for (int64_t i = first; i < first + head->count; i++) {
        if (EKI_LIKELY(i < moves->count && moves->ranks[i] == to &&
                       moves->workers[i] == head->worker))
            continue;
        ledger_fail(&explore->ledger,
                    "rank %d moves to rank %d, worker %d, what departs "
                    "elsewhere or not at all",
                    rank->number, to, head->worker);
    }
}

void explore_check_sent(void *context, struct eki_sim_rank *rank,
                        const struct eki_message *message, int to)
{
    struct explore *explore = context;
    const struct eki_head *head = &message->head;
    struct explore_requests *requests =
        &explore->members[rank->number].requests[head->phase & 3];
    struct explore_member *other = &explore->members[to];
    size_t bytes = sizeof *message + (size_t)head->bytes;
    requests->answered += head->kind == EKI_KIND_NONE ||
                          (head->kind == EKI_KIND_TASKS && head->first == 0);
    explore_seen.parts += head->kind == EKI_KIND_TASKS && head->first != 0;
    explore_seen.late +=
        explore->setup.late_bytes != 0 && bytes > explore->setup.late_bytes;
    explore_seen.waves += head->kind == EKI_KIND_WAVE;
    explore_seen.moved += head->kind == EKI_KIND_MOVE ? head->count : 0;
    explore_seen.handed += head->kind == EKI_KIND_HAND;
    if (explore->broken && explore->broken->sent && !explore->has_broken)
        explore->has_broken = explore->broken->sent(message);
    if (head->kind == EKI_KIND_MOVE)
        check_moved(explore, rank, message, to);
    if (head->kind == EKI_KIND_MOVE || head->kind == EKI_KIND_PARCEL ||
        head->kind == EKI_KIND_PIECE || head->kind == EKI_KIND_DONE ||
        EKI_CHANNEL_OF(head->kind) == EKI_CHANNEL_DATA)
        explore_progress(explore);
    explore_seen.pieces += head->kind == EKI_KIND_PIECE;
    explore_seen.given += head->kind == EKI_KIND_GIVE;
    explore_seen.in_pieces += head->kind == EKI_KIND_INPUT && head->detail > 0;
    if (is_end(message)) {
        if (other->forwarded >= head->phase)
            ledger_fail(&explore->ledger,
                        "rank %d is told the end of phase %llu twice", to,
                        (unsigned long long)head->phase);
        other->forwarded = head->phase;
    }
    explore_note(explore, head->phase << 8 | (uint64_t)to);
    if (EKI_UNLIKELY(explore->is_traced))
        explore_say_message(explore, "to", message, to);
}

void explore_check_received(void *context, struct eki_sim_rank *rank,
                            const struct eki_message *message)
{
    struct explore *explore = context;
    const struct eki_head *head = &message->head;
    const struct eki_engine *engine = rank->engine;
    struct explore_member *member = &explore->members[rank->number];
    const struct eki_sim_letter *letter = rank->port->polled;
    if (head->kind == EKI_KIND_REQUEST && head->phase >= engine->phase)
        member->requests[head->phase & 3].taken++;
    if (head->kind == EKI_KIND_MOVE && head->phase > member->moved_to)
        member->moved_to = head->phase;
    explore_seen.overtakes += letter->number < member->last_letter;
    if (letter->number > member->last_letter)
        member->last_letter = letter->number;
    explore_seen.old +=
        head->kind == EKI_KIND_REQUEST && head->phase < engine->phase;
    explore_seen.early += head->phase > engine->phase;
    explore_note(explore, head->phase << 8 | (uint64_t)head->source);
    if (EKI_UNLIKELY(explore->is_traced))
        explore_say_message(explore, "from", message, head->source);
}

/* Somebody says that all is done on a node. */
static void check_announced(struct explore *explore,
                            const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    uint64_t *last = &explore->announced[rank->topology.node];
    /* relaxed: there is one thread. */
    uint64_t announced =
        atomic_load_explicit(&engine->node->announced, memory_order_relaxed);
    if (EKI_LIKELY(announced == *last))
        return;
    explore_progress(explore);
    if (announced != engine->phase || announced != *last + 1)
        ledger_fail(&explore->ledger,
                    "the end of phase %llu is announced after that of %llu in "
                    "phase %llu",
                    (unsigned long long)announced, (unsigned long long)*last,
                    (unsigned long long)engine->phase);
    *last = announced;
    if (engine->kind == EKI_PHASE_PROCESS) {
        ledger_done(&explore->ledger, rank->iteration,
                    explore->scenario->ranks);
        explore_check_returned(explore, rank);
    }
}

static void check_deadline(struct explore *explore)
{
    uint64_t waited = explore->sim->now - explore->progress_ns;
    double part = (double)waited / (double)explore->deadline_ns;
    if (part > explore_seen.longest && part <= 1)
        explore_seen.longest = part;
    if (EKI_UNLIKELY(part > 1))
        ledger_fail(&explore->ledger, "hangs: nothing got on for %llu ns",
                    (unsigned long long)waited);
}

/* What the server of ENGINE was brought. */
static void check_brought(struct explore *explore,
                          const struct eki_engine *engine)
{
    const struct eki_brought *brought = &engine->post.brought;
    if (engine->topology->size == 1)
        return;
    explore_seen.brought += brought->share.deque.open != 0;
    if (EKI_UNLIKELY(
            eki_local_check(&brought->local) ||
            !eki_deque_check(&brought->share.deque,
                             eki_deque_of(engine, eki_server_deque(engine)))))
        ledger_fail(&explore->ledger, "rank %d: what it was brought is broken",
                    engine->topology->rank);
}

/* Who acts, or the rank whose server does, and from whom is claimed. */
static void check_workers(struct explore *explore)
{
    const struct eki_sim_rank *rank = explore->rank;
    const struct eki_engine *engine = rank->engine;
    check_brought(explore, engine);
    /* relaxed: there is one thread. */
    if (!explore->worker ||
        atomic_load_explicit(&engine->absent, memory_order_relaxed) > 0) {
        for (int w = 0; w < rank->topology.workers_here; w++)
            check_worker(explore, engine->workers[w]);
        return;
    }
    const struct ek_worker *worker = explore->worker->worker;
    check_worker(explore, worker);
    if (worker->search.steal_from >= 0 &&
        worker->search.steal_from < rank->topology.node_workers)
        check_worker(
            explore,
            explore->local[rank->topology.node][worker->search.steal_from]);
}

/* What the checkers of protocols say. */
static void check_protocols(struct explore *explore,
                            const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const char *said[] = {
        eki_requests_check(engine), eki_counter_check(engine),
        eki_hands_check(engine),    eki_one_sided_check(engine),
        eki_tiles_check(engine),    eki_data_check(engine)};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (EKI_UNLIKELY(said[i] != NULL))
            ledger_fail(&explore->ledger, "rank %d: %s", rank->number, said[i]);
    }
}

/* The only worker of a node gets no task there while it claims a block, which
 * would wait until that task ends; but others may send it some. */
static void check_thief(struct explore *explore,
                        const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_one_sided *side = eki_one_sided_of(engine);
    if (!side || rank->topology.node_workers > 1 || !engine->is_open ||
        engine->kind != EKI_PHASE_PROCESS || eki_is_stopped(engine) ||
        explore->members[rank->number].moved_to == engine->phase ||
        eki_is_idle(eki_words_of(engine, 0), engine->phase))
        return;
    const struct eki_steal *steal = &side->steals[0];
    if (EKI_UNLIKELY(steal->since >= engine->entered_ns &&
                     steal->stage > EKI_STEAL_LOOK &&
                     steal->stage < EKI_STEAL_COPIED))
        ledger_fail(&explore->ledger, "rank %d has tasks while it steals",
                    rank->number);
}

void explore_check_event(struct explore *explore)
{
    const struct eki_sim_rank *rank = explore->rank;
    if (explore->worker)
        explore_note_counts(explore, explore->worker);
    check_workers(explore);
    if (!rank->engine->alone && rank->engine->is_open) {
        check_requests(explore, rank);
        check_announced(explore, rank);
    }
    check_deadline(explore);
    check_protocols(explore, rank);
    check_thief(explore, rank);
    if (EKI_LIKELY(!explore->is_thorough) &&
        explore->sim->events % WALK_EVERY != 0)
        return;
    const char *wrong = eki_node_check(rank->engine);
    if (EKI_UNLIKELY(wrong != NULL))
        ledger_fail(&explore->ledger, "rank %d: %s", rank->number, wrong);
    explore_check_all(explore);
    explore_check_marks(explore);
}

static void check_same_error(struct explore *explore,
                             const struct eki_sim_rank *rank,
                             const struct eki_error *error)
{
    struct tally *tally = explore_tally(explore, rank);
    if (!tally->has_error) {
        tally->error = *error;
        tally->has_error = true;
    }
    if (memcmp(&tally->error, error, offsetof(struct eki_error, text)) != 0 ||
        strcmp(tally->error.text, error->text) != 0)
        ledger_fail(&explore->ledger,
                    "iteration %d: rank %d returns %d of worker %d, another "
                    "%d of worker %d",
                    rank->iteration, rank->number, error->status, error->worker,
                    tally->error.status, tally->error.worker);
}

/* What all ranks must return. */
static void check_error(struct explore *explore,
                        const struct eki_sim_rank *rank,
                        const struct eki_error *error)
{
    struct ledger *ledger = &explore->ledger;
    const struct tally *tally = explore_tally(explore, rank);
    const struct explore_iteration *plan = explore_plan(explore, rank);
    int expected = tally->failing_worker >= 0 ? EK_ERR_TASK : EK_OK;
    explore_seen.errors += error->status != EK_OK;
    explore_seen.mismatches += error->status == EK_ERR_ARG;
    explore_seen.no_memory += error->status == EK_ERR_NOMEM;
    if (plan->fault == EXPLORE_SIGNATURE && explore->scenario->ranks > 1)
        expected = EK_ERR_ARG;
    if (plan->fault == EXPLORE_FAIL)
        expected = EK_ERR_STATE;
    if (error->status != expected &&
        (plan->fault != EXPLORE_NO_MEMORY || error->status != EK_ERR_NOMEM))
        ledger_fail(ledger, "iteration %d returns %d, expected %d",
                    rank->iteration, error->status, expected);
    if (error->status == EK_ERR_TASK &&
        (error->worker != tally->failing_worker ||
         error->code != tally->failing_code || error->id != tally->failing_id))
        ledger_fail(ledger,
                    "iteration %d: worker %d failed with %d, task %llx; "
                    "expected %d, %d, %llx",
                    rank->iteration, error->worker, error->code,
                    (unsigned long long)error->id, tally->failing_worker,
                    tally->failing_code, (unsigned long long)tally->failing_id);
}

/* Of a worker that has left. */
static bool has_chunks(struct ek_worker *worker)
{
    /* relaxed, both: there is one thread. */
    const struct eki_chunk *answers =
        atomic_load_explicit(&worker->answers, memory_order_relaxed);
    return atomic_load_explicit(&worker->inbox, memory_order_relaxed) ||
           (answers && answers != eki_shut(worker));
}

static void check_sums(struct explore *explore, struct ek_worker *worker)
{
    const struct eki_worker_words *words = worker->words;
    /* relaxed, all: there is one thread. */
    if (atomic_load_explicit(&words->created, memory_order_relaxed) !=
            eki_worker_created(worker) ||
        atomic_load_explicit(&words->executed, memory_order_relaxed) !=
            worker->executed)
        ledger_fail(&explore->ledger, "worker %d left without storing sums",
                    worker->id);
    if (!eki_local_is_empty(&worker->local) || has_chunks(worker))
        ledger_fail(&explore->ledger, "worker %d left with tasks", worker->id);
}

/* What a worker has stolen in the phase that its rank leaves. */
static void note_one_sided(const struct ek_worker *worker)
{
    const struct eki_one_sided *side = eki_one_sided_of(worker->engine);
    if (!side)
        return;
    const struct eki_asker *asker = &side->askers[worker->here];
    int64_t granted = (int64_t)eki_glance(&asker->answers[1]);
    explore_seen.claimed += granted;
    explore_seen.in_vain += (int64_t)eki_asker_answers(asker) - granted;
}

void explore_check_left(struct explore *explore, struct eki_sim_rank *rank,
                        const struct eki_error *error)
{
    check_same_error(explore, rank, error);
    check_error(explore, rank, error);
    if (!eki_local_is_empty(&rank->engine->post.brought.local) ||
        rank->engine->post.brought.share.deque.open != 0)
        ledger_fail(&explore->ledger, "rank %d left with tasks that it brought",
                    rank->number);
    for (int w = 0; w < rank->topology.workers_here; w++) {
        const struct eki_sim_worker *worker = &rank->workers[w];
        check_sums(explore, worker->worker);
        note_one_sided(worker->worker);
        if (explore_actor(explore, worker)->heard != rank->iteration + 1)
            ledger_fail(&explore->ledger,
                        "rank %d left iteration %d, of whose end worker %d has "
                        "not heard",
                        rank->number, rank->iteration, worker->worker->id);
    }
}

/* All ranks say the same of a rebalance. */
static void check_report(struct explore *explore, struct eki_sim_rank *rank)
{
    struct tally *tally = explore_tally(explore, rank);
    const struct eki_balance_report *report =
        eki_rebalance_report(rank->engine);
    if (!explore_plan(explore, rank)->plan.is_balanced || tally->lost_count)
        return;
    if (!tally->has_report)
        tally->report = *report;
    tally->has_report = true;
    if (tally->report.moved != report->moved ||
        tally->report.hash != report->hash)
        ledger_fail(&explore->ledger,
                    "rank %d says that %lld tasks moved, another %lld",
                    rank->number, (long long)report->moved,
                    (long long)tally->report.moved);
}

/* What is done of an iteration that goes on, and what was spawned in it. */
static void check_parts(struct explore *explore,
                        const struct eki_sim_rank *rank,
                        const struct eki_local *local)
{
    unsigned char *at = local->log;
    for (; at != eki_local_logged(local); at += local->slot_bytes)
        ledger_keep(&explore->ledger, (struct eki_slot *)at, rank->iteration);
    for (at = local->stack_bottom; at != local->stack_top;
         at += local->slot_bytes)
        ledger_held(&explore->ledger, (struct eki_slot *)at, rank->iteration, 0,
                    false);
}

/* What is pinned stays in the list of its rank. */
static void check_pinned(struct explore *explore,
                         const struct eki_sim_rank *rank)
{
    struct ledger *ledger = &explore->ledger;
    const struct eki_local *local = &rank->engine->pinned.local;
    check_parts(explore, rank, local);
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        int home = eki_id_home(slot->id);
        ledger_held(ledger, slot, rank->iteration, home, true);
        if (!ledger_find(ledger, ledger_key(slot))->pinned ||
            eki_topology_rank(&rank->topology, home) != rank->number)
            ledger_fail(ledger, "task %lld is pinned to rank %d",
                        (long long)ledger_key(slot), rank->number);
    }
}

void explore_check_held(struct explore *explore, struct eki_sim_rank *rank)
{
    struct ledger *ledger = &explore->ledger;
    enum eki_order order = explore_plan(explore, rank)->plan.order;
    struct tally *tally = explore_tally(explore, rank);
    check_report(explore, rank);
    check_pinned(explore, rank);
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct ek_worker *worker = rank->workers[w].worker;
        struct eki_local *local = &worker->local;
        for (unsigned char *at = local->seed_base; at != local->seed_end;
             at += local->slot_bytes)
            ledger_held(ledger, (struct eki_slot *)at, rank->iteration,
                        worker->id,
                        order == EKI_ORDER_ORIGINAL && !tally->lost_count);
        check_parts(explore, rank, local);
        if (local->log_end != eki_local_logged(local) || local->aside != 0 ||
            local->seed_top != local->seed_end)
            ledger_fail(ledger,
                        "worker %d is not restored: %td bytes in its log, "
                        "%lld aside, %td of its seeds taken",
                        worker->id, local->log_end - eki_local_logged(local),
                        (long long)local->aside,
                        local->seed_end - local->seed_top);
    }
    tally->restored++;
    if (tally->restored == explore->scenario->ranks)
        ledger_restored(ledger, rank->iteration);
}

/* Every claimed block was finished: all slots are free again. */
static bool is_settled(struct eki_deque_owner *owner,
                       const struct eki_deque_shared *shared)
{
    uint32_t first;
    uint32_t room = eki_deque_room(owner, shared, &first);
    if (owner->kind == EKI_DEQUE_LOCKED)
        return owner->ctail == owner->claimed[0];
    return room > 0 && eki_deque_is_free(owner, shared, 0) &&
           eki_deque_is_free(owner, shared, 1);
}

/* The end of a lone node waits for no message that a rank has no memory for; a
 * later phase drops it. */
static bool is_held(const struct explore *explore,
                    const struct eki_sim_port *port,
                    const struct eki_engine *engine)
{
    const struct eki_message *message = &port->polled->message;
    return engine->alone && engine->line.wire->held == message &&
           !explore_is_tasks(explore, message);
}

static void check_port(struct explore *explore, const struct eki_sim_port *port,
                       const struct eki_engine *engine)
{
    if (port->polled && !is_held(explore, port, engine))
        ledger_fail(&explore->ledger, "a message was not given back");
    for (const struct eki_sim_letter *letter = port->first; letter;
         letter = letter->next) {
        if (explore_is_tasks(explore, &letter->message))
            ledger_fail(&explore->ledger, "tasks are still on their way");
    }
}

void explore_check_end(struct explore *explore)
{
    uint64_t created = 0, executed = 0;
    struct eki_sim *sim = explore->sim;
    explore_check_all(explore);
    for (int r = 0; r < sim->setup.ranks; r++) {
        struct eki_engine *engine = sim->ranks[r].engine;
        check_port(explore, &sim->ports[r], engine);
        if (engine->topology->size > 1 &&
            !is_settled(&engine->post.brought.share.deque,
                        eki_deque_of(engine, eki_server_deque(engine))))
            ledger_fail(&explore->ledger,
                        "rank %d: a claimed block was not finished", r);
    }
    for (int w = 0; w < sim->topology->workers; w++) {
        struct ek_worker *worker = sim->workers[w].worker;
        if (!is_settled(&worker->share.deque, &worker->words->deque))
            ledger_fail(&explore->ledger,
                        "worker %d: a claimed block was not finished",
                        worker->id);
        created += eki_worker_created(worker);
        executed += worker->executed;
    }
    if (created != executed)
        ledger_fail(&explore->ledger, "created %llu, executed %llu",
                    (unsigned long long)created, (unsigned long long)executed);
}
