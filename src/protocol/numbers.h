/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers: what the numbers of the counter stand for; for counter.c. */
#ifndef EKI_PROTOCOL_NUMBERS_H
#define EKI_PROTOCOL_NUMBERS_H

#include "protocol/counter.h"

/* What this rank has, with its seeds hidden from its workers: they lie where
 * they were added. */
struct eki_seeds eki_numbers_gather(struct eki_counter *counter);
/* Rank 0: counts become first numbers; entry `size` of the table is their sum.
 */
void eki_numbers_assign(struct eki_counter *counter);
/* The first of the next numbers, at least CHUNK, *COUNT of them: as many, or as
 * are guided. */
int64_t eki_numbers_draw(const struct eki_counter *counter, int chunk,
                         int *count);
/* The rank that holds NUMBER, which is less than the sum. */
int eki_numbers_holder(const struct eki_counter *counter, int64_t number);
/* Whether NUMBER is that of a seed of this rank, as its table says. */
bool eki_numbers_are_held(const struct eki_counter *counter, int64_t number);
/* Seed J of this rank to SLOT; CURSOR: where the last one was. */
void eki_numbers_copy(const struct eki_counter *counter, int64_t j,
                      struct eki_cursor *cursor, struct eki_slot *slot);
/* Index J of the run of RANK to SLOT. */
void eki_numbers_make(const struct eki_counter *counter, int rank, int64_t j,
                      struct eki_slot *slot);

#endif
