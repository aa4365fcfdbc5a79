/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks have is summed up on its way to rank 0, which sets the target;
 * and so is what groups have come to. */
#include "rebalance/balancer.h"

/* Where tasks spawned more than this part of the work, nobody knows which
 * worker will have how much. */
#define SPAWNED 0.1

bool eki_root_open(struct eki_balancer *balancer)
{
    struct eki_root *root = &balancer->root;
    *root = (struct eki_root){.totals_relay = balancer->relays.all,
                              .results_relay = balancer->relays.all};
    eki_relay_expect(&root->totals_relay, EKI_PARCEL_TOTALS,
                     1 + eki_relay_children(&balancer->relays.all));
    root->totals =
        eki_totals_make(balancer, eki_relay_above(&balancer->relays.all));
    root->sizes = eki_alloc(1, sizeof *root->sizes);
    root->target = eki_alloc(1, eki_target_bytes(balancer));
    if (!root->totals || !root->sizes || !root->target)
        return false;
    root->sums = eki_body_of(root->totals);
    root->known = EKI_BEHIND(root->sums);
    return true;
}

void eki_root_free(struct eki_balancer *balancer)
{
    struct eki_root *root = &balancer->root;
    eki_free(root->totals);
    eki_free(root->sizes);
    eki_free(root->target);
    memset(root, 0, sizeof *root);
}

/* The tasks by size, which follow what is known of functions: how many classes.
 */
static int64_t sizes_in(const struct eki_balancer *balancer,
                        const struct eki_parcel *parcel,
                        const struct eki_size_told **sizes)
{
    size_t head =
        sizeof(struct eki_totals_told) +
        (size_t)balancer->engine->function_count * sizeof(struct eki_known);
    *sizes = (const struct eki_size_told *)(parcel->data + head);
    return (parcel->bytes - (int64_t)head) / (int64_t)sizeof **sizes;
}

static void add_totals(struct eki_balancer *balancer,
                       const struct eki_parcel *parcel)
{
    struct eki_root *root = &balancer->root;
    const struct eki_totals_told *told = eki_body_of(parcel);
    const struct eki_known *known = EKI_BEHIND(told);
    const struct eki_size_told *sizes;
    int64_t count = sizes_in(balancer, parcel, &sizes);
    eki_shape_fold(&eki_totals_shape, told, root->sums);
    for (int f = 0; f < balancer->engine->function_count; f++)
        eki_shape_fold(&eki_known_shape, &known[f], &root->known[f]);
    for (int64_t i = 0; i < count; i++)
        eki_sizes_merge(root->sizes, (int)sizes[i].size, sizes[i].count,
                        sizes[i].shortest);
}

/* The mean duration of a task where none was measured: any will do, for all
 * tasks then count by their hints alone.  In ns. */
#define MEAN_UNKNOWN 1e6

/* Mean duration of the tasks that were measured, of all functions. */
static double mean_task(const struct eki_balancer *balancer)
{
    double ns = 0, measured = 0;
    for (int f = 0; f < balancer->engine->function_count; f++) {
        ns += (double)balancer->root.known[f].measured_ns;
        measured += (double)balancer->root.known[f].measured;
    }
    return measured > 0 ? ns / measured : MEAN_UNKNOWN;
}

/* Nanoseconds of one unit of hint: the mean duration of the function, or
 * OTHERWISE where none of it was measured, over its mean hint. */
static double hint_ns(const struct eki_known *known, double otherwise)
{
    if (known->unmeasured == 0 || known->hints == 0)
        return 0;
    double mean = known->measured
                      ? (double)known->measured_ns / (double)known->measured
                      : otherwise;
    return mean * (double)known->unmeasured / (double)known->hints;
}

/* NS, but no more than MOST. */
static eki_ns bounded(double ns, eki_ns most)
{
    return ns < (double)most ? (eki_ns)ns : most;
}

/* Let tasks that were never measured count by their hints, in SCALES
 * nanoseconds per unit of each function. */
static void add_estimates(struct eki_balancer *balancer, double *scales)
{
    struct eki_root *root = &balancer->root;
    struct eki_totals *sums = &root->sums->totals;
    double mean = mean_task(balancer);
    for (int f = 0; f < balancer->engine->function_count; f++) {
        const struct eki_known *known = &root->known[f];
        scales[f] = hint_ns(known, mean);
        sums->total += bounded(scales[f] * (double)known->hints,
                               EKI_NS_MOST - sums->total);
        eki_ns largest =
            bounded(scales[f] * (double)known->largest_hint, EKI_NS_MOST);
        if (largest > sums->largest_task)
            sums->largest_task = largest;
        root->has_unmeasured |= known->unmeasured > 0;
    }
}

/* Let the total be in time of the workers, and the longest task in that of the
 * fastest. */
static void set_speeds(struct eki_root *root)
{
    const struct eki_speeds *speeds = &root->sums->speeds;
    struct eki_totals *totals = &root->sums->totals;
    double workers = (double)totals->workers;
    double sum = workers + (double)speeds->more / EKI_SPEED_UNIT;
    double least = workers / EKI_SPEED_MOST;
    if (speeds->more == 0 && speeds->faster == 0)
        return;
    root->target->faster = speeds->faster;
    totals->total =
        bounded((double)totals->total * workers / (sum > least ? sum : least),
                EKI_NS_MOST);
    totals->largest_task = (eki_ns)((double)totals->largest_task /
                                    eki_speed_fastest(speeds->faster));
    totals->crowd = 0; /* it counts workers as equal */
}

/* Whether the last rebalance came as far as loads are now, or almost, and no
 * further: then this one would not, either. */
static bool is_reached(const struct eki_balancer *balancer, eki_ns target)
{
    const struct eki_reached *reached = &balancer->past.last.reached;
    const struct eki_totals *totals = &balancer->root.sums->totals;
    return reached->ratio > 0 && reached->tasks == totals->tasks &&
           reached->group == balancer->wish.group &&
           (double)totals->largest_load <= (double)target * reached->ratio;
}

static void note_reached(struct eki_balancer *balancer)
{
    const struct eki_result_told *result = &balancer->root.result;
    const struct eki_totals *totals = &balancer->root.sums->totals;
    eki_ns bound = eki_balance_bound(totals);
    eki_ns after =
        result->after < result->before ? result->after : result->before;
    bool is_short = balancer->algorithm->remembers && after > balancer->target;
    balancer->past.last.reached = (struct eki_reached){
        .ratio = is_short && bound > 0 ? (double)after / (double)bound : 0,
        .tasks = totals->tasks,
        .group = balancer->wish.group};
}

/* What the iteration came to, as all ranks have told. */
static void learn(struct eki_balancer *balancer)
{
    const struct eki_lap_told *told = &balancer->root.sums->lap;
    const struct eki_totals *totals = &balancer->root.sums->totals;
    double seeds = (double)totals->total, work = (double)told->work;
    struct eki_lap lap = {
        .wall_ns = told->cancelled > 0 ? 0 : (double)told->wall,
        .work_ns = work / (double)totals->workers,
        .cost_ns = balancer->wish.outlook.cost_ns,
        .has_spawned = told->spawned > 0 && work - seeds > SPAWNED * work,
        .was_quiet = balancer->past.was_quiet};
    eki_choose_learn(&balancer->past.last.chooser, &lap);
}

static struct eki_outlook outlook_of(const struct eki_balancer *balancer,
                                     eki_ns target)
{
    const struct eki_totals *totals = &balancer->root.sums->totals;
    struct eki_outlook outlook = balancer->wish.outlook;
    outlook.mean_ns = (double)totals->total / (double)totals->workers;
    outlook.largest_ns = (double)totals->largest_load;
    outlook.target_ns = (double)target;
    outlook.noise = eki_balance_noise(&balancer->root.sums->noise, totals);
    return outlook;
}

void eki_root_aim(const struct eki_balancer *balancer,
                  struct eki_target_told *told)
{
    const struct eki_totals *totals = &told->totals;
    double eps = balancer->wish.eps;
    /* What is chosen learns from what it came to whether that is noise. */
    if (eps < 0)
        eps = eki_balance_tolerance(
            totals,
            balancer->wish.is_chosen
                ? 0
                : eki_balance_noise(&balancer->root.sums->noise, totals));
    told->target = eki_balance_target(totals, eps);
    told->is_whole = eki_balance_is_few(totals);
}

/* Whether all stays where it is.  What was never measured may hide a gain. */
static bool is_to_stay(struct eki_balancer *balancer, eki_ns target)
{
    struct eki_outlook *outlook = &balancer->root.outlook;
    bool gains =
        balancer->root.sums->totals.largest_load > target &&
        !(balancer->algorithm->remembers && is_reached(balancer, target));
    if (balancer->wish.is_chosen) {
        *outlook = outlook_of(balancer, target);
        if (!gains)
            outlook->target_ns = outlook->largest_ns;
        gains = eki_choose_restore(&balancer->past.last.chooser, outlook);
    }
    return !gains && !balancer->root.has_unmeasured;
}

/* Tell all ranks what came of it, and what was chosen. */
static bool send_over(struct eki_balancer *balancer,
                      struct eki_result_told *result)
{
    struct eki_chooser *chooser = &balancer->past.last.chooser;
    if (balancer->wish.is_chosen) {
        bool is_better = result->after < result->before;
        eki_choose_steal(chooser, &balancer->root.outlook,
                         (double)(is_better ? result->after : result->before),
                         is_better);
        result->is_quiet = chooser->is_quiet;
        result->pause = balancer->root.has_unmeasured ? 0 : chooser->pause;
        result->why_restore = chooser->why_restore;
        result->why_steal = chooser->why_steal;
    }
    return eki_mail_send_copy(&balancer->mail, 0, EKI_PARCEL_OVER, 0, result,
                              sizeof *result);
}

/* Tell all ranks what is too much. */
static bool send_target(struct eki_balancer *balancer)
{
    return eki_mail_send_copy(&balancer->mail, 0, EKI_PARCEL_TARGET, 0,
                              balancer->root.target,
                              (int64_t)eki_target_bytes(balancer));
}

/* All ranks have told what they have: choose the target, and tell them. */
static bool aim_at_first(struct eki_balancer *balancer)
{
    struct eki_root *root = &balancer->root;
    struct eki_totals *totals = &root->sums->totals;
    struct eki_target_told *told = root->target;
    totals->crowd = eki_sizes_bound(root->sizes, totals->workers);
    if (balancer->wish.is_chosen)
        learn(balancer);
    add_estimates(balancer, EKI_BEHIND(told));
    set_speeds(root);
    told->totals = *totals;
    told->slack = eki_balance_has_slack(totals);
    balancer->algorithm->aim(balancer, told);
    if (told->target > EKI_NS_MOST / totals->workers)
        told->target = EKI_NS_MOST / totals->workers;
    told->is_balanced = is_to_stay(balancer, told->target);
    struct eki_result_told unchanged = {.before = totals->largest_load,
                                        .after = totals->largest_load};
    return send_target(balancer) &&
           (!told->is_balanced || send_over(balancer, &unchanged));
}

/* What this rank and those below have, to the parent. */
static bool send_totals(struct eki_balancer *balancer)
{
    struct eki_parcel *totals = balancer->root.totals;
    eki_totals_add_sizes(totals, balancer->root.sizes);
    return eki_mail_send_copy(&balancer->mail, totals->rank, totals->what, 0,
                              totals->data, totals->bytes);
}

/* Classes of sizes, each once and none of more tasks than there can be. */
static bool sizes_fit(const struct eki_decode *decode,
                      const struct eki_size_told *sizes, int64_t count)
{
    int64_t least = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!eki_fits(decode, "size of tasks", sizes[i].size, least,
                      EKI_SIZES - 1) ||
            !eki_fits(decode, "tasks of a size", sizes[i].count, 1,
                      INT32_MAX) ||
            !eki_fits(decode, "shortest of a size", sizes[i].shortest, 0,
                      EKI_NS_MOST / (EKI_CROWD + 1)))
            return false;
        least = sizes[i].size + 1;
    }
    return true;
}

/* Sums stay below EKI_NS_MOST. */
static bool totals_fit(struct eki_balancer *balancer,
                       const struct eki_parcel *parcel)
{
    struct eki_root *root = &balancer->root;
    const struct eki_totals_told *told = eki_body_of(parcel);
    const struct eki_known *known = EKI_BEHIND(told);
    const struct eki_size_told *sizes;
    int64_t size_count = sizes_in(balancer, parcel, &sizes);
    if (!eki_fits_parcel(&parcel->decode, parcel,
                         (size_t)((const unsigned char *)sizes - parcel->data),
                         sizeof *sizes))
        return false;
    for (int f = 0; f < balancer->engine->function_count; f++) {
        if (!eki_fits_shape(&parcel->decode, &eki_known_shape, &known[f],
                            &root->known[f]))
            return false;
    }
    return eki_fits(&parcel->decode, "workers", told->totals.workers, 1,
                    balancer->topology->workers - root->sums->totals.workers) &&
           eki_fits_shape(&parcel->decode, &eki_totals_shape, told,
                          root->sums) &&
           sizes_fit(&parcel->decode, sizes, size_count) &&
           eki_relay_hears(&root->totals_relay, &parcel->decode, parcel->what);
}

bool eki_root_take_totals(struct eki_balancer *balancer,
                          struct eki_parcel *parcel)
{
    if (!totals_fit(balancer, parcel))
        return true;
    add_totals(balancer, parcel);
    if (balancer->root.totals_relay.awaited > 0)
        return true;
    return balancer->topology->rank == 0 ? aim_at_first(balancer)
                                         : send_totals(balancer);
}

/* Groups have ended short: all is decided once more, by one leader. */
static bool aim_as_one(struct eki_balancer *balancer)
{
    struct eki_root *root = &balancer->root;
    root->target->is_whole = true;
    root->result = (struct eki_result_told){0};
    return send_target(balancer);
}

bool eki_root_take_result(struct eki_balancer *balancer,
                          struct eki_parcel *parcel)
{
    struct eki_root *root = &balancer->root;
    if (!eki_fits_one(&parcel->decode, "targets before it",
                      balancer->has_target, true) ||
        !eki_fits_shape(&parcel->decode, &eki_result_shape, parcel->data,
                        &root->result) ||
        !eki_relay_hears(&root->results_relay, &parcel->decode, parcel->what))
        return true;
    eki_shape_fold(&eki_result_shape, parcel->data, &root->result);
    if (root->results_relay.awaited > 0)
        return true;
    if (balancer->topology->rank != 0)
        return eki_mail_send_copy(
            &balancer->mail, eki_relay_above(&balancer->relays.all),
            EKI_PARCEL_RESULT, 0, &root->result, sizeof root->result);
    if (balancer->groups > 1 &&
        eki_balance_is_worth_more(&root->sums->totals,
                                  root->result.after - balancer->target))
        return aim_as_one(balancer);
    note_reached(balancer);
    return send_over(balancer, &root->result);
}
