/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stock: seeds that were drawn for a node, of which its workers take; for
 * counter.c.
 *
 * A worker that finds little there lets its server draw, one rank of the node
 * at a time.  Rank 0 gives half of what is left for each node.  The server puts
 * copies of these seeds into the stock as far as there is room, in the order of
 * their numbers.  Workers take them in this order, some at once if they are
 * short.
 *
 *     copied <= taken <= filled <= what is known to be copied + room
 *
 * The room is that of the deque of the node's first server, to whom nothing is
 * brought while there is a counter.  What was taken is copied in any order, so
 * that slots are free up to where all was copied that was taken.
 *
 * Counts are cumulative over phases; at the end of each the stock is empty,
 * because its tasks have run, or were cancelled.
 */
#ifndef EKI_PROTOCOL_STOCK_H
#define EKI_PROTOCOL_STOCK_H

#include "protocol/counter.h"

/* Bring the next seeds to the stack of WORKER. */
enum eki_sought eki_stock_take(struct eki_counter *counter,
                               struct ek_worker *worker);
/* The server: fill it, as far as seeds are here; true: others may have to be
 * fetched. */
bool eki_stock_step(struct eki_counter *counter);
/* Whether more may come; *AWAITS, unless NULL: the same. */
bool eki_stock_calls(const struct eki_counter *counter, bool *awaits);

#endif
