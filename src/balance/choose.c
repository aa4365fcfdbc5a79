/* SPDX-License-Identifier: BSD-3-Clause */
/* Restore and stealing of the next iteration, from those that were run. */
#include "balance/choose.h"

/* After the first lap, which warms up, only a larger imbalance is mended, and
 * only where nobody steals: long tasks are handed over else. */
#define IMBALANCE_AT_ONCE 0.2
/* A quiet lap must promise to take less time than one that steals by this part:
 * what nobody foresaw costs it more. */
#define QUIET_GAIN 0.05
/* The weight of the last lap in what laps lose. */
#define WEIGHT 0.5
/* What stealing lost beyond the imbalance is forgotten by this part in each
 * quiet lap. */
#define FORGOTTEN 0.05
#define PATIENCE_MOST 64
/* Asking all ranks takes at most this part of the laps, while nothing changes,
 * and so many go by at most. */
#define TALK_MOST 0.01
#define PAUSE_MOST 8

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void fail(struct eki_patience *patience)
{
    int64_t longer = patience->last == 0 ? 2 : 2 * patience->last;
    patience->last = longer < PATIENCE_MOST ? longer : PATIENCE_MOST;
    patience->left = patience->last;
}

static void wait(struct eki_patience *patience)
{
    if (patience->left > 0)
        patience->left--;
}

static void average(double *mean, double value)
{
    *mean = *mean < 0 ? value : *mean + WEIGHT * (value - *mean);
}

static void judge_rebalance(struct eki_chooser *chooser, double loss)
{
    if (loss < chooser->promised)
        chooser->rebalance.last = 0;
    else
        fail(&chooser->rebalance);
}

static void judge_quiet(struct eki_chooser *chooser, double loss)
{
    chooser->surprise = larger(loss - chooser->expected, 0);
    if (loss > chooser->stealing)
        fail(&chooser->quiet);
    else
        chooser->quiet.last = 0;
    chooser->stealing -=
        FORGOTTEN * larger(chooser->stealing - chooser->expected, 0);
}

void eki_choose_learn(struct eki_chooser *chooser, const struct eki_lap *lap)
{
    if (chooser->laps == 0)
        chooser->stealing = chooser->retained = chooser->last = -1;
    wait(&chooser->rebalance);
    wait(&chooser->quiet);
    if (chooser->lasted > 0 || chooser->has_moved)
        chooser->lasted += 1 + chooser->pause;
    chooser->wall_ns = lap->wall_ns;
    if (!(lap->wall_ns > 0) || !(lap->work_ns > 0)) {
        chooser->last = -1;
        return;
    }
    double loss = lap->wall_ns / lap->work_ns - 1;
    chooser->laps++;
    chooser->last = loss;
    chooser->has_spawned = lap->has_spawned;
    if (chooser->has_moved)
        judge_rebalance(chooser,
                        loss + chooser->share * lap->cost_ns / lap->work_ns);
    else if (chooser->laps > 1 && !lap->was_quiet)
        average(&chooser->retained, loss);
    if (chooser->is_quiet && lap->was_quiet)
        judge_quiet(chooser, loss);
    else if (chooser->laps > 1 && !lap->was_quiet)
        average(&chooser->stealing, loss);
}

static enum eki_why_restore why_restore(struct eki_chooser *chooser,
                                        const struct eki_outlook *outlook)
{
    double gain = outlook->largest_ns - outlook->target_ns;
    double lasts = outlook->iterations;
    double imbalance = outlook->largest_ns - outlook->mean_ns;
    bool is_first = outlook->done < 2;
    if (!(gain > 0))
        return EKI_RESTORE_EVEN;
    if (is_first && (outlook->may_steal ||
                     imbalance <= IMBALANCE_AT_ONCE * outlook->mean_ns))
        return EKI_RESTORE_WARMS;
    if (chooser->rebalance.left > 0)
        return EKI_RESTORE_FAILED;
    /* What stealing mends is not gained again. */
    if (!is_first && !chooser->is_quiet && outlook->may_steal &&
        chooser->last >= 0 && gain > chooser->last * outlook->mean_ns)
        gain = chooser->last * outlook->mean_ns;
    /* Nor does it last longer than the last time. */
    chooser->share = 0;
    if (chooser->lasted > 0 && lasts > (double)chooser->lasted)
        lasts = (double)chooser->lasted;
    if (chooser->lasted > 0)
        chooser->share = 1 / larger(lasts, 1);
    return gain * lasts < outlook->cost_ns ? EKI_RESTORE_COSTS
                                           : EKI_RESTORE_GAINS;
}

bool eki_choose_restore(struct eki_chooser *chooser,
                        const struct eki_outlook *outlook)
{
    chooser->why_restore = why_restore(chooser, outlook);
    return chooser->why_restore == EKI_RESTORE_GAINS;
}

static enum eki_why_steal why_steal(const struct eki_chooser *chooser,
                                    const struct eki_outlook *outlook)
{
    double quiet = chooser->expected +
                   (chooser->is_quiet ? chooser->surprise : outlook->noise);
    if (!outlook->may_steal)
        return EKI_STEAL_SET;
    if (chooser->laps < 2 || chooser->stealing < 0)
        return EKI_STEAL_LEARNS;
    if (chooser->has_spawned)
        return EKI_STEAL_SPAWNS;
    if (chooser->quiet.left > 0)
        return EKI_STEAL_FAILED;
    if (!chooser->is_quiet)
        quiet += QUIET_GAIN * (1 + chooser->stealing);
    return quiet < chooser->stealing ? EKI_STEAL_COSTS : EKI_STEAL_GAINS;
}

/* How long nobody needs to ask, where all is as it was. */
static int64_t pause_of(const struct eki_chooser *chooser,
                        const struct eki_outlook *outlook)
{
    double most = outlook->talk_ns / larger(TALK_MOST * chooser->wall_ns, 1);
    return most < PAUSE_MOST ? (int64_t)most : PAUSE_MOST;
}

void eki_choose_steal(struct eki_chooser *chooser,
                      const struct eki_outlook *outlook, double largest_ns,
                      bool has_moved)
{
    double imbalance = outlook->largest_ns / larger(outlook->mean_ns, 1) - 1;
    bool was_quiet = chooser->is_quiet;
    chooser->expected = largest_ns / larger(outlook->mean_ns, 1) - 1;
    chooser->why_steal = why_steal(chooser, outlook);
    chooser->is_quiet = chooser->why_steal == EKI_STEAL_COSTS;
    chooser->pause = has_moved || chooser->has_moved || chooser->laps < 2 ||
                             chooser->is_quiet != was_quiet
                         ? 0
                         : pause_of(chooser, outlook);
    chooser->has_moved = has_moved;
    if (has_moved)
        chooser->lasted = 0;
    chooser->promised =
        chooser->is_quiet || chooser->retained < 0 || !outlook->may_steal
            ? imbalance
            : chooser->retained;
}
