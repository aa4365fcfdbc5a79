/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * printed: Algorithms 1 and 2 of HPDC'12 as printed, to compare with: in place
 * of what src/rebalance does between the target and the result.
 *
 * Workers shed their shortest tasks above C x mean load.  Centralized: the
 * longest task goes to the least loaded worker.  Hierarchical: the same in a
 * tree of workers, up while a child is below D x mean load, down for what is
 * left.  What is no worse than before is done, though nothing may be gained.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3.
 */
#ifndef EKI_PRINTED_H
#define EKI_PRINTED_H

#include "rebalance/rebalance.h"

/* The algorithm that a wish with these constants names. */
const struct eki_algorithm *
eki_printed_algorithm(const struct eki_hpdc12 *constants);

/*
 * The wish of a restore policy that rebalances WORKERS, as options.balance_...
 * say; EK_RESTORE_AUTO: two levels where one rank would decide for too many.
 */
struct eki_balance_wish eki_balance_wish_of(ek_restore_policy policy,
                                            int workers,
                                            const struct eki_options *options);

/* As eki_balance_shed(), but the shortest. */
int64_t eki_balance_shed_shortest(const eki_ns *ns, int64_t count, eki_ns load,
                                  eki_ns target, int32_t *shed);
/* Algorithm 1: place all items, each on the least loaded worker.  False: no
 * memory. */
bool eki_pool_greedy(struct eki_pool *pool);

#endif
