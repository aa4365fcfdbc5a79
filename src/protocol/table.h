/* SPDX-License-Identifier: BSD-3-Clause */
/* table: which numbers of the counter each rank holds, and from when on all
 * know; for counter.c. */
#ifndef EKI_PROTOCOL_TABLE_H
#define EKI_PROTOCOL_TABLE_H

#include "protocol/counter.h"

static inline bool eki_table_is_ready(const struct eki_counter *counter)
{
    /* acquire: pairs with the release in set_ready(): the table is filled. */
    return atomic_load_explicit(&counter->is_ready, memory_order_acquire);
}

static inline bool eki_table_is_void(const struct eki_counter *counter)
{
    /* relaxed: a worker that sees it takes back what nobody else touches. */
    return atomic_load_explicit(&counter->is_void, memory_order_relaxed);
}

/* Begin with what this rank has, whose seeds are hidden from its workers. */
void eki_table_enter(struct eki_counter *counter,
                     const struct eki_phase *phase);
/* Tell what others are to hear, as far as there are buffers; on rank 0 open the
 * counter when all is known. */
void eki_table_step(struct eki_counter *counter);
/* SEEDS or TABLE. */
enum eki_taken eki_table_take(struct eki_counter *counter,
                              const struct eki_message *message);

#endif
