/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leader: the rank of a group's first worker places what the group has shed.
 *
 *     OFFERS   OFFER    places all; of several groups it tells what is LEFT
 *     GIVEN    GIVEN    places that, too
 *     OPENED   OPENED   goes on: an OPEN for more, or the PLAN and a RESULT
 *     OVER              knows nothing more to do
 */
#ifndef EKI_REBALANCE_LEADER_H
#define EKI_REBALANCE_LEADER_H

#include "rebalance/balancer.h"

bool eki_leader_open(struct eki_balancer *balancer);
void eki_leader_close(struct eki_balancer *balancer);
eki_parcel_fn eki_leader_take_offers;
eki_parcel_fn eki_leader_take_opened;
eki_parcel_fn eki_leader_take_given;
/* Place all items of the pool, or ask for more. */
bool eki_leader_settle(struct eki_balancer *balancer,
                       struct eki_leader *leader);
/* All items of the pool have places: tell where, and what came of it. */
bool eki_leader_finish(struct eki_balancer *balancer,
                       struct eki_leader *leader);

#endif
