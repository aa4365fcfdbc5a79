/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * detect: the end of a process between nodes where it is not counted.
 *
 *     who has taken tasks -> who gave them   RECEIPT  of so many messages
 *
 * A node votes when nothing of it is open: it has no task, and no request that
 * is not answered (francez), or no message with tasks that is not acknowledged
 * (acknowledged).  It votes NO if tasks have left it since its last vote.  The
 * root ends the phase when nobody in a wave has voted NO.
 *
 * Each rank counts what it opens and closes (struct eki_rank_words):
 *
 *     opened  tasks are about to be enqueued; a request is about to leave; a
 *             message with tasks is about to leave that needs a receipt
 *     closed  tasks have left; a request is answered, and what came with the
 *             answer is enqueued; a receipt has come
 *
 * With created and executed of the workers, nothing of the node is open where
 * opened + created = closed + executed.  See detect.c.
 *
 * Paper: Francez, TOPLAS 1980, as in Lifflander, Krishnamoorthy, Kale, HPDC
 * 2012.
 */
#ifndef EKI_ENGINE_DETECT_H
#define EKI_ENGINE_DETECT_H

#include "engine/offers.h"

/* Of this phase; NULL: it is counted. */
const struct eki_detection *eki_detection_of(int detector);

/* Before the seeds are counted; begin with nothing open. */
void eki_detect_enter(struct eki_engine *engine);
/* The node's part of the vote; false: it may not vote yet. */
bool eki_detect_vote(struct eki_engine *engine, struct eki_vote *vote,
                     uint64_t now);
/* Root: whether the wave of this sum is the last one. */
bool eki_detect_is_last(const struct eki_vote *sum);
/* That vote has left. */
void eki_detect_voted(struct eki_engine *engine);
/* A message with tasks is to be taken by TAKER. */
enum eki_taken eki_detect_take(struct eki_protocol *taker,
                               const struct eki_message *message, uint64_t now);
enum eki_taken eki_detect_receipt(struct eki_engine *engine,
                                  const struct eki_message *message);
/* Send receipts, as far as there are buffers. */
void eki_detect_step(struct eki_engine *engine);

#endif
