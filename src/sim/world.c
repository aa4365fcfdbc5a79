/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a job in one process, and the loop over their events. */
#include "sim/parts.h"

#include <string.h>

static int no_task(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

static ek_status register_functions(struct eki_sim *sim,
                                    struct eki_engine *engine)
{
    int function;
    for (int f = 0; f < sim->setup.functions; f++)
        EKI_TRY(eki_engine_register(engine, "task", no_task, NULL, &function));
    return EK_OK;
}

/* Memory that the ranks of a node share. */
static void *segment_of(struct eki_sim *sim, const struct eki_setup *setup,
                        int node)
{
    if (!sim->segments[node])
        sim->segments[node] = eki_alloc_lines(eki_engine_segment_bytes(setup));
    return sim->segments[node];
}

static ek_status add_protocols(const struct eki_sim_setup *setup,
                               struct eki_sim_rank *rank)
{
    EKI_TRY(eki_schemes_add(rank->engine));
    if (!setup->never_balances)
        EKI_TRY(eki_rebalance_add(rank->engine));
    if (setup->has_tiles) {
        EKI_TRY(eki_stores_create(&rank->stores));
        EKI_TRY(eki_stores_join(rank->stores, rank->engine));
    }
    return setup->has_data ? eki_data_join(rank->engine, &setup->data) : EK_OK;
}

static ek_status create_rank(struct eki_sim *sim, int r)
{
    struct eki_sim_rank *rank = &sim->ranks[r];
    const struct eki_sim_setup *given = &sim->setup;
    eki_topology_view(sim->topology, r, &rank->topology);
    rank->number = r;
    rank->actor = sim->topology->workers + r;
    rank->iteration = -given->has_hints;
    rank->state = given->has_hints ? EKI_SIM_RAN : EKI_SIM_SERIAL;
    rank->port = &sim->ports[r];
    rank->workers = sim->workers + sim->topology->first_worker[r];
    if (!eki_sim_open_port(sim, r))
        return eki_error(EK_ERR_NOMEM, "no memory for rank %d", r);
    if (given->has_rma && given->ranks > 1 && !eki_sim_open_rma(sim, rank))
        return eki_error(EK_ERR_NOMEM, "no memory that rank %d exports", r);
    struct eki_setup setup = given->engine;
    setup.rma = rank->rma ? &rank->rma->base : NULL;
    setup.topology = &rank->topology;
    setup.fabric = given->ranks > 1 ? &rank->port->fabric : NULL;
    setup.number = eki_wire_next_number(&rank->port->fabric);
    setup.segment = segment_of(sim, &setup, rank->topology.node);
    if (!setup.segment)
        return eki_error(EK_ERR_NOMEM, "no memory for node %d",
                         rank->topology.node);
    EKI_TRY(eki_engine_create(&setup, &rank->engine));
    EKI_TRY(add_protocols(given, rank));
    EKI_TRY(register_functions(sim, rank->engine));
    rank->engine->stepper = rank;
    const struct eki_requests *requests = eki_requests_of(rank->engine);
    for (int w = 0; w < rank->topology.workers_here; w++) {
        struct ek_worker *inner = rank->engine->workers[w];
        rank->workers[w] = (struct eki_sim_worker){
            .worker = inner,
            .engine = rank->engine,
            .node = rank->engine->node,
            .words = inner->words,
            .counts = inner->function_counts,
            .asker = requests ? &requests->askers[w] : NULL,
            .rank = rank,
            .actor = inner->id,
            .wish = EKI_VICTIM_NONE,
            .pool_at = -1,
            .open_at = -1};
        inner->search.thief.context = &rank->workers[w];
    }
    return EK_OK;
}

/* Workers, ranks, the sampler, and what ranks export. */
static int32_t count_actors(const struct eki_sim *sim)
{
    return sim->topology->workers + sim->setup.ranks + 1 +
           (sim->setup.has_rma ? sim->setup.ranks : 0);
}

static bool create_arrays(struct eki_sim *sim)
{
    size_t ranks = (size_t)sim->setup.ranks;
    size_t nodes = (size_t)sim->topology->nodes;
    size_t workers = (size_t)sim->topology->workers;
    struct eki_sim_sample *sample = &sim->sample;
    sim->ranks = eki_alloc(ranks, sizeof *sim->ranks);
    sim->ports = eki_alloc(ranks, sizeof *sim->ports);
    sim->workers = eki_alloc_lines(workers * sizeof *sim->workers);
    sim->nodes = eki_alloc(nodes, sizeof *sim->nodes);
    sim->segments = eki_alloc(nodes, sizeof *sim->segments);
    sim->buffer = eki_alloc(1, sim->setup.message_bytes);
    if (sim->setup.is_sampled) {
        sample->thieves = eki_alloc(workers, sizeof *sample->thieves);
        sample->open = eki_alloc(workers, sizeof *sample->open);
    }
    if (!sim->ranks || !sim->ports || !sim->workers || !sim->nodes ||
        !sim->segments || !sim->buffer ||
        (sim->setup.is_sampled && (!sample->thieves || !sample->open)))
        return false;
    for (int n = 0; n < sim->topology->nodes; n++)
        sim->nodes[n].open_at = -1;
    sample->actor = sim->topology->workers + sim->setup.ranks;
    return eki_heap_init(&sim->heap, count_actors(sim));
}

static ek_status create_ranks(struct eki_sim *sim)
{
    const struct eki_sim_setup *setup = &sim->setup;
    EKI_TRY(eki_topology_create(0, setup->ranks, setup->workers, setup->nodes,
                                &sim->topology));
    if (count_actors(sim) > EKI_ACTORS_MOST)
        return eki_error(
            EK_ERR_ARG, "%d workers on %d ranks; allowed: %d in all",
            sim->topology->workers, setup->ranks, EKI_ACTORS_MOST - 1);
    if (!create_arrays(sim))
        return eki_error(EK_ERR_NOMEM, "no memory for %d simulated workers",
                         sim->topology->workers);
    for (int r = 0; r < setup->ranks; r++) {
        EKI_TRY(create_rank(sim, r));
        eki_heap_set(&sim->heap, sim->ranks[r].actor,
                     eki_sim_pace_of(sim, &sim->ranks[r], EKI_PACE_SERIAL, 1));
    }
    return EK_OK;
}

ek_status eki_sim_create(const struct eki_sim_setup *setup,
                         struct eki_sim **made)
{
    struct eki_sim *sim = eki_alloc(1, sizeof *sim);
    if (!sim)
        return eki_error(EK_ERR_NOMEM, "no memory to simulate");
    sim->setup = *setup;
    sim->program = setup->program;
    sim->machine = *setup->machine;
    eki_random_seed(&sim->random, setup->engine.seed, 1);
    ek_status status = create_ranks(sim);
    if (status != EK_OK)
        eki_sim_destroy(&sim);
    *made = sim;
    return status;
}

void eki_sim_destroy(struct eki_sim **made)
{
    struct eki_sim *sim = *made;
    *made = NULL;
    if (!sim)
        return;
    for (int r = 0; sim->ports && r < sim->setup.ranks; r++) {
        eki_engine_destroy(&sim->ranks[r].engine);
        eki_stores_destroy(&sim->ranks[r].stores);
        eki_sim_close_rma(&sim->ranks[r].rma);
        eki_sim_close_port(&sim->ports[r]);
    }
    for (int n = 0; sim->segments && n < sim->topology->nodes; n++)
        eki_free(sim->segments[n]);
    eki_free(sim->sample.thieves);
    eki_free(sim->sample.open);
    eki_heap_free(&sim->heap);
    eki_free(sim->buffer);
    eki_free(sim->segments);
    eki_free(sim->nodes);
    eki_free(sim->workers);
    eki_free(sim->ports);
    eki_free(sim->ranks);
    eki_topology_destroy(sim->topology);
    eki_free(sim);
}

/* The actor's event; true: the program wants to go on. */
static bool run_event(struct eki_sim *sim, int32_t actor)
{
    const struct eki_sim_program *program = sim->program;
    int workers = sim->topology->workers;
    struct eki_sim_worker *worker = NULL;
    struct eki_sim_rank *rank;
    if (actor == sim->sample.actor) {
        eki_sim_sample_event(sim);
        return true;
    }
    if (actor > sim->sample.actor) {
        eki_sim_rma_event(sim, &sim->ranks[actor - sim->sample.actor - 1]);
        return true;
    }
    if (actor < workers) {
        worker = &sim->workers[actor];
        rank = worker->rank;
    } else {
        rank = &sim->ranks[actor - workers];
    }
    if (program->before)
        program->before(program->context, rank, worker);
    if (worker)
        eki_sim_worker_event(sim, worker);
    else
        eki_sim_host_event(sim, rank);
    return !program->after || program->after(program->context, rank, worker);
}

/*
 * Read what an event of a worker looks at, all at once, and where the next
 * worker is.  In a large job every line is far away; one after the other took a
 * sixth more time on 163,840 cores, and prefetches changed nothing.
 */
static uint64_t touch_worker(const struct eki_sim_worker *worker)
{
    const struct ek_worker *inner = worker->worker;
    uint64_t sum = inner->local.next_id + inner->batch.marks +
                   inner->batch.stamp + inner->done;
    sum += (uint64_t)inner->counts.tasks + inner->counts.work_ns;
    sum += inner->counts.largest_ns + inner->local.slot_bytes;
    sum += (uint64_t)inner->piece.first + worker->engine->phase;
    sum += worker->counts->work_ns + worker->engine->slot_bytes;
    sum += (uint64_t)worker->rank->iteration;
    sum += inner->search.since + inner->search.thief.failures;
    sum += (uint64_t)inner->check.at + inner->share.deque.open;
    if (worker->asker)
        sum += worker->asker->asked;
    /* relaxed, both: there is one thread. */
    sum +=
        atomic_load_explicit(&worker->words->deque.word, memory_order_relaxed);
    sum += atomic_load_explicit(&worker->node->stop[0], memory_order_relaxed);
    return worker->slot ? sum + worker->slot->id : sum;
}

static uint64_t touch_rank(const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_sim_port *port = rank->port;
    uint64_t sum = engine->phase + engine->waves.wave + engine->slot_bytes;
    sum += engine->post.moved;
    sum += port->fabric.message_bytes + port->free_at;
    sum += (uintptr_t)port->first;
    /* relaxed: there is one thread. */
    return sum + (uint64_t)atomic_load_explicit(&engine->node->polled,
                                                memory_order_relaxed);
}

static void read_ahead(struct eki_sim *sim, int32_t actor)
{
    int32_t workers = sim->topology->workers;
    int32_t next = sim->heap.count > 0 ? eki_heap_actor(sim->heap.keys[0]) : 0;
    if (actor < workers)
        sim->read_ahead = touch_worker(&sim->workers[actor]);
    else if (actor < workers + sim->setup.ranks)
        sim->read_ahead = touch_rank(&sim->ranks[actor - workers]);
    if (next < workers)
        sim->read_ahead += sim->workers[next].since;
    else if (next < workers + sim->setup.ranks)
        sim->read_ahead += (uint64_t)sim->ranks[next - workers].iteration;
}

enum eki_sim_end eki_sim_run(struct eki_sim *sim, int64_t events)
{
    bool goes_on = true;
    for (; goes_on && events > 0; events--) {
        if (sim->over == sim->setup.ranks)
            return EKI_SIM_END_OVER;
        int32_t actor = eki_heap_pop(&sim->heap, &sim->now);
        if (actor < 0)
            return EKI_SIM_END_STUCK;
        if (sim->now == EKI_SIM_TIME_MOST)
            return EKI_SIM_END_LATE;
        sim->events++;
        read_ahead(sim, actor);
        goes_on = run_event(sim, actor);
    }
    return EKI_SIM_END_ASKED;
}
