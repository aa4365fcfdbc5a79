/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * away: what it costs to run tasks away from their data, as all who place tasks
 * weigh it: thieves of other ranks, hands, rebalancers, and retention.
 */
#ifndef EKI_ENGINE_AWAY_H
#define EKI_ENGINE_AWAY_H

#include "engine/offers.h"

/* How long the data of a task, or of those of a range, takes to come and go
 * where that runs away from home, about; 0: it has none; less: a guess, before
 * any data of the function has travelled. */
static inline int64_t eki_away_ns(const struct eki_engine *engine,
                                  const struct eki_slot *slot)
{
    if (EKI_LIKELY(slot->function >= engine->away_count))
        return 0;
    /* relaxed: a guess. */
    return atomic_load_explicit(&engine->away_ns[slot->function],
                                memory_order_relaxed) *
           eki_slot_tasks(slot);
}

/* Note what the N tasks that a worker shows take, and their data. */
void eki_away_weigh(struct ek_worker *worker, unsigned char *slots, int64_t n);
/* Whether what a deque shows may run on another rank: the data of half of it,
 * behind what this rank has sent or awaits for thieves, would be there before
 * its owner came to run it ... */
bool eki_away_is_in_time(const struct eki_engine *engine, int deque,
                         uint64_t now);
/* ... and COUNT of them leave. */
void eki_away_leave(struct eki_engine *engine, int deque, uint32_t count,
                    uint64_t now);
/* A task has waited for its data longer than it runs: it starts at home in the
 * next process ... */
void eki_away_note_late(struct ek_worker *worker, uint64_t id);
/* ... which is entered: tasks lie where they ran, or do not. */
void eki_away_enter(struct eki_engine *engine, bool is_retained);
/* Whether a task may be placed on another rank, where the data of those that
 * are placed before leaves for OWED_NS; adds to that. */
bool eki_away_may_move(struct eki_engine *engine, const struct eki_slot *slot,
                       uint64_t *owed_ns);

#endif
