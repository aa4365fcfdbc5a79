/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a rebalance sets the target, and passes tasks between groups. */
#include "rebalance/balancer.h"

#include <math.h>

bool eki_root_open(struct eki_balancer *balancer)
{
    struct eki_root *root = &balancer->root;
    memset(root, 0, sizeof *root);
    if (balancer->engine->topology->rank != 0)
        return true;
    root->known = eki_alloc((size_t)balancer->engine->function_count,
                            sizeof *root->known);
    root->sizes = eki_alloc(1, sizeof *root->sizes);
    root->has_totals = eki_alloc((size_t)balancer->engine->topology->size,
                                 sizeof *root->has_totals);
    root->has_result =
        eki_alloc((size_t)balancer->groups, sizeof *root->has_result);
    root->told = eki_alloc((size_t)balancer->groups, sizeof *root->told);
    root->left = eki_alloc((size_t)balancer->groups, sizeof *root->left);
    return root->known && root->sizes && root->has_totals && root->has_result &&
           root->told && root->left;
}

void eki_root_free(struct eki_balancer *balancer)
{
    struct eki_root *root = &balancer->root;
    for (int g = 0; root->left && g < balancer->groups; g++)
        eki_free(root->left[g]);
    eki_free(root->known);
    eki_free(root->sizes);
    eki_free(root->has_totals);
    eki_free(root->has_result);
    eki_free(root->told);
    eki_free(root->left);
    memset(root, 0, sizeof *root);
}

/* The tasks by size, which follow what is KNOWN of functions: how many classes.
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

static void add_sizes(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    const struct eki_size_told *sizes;
    int64_t count = sizes_in(balancer, parcel, &sizes);
    for (int64_t i = 0; i < count; i++)
        eki_sizes_merge(balancer->root.sizes, (int)sizes[i].size,
                        sizes[i].count, sizes[i].shortest);
}

static void add_totals(struct eki_balancer *balancer,
                       const struct eki_parcel *parcel)
{
    struct eki_root *root = &balancer->root;
    const struct eki_totals_told *told =
        (const struct eki_totals_told *)parcel->data;
    const struct eki_known *known = (const struct eki_known *)(told + 1);
    struct eki_totals *sum = &root->totals;
    if (told->variance > root->variance)
        root->variance = told->variance;
    sum->total += told->totals.total;
    sum->workers += told->totals.workers;
    sum->tasks += told->totals.tasks;
    if (told->totals.largest_load > sum->largest_load)
        sum->largest_load = told->totals.largest_load;
    if (told->totals.largest_task > sum->largest_task)
        sum->largest_task = told->totals.largest_task;
    for (int f = 0; f < balancer->engine->function_count; f++) {
        root->known[f].measured += known[f].measured;
        root->known[f].measured_ns += known[f].measured_ns;
        root->known[f].unmeasured += known[f].unmeasured;
        root->known[f].hints += known[f].hints;
        if (known[f].largest_hint > root->known[f].largest_hint)
            root->known[f].largest_hint = known[f].largest_hint;
    }
    add_sizes(balancer, parcel);
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
 * nanoseconds per unit of each function; returns whether there are any. */
static bool add_estimates(struct eki_balancer *balancer, double *scales)
{
    struct eki_root *root = &balancer->root;
    double mean = mean_task(balancer);
    bool has_unmeasured = false;
    for (int f = 0; f < balancer->engine->function_count; f++) {
        const struct eki_known *known = &root->known[f];
        scales[f] = hint_ns(known, mean);
        root->totals.total += bounded(scales[f] * (double)known->hints,
                                      EKI_NS_MOST - root->totals.total);
        eki_ns largest =
            bounded(scales[f] * (double)known->largest_hint, EKI_NS_MOST);
        if (largest > root->totals.largest_task)
            root->totals.largest_task = largest;
        has_unmeasured |= known->unmeasured > 0;
    }
    return has_unmeasured;
}

/* How far the largest load of so many workers strays from the mean by noise
 * alone: its deviation times sqrt(2 ln P). */
static double noise_of(const struct eki_root *root)
{
    double workers = (double)root->totals.workers;
    double mean = (double)root->totals.total / workers;
    if (!(mean > 0) || root->totals.workers < 2)
        return 0;
    return sqrt(root->variance) / mean * sqrt(2 * log(workers));
}

static eki_ns target_of(const struct eki_balancer *balancer)
{
    const struct eki_totals *totals = &balancer->root.totals;
    double eps = balancer->wish.eps;
    if (balancer->wish.is_printed)
        return (eki_ns)(balancer->wish.printed.shed * (double)totals->total /
                        (double)totals->workers);
    if (eps < 0)
        eps = eki_balance_tolerance(totals, noise_of(&balancer->root));
    return eki_balance_target(totals, eps);
}

/* Whether the last rebalance came as far as loads are now, or almost, and no
 * further: then this one would not, either. */
static bool is_reached(const struct eki_balancer *balancer, eki_ns target)
{
    const struct eki_reached *reached = &balancer->reached;
    const struct eki_totals *totals = &balancer->root.totals;
    return reached->ratio > 0 && reached->tasks == totals->tasks &&
           reached->group == balancer->wish.group &&
           (double)totals->largest_load <= (double)target * reached->ratio;
}

static void note_reached(struct eki_balancer *balancer)
{
    const struct eki_result_told *result = &balancer->root.result;
    const struct eki_totals *totals = &balancer->root.totals;
    eki_ns bound = eki_balance_bound(totals);
    eki_ns after =
        result->after < result->before ? result->after : result->before;
    bool is_short = !balancer->wish.is_printed && after > balancer->target;
    balancer->reached = (struct eki_reached){
        .ratio = is_short && bound > 0 ? (double)after / (double)bound : 0,
        .tasks = totals->tasks,
        .group = balancer->wish.group};
}

static void choose_target(struct eki_balancer *balancer,
                          struct eki_target_told *told, bool has_unmeasured)
{
    const struct eki_totals *totals = &balancer->root.totals;
    eki_ns gain;
    told->target = target_of(balancer);
    if (told->target > EKI_NS_MOST / totals->workers)
        told->target = EKI_NS_MOST / totals->workers;
    told->slack = eki_balance_has_slack(totals);
    told->totals = *totals;
    told->is_whole = !balancer->wish.is_printed && eki_balance_is_few(totals);
    gain = totals->largest_load - told->target;
    /* All stays where there is nothing to gain, or less than it costs.  What
     * was never measured may hide a gain. */
    told->is_balanced =
        !has_unmeasured &&
        (gain <= 0 ||
         (!balancer->wish.is_printed && is_reached(balancer, told->target)) ||
         (double)gain * balancer->wish.iterations < balancer->wish.cost_ns);
}

/* Send a copy of DATA to every rank.  False: no memory, some go without. */
static bool send_to_all(struct eki_balancer *balancer, int what,
                        const void *data, int64_t bytes)
{
    for (int r = 0; r < balancer->engine->topology->size; r++) {
        if (!eki_mail_send_copy(&balancer->mail, r, what, 0, data, bytes))
            return false;
    }
    return true;
}

/* All stays as it is. */
static bool send_balanced(struct eki_balancer *balancer)
{
    eki_ns largest = balancer->root.totals.largest_load;
    struct eki_result_told result = {.before = largest, .after = largest};
    return send_to_all(balancer, EKI_PARCEL_OVER, &result, sizeof result);
}

static bool send_target(struct eki_balancer *balancer)
{
    int64_t bytes =
        (int64_t)(sizeof(struct eki_target_told) +
                  (size_t)balancer->engine->function_count * sizeof(double));
    struct eki_target_told *told = eki_alloc(1, (size_t)bytes);
    if (!told)
        return false;
    balancer->root.totals.crowd =
        eki_sizes_bound(balancer->root.sizes, balancer->root.totals.workers);
    bool has_unmeasured = add_estimates(balancer, (double *)(told + 1));
    choose_target(balancer, told, has_unmeasured);
    bool done = (!told->is_whole || eki_leader_whole(balancer)) &&
                send_to_all(balancer, EKI_PARCEL_TARGET, told, bytes) &&
                (!told->is_balanced || send_balanced(balancer));
    eki_free(told);
    return done;
}

static int64_t items_in(const struct eki_parcel *left)
{
    return (left->bytes - (int64_t)sizeof(struct eki_group)) /
           (int64_t)sizeof(struct eki_item);
}

static int64_t count_left(const struct eki_balancer *balancer)
{
    int64_t count = 0;
    for (int g = 0; g < balancer->groups; g++)
        count += items_in(balancer->root.left[g]);
    return count;
}

/* What all groups left to ITEMS, and what each is like. */
static void copy_left(struct eki_balancer *balancer, struct eki_item *items)
{
    struct eki_root *root = &balancer->root;
    for (int g = 0; g < balancer->groups; g++) {
        const struct eki_group *told =
            (const struct eki_group *)root->left[g]->data;
        int64_t n = items_in(root->left[g]);
        root->told[g] = *told;
        memcpy(items, told + 1, (size_t)n * sizeof *items);
        items += n;
    }
}

static bool send_given(struct eki_balancer *balancer, int group,
                       const struct eki_item *items, const int32_t *given,
                       int64_t count)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        n += given[i] == group;
    int leader = eki_topology_rank(balancer->engine->topology,
                                   group * balancer->group_size);
    struct eki_parcel *parcel = eki_mail_make(
        leader, EKI_PARCEL_GIVEN, group, n * (int64_t)sizeof(struct eki_item));
    if (!parcel)
        return false;
    struct eki_item *put = (struct eki_item *)parcel->data;
    for (int64_t i = 0; i < count; i++) {
        if (given[i] == group)
            *put++ = items[i];
    }
    eki_mail_send(&balancer->mail, parcel);
    return true;
}

static bool send_all_given(struct eki_balancer *balancer,
                           const struct eki_item *items, const int32_t *given,
                           int64_t count)
{
    for (int g = 0; g < balancer->groups; g++) {
        if (!send_given(balancer, g, items, given, count))
            return false;
    }
    return true;
}

/* Give what all groups left, longest first, to groups that have room. */
static bool share(struct eki_balancer *balancer)
{
    int64_t count = count_left(balancer);
    bool done = false;
    struct eki_item *items = eki_alloc((size_t)count, sizeof *items);
    if (!items)
        return false;
    copy_left(balancer, items);
    if (!eki_items_sort(items, count))
        goto free_items;
    int32_t *given = eki_alloc((size_t)count, sizeof *given);
    if (!given)
        goto free_items;
    done = eki_groups_share(balancer->root.told, balancer->groups, items, count,
                            given) &&
           send_all_given(balancer, items, given, count);
    eki_free(given);
free_items:
    eki_free(items);
    return done;
}

static void add_result(struct eki_result_told *sum,
                       const struct eki_result_told *told)
{
    if (told->before > sum->before)
        sum->before = told->before;
    if (told->after > sum->after)
        sum->after = told->after;
    sum->moved += told->moved;
    sum->fewest += told->fewest;
    sum->hash += told->hash;
}

static bool take_result(struct eki_balancer *balancer,
                        const struct eki_result_told *told)
{
    struct eki_root *root = &balancer->root;
    add_result(&root->result, told);
    if (++root->results_heard < balancer->groups)
        return true;
    note_reached(balancer);
    return send_to_all(balancer, EKI_PARCEL_OVER, &root->result,
                       sizeof root->result);
}

/* Add VALUE to what a field of all ranks comes to, if that fits. */
static bool fits_sum(const struct eki_decode *decode, const char *field,
                     int64_t value, int64_t sum)
{
    return eki_fits(decode, field, value, 0, EKI_NS_MOST - sum);
}

static bool known_fits(const struct eki_decode *decode,
                       const struct eki_known *known,
                       const struct eki_known *sum)
{
    return fits_sum(decode, "measured tasks", known->measured, sum->measured) &&
           fits_sum(decode, "measured time", known->measured_ns,
                    sum->measured_ns) &&
           fits_sum(decode, "tasks never measured", known->unmeasured,
                    sum->unmeasured) &&
           eki_fits(decode, "hints", known->hints, 0, INT64_MAX - sum->hints) &&
           eki_fits(decode, "largest hint", known->largest_hint, 0,
                    EKI_NS_MOST);
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

/* From a rank of which nothing was heard; sums stay below EKI_NS_MOST. */
static bool totals_fit(const struct eki_balancer *balancer,
                       const struct eki_parcel *parcel)
{
    const struct eki_root *root = &balancer->root;
    const int *first = &balancer->engine->topology->first_worker[parcel->rank];
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_totals_told *told =
        (const struct eki_totals_told *)parcel->data;
    const struct eki_known *known = (const struct eki_known *)(told + 1);
    const struct eki_totals *totals = &told->totals;
    const struct eki_size_told *sizes;
    int64_t size_count = sizes_in(balancer, parcel, &sizes);
    if (!eki_fits_parcel(&decode, parcel,
                         (size_t)((const unsigned char *)sizes - parcel->data),
                         sizeof *sizes))
        return false;
    bool is_variance = told->variance >= 0 && told->variance <= 1e300;
    for (int f = 0; f < balancer->engine->function_count; f++) {
        if (!known_fits(&decode, &known[f], &root->known[f]))
            return false;
    }
    return eki_fits_one(&decode, "totals before it",
                        root->has_totals[parcel->rank], false) &&
           fits_sum(&decode, "total", totals->total, root->totals.total) &&
           fits_sum(&decode, "tasks", totals->tasks, root->totals.tasks) &&
           eki_fits_one(&decode, "workers", totals->workers,
                        first[1] - first[0]) &&
           eki_fits(&decode, "largest load", totals->largest_load, 0,
                    EKI_NS_MOST) &&
           eki_fits(&decode, "largest task", totals->largest_task, 0,
                    EKI_NS_MOST) &&
           eki_fits_one(&decode, "finite variance", is_variance, true) &&
           sizes_fit(&decode, sizes, size_count);
}

/* What a group is like, and tasks of its workers; once. */
static bool left_fits(struct eki_balancer *balancer,
                      const struct eki_parcel *parcel)
{
    struct eki_root *root = &balancer->root;
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_group *group = (const struct eki_group *)parcel->data;
    int begin = parcel->group * balancer->group_size;
    int rest = balancer->engine->topology->workers - begin;
    int workers = rest < balancer->group_size ? rest : balancer->group_size;
    if (!eki_fits_one(&decode, "parcels before it",
                      root->left[parcel->group] != NULL, false) ||
        !eki_fits_parcel(&decode, parcel, sizeof *group,
                         sizeof(struct eki_item)) ||
        !eki_fits(&decode, "spare", group->spare, -EKI_NS_MOST, EKI_NS_MOST) ||
        !eki_fits_one(&decode, "workers", group->workers, workers))
        return false;
    for (int i = 0; i < EKI_GROUP_HOLES; i++) {
        if (!eki_fits(&decode, "hole", group->holes[i], -EKI_NS_MOST,
                      EKI_NS_MOST))
            return false;
    }
    return eki_fits_items(&decode, (const struct eki_item *)(group + 1),
                          items_in(parcel), begin, begin + workers - 1,
                          &root->sum);
}

static bool result_fits(const struct eki_balancer *balancer,
                        const struct eki_parcel *parcel)
{
    const struct eki_root *root = &balancer->root;
    struct eki_decode decode = eki_parcel_decode(balancer, parcel);
    const struct eki_result_told *told =
        (const struct eki_result_told *)parcel->data;
    return eki_fits_one(&decode, "results before it",
                        root->has_result[parcel->group], false) &&
           eki_fits(&decode, "load before", told->before, 0, EKI_NS_MOST) &&
           eki_fits(&decode, "load after", told->after, 0, EKI_NS_MOST) &&
           fits_sum(&decode, "tasks that move", told->moved,
                    root->result.moved) &&
           fits_sum(&decode, "fewest", told->fewest, root->result.fewest);
}

bool eki_root_take(struct eki_balancer *balancer, struct eki_parcel *parcel,
                   bool *kept)
{
    struct eki_root *root = &balancer->root;
    switch (parcel->what) {
    case EKI_PARCEL_TOTALS:
        if (!totals_fit(balancer, parcel))
            return true;
        root->has_totals[parcel->rank] = true;
        add_totals(balancer, parcel);
        return ++root->totals_heard < balancer->engine->topology->size ||
               send_target(balancer);
    case EKI_PARCEL_LEFT:
        if (!left_fits(balancer, parcel))
            return true;
        root->left[parcel->group] = parcel;
        *kept = true;
        return ++root->left_heard < balancer->groups || share(balancer);
    default:
        if (!result_fits(balancer, parcel))
            return true;
        root->has_result[parcel->group] = true;
        return take_result(balancer,
                           (const struct eki_result_told *)parcel->data);
    }
}
