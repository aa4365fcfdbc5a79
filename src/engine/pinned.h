/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pinned: the tasks of a rank that run on it and nowhere else.
 *
 * One list, which is seeds and log at once: its workers take one task after the
 * other before their own, and run it where it lies.  No deque and no message
 * ever holds one.
 *
 * Invariant: in a phase those before `next`, counted from the end of the list,
 * were taken, each by one worker.
 */
#ifndef EKI_ENGINE_PINNED_H
#define EKI_ENGINE_PINNED_H

#include "task/task.h"

struct eki_engine;
struct ek_worker;

struct eki_pinned {
    /* Seeds alone; written by the thread that adds, enters and restores, and
     * each slot by the worker that runs it. */
    struct eki_local local;
    int32_t *ran_on; /* [room], by place: the worker of the rank; -1: none */
    int64_t room;
    /* How many were taken in this phase, or more. */
    _Alignas(EKI_LINE) _Atomic int64_t next;
};

/* Room for one more, which the caller fills, while no phase is open; NULL: no
 * memory. */
struct eki_slot *eki_pinned_new(struct eki_pinned *pinned);
/* Add a copy of SLOT while no phase is open; false: no memory. */
bool eki_pinned_add(struct eki_pinned *pinned, const struct eki_slot *slot);
void eki_pinned_free(struct eki_pinned *pinned);

/* How many a phase runs. */
static inline int64_t eki_pinned_count(const struct eki_pinned *pinned)
{
    return eki_local_slots(&pinned->local, pinned->local.seed_base,
                           pinned->local.seed_top);
}

static inline bool eki_pinned_has_any(const struct eki_pinned *pinned)
{
    return pinned->local.seed_top != pinned->local.seed_base;
}

/* The number within the rank of the worker that ran SLOT of the list in the
 * last phase; -1: none. */
static inline int eki_pinned_ran_on(const struct eki_pinned *pinned,
                                    const struct eki_slot *slot)
{
    const struct eki_local *local = &pinned->local;
    const unsigned char *place = (const unsigned char *)slot;
    /* What is done of an earlier part lies in the log. */
    return place >= local->seeds && place < local->seed_end
               ? pinned->ran_on[eki_local_slots(local, local->seeds, place)]
               : -1;
}

/* What they took last. */
uint64_t eki_pinned_ns(const struct eki_pinned *pinned);
/* A phase is entered: none is taken. */
static inline void eki_pinned_enter(struct eki_pinned *pinned)
{
    /* relaxed: handed on by the start of the team. */
    if (eki_pinned_has_any(pinned))
        atomic_store_explicit(&pinned->next, 0, memory_order_relaxed);
}
/* The next task that nobody has taken; NULL: there is none. */
struct eki_slot *eki_pinned_take(struct ek_worker *worker);
/* Cancel those that nobody has taken; returns how many. */
int64_t eki_pinned_cancel(struct eki_pinned *pinned);

#endif
