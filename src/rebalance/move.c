/* SPDX-License-Identifier: BSD-3-Clause */
/* When all is decided tasks go straight to their new workers.  Seed arrays that
 * none of them leaves are not touched.  Of items it is only told where they
 * go. */
#include "engine/away.h"
#include "rebalance/balancer.h"

/* Write to TO, for each of the SLOTS in the seed array of a worker, where it
 * goes; what may not move stays with its OWN worker. */
static void spread(const struct eki_donor *donor, int here, int32_t own,
                   int64_t slots, int32_t *to)
{
    for (int64_t i = 0; i < slots; i++)
        to[i] = own;
    for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
        to[donor->slots[i]] = donor->to[i];
}

/* Send a task to WORKER, of this rank or another; false: no memory, it stays.
 */
static bool send_slot(struct eki_balancer *balancer,
                      const struct eki_slot *slot, int worker)
{
    const struct eki_topology *topology = balancer->topology;
    int here = eki_here(balancer, worker);
    if (here >= 0 && here < topology->workers_here)
        return eki_local_log(&balancer->engine->workers[here]->local, slot) !=
               NULL;
    return eki_engine_depart_to(balancer->engine, slot,
                                eki_topology_rank(topology, worker), worker);
}

/* Whether the data of a task may follow it to WORKER. */
static bool may_go(struct eki_balancer *balancer, const struct eki_slot *slot,
                   int worker)
{
    return eki_topology_rank(balancer->topology, worker) ==
               balancer->topology->rank ||
           eki_away_may_move(balancer->engine, slot, &balancer->donor.owed_ns);
}

/* Send each seed of a worker where TO says and close up those that stay.
 * Returns how many had to stay because there was no memory. */
static int64_t move_seeds(struct eki_balancer *balancer, int here,
                          const int32_t *to)
{
    const struct ek_worker *worker = balancer->engine->workers[here];
    struct eki_local *local = &balancer->engine->workers[here]->local;
    int64_t n = eki_local_slots(local, local->seed_base, local->seed_end);
    unsigned char *kept = local->seed_base;
    int64_t stuck = 0;
    for (int64_t i = 0; i < n; i++) {
        struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        if (to[i] != worker->id && may_go(balancer, slot, to[i])) {
            if (send_slot(balancer, slot, to[i]))
                continue;
            stuck++;
        }
        if (kept != (unsigned char *)slot)
            memcpy(kept, slot, local->slot_bytes);
        kept += local->slot_bytes;
    }
    local->seed_top = local->seed_end = kept;
    return stuck;
}

/* False: no memory; what could not be sent stays. */
static bool move_worker(struct eki_balancer *balancer, int here)
{
    const struct ek_worker *worker = balancer->engine->workers[here];
    const struct eki_local *local = &worker->local;
    int64_t n = eki_local_slots(local, local->seed_base, local->seed_end);
    int32_t *to = eki_alloc((size_t)n, sizeof *to);
    if (!to)
        return false;
    spread(&balancer->donor, here, worker->id, n, to);
    int64_t stuck = move_seeds(balancer, here, to);
    eki_free(to);
    return stuck == 0;
}

/* What stays on this rank, to tell by how much such tasks change. */
static struct eki_stayed stayed_of(const struct eki_balancer *balancer)
{
    const struct eki_donor *donor = &balancer->donor;
    int workers = balancer->topology->workers_here;
    struct eki_stayed stayed = {.share = donor->share};
    for (int64_t i = 0; i < donor->first[workers]; i++) {
        int here = eki_here(balancer, donor->to[i]);
        if (here < 0 || here >= workers)
            continue;
        stayed.count++;
        stayed.ns += donor->ns[i];
    }
    return stayed;
}

bool eki_donor_move(struct eki_balancer *balancer)
{
    struct ek_worker *first = balancer->engine->workers[0];
    const struct eki_balance_items *items = balancer->wish.items;
    int64_t before = balancer->engine->moves.count;
    int stuck = 0; /* workers that could not send all */
    if (!balancer->donor.first || balancer->donor.is_undone)
        return true;
    if (items) {
        spread(&balancer->donor, 0, first->id, items->count, items->to);
        return true;
    }
    balancer->past.stayed = stayed_of(balancer);
    for (int here = 0; here < balancer->topology->workers_here; here++)
        stuck += balancer->donor.gives[here] && !move_worker(balancer, here);
    /* Tasks that leave count as created here, and as executed where they
     * arrive: before the worker says that it is idle, or the phase could end
     * without them. */
    balancer->own.sent = balancer->engine->moves.count - before;
    first->created += (uint64_t)balancer->own.sent;
    eki_worker_store(first);
    return stuck == 0;
}
