/* SPDX-License-Identifier: BSD-3-Clause */
/* What ek_plan() was given: its checks, and items as rebalancers know them. */
#ifndef EKI_COLLECTION_ASKED_H
#define EKI_COLLECTION_ASKED_H

#include "base/options.h"
#include "collection/calls.h"
#include "rebalance/rebalance.h"

#include <evenkeel_plan.h>

struct eki_asked {
    int64_t n;
    const double *seconds;
    const size_t *bytes;
    ek_restore_policy policy;
};

/* What this rank can say by itself; resolves the policy. */
ek_status eki_asked_check(struct eki_asked *asked,
                          const struct eki_settings *settings,
                          const struct eki_fabric *fabric);
/* Costs count 2^SHIFT times on all ranks; either all give bytes or none;
 * collective. */
ek_status eki_asked_shift(const struct eki_asked *asked,
                          struct eki_fabric *fabric, int *shift);
/* Items of RANK, which the caller frees. */
ek_status eki_asked_items(const struct eki_asked *asked, int rank, int shift,
                          struct eki_balance_items *items);

#endif
