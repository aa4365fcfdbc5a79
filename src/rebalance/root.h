/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * root: what all ranks have is summed up on its way to rank 0, which sets the
 * target; and so is what groups have come to.  Between these it shares what
 * groups have left (share.c).
 */
#ifndef EKI_REBALANCE_ROOT_H
#define EKI_REBALANCE_ROOT_H

#include "rebalance/balancer.h"

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
