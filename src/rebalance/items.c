/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a rank that may move, as items. */
#include "rebalance/balancer.h"

int64_t eki_donor_slots(const struct eki_balancer *balancer)
{
    int64_t n = 0;
    if (balancer->wish.items)
        return balancer->wish.items->count;
    for (int here = 0; here < balancer->topology->workers_here; here++) {
        const struct eki_local *local = &balancer->engine->workers[here]->local;
        n += eki_local_slots(local, local->seed_base, local->seed_end);
    }
    return n;
}

eki_ns eki_donor_pinned(const struct eki_balancer *balancer, int here)
{
    int workers = balancer->topology->workers_here;
    eki_ns pinned = balancer->donor.pinned;
    return pinned / workers + (here < pinned % workers);
}

eki_ns eki_donor_missing(const struct eki_balancer *balancer)
{
    return (eki_ns)((double)balancer->target * (1 - balancer->donor.share));
}

static bool open_items(struct eki_balancer *balancer)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_balance_items *items = balancer->wish.items;
    size_t n = (size_t)eki_donor_slots(balancer);
    size_t workers = (size_t)balancer->topology->workers_here;
    bool has_bytes = items && items->bytes;
    donor->first = eki_alloc(workers + 1, sizeof *donor->first);
    donor->items = eki_alloc(n, sizeof *donor->items);
    donor->ns = eki_alloc(n, sizeof *donor->ns);
    donor->bytes = has_bytes ? eki_alloc(n, sizeof *donor->bytes) : NULL;
    donor->slots = eki_alloc(3 * n, sizeof *donor->slots);
    donor->to = donor->slots + n;
    donor->chosen = donor->to + n;
    donor->gives = eki_alloc(workers, sizeof *donor->gives);
    return donor->first && donor->items && donor->ns &&
           (donor->bytes || !has_bytes) && donor->slots && donor->gives;
}

void eki_donor_free(struct eki_donor *donor)
{
    eki_free(donor->first);
    eki_free(donor->items);
    eki_free(donor->ns);
    eki_free(donor->bytes);
    eki_free(donor->slots);
    eki_free(donor->gives);
    memset(donor, 0, sizeof *donor);
}

const char *eki_donor_check(const struct eki_balancer *balancer)
{
    const struct eki_donor *donor = &balancer->donor;
    int64_t open = 0;
    for (int64_t i = 0; i < donor->first[balancer->topology->workers_here]; i++)
        open += donor->to[i] < 0;
    return open == donor->open ? NULL : "other tasks are open than are counted";
}

static eki_ns ns_of(const struct eki_donor *donor, const struct eki_slot *slot,
                    const double *hint_ns)
{
    if (slot->bin != EKI_BIN_NEVER)
        return eki_donor_ns(donor, slot);
    double ns =
        hint_ns[slot->function] * (double)eki_donor_hint(slot) * donor->common;
    return eki_donor_counted(donor, ns < 1e18 ? (uint64_t)ns : UINT64_MAX);
}

/* The seeds of a worker to ITEM; returns how many. */
static int64_t list_seeds(const struct eki_donor *donor,
                          const struct ek_worker *worker, const double *hint_ns,
                          struct eki_item *item)
{
    const struct eki_local *local = &worker->local;
    const struct eki_item *begin = item;
    int64_t n = eki_local_slots(local, local->seed_base, local->seed_end);
    for (int64_t i = 0; i < n; i++) {
        const struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        if (eki_donor_may_move(worker->engine, slot))
            *item++ = (struct eki_item){ns_of(donor, slot, hint_ns), worker->id,
                                        (int32_t)i};
    }
    return item - begin;
}

static int64_t list_given(const struct eki_balance_items *items, int32_t rank,
                          struct eki_item *item)
{
    for (int64_t i = 0; i < items->count; i++)
        item[i] = (struct eki_item){items->ns[i], rank, (int32_t)i};
    return items->count;
}

/* The tasks of a worker as items, longest first. */
static bool list_worker(struct eki_balancer *balancer, int here,
                        const double *hint_ns)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_balance_items *items = balancer->wish.items;
    const struct ek_worker *worker = balancer->engine->workers[here];
    int64_t first = donor->first[here];
    int64_t at = first + (items ? list_given(items, worker->id, donor->items)
                                : list_seeds(donor, worker, hint_ns,
                                             donor->items + first));
    donor->first[here + 1] = at;
    if (!eki_items_sort(donor->items + first, at - first))
        return false;
    for (int64_t i = first; i < at; i++) {
        donor->slots[i] = donor->items[i].index;
        donor->items[i].index = (int32_t)(i - first);
        donor->ns[i] = donor->items[i].ns;
        if (donor->bytes)
            donor->bytes[i] = items->bytes[donor->slots[i]];
    }
    return true;
}

void eki_donor_keep(struct eki_balancer *balancer)
{
    struct eki_donor *donor = &balancer->donor;
    for (int here = 0; here < balancer->topology->workers_here; here++) {
        donor->gives[here] = false;
        for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
            donor->to[i] = balancer->engine->workers[here]->id;
    }
}

/* The load that is pinned, with what was never measured. */
static void weigh_pinned(struct eki_balancer *balancer, const double *hint_ns)
{
    const struct eki_local *local = &balancer->engine->pinned.local;
    balancer->donor.pinned = 0;
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes)
        balancer->donor.pinned +=
            ns_of(&balancer->donor, (const struct eki_slot *)at, hint_ns);
}

/* How many tasks must leave the node of this rank, at least.  That is known
 * where no other rank is on it. */
static bool count_away(struct eki_balancer *balancer)
{
    const struct eki_topology *topology = balancer->topology;
    struct eki_donor *donor = &balancer->donor;
    int64_t count = donor->first[topology->workers_here], n = 0;
    eki_ns room = balancer->target - eki_donor_missing(balancer);
    eki_ns excess = donor->pinned - room * topology->workers_here;
    for (int64_t i = 0; i < count; i++)
        excess += donor->ns[i];
    if (excess <= 0 || topology->node_ranks > 1)
        return true;
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    memcpy(items, donor->items, (size_t)count * sizeof *items);
    bool done = eki_items_sort(items, count);
    for (; done && excess > 0 && n < count; n++)
        excess -= items[n].ns;
    donor->away = n;
    eki_free(items);
    return done;
}

bool eki_donor_list(struct eki_balancer *balancer, const double *hint_ns)
{
    int workers = balancer->topology->workers_here;
    if (!open_items(balancer))
        return false;
    weigh_pinned(balancer, hint_ns);
    for (int here = 0; here < workers; here++) {
        if (!list_worker(balancer, here, hint_ns))
            return false;
    }
    eki_donor_keep(balancer);
    balancer->own.tasks += balancer->donor.first[workers];
    return count_away(balancer);
}
