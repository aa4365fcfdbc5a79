/* SPDX-License-Identifier: BSD-3-Clause */
/* What ek_plan() was given, checked and scaled. */
#include "collection/asked.h"

#include <math.h>

static bool may_plan(ek_restore_policy policy)
{
    return policy != EK_RESTORE_DEFAULT && policy != EK_RESTORE_ORIGINAL &&
           policy != EK_RESTORE_RETAIN;
}

/* Which policy is followed where options SET one. */
static ek_status resolve_policy(struct eki_asked *asked, ek_restore_policy set)
{
    char allowed[200] = "";
    if (asked->policy == EK_RESTORE_DEFAULT)
        asked->policy = may_plan(set) ? set : EK_RESTORE_AUTO;
    if (may_plan(asked->policy) &&
        eki_option_choice_name("restore", (int)asked->policy))
        return EK_OK;
    eki_choice_list(eki_option_choices("restore"), allowed, sizeof allowed);
    return eki_error(EK_ERR_ARG,
                     "ek_plan: policy %d is not allowed; allowed: default, "
                     "%s, but original and retain, which move nothing",
                     (int)asked->policy, allowed);
}

static ek_status check_count(const struct eki_asked *asked)
{
    if (asked->n < 0 || asked->n > INT32_MAX)
        return eki_error(EK_ERR_ARG,
                         "ek_plan: %lld items are not allowed; allowed: 0 to "
                         "%d on a rank",
                         (long long)asked->n, INT32_MAX);
    if (asked->n > 0 && !asked->seconds)
        return eki_error(EK_ERR_ARG, "ek_plan: seconds is NULL; allowed: NULL "
                                     "where there are no items");
    return EK_OK;
}

static ek_status check_costs(const struct eki_asked *asked, int rank)
{
    double load = 0;
    for (int64_t i = 0; i < asked->n; i++) {
        if (!(asked->seconds[i] >= 0) || !isfinite(asked->seconds[i]))
            return eki_error(EK_ERR_ARG,
                             "ek_plan: item %lld of rank %d costs %g; allowed: "
                             "0 or more, and finite",
                             (long long)i, rank, asked->seconds[i]);
        load += asked->seconds[i];
    }
    if (!isfinite(load))
        return eki_error(EK_ERR_ARG,
                         "ek_plan: the costs of rank %d are too large to be "
                         "summed; allowed: a finite sum",
                         rank);
    return EK_OK;
}

static ek_status check_bytes(const struct eki_asked *asked, int rank, int size)
{
    size_t left = ((size_t)1 << 62) / (size_t)size;
    for (int64_t i = 0; asked->bytes && i < asked->n; i++) {
        if (asked->bytes[i] > left)
            return eki_error(EK_ERR_ARG,
                             "ek_plan: items up to %lld of rank %d have too "
                             "many bytes; allowed: 2^62 over %d ranks",
                             (long long)i, rank, size);
        left -= asked->bytes[i];
    }
    return EK_OK;
}

ek_status eki_asked_check(struct eki_asked *asked,
                          const struct eki_settings *settings,
                          const struct eki_fabric *fabric)
{
    int set =
        eki_schedule_at(&settings->restore, 1, (int)settings->options.restore);
    EKI_TRY(resolve_policy(asked, (ek_restore_policy)set));
    EKI_TRY(check_count(asked));
    EKI_TRY(check_costs(asked, fabric->rank));
    return check_bytes(asked, fabric->rank, fabric->size);
}

/* What all ranks have, as far as costs are scaled by it. */
struct most {
    double load, cost;       /* of a rank, of an item */
    double gives, gives_not; /* 1: a rank with items gives their bytes or not */
};

static ek_status find_most(struct eki_fabric *fabric,
                           const struct eki_asked *asked, struct most *most)
{
    double values[4] = {0, 0, asked->n > 0 && asked->bytes,
                        asked->n > 0 && !asked->bytes};
    for (int64_t i = 0; i < asked->n; i++) {
        values[0] += asked->seconds[i];
        values[1] = fmax(values[1], asked->seconds[i]);
    }
    EKI_TRY(eki_fabric_mpi_max(fabric, values, 4));
    *most = (struct most){values[0], values[1], values[2], values[3]};
    if (most->gives == 0 || most->gives_not == 0)
        return EK_OK;
    ek_status status = EK_OK;
    if (asked->n > 0 && !asked->bytes)
        status = eki_error(EK_ERR_ARG,
                           "ek_plan: rank %d gives no bytes, and others do; "
                           "allowed: all ranks with items, or none",
                           fabric->rank);
    return eki_fabric_mpi_agree(fabric, status);
}

/* A cost times 2^SHIFT, in nanoseconds. */
static double scaled(double seconds, int shift)
{
    return ldexp(seconds, shift) * 1e9;
}

/* Shorter than rebalancers let durations be, and all of a rank such that those
 * of all ranks can be summed. */
static bool are_short(const struct most *most, int shift, int size)
{
    return scaled(most->cost, shift) <= (double)(INT64_MAX >> 20) &&
           scaled(most->load, shift) <= (double)(EKI_NS_MOST / size / 2);
}

/* 0, so that costs are what durations are, unless that is too long for sums or
 * too coarse for the largest cost. */
static int shift_of(const struct most *most, int size)
{
    const double fine = 1 << 20;
    int shift = 0;
    while (!are_short(most, shift, size))
        shift -= 10;
    while (most->cost > 0 && scaled(most->cost, shift) < fine &&
           are_short(most, shift + 10, size))
        shift += 10;
    return shift;
}

ek_status eki_asked_shift(const struct eki_asked *asked,
                          struct eki_fabric *fabric, int *shift)
{
    struct most most;
    EKI_TRY(find_most(fabric, asked, &most));
    *shift = shift_of(&most, fabric->size);
    return EK_OK;
}

ek_status eki_asked_items(const struct eki_asked *asked, int rank, int shift,
                          struct eki_balance_items *items)
{
    size_t n = (size_t)asked->n;
    eki_ns *ns = eki_alloc(n, sizeof *ns);
    int32_t *to = eki_alloc(n, sizeof *to);
    *items = (struct eki_balance_items){
        .count = asked->n, .ns = ns, .bytes = asked->bytes, .to = to};
    if (!ns || !to)
        return eki_error(EK_ERR_NOMEM, "ek_plan: no memory for %lld items",
                         (long long)asked->n);
    for (size_t i = 0; i < n; i++) {
        ns[i] = (eki_ns)(scaled(asked->seconds[i], shift) + 0.5);
        to[i] = rank;
    }
    return EK_OK;
}
