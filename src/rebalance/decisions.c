/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank is told: the target, where its tasks go, and that all is over. */
#include "rebalance/balancer.h"

static bool target_fits(const struct eki_balancer *balancer,
                        const struct eki_parcel *parcel)
{
    const struct eki_decode *decode = &parcel->decode;
    const struct eki_target_told *told = eki_body_of(parcel);
    const double *hint_ns = EKI_BEHIND(told);
    int64_t workers = balancer->topology->workers;
    bool are_hints = true;
    for (int f = 0; f < balancer->engine->function_count; f++)
        are_hints &= hint_ns[f] >= 0 && hint_ns[f] <= (double)EKI_NS_MOST;
    /* A second target is legal where groups had listed tasks: it makes them
     * one.
     */
    bool is_second =
        balancer->groups > 1 && told->is_whole && balancer->donor.first != NULL;
    return eki_fits_one(decode, "targets before it",
                        balancer->has_target && !is_second, 0) &&
           eki_fits(decode, "target", told->target, 0, EKI_NS_MOST / workers) &&
           eki_fits_shape(decode, &eki_target_shape, told, NULL) &&
           eki_fits_one(decode, "workers", told->totals.workers, workers) &&
           eki_fits_one(decode, "finite hints", are_hints, true);
}

/* The fastest rank is told in whole numbers, so it may be a little faster: it
 * has no less than nothing to do. */
static void count_as_of_fastest(struct eki_donor *donor,
                                const struct eki_target_told *told)
{
    donor->common = 1 / eki_speed_fastest(told->faster);
    donor->share *= donor->common;
    if (donor->share > 1)
        donor->share = 1;
}

bool eki_donor_take_target(struct eki_balancer *balancer,
                           struct eki_parcel *parcel)
{
    const struct eki_target_told *told = eki_body_of(parcel);
    if (!target_fits(balancer, parcel))
        return true;
    balancer->has_target = true;
    balancer->target = told->target;
    balancer->slack = told->slack != 0;
    balancer->totals = told->totals;
    if (told->is_balanced)
        return true;
    if (!balancer->donor.first)
        count_as_of_fastest(&balancer->donor, told);
    if (told->is_whole) {
        balancer->group_size = balancer->topology->workers;
        balancer->groups = 1;
    }
    if (balancer->donor.first)
        eki_donor_keep(balancer); /* what groups have decided is void */
    else if (!eki_donor_list(balancer, EKI_BEHIND(told)))
        return false;
    return balancer->algorithm->begin(balancer);
}

bool eki_donor_decide(struct eki_balancer *balancer,
                      const struct eki_decode *decode,
                      const struct eki_plan_told *plan, struct eki_run workers)
{
    struct eki_donor *donor = &balancer->donor;
    if (!eki_fits_worker(decode, plan->from, balancer->topology->rank))
        return false;
    int here = eki_here(balancer, plan->from);
    const int64_t *first = &donor->first[here];
    if (!eki_fits(decode, "index of a task", plan->index, 0,
                  first[1] - first[0] - 1) ||
        !eki_fits_one(decode, "place so far", donor->to[first[0] + plan->index],
                      -1) ||
        !eki_fits(decode, "place", plan->to, workers.first, workers.last))
        return false;
    donor->to[first[0] + plan->index] = plan->to;
    donor->gives[here] |= plan->to != plan->from;
    donor->open--;
    return true;
}

/* Open tasks go to workers of a group. */
static void take_plan(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel,
                      const struct eki_section *section)
{
    const struct eki_decode *decode = &parcel->decode;
    const struct eki_plan_told *plan = EKI_BEHIND(section);
    struct eki_run group = eki_group_run(balancer, parcel->group);
    int64_t entry = (int64_t)sizeof *plan, count = section->bytes / entry;
    if (!eki_fits_one(decode, "bytes too many", section->bytes % entry, 0) ||
        !eki_fits_one(decode, "tasks are listed", balancer->donor.first != NULL,
                      true))
        return;
    for (int64_t i = 0; i < count; i++) {
        if (!eki_donor_decide(balancer, decode, &plan[i], group))
            return;
    }
    EKI_ASSERT_SLOW(eki_donor_check(balancer));
}

bool eki_donor_take_plans(struct eki_balancer *balancer,
                          struct eki_parcel *parcel)
{
    const struct eki_section *at = NULL;
    while ((at = eki_section_next(parcel, at)) != NULL)
        take_plan(balancer, parcel, at);
    return true;
}

static bool over_fits(const struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    const struct eki_decode *decode = &parcel->decode;
    const struct eki_result_told *told = eki_body_of(parcel);
    return eki_fits_one(decode, "targets before it", balancer->has_target,
                        true) &&
           eki_fits_one(decode, "others before it", balancer->is_over, false) &&
           eki_fits_shape(decode, &eki_over_shape, told, NULL) &&
           eki_fits(decode, "tasks across nodes", told->across, 0, told->moved);
}

/* A load as a part of the mean load, beyond that. */
static double excess_of(const struct eki_balancer *balancer, eki_ns load)
{
    const struct eki_totals *totals = &balancer->totals;
    if (totals->total <= 0 || totals->workers <= 0)
        return 0;
    double mean = (double)totals->total / (double)totals->workers;
    return (double)load * (1 / mean) - 1;
}

/* The loads that the rebalance has come to. */
static void report_loads(const struct eki_balancer *balancer,
                         const struct eki_result_told *told,
                         struct eki_balance_report *report)
{
    report->before = excess_of(balancer, told->before);
    report->after = excess_of(balancer, told->after);
    report->bound = excess_of(balancer, eki_balance_bound(&balancer->totals));
    /* Durations of tasks never measured are estimates, which are rounded: the
     * loads may seem to come out below the bound. */
    report->bound = report->bound > 0 ? report->bound : 0;
    if (report->after < report->bound)
        report->after = report->bound;
    if (report->before < report->after && told->before >= told->after)
        report->before = report->after;
}

bool eki_donor_take_over(struct eki_balancer *balancer,
                         struct eki_parcel *parcel)
{
    const struct eki_result_told *told = eki_body_of(parcel);
    struct eki_balance_report *report = &balancer->report;
    if (!over_fits(balancer, parcel))
        return true;
    report_loads(balancer, told, report);
    report->fewest = told->fewest;
    report->fewest_across = told->fewest_across;
    report->is_quiet = told->is_quiet != 0;
    report->pause = told->pause;
    report->why_restore = (enum eki_why_restore)told->why_restore;
    report->why_steal = (enum eki_why_steal)told->why_steal;
    balancer->is_over = true;
    /* Where long tasks fit nowhere the result may be no better than what was:
     * then all tasks stay. */
    balancer->donor.is_undone =
        told->before - told->after < balancer->algorithm->least_gain;
    if (balancer->donor.is_undone) {
        report->after = report->before;
        return true;
    }
    report->moved = told->moved;
    report->across = told->across;
    report->hash = told->hash;
    return true;
}
