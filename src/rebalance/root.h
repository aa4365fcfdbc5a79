/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * root: what all ranks have is summed up on its way to rank 0, which sets the
 * target; and so is what groups have come to.  Between these it shares what
 * groups have left (share.c).
 */
#ifndef EKI_REBALANCE_ROOT_H
#define EKI_REBALANCE_ROOT_H

#include "rebalance/messages.h"
#include "rebalance/relay.h"

/* What this rank and those that hang on it have told in this phase. */
struct eki_root {
    struct eki_relay totals_relay, results_relay;
    struct eki_totals_told sums;
    struct eki_known *known; /* [functions] */
    struct eki_sizes *sizes;
    struct eki_result_told result;
    /* Of rank 0. */
    struct eki_outlook outlook;
    bool has_unmeasured; /* tasks */
    eki_ns left;         /* sum of the tasks that were */
};

bool eki_root_open(struct eki_balancer *balancer);
void eki_root_free(struct eki_balancer *balancer);
eki_parcel_fn eki_root_take_totals;
eki_parcel_fn eki_root_take_result;
/* Aim as src/balance does. */
void eki_root_aim(const struct eki_balancer *balancer,
                  struct eki_target_told *told);
/* What all groups have left. */
eki_parcel_fn eki_share_take;

#endif
