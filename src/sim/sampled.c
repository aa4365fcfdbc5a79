/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steals between nodes that fail are drawn, not simulated: they change nothing
 * but the thief's clock.
 *
 * A thief's first attempts, while its back-off grows, are drawn one by one when
 * it gets idle.  Later ones come evenly: thieves in this state form a pool, of
 * which the next to find something is an exponential time away.  Then it asks a
 * node that has visible tasks, or, where the scheme is plain, a worker that
 * has, through the engine as ever.
 */
#include "base/exact.h"
#include "protocol/requests.h"
#include "sim/parts.h"

#include <math.h>

/* Each rank knows these for itself; all know about the same. */
static double backoff_most_ns(const struct eki_sim *sim)
{
    return (double)eki_engine_pause_ns(sim->ranks[0].engine);
}

static bool has_pause(const struct eki_sim *sim)
{
    return eki_engine_has_pause(sim->ranks[0].engine);
}

/*
 * How long an attempt takes without its back-off, where the servers of the
 * nodes handle the request and the answer.
 *
 * The thieves T of a node are customers of a closed network: each is away for
 * Z, then wants D of the servers' time.  Whoever comes to a server finds what
 * the others have brought there, of which the first is half done, because all
 * take equally long: with X attempts in a unit of time a visit takes R = D (1 +
 * X R - X D / 2), and T = X (Z + R).  Mean value analysis after Reiser and
 * Lavenberg, JACM 1980, for many servers.
 */
static double round_trip_ns(const struct eki_sim *sim)
{
    const struct eki_machine *machine = &sim->machine;
    double ranks = sim->setup.ranks;
    /* One rank of a node handles all requests, or each those of its own
     * workers; each the answers of its own. */
    double asked = sim->sample.is_plain ? ranks : sim->topology->nodes;
    double thieves = (double)sim->sample.thief_count / asked;
    double share = asked / ranks;
    double step = machine->handle + machine->poll;
    /* Mean time until a thief that sleeps for an answer sees it. */
    double look = has_pause(sim) ? 0 : EKI_SLEEP_FIRST_NS / 2.0;
    double away = 2 * machine->latency + look + (1 - share) * step;
    double wanted = (1 + share) * step + share * machine->send;
    double z = away + backoff_most_ns(sim);
    double a = wanted * (z + wanted / 2);
    double b = z + wanted + wanted * thieves;
    /* X is the lesser root of a X^2 - b X + T; so written T may be small. */
    double rate_per_thief = 2 / (b + sqrt(b * b - 4 * a * thieves));
    return 1 / rate_per_thief - backoff_most_ns(sim);
}

/* The probability that an attempt at this moment finds something. */
static double chance_of(const struct eki_sim *sim)
{
    int victims = sim->sample.is_plain ? sim->topology->workers - 1
                                       : sim->topology->nodes;
    return (double)sim->sample.open_count / (double)victims;
}

static double draw_uniform(struct eki_sim *sim)
{
    return (double)((eki_random_next(&sim->random) >> 11) + 1) * 0x1p-53;
}

/* Of a thief.  Who does not sleep looks at its own node where it draws that,
 * and where it sees an answer and has to wait. */
static double attempts_per_period(const struct eki_sim *sim)
{
    double workers = sim->topology->workers, nodes = sim->topology->nodes;
    if (!has_pause(sim) || nodes < 2)
        return 1;
    return (workers - 1) / (workers - workers / nodes) +
           (backoff_most_ns(sim) > 0);
}

/* Count the attempts of the thieves so far. */
static void count_attempts(struct eki_sim *sim)
{
    struct eki_sim_sample *sample = &sim->sample;
    if (sample->period_ns > 0)
        sample->attempts += attempts_per_period(sim) *
                            (double)(sim->now - sample->since) /
                            sample->period_ns;
    sample->since = sim->now;
}

/* Draw anew when one of the thieves finds something. */
static void redraw(struct eki_sim *sim)
{
    struct eki_sim_sample *sample = &sim->sample;
    double rate = (double)sample->thief_count * chance_of(sim);
    /* Workers are drawn on the own node, too. */
    if (sample->is_plain)
        rate *= attempts_per_period(sim);
    count_attempts(sim);
    sample->period_ns = backoff_most_ns(sim) + round_trip_ns(sim);
    if (rate == 0) {
        eki_heap_remove(&sim->heap, sample->actor);
        return;
    }
    double ns = -eki_exact_log(draw_uniform(sim)) * sample->period_ns / rate;
    eki_heap_set(&sim->heap, sample->actor,
                 sim->now + 1 + (uint64_t)(ns < 1e12 ? ns : 1e12));
}

/* NUMBER, whose place among the open victims is at PLACE, is one of them now
 * (IS_OPEN), or no more. */
static void change_open(struct eki_sim *sim, int32_t number, int32_t *place,
                        bool is_open)
{
    struct eki_sim_sample *sample = &sim->sample;
    if (is_open) {
        *place = sample->open_count;
        sample->open[sample->open_count++] = number;
    } else if (*place >= 0) {
        int32_t last = sample->open[--sample->open_count];
        sample->open[*place] = last;
        *(sample->is_plain ? &sim->workers[last].open_at
                           : &sim->nodes[last].open_at) = *place;
        *place = -1;
    }
    redraw(sim);
}

/* Victims of one kind are open at a time: none is left when a phase ends. */
void eki_sim_sample_node(struct eki_sim *sim, int node)
{
    sim->sample.is_plain = false;
    change_open(sim, node, &sim->nodes[node].open_at,
                sim->nodes[node].visible > 0);
}

void eki_sim_sample_worker(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    sim->sample.is_plain = true;
    change_open(sim, worker->actor, &worker->open_at, worker->is_visible);
}

static void join_thieves(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_sample *sample = &sim->sample;
    worker->pool_at = sample->thief_count;
    sample->thieves[sample->thief_count++] = worker;
    redraw(sim);
    worker->joined = sample->attempts;
}

/* Take a worker out of the pool of thieves, and count the attempts that it has
 * made there. */
static void quit_thieves(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    struct eki_sim_sample *sample = &sim->sample;
    if (worker->pool_at < 0)
        return;
    struct eki_sim_worker *last = sample->thieves[--sample->thief_count];
    sample->thieves[worker->pool_at] = last;
    last->pool_at = worker->pool_at;
    worker->pool_at = -1;
    redraw(sim);
    double attempts = sample->attempts - worker->joined;
    worker->drawn += (int64_t)attempts;
    worker->drawn_across += attempts / attempts_per_period(sim);
}

void eki_sim_sample_leave(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    quit_thieves(sim, worker);
    worker->tries = 0;
    worker->join_at = worker->tries_at = 0;
    worker->wish = EKI_VICTIM_NONE;
}

static bool has_wish(const struct eki_sim_worker *worker)
{
    return worker->wish.node >= 0 || worker->wish.local >= 0;
}

/* Draw a victim that shows tasks; none if there is none, or if the worker's own
 * node was drawn, or itself. */
static struct eki_victim draw_open(struct eki_sim *sim,
                                   const struct eki_sim_worker *worker)
{
    const struct eki_sim_sample *sample = &sim->sample;
    const struct eki_topology *topology = &worker->rank->topology;
    if (sample->open_count == 0)
        return EKI_VICTIM_NONE;
    int number = sample->open[eki_random_below(&sim->random,
                                               (uint64_t)sample->open_count)];
    if (number == (sample->is_plain ? worker->actor : topology->node))
        return EKI_VICTIM_NONE;
    return sample->is_plain ? eki_victim_of(topology, number)
                            : (struct eki_victim){-1, number, -1};
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
    return fmax((double)EKI_ASK_FIRST_NS, EKI_ASK_TRIPS * trip) *
           (double)(1 << tries);
}

/* Draw the attempts of a worker while its back-off grows.  Returns when it
 * looks again: one of them finds something then, or it has made them all. */
static uint64_t first_tries(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    double chance = chance_of(sim);
    double trip = round_trip_ns(sim);
    uint64_t at = eki_sim_later(sim->now, ask_after(worker));
    double backoff = 0;
    while (worker->tries == 0 || backoff < backoff_most_ns(sim)) {
        backoff = backoff_ns(worker->tries++, trip);
        if (chance > 0 && draw_uniform(sim) < chance) {
            worker->tries_at = at;
            return at;
        }
        worker->drawn++;
        worker->drawn_across++;
        at += (uint64_t)(trip + fmin(backoff, backoff_most_ns(sim)));
    }
    worker->join_at = at;
    return at;
}

uint64_t eki_sim_sample_wait(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    if (has_wish(worker))
        return ask_after(worker);
    if (worker->pool_at >= 0)
        return UINT64_MAX;
    if (worker->tries_at != 0)
        return worker->tries_at;
    if (worker->join_at == 0)
        return first_tries(sim, worker);
    if (worker->join_at > sim->now)
        return worker->join_at;
    join_thieves(sim, worker);
    return UINT64_MAX;
}

void eki_sim_sample_event(struct eki_sim *sim)
{
    struct eki_sim_sample *sample = &sim->sample;
    struct eki_sim_worker *worker = sample->thieves[eki_random_below(
        &sim->random, (uint64_t)sample->thief_count)];
    worker->wish = draw_open(sim, worker);
    if (!has_wish(worker)) {
        redraw(sim);
        return;
    }
    quit_thieves(sim, worker);
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

/* Draw the first attempt of a search that will find tasks on the own node: an
 * open request does not keep a thief from them.  -1: none, or it fails. */
static int draw_first(struct eki_sim *sim, struct eki_sim_worker *worker)
{
    const struct ek_worker *inner = worker->worker;
    const struct eki_topology *topology = &worker->rank->topology;
    if (worker->search == inner->search.number || !may_ask(sim, worker))
        return -1;
    worker->search = inner->search.number;
    if (eki_random_below(&sim->random, (uint64_t)topology->workers - 1) <
        (uint64_t)topology->node_workers - 1)
        return -1;
    int node =
        draw_uniform(sim) < chance_of(sim) ? draw_open(sim, worker).node : -1;
    worker->drawn += node < 0;
    worker->drawn_across += node < 0;
    return node;
}

/* Name the victim that the simulator has drawn, or a worker of the own node if
 * somebody there has tasks. */
struct eki_victim eki_sim_victims(struct eki_thief *thief)
{
    struct eki_sim_worker *worker = thief->context;
    struct eki_sim_rank *rank = worker->rank;
    struct eki_sim *sim = rank->port->sim;
    const struct eki_engine *engine = rank->engine;
    struct eki_victim victim = EKI_VICTIM_NONE;
    if (worker->tries_at != 0 && worker->tries_at <= sim->now) {
        worker->tries_at = 0;
        worker->wish = draw_open(sim, worker);
    }
    if (worker->wish.local >= 0 ||
        (worker->wish.node >= 0 && may_ask(sim, worker))) {
        victim = worker->wish;
        worker->wish = EKI_VICTIM_NONE;
    } else if ((engine->alone || !engine->is_plain) &&
               sim->nodes[rank->topology.node].visible > worker->is_visible) {
        victim.node = draw_first(sim, worker);
        if (victim.node < 0)
            victim.local = eki_victim_in_node(thief);
    }
    return victim;
}
