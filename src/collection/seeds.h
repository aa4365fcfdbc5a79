/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeds: how they are added and numbered, until a collective call. */
#ifndef EKI_COLLECTION_SEEDS_H
#define EKI_COLLECTION_SEEDS_H

#include "collection/collection.h"
#include "task/key.h"

/* Of the calling thread's seeds. */
static inline struct eki_dealer *eki_dealer_here(ek_collection *tasks)
{
    return tasks->seeds.home_thread == eki_thread_identity()
               ? &tasks->seeds.home
               : &tasks->seeds.foreign.dealer;
}

/* Take N numbers in a row; returns the first. */
static inline uint64_t eki_dealer_take(struct eki_dealer *dealer, uint64_t n)
{
    if (EKI_UNLIKELY(n > dealer->last_id - dealer->next_id))
        dealer->next_id = dealer->first_id;
    uint64_t first = dealer->next_id;
    dealer->next_id += n;
    return first;
}

/* Where part I of PARTS equal ones of N begins. */
static inline int64_t eki_part_start(int64_t n, int parts, int i)
{
    int64_t rest = n % parts;
    return n / parts * i + (i < rest ? i : rest);
}

/* Fill a slot that was added to seeds. */
static inline void eki_seed_fill(struct eki_slot *slot, ek_function function,
                                 const void *payload, size_t bytes, uint64_t id)
{
    eki_slot_head(slot, function, bytes, EKI_SLOT_SEED, id);
    eki_copy_payload(slot, payload, bytes);
}

/* This thread is the home thread; the inlets of workers are made later. */
void eki_adding_open(struct eki_adding *seeds, uint32_t slot_bytes);
/* Whether CALL may take the numbers of N tasks, or other THINGS, at once. */
ek_status eki_collection_check_numbers(ek_collection *tasks, const char *call,
                                       int64_t n, const char *things);
/* Deal equal parts of a range to the workers of this rank; there are numbers.
 */
ek_status eki_collection_deal(ek_collection *tasks, ek_function function,
                              struct eki_range range);
/* Show VISITOR what this rank holds, as ek_visit_tasks() does; it may shorten
 * ranges. */
ek_status eki_collection_visit(ek_collection *tasks, ek_visit_fn *visitor,
                               void *context);
/* ek_set_range() of CALL. */
ek_status eki_collection_set_range(ek_collection *tasks, const char *call,
                                   ek_function function, int64_t n);
/* Hand the seeds that other threads have added to the workers; no thread may
 * add meanwhile. */
ek_status eki_collection_gather(ek_collection *tasks);
/* Forget all tasks here, and that any have run. */
void eki_collection_forget(ek_collection *tasks);

/* An inlet whose seeds take the numbers FIRST ... LAST - 1. */
void eki_inlet_open(struct eki_inlet *inlet, uint64_t first, uint64_t last,
                    uint32_t slot_bytes);
void eki_inlet_close(struct eki_inlet *inlet);
/* Make an inlet for each worker; free those that were made. */
ek_status eki_inlets_create(ek_collection *tasks);
void eki_inlets_destroy(ek_collection *tasks);
/* Hand what lies in them to the workers; forget it.  No thread may add
 * meanwhile. */
ek_status eki_inlets_gather(ek_collection *tasks);
void eki_inlets_clear(ek_collection *tasks);

#endif
