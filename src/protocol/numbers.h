/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers: what the numbers of the counter stand for; for counter.c. */
#ifndef EKI_PROTOCOL_NUMBERS_H
#define EKI_PROTOCOL_NUMBERS_H

#include "protocol/counter.h"

/* Entries of the table of this phase, without the last one. */
static inline int eki_numbers_entries(const struct eki_counter *counter)
{
    return counter->classes * counter->protocol.engine->topology->size;
}
/* How many numbers there are, of the seeds of all ranks. */
static inline int64_t eki_numbers_all(const struct eki_counter *counter)
{
    return counter->table[eki_numbers_entries(counter)].first;
}
/* The rank whose seeds ENTRY has. */
static inline int eki_numbers_rank(const struct eki_counter *counter, int entry)
{
    return entry % counter->protocol.engine->topology->size;
}
/* What this rank has, with its seeds hidden from its workers: they lie where
 * they were added. */
void eki_numbers_gather(struct eki_counter *counter,
                        const struct eki_phase *phase);
/* Rank 0: counts become first numbers, and the work of each what is left with
 * it; the last entry of the table is the end. */
void eki_numbers_assign(struct eki_counter *counter);
/* The first of the next numbers, at least CHUNK, *COUNT of them: as many, or as
 * are guided. */
int64_t eki_numbers_draw(const struct eki_counter *counter, int chunk,
                         int *count);
/* Cancel what nobody has drawn, in a job of one rank whose table is ready; how
 * many. */
int64_t eki_numbers_cancel(struct eki_counter *counter);
/* ... and give it back to the workers who hold it, when nobody draws. */
void eki_numbers_give_back(struct eki_counter *counter);
/* The entry of NUMBER, which is less than the sum. */
int eki_numbers_entry(const struct eki_counter *counter, int64_t number);
/* NUMBER of ENTRY, of a rank, as that counts its seeds. */
int64_t eki_numbers_place(const struct eki_counter *counter, int entry,
                          int64_t number);
/* The rank that holds NUMBER. */
int eki_numbers_holder(const struct eki_counter *counter, int64_t number);
/* Whether NUMBER is that of a seed of this rank, as its table says. */
bool eki_numbers_are_held(const struct eki_counter *counter, int64_t number);
/* Seed J of this rank to SLOT; CURSOR: where the last one was. */
void eki_numbers_copy(const struct eki_counter *counter, int64_t j,
                      struct eki_cursor *cursor, struct eki_slot *slot);
/* Index J of the run that is ENTRY to SLOT. */
void eki_numbers_make(const struct eki_counter *counter, int entry, int64_t j,
                      struct eki_slot *slot);

#endif
