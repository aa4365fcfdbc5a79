/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replaying: a collection runs its tasks as a record tells (engine/replay.h).
 * Rank 0 reads an iteration at a time, and tells all ranks.
 */
#ifndef EKI_REPLAYING_H
#define EKI_REPLAYING_H

#include "engine/replay.h"
#include "record/record.h"

struct eki_replaying {
    struct eki_record *record; /* of rank 0; NULL: of another collection */
    int64_t next;              /* its iteration that may be the next */
    bool is_over;              /* rank 0 has said so */
    int stopped;               /* of the last one, or -1: it was not in it */
    bool has_warned;           /* of payloads */
    struct eki_replay replay;  /* of the open iteration ... */
    struct eki_record_payload *payloads; /* ... by place of a turn */
    int64_t payload_count;
};

/*
 * Replay the record DESTINATION, in which % stands for COLLECTION; "0": *MADE
 * stays NULL.  Local: rank 0 opens the file, and may fail with EK_ERR_FILE.
 */
ek_status eki_replaying_open(const char *destination, const char *collection,
                             const struct eki_engine *engine,
                             struct eki_replaying **made);
/* Collective: have ENGINE run its next process, ITERATION, by the record, which
 * has that; the same status on all ranks. */
ek_status eki_replaying_enter(struct eki_replaying *replaying,
                              struct eki_engine *engine, int64_t iteration);
/* Local, when the phase is left: EK_ERR_FILE where tasks of the record have not
 * run, unless that WAS_STOPPED. */
ek_status eki_replaying_leave(struct eki_replaying *replaying,
                              struct eki_engine *engine, bool was_stopped);
void eki_replaying_close(struct eki_replaying **replaying);

#endif
