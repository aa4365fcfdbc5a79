/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listing: what a worker has run in a phase that the engine has left and nobody
 * has restored, in the order in which it ran, packed for a record.
 */
#ifndef EKI_LISTING_H
#define EKI_LISTING_H

#include "record/record.h"

struct ek_worker;

/* What a worker has run earlier in an iteration that has paused. */
struct eki_listing {
    struct eki_record_pack tasks, families, spans;
    int64_t nulls; /* of the tasks */
};

/* Add what WORKER has run; false, here and below: no memory. */
bool eki_listing_add(struct eki_listing *listing, struct ek_worker *worker);
/* Pack all of WORKER: what it has run, behind what it ran EARLIER, which may be
 * NULL; and what its counters say of those that are not listed. */
bool eki_listing_pack(const struct eki_listing *earlier,
                      struct ek_worker *worker, struct eki_record_pack *pack);
void eki_listing_free(struct eki_listing *listing);

#endif
