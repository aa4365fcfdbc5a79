/* SPDX-License-Identifier: BSD-3-Clause */
/* One step of a server: how long it takes, and whom it wakes. */
#include "engine/offers.h"
#include "sim/parts.h"

/* Let workers of RANK that wait look for what its server has brought, NS from
 * now. */
static void wake_told(struct eki_sim *sim, struct eki_sim_rank *rank,
                      uint64_t ns)
{
    int32_t told = rank->port->told;
    int32_t first = sim->topology->first_worker[rank->number];
    if (told == EKI_SIM_NOBODY)
        return;
    if (told >= first && told < first + rank->topology.workers_here) {
        eki_sim_wake(sim, &sim->workers[told], sim->now + ns + 1);
        return;
    }
    for (int w = 0; w < rank->topology.workers_here; w++)
        eki_sim_wake(sim, &rank->workers[w], sim->now + ns + 1);
}

/* Let the workers of RANK look whose steals the step has ended. */
static void wake_answered(struct eki_sim *sim, struct eki_sim_rank *rank,
                          uint64_t ns)
{
    const struct eki_one_sided *side = eki_one_sided_of(rank->engine);
    for (int w = 0; w < rank->topology.workers_here; w++) {
        uint64_t answers = eki_asker_answers(&side->askers[w]);
        if (answers != rank->workers[w].answers)
            eki_sim_wake(sim, &rank->workers[w], sim->now + ns + 1);
        rank->workers[w].answers = answers;
    }
}

/* Note who has visible tasks left: the server of RANK may have claimed from any
 * deque of the node. */
static void note_claims(struct eki_sim *sim, const struct eki_sim_rank *rank)
{
    int node = rank->topology.node;
    if (sim->nodes[node].visible == 0)
        return;
    for (int r = sim->topology->lowest_rank[node];
         r <= sim->topology->highest_rank[node]; r++) {
        struct eki_sim_rank *other = &sim->ranks[r];
        if (other->topology.node == node && other->is_visible)
            eki_sim_note_brought(sim, other);
        if (other->is_lined_up)
            eki_sim_note_lineup(sim, other);
        for (int w = 0;
             other->topology.node == node && w < other->topology.workers_here;
             w++) {
            if (other->workers[w].is_visible)
                eki_sim_note_visible(sim, &other->workers[w]);
        }
    }
}

/* The workers of RANK may begin, and what they have is seen. */
static void let_go(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    for (int w = 0; w < rank->topology.workers_here; w++)
        eki_sim_note_visible(sim, &rank->workers[w]);
    rank->port->told = -1;
}

uint64_t eki_sim_serve(struct eki_sim *sim, struct eki_sim_rank *rank)
{
    struct eki_engine *engine = rank->engine;
    struct eki_sim_port *port = rank->port;
    /* Only steps that take something are timed, because reading the clock takes
     * longer than all others. */
    bool is_timed = engine->kind == EKI_PHASE_RESTORE && !sim->program->pace &&
                    eki_sim_next_arrival(port) <= sim->now;
    int64_t sent = sim->messages;
    uint64_t start = is_timed ? eki_clock_cpu_ns() : 0;
    port->step_ns = sim->machine.poll;
    /* One message, so that each has its own time, or up to four where the
     * program has a pace of its own. */
    port->budget =
        sim->program->pace ? 1 + (int)eki_random_below(&sim->random, 4) : 1;
    port->told = EKI_SIM_NOBODY;
    port->is_starved = port->is_answering = port->has_started = false;
    if (rank->rma) {
        rank->rma->has_ended = false;
        rank->rma->wanted = UINT64_MAX;
    }
    bool was_held = eki_is_held(engine);
    uint64_t filled = eki_glance(&engine->node->stock_filled);
    rank->server_done = eki_server_step(engine, eki_sim_clock(sim, rank));
    if (is_timed)
        rank->decision_ns += eki_clock_cpu_ns() - start;
    eki_sim_charge_own(port);
    uint64_t ns = (uint64_t)port->step_ns;
    rank->busy_until = sim->now + ns;
    rank->server_ns += ns;
    if (sim->messages != sent || port->has_started)
        note_claims(sim, rank);
    eki_sim_note_brought(sim, rank);
    if (was_held && !eki_is_held(engine))
        let_go(sim, rank);
    wake_told(sim, rank, ns);
    if (EKI_UNLIKELY(rank->rma && rank->rma->has_ended))
        wake_answered(sim, rank, ns);
    if (filled != eki_glance(&engine->node->stock_filled))
        eki_sim_wake_workers(sim, rank->topology.node);
    /* Who votes for the node waits for what other ranks have open. */
    if (EKI_UNLIKELY(engine->detect.rule) && !engine->waves.is_lowest)
        eki_sim_call_server(
            sim, &sim->ranks[sim->topology->lowest_rank[rank->topology.node]],
            sim->now);
    if (engine->waves.forwarded && !rank->is_forwarded) {
        rank->is_forwarded = true;
        eki_sim_wake_node(sim, rank->topology.node);
    }
    return ns;
}
