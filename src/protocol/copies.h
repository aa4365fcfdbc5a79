/* SPDX-License-Identifier: BSD-3-Clause */
/* copies: seeds of another rank that came with one that was drawn; for
 * counter.c. */
#ifndef EKI_PROTOCOL_COPIES_H
#define EKI_PROTOCOL_COPIES_H

#include "protocol/counter.h"

/* How many seeds answer a FETCH of CHUNK: NUMBER, and those behind it that its
 * rank has, too; all of the chunk, if the message has room. */
int64_t eki_copies_behind(const struct eki_counter *counter, int64_t number,
                          int chunk);
/* What WISH fetches, of this rank, with copies of those behind it. */
int64_t eki_copies_fill(struct eki_counter *counter,
                        const struct eki_wish *wish, unsigned char *slots);
/* Keep them for worker HERE, in the buffer that it does not use; false: no
 * memory. */
bool eki_copies_keep(struct eki_counter *counter, int here,
                     const struct eki_message *message);
/* What was brought takes the place of the copies there were. */
void eki_copies_turn(struct eki_drawer *drawer);
/* The copy of seed NUMBER; NULL: there is none. */
const struct eki_slot *eki_copies_find(const struct eki_counter *counter,
                                       const struct eki_drawer *drawer,
                                       int64_t number);

#endif
