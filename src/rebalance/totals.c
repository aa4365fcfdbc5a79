/* SPDX-License-Identifier: BSD-3-Clause */
/* What every rank tells of its loads in a rebalance. */
#include "rebalance/balancer.h"

#include <math.h>

static eki_ns add_known(const struct eki_donor *donor,
                        const struct eki_slot *slot, struct eki_known *known)
{
    if (slot->bin == EKI_BIN_NEVER) {
        int64_t hint = eki_donor_hint(slot);
        known->unmeasured++;
        known->hints += hint;
        if (hint > known->largest_hint)
            known->largest_hint = hint;
        return 0;
    }
    eki_ns ns = eki_donor_ns(donor, slot);
    known->measured++;
    known->measured_ns += ns;
    return ns;
}

/* How much a duration varies from iteration to iteration, relative to itself,
 * for each value of the byte in which a slot keeps that.  It may become less by
 * that factor: at most by all of it.  One that was timed in a batch of shorter
 * ones has not become many times as long. */
static void fill_variations(double *variations)
{
    for (int i = 0; i < 256; i++)
        variations[i] = 1 - 1 / (1 + eki_deviation_relative((uint8_t)i));
}

/* A worker of so much SPEED that has LOAD, which strays by DEVIATION.  Of these
 * the total alone is not in its own time. */
static void add_load(struct eki_totals_told *told, double speed, eki_ns load,
                     double deviation)
{
    eki_ns time = speed == 1 ? load : (eki_ns)((double)load / speed);
    eki_ns strays = (eki_ns)(deviation / speed);
    int64_t more = (int64_t)((speed - 1) * EKI_SPEED_UNIT);
    const struct eki_totals_told worker = {
        .totals = {.total = load, .largest_load = time, .workers = 1},
        .noise = {strays, strays},
        .speeds = {more, more > 0 ? more : 0}};
    eki_shape_fold(&eki_totals_shape, &worker, told);
}

/* A measured task. */
static void add_size(struct eki_totals *totals, struct eki_sizes *sizes,
                     eki_ns ns)
{
    eki_sizes_add(sizes, ns);
    if (ns > totals->largest_task)
        totals->largest_task = ns;
}

/* Nobody can have less than a pinned task, or than its part of them. */
static void add_pinned(struct eki_balancer *balancer,
                       struct eki_totals_told *told)
{
    const struct eki_local *local = &balancer->engine->pinned.local;
    struct eki_donor *donor = &balancer->donor;
    struct eki_totals *totals = &told->totals;
    struct eki_known *known = EKI_BEHIND(told);
    donor->pinned = 0;
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        eki_ns ns = add_known(donor, slot, &known[slot->function]);
        donor->pinned += ns;
        totals->tasks++;
        if (ns > totals->largest_task)
            totals->largest_task = ns;
    }
    if (eki_donor_pinned(balancer, 0) > totals->largest_task)
        totals->largest_task = eki_donor_pinned(balancer, 0);
}

static void add_worker(const struct eki_balancer *balancer, int here,
                       struct eki_totals_told *told, struct eki_sizes *sizes,
                       const double *variations)
{
    const struct eki_donor *donor = &balancer->donor;
    const struct ek_worker *worker = balancer->engine->workers[here];
    const struct eki_local *local = &worker->local;
    struct eki_totals *totals = &told->totals;
    struct eki_known *known = EKI_BEHIND(told);
    eki_ns load = eki_donor_pinned(balancer, here);
    double variance = 0;
    for (unsigned char *at = local->seed_base; at != local->seed_end;
         at += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        if (!eki_donor_may_move(worker->engine, slot))
            continue;
        eki_ns ns = add_known(donor, slot, &known[slot->function]);
        load += ns;
        double deviation = (double)ns * variations[slot->deviation];
        variance += deviation * deviation;
        totals->tasks++;
        if (slot->bin != EKI_BIN_NEVER)
            add_size(totals, sizes, ns);
    }
    double deviation = sqrt(variance), most = (double)donor->most;
    add_load(told, donor->share, load, deviation < most ? deviation : most);
}

static void add_items(const struct eki_balance_items *items,
                      struct eki_totals_told *told, struct eki_sizes *sizes)
{
    eki_ns load = 0;
    for (int64_t i = 0; i < items->count; i++) {
        load += items->ns[i];
        add_size(&told->totals, sizes, items->ns[i]);
    }
    told->totals.tasks += items->count;
    add_load(told, 1, load, 0);
}

static void add_workers(struct eki_balancer *balancer,
                        struct eki_totals_told *told, struct eki_sizes *sizes)
{
    double variations[256];
    if (balancer->wish.items) {
        add_items(balancer->wish.items, told, sizes);
        return;
    }
    fill_variations(variations);
    add_pinned(balancer, told);
    for (int here = 0; here < balancer->topology->workers_here; here++)
        add_worker(balancer, here, told, sizes, variations);
}

struct eki_parcel *eki_totals_make(const struct eki_balancer *balancer,
                                   int rank)
{
    int64_t functions = balancer->engine->function_count;
    int64_t head = (int64_t)sizeof(struct eki_totals_told) +
                   functions * (int64_t)sizeof(struct eki_known);
    struct eki_parcel *parcel =
        eki_mail_make(rank, EKI_PARCEL_TOTALS, 0,
                      head + EKI_SIZES * (int64_t)sizeof(struct eki_size_told));
    if (parcel)
        parcel->bytes = head;
    return parcel;
}

void eki_totals_add_sizes(struct eki_parcel *parcel,
                          const struct eki_sizes *sizes)
{
    for (int size = 0; size < EKI_SIZES; size++) {
        if (sizes->counts[size] == 0)
            continue;
        *(struct eki_size_told *)(parcel->data + parcel->bytes) =
            (struct eki_size_told){size, sizes->counts[size],
                                   sizes->shortest[size]};
        parcel->bytes += (int64_t)sizeof(struct eki_size_told);
    }
}

/* Write what this rank has to a TOTALS. */
static void write_totals(struct eki_balancer *balancer,
                         struct eki_parcel *parcel, struct eki_sizes *sizes)
{
    struct eki_donor *donor = &balancer->donor;
    struct eki_totals_told *told = eki_body_of(parcel);
    int64_t slots = eki_donor_slots(balancer) +
                    eki_pinned_count(&balancer->engine->pinned) + 1;
    eki_ns share = EKI_NS_MOST / balancer->topology->size;
    donor->most = INT64_MAX >> 20;
    if (donor->most > INT64_MAX / slots)
        donor->most = INT64_MAX / slots;
    add_workers(balancer, told, sizes);
    if (told->totals.total > share) {
        donor->most = share / slots;
        memset(told, 0, (size_t)parcel->bytes);
        memset(sizes, 0, sizeof *sizes);
        add_workers(balancer, told, sizes);
    }
    told->lap = balancer->past.lap;
    if (told->lap.work > share)
        told->lap.work = share;
    if (told->totals.tasks <= EKI_CROWD * told->totals.workers)
        eki_totals_add_sizes(parcel, sizes);
}

bool eki_donor_begin(struct eki_balancer *balancer)
{
    struct eki_sizes sizes = {0};
    struct eki_parcel *parcel =
        eki_totals_make(balancer, balancer->topology->rank);
    if (!parcel)
        return false;
    write_totals(balancer, parcel, &sizes);
    eki_mail_send(&balancer->mail, parcel);
    return true;
}
