/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When somebody looks next who has nothing to do: workers that wait, and
 * whoever steps a server.
 */
#include "engine/offers.h"
#include "sim/parts.h"

uint64_t eki_sim_next_arrival(const struct eki_sim_port *port)
{
    return port->first ? port->first->arrives : UINT64_MAX;
}

/* When the next send buffer of PORT comes free; UINT64_MAX: all are free, or
 * wait until a message is received. */
static uint64_t next_buffer(const struct eki_sim_port *port)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < port->sim->setup.send_buffers; i++) {
        if (port->busy[i] > port->sim->now && port->busy[i] < next)
            next = port->busy[i];
    }
    return next;
}

uint64_t eki_sim_next_own_look(const struct eki_sim_rma *rma)
{
    const struct eki_sim_rank *rank = rma->rank;
    int first = 0;
    if (rma->touched == 0)
        return UINT64_MAX;
    uint64_t due = eki_one_sided_due(rank->engine, &first);
    int count = first == 0 ? EKI_WORD_COPIED : EKI_SWS_BLOCKS_MAX;
    if ((rma->touched >> first & ((UINT64_C(1) << count) - 1)) == 0)
        return UINT64_MAX;
    return due == UINT64_MAX || due < rank->clock_ns ? due
                                                     : due - rank->clock_ns;
}

uint64_t eki_sim_next_of_rma(const struct eki_sim_rank *rank)
{
    const struct eki_sim_rma *rma = rank->rma;
    uint64_t next = eki_sim_earlier(rma->wanted, eki_sim_next_own_look(rma));
    for (int i = 0; i < EKI_RMA_TICKETS && rma->used >> i != 0; i++) {
        if (rma->used >> i & 1)
            next = eki_sim_earlier(next, rma->operations[i].done);
    }
    return next;
}

uint64_t eki_sim_next_service(const struct eki_sim_rank *rank)
{
    const struct eki_sim_port *port = rank->port;
    uint64_t next = eki_sim_next_arrival(port);
    if (EKI_UNLIKELY(rank->rma != NULL))
        next = eki_sim_earlier(next, eki_sim_next_of_rma(rank));
    if (port->is_starved || rank->is_forwarded || rank->state != EKI_SIM_RUNS)
        next = eki_sim_earlier(next, next_buffer(port));
    return next;
}

static bool is_waiting(const struct eki_sim_worker *worker)
{
    return worker->state == EKI_SIM_WAITS || worker->state == EKI_SIM_HALTS;
}

/* Let the worker of RANK step its server that looks first after NS, of those
 * that wait. */
static void wake_first(struct eki_sim *sim, struct eki_sim_rank *rank,
                       uint64_t ns)
{
    struct eki_sim_worker *first = NULL;
    uint64_t first_look = UINT64_MAX;
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct eki_sim_worker *worker = &rank->workers[w];
        if (!is_waiting(worker))
            continue;
        uint64_t look = eki_sim_look_of(sim, worker, ns + 1);
        if (look < first_look) {
            first_look = look;
            first = worker;
        }
    }
    if (first)
        eki_heap_set_early(&sim->heap, first->actor, first_look);
}

uint64_t eki_sim_next_look(const struct eki_sim *sim, uint64_t since,
                           uint64_t most, uint64_t ns)
{
    uint64_t awake = since + EKI_YIELDS * EKI_SIM_SPIN_NS;
    if (!sim->machine.is_crowded)
        awake += EKI_SPIN_NS;
    if (ns <= awake || most == 0)
        return ns;
    uint64_t sleep = EKI_SLEEP_FIRST_NS;
    for (; awake < ns && sleep < most; sleep *= 2)
        awake += sleep;
    if (awake < ns)
        awake += (ns - awake + most - 1) / most * most;
    return awake;
}

/* As sleep_limit() of the team; thieves that are told how long they pause do
 * not sleep besides. */
static uint64_t longest_sim_sleep(const struct eki_sim *sim,
                                  const struct eki_sim_worker *worker)
{
    const struct eki_engine *engine = worker->rank->engine;
    if (eki_engine_has_pause(engine))
        return 0;
    if (sim->machine.is_crowded)
        return EKI_SLEEP_MOST_NS;
    return eki_worker_awaits(worker->worker) ? EKI_SLEEP_FIRST_NS
                                             : eki_engine_pause_ns(engine);
}

/* How long the worker lingers before it waits as others do. */
static uint64_t linger_ns(const struct eki_sim *sim,
                          const struct eki_sim_worker *worker)
{
    if (worker->state == EKI_SIM_HALTS)
        return EKI_LINGER_TILES_NS;
    return !sim->machine.is_crowded && eki_worker_awaits(worker->worker)
               ? EKI_LINGER_NS
               : 0;
}

uint64_t eki_sim_look_of(const struct eki_sim *sim,
                         const struct eki_sim_worker *worker, uint64_t ns)
{
    uint64_t most = worker->state == EKI_SIM_HALTS
                        ? EKI_SLEEP_FIRST_NS
                        : longest_sim_sleep(sim, worker);
    return eki_sim_next_look(sim, worker->since + linger_ns(sim, worker), most,
                             eki_sim_later(ns, sim->now));
}

void eki_sim_wake(struct eki_sim *sim, struct eki_sim_worker *worker,
                  uint64_t ns)
{
    if (is_waiting(worker) && !sim->program->pace)
        eki_heap_set_early(&sim->heap, worker->actor,
                           eki_sim_look_of(sim, worker, ns));
}

void eki_sim_wake_workers(struct eki_sim *sim, int node)
{
    if (sim->nodes[node].waiting == 0)
        return;
    for (int r = sim->topology->lowest_rank[node];
         r <= sim->topology->highest_rank[node]; r++) {
        struct eki_sim_rank *rank = &sim->ranks[r];
        if (rank->topology.node != node)
            continue;
        for (int w = 0; w < rank->topology.workers_here; w++) {
            if (rank->workers[w].state == EKI_SIM_WAITS)
                eki_sim_wake(sim, &rank->workers[w], sim->now + 1);
        }
    }
}

void eki_sim_serve_at(struct eki_sim *sim, struct eki_sim_rank *rank,
                      uint64_t ns)
{
    uint64_t next = eki_sim_later(ns, rank->busy_until);
    eki_heap_set_early(&sim->heap, rank->actor,
                       eki_sim_later(next, sim->now + 1));
}

/* Whether the host of RANK steps its server, or could. */
static bool is_serving(const struct eki_sim_rank *rank)
{
    return (rank->state == EKI_SIM_RUNS || rank->state == EKI_SIM_ENDS ||
            rank->state == EKI_SIM_SERVES || rank->state == EKI_SIM_MOVES) &&
           eki_sim_has_messages(rank);
}

void eki_sim_call_server(struct eki_sim *sim, struct eki_sim_rank *rank,
                         uint64_t ns)
{
    if (sim->program->pace) {
        if (is_serving(rank))
            eki_heap_set_early(
                &sim->heap, rank->actor,
                ns + eki_sim_pace_of(sim, rank, EKI_PACE_TAKE, 1));
        return;
    }
    if (rank->engine->kind == EKI_PHASE_RESTORE)
        return;
    bool is_polling = eki_sim_is_polling(sim, rank);
    if (is_polling && rank->rma)
        rank->rma->wanted = eki_sim_earlier(rank->rma->wanted, ns);
    if (is_polling)
        wake_first(sim, rank, eki_sim_later(ns, rank->busy_until));
    else if (is_serving(rank))
        eki_sim_serve_at(sim, rank, ns);
}

void eki_sim_want(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    eki_sim_call_server(sim, worker->rank, sim->now);
}

void eki_sim_announce(struct eki_sim *sim, struct eki_sim_rank *rank,
                      uint64_t arrives)
{
    if (rank->state == EKI_SIM_MOVES && !sim->program->pace)
        eki_heap_set_early(&sim->heap, rank->actor,
                           eki_sim_later(arrives, rank->busy_until));
    else
        eki_sim_call_server(sim, rank, arrives);
}

void eki_sim_wake_node(struct eki_sim *sim, int node)
{
    eki_sim_wake_workers(sim, node);
    for (int r = sim->topology->lowest_rank[node];
         r <= sim->topology->highest_rank[node]; r++) {
        if (sim->ranks[r].topology.node == node)
            eki_sim_call_server(sim, &sim->ranks[r], sim->now);
    }
}

void eki_sim_call_owners(struct eki_sim *sim, int node)
{
    if (!sim->setup.has_rma)
        return;
    for (int r = sim->topology->lowest_rank[node];
         r <= sim->topology->highest_rank[node]; r++) {
        if (sim->ranks[r].topology.node == node)
            eki_sim_call_server(sim, &sim->ranks[r], sim->now);
    }
}

void eki_sim_feed_guests(struct eki_sim *sim, int node)
{
    struct eki_sim_rank *lowest = &sim->ranks[sim->topology->lowest_rank[node]];
    if (lowest->engine->has_guests && sim->nodes[node].waiting == 0 &&
        sim->nodes[node].visible > 0)
        eki_sim_call_server(sim, lowest, sim->now);
}

/* Note whether others can take something of the node, as they could if WAS;
 * returns whether that has changed. */
static bool note_place(struct eki_sim *sim, const struct eki_engine *engine,
                       bool is_visible, bool *was)
{
    struct eki_sim_node *node = &sim->nodes[engine->topology->node];
    is_visible = is_visible && engine->has_thieves;
    if (is_visible == *was)
        return false;
    *was = is_visible;
    node->visible += is_visible ? 1 : -1;
    if (node->visible == is_visible && sim->setup.is_sampled &&
        !engine->is_plain)
        eki_sim_sample_node(sim, engine->topology->node);
    if (is_visible) {
        eki_sim_wake_workers(sim, engine->topology->node);
        eki_sim_feed_guests(sim, engine->topology->node);
        eki_sim_call_owners(sim, engine->topology->node);
    }
    return true;
}

static bool note_deque(struct eki_sim *sim, const struct eki_engine *engine,
                       int deque, bool *was)
{
    return note_place(sim, engine,
                      eki_deque_visible(engine->setup.deque, engine->capacity,
                                        eki_deque_of(engine, deque)) > 0,
                      was);
}

void eki_sim_note_lineup(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    const struct eki_lineup *lineup = &rank->engine->lineup;
    note_place(sim, rank->engine,
               lineup->count > 0 && eki_lineup_taken(lineup) < lineup->count,
               &rank->is_lined_up);
}

void eki_sim_note_visible(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    const struct eki_engine *engine = worker->rank->engine;
    eki_sim_note_lineup(sim, worker->rank);
    if (note_deque(sim, engine, worker->worker->local_number,
                   &worker->is_visible) &&
        sim->setup.is_sampled && engine->is_plain)
        eki_sim_sample_worker(sim, worker);
}

void eki_sim_note_brought(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    if (rank->topology.size > 1)
        note_deque(sim, rank->engine, eki_server_deque(rank->engine),
                   &rank->is_visible);
}
