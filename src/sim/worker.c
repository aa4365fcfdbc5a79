/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a worker: its tasks and its steps. */
#include "engine/offers.h"
#include "engine/spawn.h"
#include "sim/parts.h"

static bool is_stopped(const struct eki_engine *engine)
{
    /* relaxed: there is one thread. */
    return atomic_load_explicit(&engine->node->stop[engine->phase & 1],
                                memory_order_relaxed) == engine->phase;
}

/* The worker's next event comes after something that takes NS. */
static void go_on_after(struct eki_sim *sim, struct eki_sim_worker *worker,
                        double ns)
{
    eki_heap_set(&sim->heap, worker->actor,
                 sim->now +
                     eki_sim_pace_of(sim, worker->rank, EKI_PACE_STEP, ns));
}

/* How long an atomic on a word takes, which waits for those that came before:
 * WORD_FREE is when they are over. */
static double atomic_ns(const struct eki_sim *sim, uint64_t *word_free)
{
    uint64_t ns = (uint64_t)sim->machine.atomic;
    uint64_t start = eki_sim_later(*word_free, sim->now);
    *word_free = start + ns;
    return (double)(start + ns - sim->now);
}

/* The rank of the node of RANK whose deque that is, and the worker, or NULL:
 * its server's. */
static struct eki_sim_rank *owner_of(struct eki_sim *sim,
                                     const struct eki_sim_rank *rank, int deque,
                                     struct eki_sim_worker **worker)
{
    int node = rank->topology.node;
    for (int r = sim->topology->lowest_rank[node];; r++) {
        struct eki_sim_rank *other = &sim->ranks[r];
        const struct eki_topology *topology = &other->topology;
        int here = deque - topology->node_first;
        bool is_worker = here >= 0 && here < topology->workers_here;
        *worker = is_worker ? &other->workers[here] : NULL;
        if (topology->node == node &&
            (is_worker ||
             deque == topology->node_workers + topology->node_index))
            return other;
    }
}

/* How long an atomic on the word of a deque of the node of RANK takes, after
 * which it may show nothing any more. */
static double claim_ns(struct eki_sim *sim, const struct eki_sim_rank *rank,
                       int deque)
{
    struct eki_sim_worker *worker;
    struct eki_sim_rank *owner = owner_of(sim, rank, deque, &worker);
    if (worker)
        eki_sim_note_visible(sim, worker);
    else
        eki_sim_note_brought(sim, owner);
    return atomic_ns(sim, worker ? &worker->word_free : &owner->word_free);
}

/* What a block of tasks that WORKER has stolen from DEQUE takes to copy, with
 * what travels with them from another rank, which is counted. */
static double copy_ns(struct eki_sim *sim, struct eki_sim_worker *worker,
                      int deque)
{
    const struct ek_worker *inner = worker->worker;
    int64_t count = inner->search.block.count;
    int64_t bytes = count * inner->engine->slot_bytes;
    struct eki_sim_worker *owner;
    if (sim->setup.task_bytes > 0 &&
        owner_of(sim, worker->rank, deque, &owner) != worker->rank) {
        sim->carried += count * sim->setup.task_bytes;
        bytes += count * sim->setup.task_bytes;
    }
    return sim->machine.copy_byte * (double)bytes;
}

/* How long a step took that moved something; STEAL_FROM is whose block the
 * worker had claimed before. */
static double step_ns(struct eki_sim *sim, struct eki_sim_worker *worker,
                      int steal_from)
{
    const struct ek_worker *inner = worker->worker;
    int from = steal_from >= 0 ? steal_from : inner->search.steal_from;
    if (from < 0)
        return sim->machine.probe;
    double ns = sim->machine.probe + claim_ns(sim, worker->rank, from);
    if (steal_from >= 0)
        ns += copy_ns(sim, worker, steal_from);
    return ns;
}

/* Take the next task of the batch, or index of the piece; false: there is none,
 * the worker has to step. */
static bool take_next(struct eki_sim_worker *worker)
{
    if (worker->is_index)
        return eki_worker_take_index(worker->worker, &worker->index);
    return eki_worker_take(worker->worker) != NULL;
}

static void end_task(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct ek_worker *inner = worker->worker;
    sim->last_task_ns = sim->now + worker->ahead_ns;
    if (worker->is_index) {
        uint64_t now = eki_sim_clock(sim, worker->rank) + worker->ahead_ns;
        if (!eki_worker_index_is_null(inner, worker->code) &&
            !eki_worker_index_is_short(inner, worker->code, now))
            eki_worker_index_end(inner, worker->code, now);
    } else if ((inner->batch.marks | (unsigned)worker->code) != 0) {
        eki_worker_mark(inner, worker->code);
    }
    eki_worker_leave(inner);
    worker->code = 0;
    /* Its result. */
    if (EKI_UNLIKELY(sim->setup.has_data) && inner->batch.wants_server)
        eki_sim_want(sim, worker);
}

bool eki_sim_spawn(struct eki_sim_worker *worker, int function,
                   const void *payload, size_t bytes, int flags)
{
    struct ek_worker *inner = worker->worker;
    if (EKI_LIKELY(inner->local.stack_top < inner->local.stack_mark)) {
        eki_worker_push(inner, function, payload, bytes, flags);
        return true;
    }
    bool is_pushed =
        eki_worker_push_at_mark(inner, function, payload, bytes, flags);
    eki_sim_note_visible(worker->rank->port->sim, worker);
    return is_pushed;
}

enum eki_data_begun eki_sim_begin_data(struct eki_sim *sim,
                                       struct eki_sim_worker *worker)
{
    enum eki_data_begun begun =
        eki_data_begin(worker->worker, eki_sim_clock(sim, worker->rank));
    /* For what is staged, too. */
    if (worker->worker->batch.wants_server)
        eki_sim_want(sim, worker);
    return begun;
}

/* What the task says as it begins, or goes on, AHEAD nanoseconds from now. */
static uint64_t call_task(struct eki_sim *sim, struct eki_sim_worker *worker,
                          bool begins, double ahead)
{
    if (sim->setup.ahead_ns > 0)
        worker->ahead_ns = (uint64_t)ahead;
    return sim->program->task(sim->program->context, worker, begins);
}

/* Whether the task, AHEAD nanoseconds from now, goes on in this event after NS
 * more. */
static bool fits_event(const struct eki_sim *sim, uint64_t ns, double ahead)
{
    uint64_t most = sim->setup.ahead_ns;
    return ns < most && ahead + (double)ns < (double)most;
}

/* Run tasks until one takes so much time that it goes on in another event, or
 * waits; false: none is left in the batch.  The first says NS as it BEGINS, or
 * goes on, *AHEAD nanoseconds from now, which counts on. */
static bool run_tasks(struct eki_sim *sim, struct eki_sim_worker *worker,
                      uint64_t ns, bool begins, double *ahead)
{
    for (;;) {
        if (ns == EKI_SIM_ENDS_NOW) {
            end_task(sim, worker);
            if (!take_next(worker))
                return false;
            begins = true;
        } else if (EKI_UNLIKELY(fits_event(sim, ns, *ahead))) {
            *ahead += (double)ns + (begins ? sim->machine.task : 0);
            begins = false;
        } else {
            break;
        }
        ns = call_task(sim, worker, begins, *ahead);
    }
    if (EKI_UNLIKELY(ns == EKI_SIM_WAITS_FOR_TILES)) {
        EKI_ASSERT(!begins);
        eki_sim_halt(sim, worker);
        return true;
    }
    ns += (uint64_t)((begins ? sim->machine.task : 0) + *ahead + 0.5);
    worker->slot = eki_worker_current(worker->worker);
    eki_heap_set(&sim->heap, worker->actor, sim->now + ns);
    return true;
}

/* The worker's tasks begin, *AHEAD nanoseconds from now; false: they are over,
 * after so many. */
static bool start_tasks(struct eki_sim *sim, struct eki_sim_worker *worker,
                        enum eki_step step, double *ahead)
{
    struct ek_worker *inner = worker->worker;
    eki_sim_set_state(sim, worker, EKI_SIM_RUNS);
    worker->is_index = step == EKI_STEP_RANGE;
    if (inner->batch.restamp) {
        inner->batch.stamp =
            eki_sim_clock(sim, worker->rank) + (uint64_t)*ahead;
        inner->batch.restamp = false;
    }
    return (step == EKI_STEP_PINNED || take_next(worker)) &&
           run_tasks(sim, worker, call_task(sim, worker, true, *ahead), true,
                     ahead);
}

/* A batch is over, AHEAD nanoseconds from now: whether the worker steps again
 * in this event.  Not where it gets idle, or looks for messages first. */
static bool runs_on(struct eki_sim *sim, struct eki_sim_worker *worker,
                    double ahead)
{
    struct eki_sim_rank *rank = worker->rank;
    uint64_t then = sim->now + (uint64_t)ahead;
    eki_sim_set_state(sim, worker, EKI_SIM_STEPS);
    if (sim->setup.ahead_ns == 0) {
        go_on_after(sim, worker, ahead + 1);
        return false;
    }
    if (eki_sim_is_polling(sim, rank) && eki_sim_has_messages(rank) &&
        then >= rank->polls.next && eki_sim_has_come(rank, then)) {
        eki_sim_note_polled(sim, rank, then, true);
        rank->polled = 0;
        eki_sim_set_state(sim, worker, EKI_SIM_SERVES);
    } else if (ahead < (double)sim->setup.ahead_ns &&
               !eki_local_is_empty(&worker->worker->local) &&
               !is_stopped(rank->engine)) {
        return true;
    }
    go_on_after(sim, worker, ahead);
    return false;
}

/* Wake the node of RANK where the phase was stopped in this event. */
static void tell_stop(struct eki_sim *sim, const struct eki_sim_rank *rank)
{
    struct eki_sim_node *node = &sim->nodes[rank->topology.node];
    bool has_stopped = is_stopped(rank->engine);
    if (has_stopped && !node->has_stopped)
        eki_sim_wake_node(sim, rank->topology.node);
    node->has_stopped = has_stopped;
}

/* Let the server send what the worker wants, AHEAD nanoseconds from now: where
 * workers step it, between two tasks. */
static double serve_wants(struct eki_sim *sim, struct eki_sim_worker *worker,
                          double ahead)
{
    worker->worker->batch.wants_server = false;
    worker->worker->batch.restamp = true;
    if (sim->machine.has_server)
        eki_sim_call_server(sim, worker->rank, sim->now + (uint64_t)ahead);
    return (double)eki_sim_poll(sim, worker->rank, true);
}

/* Step the worker, *AHEAD nanoseconds from now, which count on, until it may
 * run something, waits, is done, or is far ahead: AGAIN.  Steps that follow
 * each other are one event, unless the program has a pace of its own. */
static enum eki_step step_on(struct eki_sim *sim, struct eki_sim_worker *worker,
                             double *ahead)
{
    struct ek_worker *inner = worker->worker;
    struct eki_sim_rank *rank = worker->rank;
    enum eki_step step;
    do {
        int steal_from = inner->search.steal_from;
        int64_t taken = eki_lineup_taken(&rank->engine->lineup);
        uint64_t stock = eki_glance(&rank->engine->node->stock_taken);
        step =
            eki_worker_step(inner, eki_sim_clock(sim, rank) + (uint64_t)*ahead);
        eki_sim_note_visible(sim, worker);
        if (taken != eki_lineup_taken(&rank->engine->lineup) ||
            stock != eki_glance(&rank->engine->node->stock_taken))
            *ahead += atomic_ns(sim, &rank->line_free) + sim->machine.probe;
        if (step != EKI_STEP_AGAIN)
            break;
        eki_sim_set_state(sim, worker, EKI_SIM_STEPS);
        *ahead += step_ns(sim, worker, steal_from);
        if (inner->batch.wants_server)
            *ahead += serve_wants(sim, worker, *ahead);
    } while (!sim->program->pace && *ahead < (double)EKI_SIM_AHEAD_MOST);
    tell_stop(sim, rank);
    return step;
}

static bool is_run(enum eki_step step)
{
    return step == EKI_STEP_RUN || step == EKI_STEP_RANGE ||
           step == EKI_STEP_PINNED;
}

/* Step the worker, AHEAD nanoseconds from now, until something takes time;
 * batches of short tasks are over in this event, where the setup says so. */
static void step_until(struct eki_sim *sim, struct eki_sim_worker *worker,
                       double ahead)
{
    enum eki_step step;
    do {
        step = step_on(sim, worker, &ahead);
    } while (is_run(step) && !start_tasks(sim, worker, step, &ahead) &&
             runs_on(sim, worker, ahead));
    switch (step) {
    case EKI_STEP_AGAIN:
        go_on_after(sim, worker, ahead);
        break;
    case EKI_STEP_WAIT:
        eki_sim_wait(sim, worker);
        break;
    case EKI_STEP_DONE:
        eki_sim_set_state(sim, worker, EKI_SIM_DONE);
        if (sim->program->worker_done)
            sim->program->worker_done(sim->program->context, worker);
        eki_sim_worker_ended(sim, worker->rank);
        break;
    default:
        break;
    }
}

/* A step of the library takes several messages; here each is an event, so that
 * it has its own time. */
static void go_on_serving(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_rank *rank = worker->rank;
    if (rank->polled++ < EKI_DRAIN_MOST && !eki_sim_is_served(sim, rank) &&
        eki_sim_has_come(rank, sim->now)) {
        go_on_after(sim, worker, (double)eki_sim_serve(sim, rank));
        return;
    }
    eki_sim_set_state(sim, worker, EKI_SIM_STEPS);
    step_until(sim, worker, 0);
}

/* A task goes on, or has ended, and with it the batch. */
static void go_on_running(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    uint64_t said = call_task(sim, worker, false, 0);
    if (EKI_UNLIKELY(worker->state == EKI_SIM_HALTS) &&
        said != EKI_SIM_WAITS_FOR_TILES) {
        worker->halted_ns += sim->now - worker->halt_at;
        if (worker->worker->track)
            eki_track_state(worker->worker->track,
                            sim->setup.has_data ? EKI_EVENT_DATA
                                                : EKI_EVENT_TILES,
                            -1, 0, eki_sim_clock(sim, worker->rank),
                            eki_worker_task_id(worker->worker));
        eki_sim_set_state(sim, worker, EKI_SIM_RUNS);
    }
    double ahead = 0;
    if (run_tasks(sim, worker, said, false, &ahead))
        return;
    if (EKI_UNLIKELY(ahead > 0)) {
        if (runs_on(sim, worker, ahead))
            step_until(sim, worker, ahead);
        return;
    }
    eki_sim_set_state(sim, worker, EKI_SIM_STEPS);
    uint64_t ns =
        eki_sim_poll(sim, worker->rank,
                     sim->setup.has_data && worker->worker->batch.wants_server);
    if (ns == 0 && !sim->program->pace) {
        step_until(sim, worker, 0);
        return;
    }
    if (ns > 0 && !sim->program->pace) {
        eki_sim_set_state(sim, worker, EKI_SIM_SERVES);
        worker->rank->polled = 1;
    }
    go_on_after(sim, worker, (double)ns);
}

void eki_sim_worker_event(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    switch (worker->state) {
    case EKI_SIM_SERIAL:
        eki_worker_arrive(worker->worker, eki_sim_clock(sim, worker->rank));
        eki_sim_set_state(sim, worker, EKI_SIM_STEPS);
        step_until(sim, worker, 0);
        break;
    case EKI_SIM_RUNS:
    case EKI_SIM_HALTS:
        go_on_running(sim, worker);
        break;
    case EKI_SIM_SERVES:
        go_on_serving(sim, worker);
        break;
    default:
        step_until(sim, worker, 0);
    }
}
