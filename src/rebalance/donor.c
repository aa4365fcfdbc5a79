/* SPDX-License-Identifier: BSD-3-Clause */
/* What every rank does in a rebalance: tell, shed, move. */
#include "rebalance/balancer.h"

/* A range that has not run may not move: nobody knows what it costs. */
static bool may_move(const struct eki_slot *slot)
{
    return !(slot->flags & EKI_SLOT_RANGE);
}

static int64_t slots_of(const struct eki_balancer *balancer)
{
    int64_t n = 0;
    for (int here = 0; here < balancer->engine->topology->workers_here;
         here++) {
        const struct eki_local *local = &balancer->engine->workers[here]->local;
        n += eki_local_slots(local, local->seed_base, local->seed_end);
    }
    return n;
}

static int64_t hint_of(const struct eki_slot *slot)
{
    return (int64_t)(eki_hint_cost(slot->deviation) * EKI_HINT_UNIT + 0.5);
}

/* A duration as it counts here: a million of the longest can be summed. */
static eki_ns counted(uint64_t ns)
{
    const uint64_t most = INT64_MAX >> 20; /* 2.4 hours */
    return (eki_ns)(ns < most ? ns : most);
}

static eki_ns add_known(const struct eki_slot *slot, struct eki_known *known)
{
    if (slot->bin == EKI_BIN_NEVER) {
        int64_t hint = hint_of(slot);
        known->unmeasured++;
        known->hints += hint;
        if (hint > known->largest_hint)
            known->largest_hint = hint;
        return 0;
    }
    eki_ns ns = counted(eki_bin_ns(slot->bin));
    known->measured++;
    known->measured_ns += ns;
    return ns;
}

/* How much a duration varies from iteration to iteration, by its byte. */
static void fill_variations(double *variations)
{
    for (int i = 0; i < 256; i++)
        variations[i] = eki_deviation_relative((uint8_t)i);
}

static double variance_of(const struct eki_slot *slot, eki_ns ns,
                          const double *variations)
{
    double deviation = (double)ns * variations[slot->deviation];
    return slot->bin == EKI_BIN_NEVER ? 0 : deviation * deviation;
}

static void add_worker(const struct eki_local *local,
                       struct eki_totals_told *told, const double *variations)
{
    struct eki_totals *totals = &told->totals;
    struct eki_known *known = (struct eki_known *)(told + 1);
    eki_ns load = 0;
    double variance = 0;
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        if (!may_move(slot))
            continue;
        eki_ns ns = add_known(slot, &known[slot->function]);
        load += ns;
        variance += variance_of(slot, ns, variations);
        totals->tasks++;
        if (ns > totals->largest_task)
            totals->largest_task = ns;
    }
    totals->total += load;
    totals->workers++;
    if (load > totals->largest_load)
        totals->largest_load = load;
    if (variance > told->variance)
        told->variance = variance;
}

bool eki_donor_begin(struct eki_balancer *balancer)
{
    size_t functions =
        (size_t)balancer->engine->function_count * sizeof(struct eki_known);
    struct eki_parcel *parcel =
        eki_mail_make(0, EKI_PARCEL_TOTALS, 0,
                      (int64_t)(sizeof(struct eki_totals_told) + functions));
    if (!parcel)
        return false;
    double variations[256];
    fill_variations(variations);
    for (int here = 0; here < balancer->engine->topology->workers_here; here++)
        add_worker(&balancer->engine->workers[here]->local,
                   (struct eki_totals_told *)parcel->data, variations);
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

static bool open_items(struct eki_balancer *balancer)
{
    struct eki_donor *donor = &balancer->donor;
    size_t n = (size_t)slots_of(balancer);
    donor->first =
        eki_alloc((size_t)balancer->engine->topology->workers_here + 1,
                  sizeof *donor->first);
    donor->items = eki_alloc(n, sizeof *donor->items);
    donor->slots = eki_alloc(n, sizeof *donor->slots);
    donor->to = eki_alloc(n, sizeof *donor->to);
    return donor->first && donor->items && donor->slots && donor->to;
}

void eki_donor_free(struct eki_donor *donor)
{
    eki_free(donor->first);
    eki_free(donor->items);
    eki_free(donor->slots);
    eki_free(donor->to);
    memset(donor, 0, sizeof *donor);
}

static eki_ns ns_of(const struct eki_slot *slot, const double *hint_ns)
{
    if (slot->bin != EKI_BIN_NEVER)
        return counted(eki_bin_ns(slot->bin));
    return (eki_ns)(hint_ns[slot->function] * (double)hint_of(slot));
}

/* The tasks of a worker as items, longest first. */
static bool list_worker(struct eki_balancer *balancer, int here,
                        const double *hint_ns)
{
    struct eki_donor *donor = &balancer->donor;
    const struct ek_worker *worker = balancer->engine->workers[here];
    const struct eki_local *local = &worker->local;
    int64_t first = donor->first[here], at = first;
    int64_t n = eki_local_slots(local, local->seed_base, local->seed_end);
    for (int64_t i = 0; i < n; i++) {
        const struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        if (may_move(slot))
            donor->items[at++] =
                (struct eki_item){ns_of(slot, hint_ns), worker->id, (int32_t)i};
    }
    donor->first[here + 1] = at;
    if (!eki_items_sort(donor->items + first, at - first))
        return false;
    for (int64_t i = first; i < at; i++) {
        donor->slots[i] = donor->items[i].index;
        donor->items[i].index = (int32_t)(i - first);
        donor->to[i] = worker->id;
    }
    return true;
}

static int group_of(const struct eki_balancer *balancer, int worker)
{
    return worker / balancer->group_size;
}

static int leader_of(const struct eki_balancer *balancer, int group)
{
    return eki_topology_rank(balancer->engine->topology,
                             group * balancer->group_size);
}

static eki_ns load_of(const struct eki_donor *donor, int here)
{
    eki_ns load = 0;
    for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
        load += donor->items[i].ns;
    return load;
}

/* Which tasks a worker sheds. */
static int64_t choose(const struct eki_balancer *balancer, const eki_ns *ns,
                      int64_t count, eki_ns load, int32_t *chosen)
{
    if (!balancer->wish.is_printed)
        return eki_balance_shed(ns, count, load, balancer->target, chosen);
    int64_t n = eki_balance_shed_shortest(ns, count, load, balancer->target);
    for (int64_t i = 0; i < n; i++)
        chosen[i] = (int32_t)(count - 1 - i);
    return n;
}

/* Shed what one worker has too much: items to PUT; returns how many. */
static int64_t shed(struct eki_balancer *balancer, int here, eki_ns *load,
                    int32_t *chosen, eki_ns *ns, struct eki_item *put,
                    int64_t *fewest)
{
    struct eki_donor *donor = &balancer->donor;
    int64_t first = donor->first[here];
    int64_t count = donor->first[here + 1] - first;
    for (int64_t i = 0; i < count; i++)
        ns[i] = donor->items[first + i].ns;
    *fewest += eki_balance_fewest(ns, count, *load, balancer->target);
    int64_t n = choose(balancer, ns, count, *load, chosen);
    for (int64_t i = 0; i < n; i++) {
        donor->to[first + chosen[i]] = -1;
        put[i] = donor->items[first + chosen[i]];
        *load -= put[i].ns;
    }
    donor->open += n;
    return n;
}

/* Offer what workers [HERE, END) of one group have too much. */
static bool offer(struct eki_balancer *balancer, int here, int end)
{
    const struct eki_donor *donor = &balancer->donor;
    int group = group_of(balancer, balancer->engine->workers[here]->id);
    int64_t most = donor->first[end] - donor->first[here];
    int64_t bytes = (int64_t)(sizeof(struct eki_offer_told)) +
                    (end - here) * (int64_t)sizeof(eki_ns) +
                    most * (int64_t)sizeof(struct eki_item);
    struct eki_parcel *parcel = eki_mail_make(leader_of(balancer, group),
                                              EKI_PARCEL_OFFER, group, bytes);
    int32_t *chosen = eki_alloc((size_t)most, sizeof *chosen);
    eki_ns *ns = eki_alloc((size_t)most, sizeof *ns);
    bool done = parcel && chosen && ns;
    if (done) {
        struct eki_offer_told *told = (struct eki_offer_told *)parcel->data;
        eki_ns *loads = (eki_ns *)(told + 1);
        struct eki_item *items = (struct eki_item *)(loads + (end - here));
        told->workers = end - here;
        for (int w = here; w < end; w++) {
            loads[w - here] = load_of(donor, w);
            if (loads[w - here] > told->largest)
                told->largest = loads[w - here];
            told->items += shed(balancer, w, &loads[w - here], chosen, ns,
                                items + told->items, &told->fewest);
        }
        parcel->bytes -= (most - told->items) * (int64_t)sizeof *items;
        eki_mail_send(&balancer->mail, parcel);
    } else {
        eki_free(parcel);
    }
    eki_free(chosen);
    eki_free(ns);
    return done;
}

static bool take_target(struct eki_balancer *balancer,
                        const struct eki_target_told *told)
{
    int workers = balancer->engine->topology->workers_here;
    balancer->target = told->target;
    balancer->slack = told->slack != 0;
    balancer->totals = told->totals;
    if (told->is_balanced)
        return true;
    if (!open_items(balancer))
        return false;
    for (int here = 0; here < workers; here++) {
        if (!list_worker(balancer, here, (const double *)(told + 1)))
            return false;
    }
    for (int here = 0, end; here < workers; here = end) {
        int group = group_of(balancer, balancer->engine->workers[here]->id);
        for (end = here;
             end < workers &&
             group_of(balancer, balancer->engine->workers[end]->id) == group;)
            end++;
        if (!offer(balancer, here, end))
            return false;
    }
    return true;
}

/* All that these workers still have, undecided from now on. */
static bool take_open(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    struct eki_donor *donor = &balancer->donor;
    const int32_t *asked = (const int32_t *)parcel->data;
    int64_t count = parcel->bytes / (int64_t)sizeof *asked, room = 0, n = 0;
    int first_worker = balancer->engine->workers[0]->id;
    for (int64_t i = 0; i < count; i++)
        room += donor->first[asked[i] - first_worker + 1] -
                donor->first[asked[i] - first_worker];
    struct eki_parcel *answer =
        eki_mail_make(parcel->rank, EKI_PARCEL_OPENED, parcel->group,
                      room * (int64_t)sizeof(struct eki_item));
    if (!answer)
        return false;
    struct eki_item *items = (struct eki_item *)answer->data;
    for (int64_t i = 0; i < count; i++) {
        int here = asked[i] - first_worker;
        for (int64_t k = donor->first[here]; k < donor->first[here + 1]; k++) {
            if (donor->to[k] != asked[i])
                continue;
            donor->to[k] = -1;
            items[n++] = donor->items[k];
        }
    }
    donor->open += n;
    answer->bytes = n * (int64_t)sizeof *items;
    eki_mail_send(&balancer->mail, answer);
    return true;
}

static void take_plan(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    struct eki_donor *donor = &balancer->donor;
    const struct eki_plan_told *plan =
        (const struct eki_plan_told *)parcel->data;
    int64_t count = parcel->bytes / (int64_t)sizeof *plan;
    for (int64_t i = 0; i < count; i++) {
        int here = plan[i].from - balancer->engine->workers[0]->id;
        EKI_ASSERT(here >= 0 &&
                   here < balancer->engine->topology->workers_here);
        EKI_ASSERT(plan[i].index < donor->first[here + 1] - donor->first[here]);
        donor->to[donor->first[here] + plan[i].index] = plan[i].to;
    }
    donor->open -= count;
}

static void take_over(struct eki_balancer *balancer,
                      const struct eki_result_told *told)
{
    const struct eki_totals *totals = &balancer->totals;
    struct eki_balance_report *report = &balancer->report;
    double mean = (double)totals->total /
                  (double)(totals->workers > 0 ? totals->workers : 1);
    double scale = mean > 0 ? 1 / mean : 0;
    report->before = (double)told->before * scale - (mean > 0);
    report->after = (double)told->after * scale - (mean > 0);
    report->bound = (double)eki_balance_bound(totals) * scale - (mean > 0);
    /* Estimates are rounded. */
    report->bound = report->bound > 0 ? report->bound : 0;
    if (report->after < report->bound)
        report->after = report->bound;
    if (report->before < report->after && told->before >= told->after)
        report->before = report->after;
    report->fewest = told->fewest;
    balancer->donor.is_over = true;
    /* Few long tasks may fit nowhere: then all stay. */
    balancer->donor.is_undone = told->after > told->before;
    if (balancer->donor.is_undone) {
        report->after = report->before;
        return;
    }
    report->moved = told->moved;
    report->hash = told->hash;
}

bool eki_donor_take(struct eki_balancer *balancer,
                    const struct eki_parcel *parcel)
{
    switch (parcel->what) {
    case EKI_PARCEL_TARGET:
        return take_target(balancer,
                           (const struct eki_target_told *)parcel->data);
    case EKI_PARCEL_OPEN:
        return take_open(balancer, parcel);
    case EKI_PARCEL_PLAN:
        take_plan(balancer, parcel);
        return true;
    default:
        take_over(balancer, (const struct eki_result_told *)parcel->data);
        return true;
    }
}

/* Where each seed of a worker goes, by its place in the array. */
static void spread(const struct eki_donor *donor, int here, int32_t own,
                   int64_t slots, int32_t *to)
{
    for (int64_t i = 0; i < slots; i++)
        to[i] = own;
    for (int64_t i = donor->first[here]; i < donor->first[here + 1]; i++)
        to[donor->slots[i]] = donor->to[i];
}

/* To a worker of this rank or another; false: no memory, it stays. */
static bool send_slot(struct eki_balancer *balancer,
                      const struct eki_slot *slot, int worker)
{
    const struct eki_topology *topology = balancer->engine->topology;
    int here = worker - topology->first_worker[topology->rank];
    if (here >= 0 && here < topology->workers_here)
        return eki_local_log(&balancer->engine->workers[here]->local, slot) !=
               NULL;
    return eki_engine_depart_to(balancer->engine, slot,
                                eki_topology_rank(topology, worker), worker);
}

static bool move_worker(struct eki_balancer *balancer, int here)
{
    const struct ek_worker *worker = balancer->engine->workers[here];
    struct eki_local *local = &balancer->engine->workers[here]->local;
    int64_t n = eki_local_slots(local, local->seed_base, local->seed_end);
    int32_t *to = eki_alloc((size_t)n, sizeof *to);
    bool done = to != NULL;
    unsigned char *kept = local->seed_base;
    if (!done)
        return false;
    spread(&balancer->donor, here, worker->id, n, to);
    for (int64_t i = 0; i < n; i++) {
        struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        if (to[i] != worker->id) {
            bool sent = send_slot(balancer, slot, to[i]);
            done = done && sent;
            if (sent)
                continue;
        }
        memmove(kept, slot, local->slot_bytes);
        kept += local->slot_bytes;
    }
    local->seed_top = local->seed_end = kept;
    eki_free(to);
    return done;
}

bool eki_donor_move(struct eki_balancer *balancer)
{
    struct ek_worker *first = balancer->engine->workers[0];
    int64_t before = balancer->engine->moves.count;
    bool done = true;
    if (!balancer->donor.first || balancer->donor.is_undone)
        return true;
    for (int here = 0; here < balancer->engine->topology->workers_here; here++)
        done = move_worker(balancer, here) && done;
    /* Before the worker says that it is idle. */
    balancer->sent = balancer->engine->moves.count - before;
    first->created += (uint64_t)balancer->sent;
    eki_worker_store(first);
    return done;
}
