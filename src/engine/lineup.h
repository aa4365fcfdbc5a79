/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lineup: the seeds of a rank as one list for all of its workers, those first
 * that may take longest.
 *
 * A worker that has no task copies the next ones to its stack, where they run
 * like stolen ones.  A thief of another node gets a share of the work that is
 * left, from the same end.  The seeds lie hidden with their workers, and are
 * not written, until the phase ends.
 *
 * Invariant: in a phase those before `next` were taken, each once.
 */
#ifndef EKI_ENGINE_LINEUP_H
#define EKI_ENGINE_LINEUP_H

#include "task/task.h"

struct eki_engine;
struct eki_phase;
struct ek_worker;

struct eki_lineup_item {
    struct eki_slot *slot;
    uint64_t left_ns; /* what it takes, with all behind it */
};

struct eki_lineup {
    /* Written by the thread that enters, by the server that lets go, and by
     * the thread that leaves. */
    bool is_due;   /* it is formed when the workers begin */
    int64_t count; /* 0: there is none */
    int64_t room;
    struct eki_lineup_item *items;
    int64_t kept; /* the first that was cancelled, by who did it; COUNT: none */
    /* How many were taken in this phase, or more. */
    _Alignas(EKI_LINE) _Atomic int64_t next;
};

/* How many were taken, or more. */
static inline int64_t eki_lineup_taken(const struct eki_lineup *lineup)
{
    /* relaxed: a hint. */
    return atomic_load_explicit(&lineup->next, memory_order_relaxed);
}

/* A phase is entered: see whether it pays to line its seeds up. */
void eki_lineup_enter(struct eki_engine *engine, const struct eki_phase *phase);
/* Without forming a lineup: the items of all seeds of the rank, in its order;
 * how many.  0: it does not pay, or durations are not known. */
int64_t eki_lineup_sort(struct eki_engine *engine,
                        const struct eki_phase *phase);
/* Line them up; false: workers keep theirs. */
bool eki_lineup_form(struct eki_engine *engine);
/* Bring the next task to the stack of WORKER, of short ones some; false: there
 * is none, or no memory. */
bool eki_lineup_take(struct ek_worker *worker);
/* Copy a share for one thief of another node to SLOTS, the longest last, MOST
 * at most; how many there are. */
int64_t eki_lineup_share(struct eki_engine *engine, unsigned char *slots,
                         int64_t most);
/* Cancel those that nobody has taken; returns how many. */
int64_t eki_lineup_cancel(struct eki_lineup *lineup);
/* Of the seeds of a worker from their base on only cancelled ones stay. */
void eki_keep_cancelled(struct eki_local *local);
/* On leaving, where there is one: those that were taken are seeds of nobody any
 * more. */
void eki_lineup_leave(struct eki_engine *engine);

#endif
