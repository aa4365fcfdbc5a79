/* SPDX-License-Identifier: BSD-3-Clause */
/* What to aim at, and what donors shed. */
#include "balance/balance.h"
#include "base/exact.h"

#include <math.h>

/* The tolerance where tasks are short and durations steady.  With it no case of
 * ek-bench balance moves more than 1.03 x the fewest tasks
 * (docs/explain/balancing.md).
 */
#define TOLERANCE_LEAST 0.003
/* The tolerance in mean tasks per worker's load, where tasks are long.  Groups
 * that aim closer find no task that fits: in a prototype exponential durations,
 * 26 tasks per worker, ended 0.4 % over the mean load at this tolerance, and
 * 2.3 % over it, for 1.5 x the moves, at a tenth of this tolerance. */
#define TOLERANCE_TASKS 0.1
/* Noise counts up to here: durations that vary more do not do so by noise
 * alone. */
#define NOISE_MOST 0.05

/* Tasks per worker below which one place decides for all: with 11 on 36,800
 * workers groups of 256 end 0.4 % above the target, with 7 on 1,504 ones 13 %;
 * with 21 on 18,400 at the target.  But no more than it can list in 20 ms. */
#define FEW_PER_WORKER 16
#define FEW_IN_ALL (1 << 20)
/* What the largest load must gain by that, in ns for each task: one place takes
 * 190 ns (393,316 tasks on a simulated hopper in 75 ms), and a rebalance shall
 * be worth its time within 16 iterations, a choice. */
#define GAIN_PER_TASK 12

static eki_ns mean_load(const struct eki_totals *totals)
{
    int64_t workers = totals->workers > 0 ? totals->workers : 1;
    return (totals->total + workers - 1) / workers;
}

/* What tasks can come to together, however short the longest is. */
static eki_ns shared_bound(const struct eki_totals *totals)
{
    eki_ns mean = mean_load(totals);
    return totals->crowd > mean ? totals->crowd : mean;
}

eki_ns eki_balance_bound(const struct eki_totals *totals)
{
    eki_ns bound = shared_bound(totals);
    return totals->largest_task > bound ? totals->largest_task : bound;
}

eki_ns eki_balance_target(const struct eki_totals *totals, double eps)
{
    eki_ns bound = eki_balance_bound(totals);
    return bound + (eki_ns)((double)bound * eps);
}

double eki_balance_noise(const struct eki_noise *noise,
                         const struct eki_totals *totals)
{
    if (totals->total <= 0 || totals->workers < 2)
        return 0;
    double workers = (double)totals->workers;
    double largest = (double)noise->largest * workers;
    double all = (double)noise->sum * sqrt(2 * eki_exact_log(workers));
    return (largest > all ? largest : all) / (double)totals->total;
}

double eki_balance_tolerance(const struct eki_totals *totals, double noise)
{
    double eps = TOLERANCE_LEAST;
    if (totals->tasks > 0) {
        double grain =
            TOLERANCE_TASKS * (double)totals->workers / (double)totals->tasks;
        eps = grain > eps ? grain : eps;
    }
    /* The longest task has no such tolerance: all others fit beside it. */
    eki_ns bound = eki_balance_bound(totals);
    if (bound > 0)
        eps = (1 + eps) * (double)shared_bound(totals) / (double)bound - 1;
    double heard = noise < NOISE_MOST ? noise : NOISE_MOST;
    return heard > eps ? heard : eps;
}

bool eki_balance_is_few(const struct eki_totals *totals)
{
    return totals->tasks < FEW_PER_WORKER * totals->workers &&
           totals->tasks <= FEW_IN_ALL;
}

bool eki_balance_is_worth_more(const struct eki_totals *totals, eki_ns excess)
{
    return totals->tasks <= FEW_IN_ALL &&
           excess > GAIN_PER_TASK * totals->tasks;
}

bool eki_balance_has_slack(const struct eki_totals *totals)
{
    return eki_balance_bound(totals) > mean_load(totals);
}

int64_t eki_balance_shed(const eki_ns *ns, int64_t count, eki_ns load,
                         eki_ns target, int32_t *shed)
{
    eki_ns excess = load - target;
    int64_t n = 0;
    while (excess > 0 && n < count && ns[n] < excess) {
        excess -= ns[n];
        shed[n] = (int32_t)n;
        n++;
    }
    if (excess <= 0 || n == count)
        return n;
    /* The shortest that covers the rest. */
    int64_t cover = n;
    while (cover + 1 < count && ns[cover + 1] >= excess)
        cover++;
    shed[n] = (int32_t)cover;
    return n + 1;
}

int64_t eki_balance_fewest(const eki_ns *ns, int64_t count, eki_ns load,
                           eki_ns target)
{
    int64_t n = 0;
    for (eki_ns excess = load - target; excess > 0 && n < count; n++)
        excess -= ns[n];
    return n;
}
