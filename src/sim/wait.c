/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that have nothing to do, or whose task waits: what they do meanwhile,
 * and when they look again. */
#include "engine/offers.h"
#include "sim/parts.h"

void eki_sim_note_waiting(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_node *node = &sim->nodes[worker->rank->topology.node];
    if (worker->state == EKI_SIM_WAITS) {
        node->waiting++;
        worker->since = sim->now;
    } else {
        node->waiting--;
        eki_sim_feed_guests(sim, worker->rank->topology.node);
        if (sim->setup.is_sampled)
            eki_sim_sample_leave(sim, worker);
    }
}

bool eki_sim_is_served(const struct eki_sim *sim,
                       const struct eki_sim_rank *rank)
{
    return !sim->program->pace && sim->now < rank->busy_until;
}

void eki_sim_open_polls(const struct eki_sim *sim, struct eki_sim_rank *rank)
{
    rank->polls.next = 0;
    rank->polls.period_ns = (uint64_t)sim->machine.poll_period;
}

void eki_sim_note_polled(struct eki_sim *sim, struct eki_sim_rank *rank,
                         uint64_t ns, bool has_found)
{
    struct eki_period period = eki_period_of(
        (uint64_t)sim->machine.poll, (uint64_t)sim->machine.poll_period);
    rank->polls.period_ns =
        eki_period_next(&period, rank->polls.period_ns, has_found);
    rank->polls.next = ns + rank->polls.period_ns;
}

uint64_t eki_sim_poll(struct eki_sim *sim, struct eki_sim_rank *rank,
                      bool is_due)
{
    if (!eki_sim_is_polling(sim, rank) || !eki_sim_has_messages(rank) ||
        !(is_due || sim->now >= rank->polls.next) ||
        eki_sim_is_served(sim, rank))
        return 0;
    const struct eki_engine *engine = rank->engine;
    uint64_t found = engine->post.moved + engine->exchange.streamed;
    uint64_t busy = eki_sim_serve(sim, rank);
    eki_sim_note_polled(sim, rank, sim->now,
                        engine->post.moved + engine->exchange.streamed !=
                            found);
    return busy;
}

/* When the worker gets on by time alone, because it may ask another node. */
static uint64_t next_ask(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    const struct ek_worker *inner = worker->worker;
    uint64_t offset = worker->rank->clock_ns;
    uint64_t due = eki_worker_due(inner);
    if (due == UINT64_MAX)
        return due;
    /* The answer wakes who asked a node that has tasks. */
    if (sim->setup.is_sampled)
        return eki_worker_awaits(inner) ? UINT64_MAX
                                        : eki_sim_sample_wait(sim, worker);
    /* Its patience begins when the server's next step sends what it asks; where
     * workers step it, what is left has to wait. */
    if (eki_worker_calls(inner))
        return eki_sim_later(sim->now, worker->rank->busy_until) +
               EKI_ASK_MOST_NS;
    return due > offset ? due - offset : 0;
}

/* Whether the worker has to look without being told: for tasks on its node, and
 * for the end where that is the only node. */
static bool must_look(struct eki_sim *sim, const struct eki_sim_worker *worker)
{
    const struct eki_sim_rank *rank = worker->rank;
    const struct eki_engine *engine = rank->engine;
    const struct eki_sim_node *node = &sim->nodes[rank->topology.node];
    /* Where the scheme is plain, thieves draw from all nodes. */
    if (engine->has_thieves && node->visible > worker->is_visible &&
        (engine->alone || !engine->is_plain || engine->scheme->seeker))
        return true;
    return engine->alone && node->waiting == rank->topology.node_workers;
}

/* When the server of RANK lets its workers begin, if that is to come. */
static uint64_t held_until(const struct eki_sim *sim,
                           const struct eki_sim_rank *rank)
{
    /* relaxed: one thread. */
    uint64_t until =
        atomic_load_explicit(&rank->engine->held_until, memory_order_relaxed);
    uint64_t clock = eki_sim_clock(sim, rank);
    return sim->now + (until > clock ? until - clock : 0);
}

/* A worker of RANK has become idle: wake whoever waits for that. */
static void tell_idle(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    int node = rank->topology.node;
    struct eki_sim_rank *lowest = &sim->ranks[sim->topology->lowest_rank[node]];
    eki_sim_call_owners(sim, node);
    if (!rank->engine->alone)
        eki_sim_call_server(sim, lowest, sim->now);
    else if (sim->nodes[node].waiting == rank->topology.node_workers)
        eki_sim_wake_workers(sim, node);
}

/* When the server of a rank whose workers poll wants one of them. */
static uint64_t next_poll(const struct eki_sim *sim,
                          const struct eki_sim_rank *rank)
{
    if (!eki_sim_is_polling(sim, rank))
        return UINT64_MAX;
    return eki_sim_later(eki_sim_next_service(rank), rank->busy_until);
}

/* When the worker, which waits, has a reason to look. */
static uint64_t wanted_look(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    const struct eki_sim_rank *rank = worker->rank;
    bool is_held = eki_is_held(rank->engine);
    uint64_t ask = is_held ? held_until(sim, rank) : next_ask(sim, worker);
    if (!is_held && must_look(sim, worker))
        return sim->now + EKI_SIM_SPIN_NS;
    /* It waits for nothing but the answer, and steps the server itself; where
     * the server is stepped, its step wakes the worker. */
    if (eki_sim_is_polling(sim, rank) && !rank->engine->has_thieves &&
        eki_worker_calls(worker->worker))
        return sim->now + EKI_SLEEP_FIRST_NS;
    return ask;
}

/* Let the worker, which waits, or whose task does, look again, after BUSY
 * nanoseconds in a server step.  HELD: it wanted to step the server, but
 * another worker was at it. */
static void look_again(struct eki_sim *sim, struct eki_sim_worker *worker,
                       uint64_t busy, bool held)
{
    const struct eki_sim_rank *rank = worker->rank;
    if (sim->program->pace) {
        eki_heap_set(&sim->heap, worker->actor,
                     sim->now +
                         eki_sim_pace_of(sim, worker->rank, EKI_PACE_WAIT, 1));
        return;
    }
    uint64_t look =
        eki_sim_earlier(sim->now + EKI_SIM_LOOK_NS, next_poll(sim, rank));
    if (worker->state == EKI_SIM_WAITS)
        look = eki_sim_earlier(look, wanted_look(sim, worker));
    if (held)
        look = eki_sim_earlier(look, rank->busy_until + 1);
    uint64_t least = sim->now + busy + EKI_SIM_SPIN_NS;
    eki_heap_set_early(
        &sim->heap, worker->actor,
        eki_sim_look_of(sim, worker, eki_sim_later(look, least)));
}

/* Whether the worker, which waits (IS_NEW: since now), has become idle: it is
 * not while results of it are on their way. */
static bool becomes_idle(const struct eki_sim *sim,
                         struct eki_sim_worker *worker, bool is_new)
{
    if (!sim->setup.has_data)
        return is_new;
    bool was_idle = worker->is_idle && !is_new;
    /* relaxed: there is one thread. */
    worker->is_idle =
        atomic_load_explicit(&worker->words->idle, memory_order_relaxed) ==
        worker->engine->phase;
    return worker->is_idle && !was_idle;
}

/* The worker, which has nothing to do, steps the server; returns the time that
 * this takes.  It has waited since that brought something. */
static uint64_t poll_idly(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_rank *rank = worker->rank;
    uint64_t moved = rank->engine->post.moved;
    uint64_t busy = eki_sim_poll(sim, rank, true);
    if (rank->engine->post.moved != moved)
        worker->since = sim->now + busy;
    return busy;
}

void eki_sim_wait(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_rank *rank = worker->rank;
    bool is_new = worker->state != EKI_SIM_WAITS;
    bool is_polling = eki_sim_is_polling(sim, rank);
    bool held = is_polling && eki_sim_is_served(sim, rank);
    eki_sim_set_state(sim, worker, EKI_SIM_WAITS);
    uint64_t busy = poll_idly(sim, worker);
    look_again(sim, worker, busy, held);
    if (eki_worker_calls(worker->worker) &&
        (sim->program->pace || !is_polling || held))
        eki_sim_call_server(sim, rank, sim->now);
    if (eki_is_held(rank->engine))
        eki_sim_call_server(sim, rank, held_until(sim, rank));
    if (becomes_idle(sim, worker, is_new))
        tell_idle(sim, rank);
}

EKI_COLD void eki_sim_halt(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_rank *rank = worker->rank;
    bool is_polling = eki_sim_is_polling(sim, rank);
    bool held = is_polling && eki_sim_is_served(sim, rank);
    if (worker->state != EKI_SIM_HALTS) {
        eki_worker_publish_now(worker->worker);
        eki_sim_note_visible(sim, worker);
        eki_sim_set_state(sim, worker, EKI_SIM_HALTS);
        worker->since = worker->halt_at = sim->now;
        if (worker->worker->track)
            eki_worker_track_halt(worker->worker,
                                  eki_worker_begun(worker->worker),
                                  eki_sim_clock(sim, rank));
        if (!is_polling)
            eki_sim_call_server(sim, rank, sim->now);
    }
    look_again(sim, worker, poll_idly(sim, worker), held);
}
