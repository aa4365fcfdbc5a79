/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steals between nodes that fail are drawn, not simulated: they change nothing
 * but the thief's clock.
 *
 * A thief's first attempts, while its back-off grows, are drawn one by one when
 * it gets idle.  Later ones come evenly: thieves in this state form a pool, of
 * which the next to find something is an exponential time away.  Then it asks a
 * node that has visible tasks, through the engine as ever.
 */
#include "base/exact.h"
#include "protocol/requests.h"
#include "sim/parts.h"

#include <math.h>

/* Back-off of a thief, as the engine has it. */
#define BACKOFF_FIRST_NS ((double)EKI_ASK_FIRST_NS)
/* Mean time until a thief that sleeps 50 us sees its answer. */
#define ANSWER_LOOK_NS 25000.0

bool eki_sim_sample_open(struct eki_sim *sim)
{
    struct eki_sim_sample *sample = &sim->sample;
    sample->actor = sim->topology->workers + sim->setup.ranks;
    sample->thieves =
        eki_alloc((size_t)sim->topology->workers, sizeof *sample->thieves);
    sample->open =
        eki_alloc((size_t)sim->topology->nodes, sizeof *sample->open);
    return sample->thieves && sample->open;
}

void eki_sim_sample_close(struct eki_sim *sim)
{
    eki_free(sim->sample.thieves);
    eki_free(sim->sample.open);
}

/* Ranks know it each for itself, and about the same. */
static double backoff_most_ns(const struct eki_sim *sim)
{
    return (double)sim->ranks[0].engine->pause_ns;
}

/* How long an attempt takes without its back-off.  Requests of all thieves
 * queue at the servers of the nodes, which handle two messages for each; the
 * longer that takes the fewer come, so the queue is found by iteration. */
static double round_trip_ns(const struct eki_sim *sim)
{
    const struct eki_machine *machine = &sim->machine;
    double thieves =
        (double)sim->sample.thief_count / (double)sim->topology->nodes;
    double service = machine->handle;
    double bare =
        2 * (machine->latency + service) + machine->send + ANSWER_LOOK_NS;
    double trip = bare;
    for (int i = 0; i < 3; i++) {
        double load = 2 * thieves * service / (trip + backoff_most_ns(sim));
        load = load < 0.95 ? load : 0.95;
        trip = bare + 2 * service * load / (1 - load);
    }
    return trip;
}

/* The probability that an attempt at this moment finds something. */
static double chance_of(const struct eki_sim *sim)
{
    return (double)sim->sample.open_count / (double)sim->topology->nodes;
}

static double draw_uniform(struct eki_sim *sim)
{
    return (double)((eki_random_next(&sim->random) >> 11) + 1) * 0x1p-53;
}

/* Draw anew when one of the thieves finds something. */
static void redraw(struct eki_sim *sim)
{
    struct eki_sim_sample *sample = &sim->sample;
    double rate = (double)sample->thief_count * chance_of(sim);
    sample->period_ns = backoff_most_ns(sim) + round_trip_ns(sim);
    if (rate == 0) {
        eki_heap_remove(&sim->heap, sample->actor);
        return;
    }
    double ns = -eki_exact_log(draw_uniform(sim)) * sample->period_ns / rate;
    eki_heap_set(&sim->heap, sample->actor,
                 sim->now + 1 + (uint64_t)(ns < 1e12 ? ns : 1e12));
}

void eki_sim_sample_node(struct eki_sim *sim, int node)
{
    struct eki_sim_sample *sample = &sim->sample;
    struct eki_sim_node *changed = &sim->nodes[node];
    if (changed->visible > 0) {
        changed->open_at = sample->open_count;
        sample->open[sample->open_count++] = node;
    } else if (changed->open_at >= 0) {
        int32_t last = sample->open[--sample->open_count];
        sample->open[changed->open_at] = last;
        sim->nodes[last].open_at = changed->open_at;
        changed->open_at = -1;
    }
    redraw(sim);
}

static void join(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_sample *sample = &sim->sample;
    worker->pool_at = sample->thief_count;
    worker->joined = sim->now;
    sample->thieves[sample->thief_count++] = worker;
    redraw(sim);
}

/* Take a worker out of the pool of thieves, and count the attempts that it has
 * made there. */
static void quit(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_sample *sample = &sim->sample;
    if (worker->pool_at < 0)
        return;
    struct eki_sim_worker *last = sample->thieves[--sample->thief_count];
    sample->thieves[worker->pool_at] = last;
    last->pool_at = worker->pool_at;
    worker->pool_at = -1;
    worker->drawn +=
        (int64_t)((double)(sim->now - worker->joined) / sample->period_ns);
    redraw(sim);
}

void eki_sim_sample_leave(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    quit(sim, worker);
    worker->tries = 0;
    worker->join_at = worker->tries_at = 0;
    worker->wish.node = -1;
}

/* Draw a node with visible tasks; -1: none, or the worker's own was drawn. */
static int draw_node(struct eki_sim *sim, const struct eki_sim_worker *worker)
{
    const struct eki_sim_sample *sample = &sim->sample;
    if (sample->open_count == 0)
        return -1;
    int node = sample->open[eki_random_below(&sim->random,
                                             (uint64_t)sample->open_count)];
    return node == worker->rank->topology.node ? -1 : node;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the engine will let the worker ask again. */
static uint64_t ask_after(const struct eki_sim_worker *worker)
{
    uint64_t after = eki_worker_due(worker->worker);
    uint64_t offset = worker->rank->clock_ns;
    return after > offset ? after - offset : 0;
}

/* The back-off after TRIES attempts in vain that took TRIP each. */
static double backoff_ns(int32_t tries, double trip)
{
    return fmax(BACKOFF_FIRST_NS, EKI_ASK_TRIPS * trip) * (double)(1 << tries);
}

/* Draw the attempts of a worker while its back-off grows.  Returns when it
 * looks again: one of them finds something then, or it has made them all. */
static uint64_t first_tries(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    double chance = chance_of(sim);
    double trip = round_trip_ns(sim);
    uint64_t at = later(sim->now, ask_after(worker));
    while (backoff_ns(worker->tries, trip) < backoff_most_ns(sim)) {
        double backoff = backoff_ns(worker->tries++, trip);
        if (chance > 0 && draw_uniform(sim) < chance) {
            worker->tries_at = at;
            return at;
        }
        worker->drawn++;
        at += (uint64_t)(trip + backoff);
    }
    worker->join_at = at;
    return at;
}

uint64_t eki_sim_sample_wait(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    if (worker->wish.node >= 0)
        return ask_after(worker);
    if (worker->pool_at >= 0)
        return UINT64_MAX;
    if (worker->tries_at != 0)
        return worker->tries_at;
    if (worker->join_at == 0)
        return first_tries(sim, worker);
    if (worker->join_at > sim->now)
        return worker->join_at;
    join(sim, worker);
    return UINT64_MAX;
}

void eki_sim_sample_event(struct eki_sim *sim)
{
    struct eki_sim_sample *sample = &sim->sample;
    struct eki_sim_worker *worker = sample->thieves[eki_random_below(
        &sim->random, (uint64_t)sample->thief_count)];
    int node = draw_node(sim, worker);
    if (node < 0) {
        redraw(sim);
        return;
    }
    quit(sim, worker);
    worker->wish.node = node;
    eki_heap_set(&sim->heap, worker->actor, sim->now + 1);
}

/* Whether the engine would ask another node now. */
static bool may_ask(const struct eki_sim *sim,
                    const struct eki_sim_worker *worker)
{
    const struct ek_worker *inner = worker->worker;
    return !eki_worker_awaits(inner) && !eki_worker_calls(inner) &&
           eki_sim_clock(sim, worker->rank) >= eki_worker_due(inner);
}

/* Name the node that the simulator has drawn, or a worker of the own node if
 * somebody there has tasks. */
static struct eki_victim choose(struct eki_thief *thief)
{
    struct eki_sim_worker *worker = thief->context;
    struct eki_sim_rank *rank = worker->rank;
    struct eki_sim *sim = rank->port->sim;
    struct eki_victim victim = {-1, -1};
    if (worker->tries_at != 0 && worker->tries_at <= sim->now) {
        worker->tries_at = 0;
        worker->wish.node = draw_node(sim, worker);
    }
    if (worker->wish.node >= 0 && may_ask(sim, worker)) {
        victim.node = worker->wish.node;
        worker->wish.node = -1;
    } else if (sim->nodes[rank->topology.node].visible > worker->is_visible) {
        victim.local = eki_victim_in_node(thief);
    }
    return victim;
}

const struct eki_victim_policy eki_sim_victims = {"sampled", choose};
