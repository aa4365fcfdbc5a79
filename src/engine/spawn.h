/* SPDX-License-Identifier: BSD-3-Clause */
/* How a running task spawns: for ek_spawn(), and for simulated tasks. */
#ifndef EKI_ENGINE_SPAWN_H
#define EKI_ENGINE_SPAWN_H

#include "engine/worker.h"

/* Push a task, whose payload the caller writes, onto the stack, which has room
 * for it. */
static inline struct eki_slot *eki_worker_push_slot(struct ek_worker *worker,
                                                    int function, size_t bytes,
                                                    int flags)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *slot = (struct eki_slot *)local->stack_top;
    local->stack_top += local->slot_bytes;
    eki_slot_spawn(slot, local->spawned_word, function, bytes, flags,
                   local->next_id++);
    return slot;
}

/* Push a task with a copy of PAYLOAD. */
static inline void eki_worker_push(struct ek_worker *worker, int function,
                                   const void *payload, size_t bytes, int flags)
{
    eki_copy_payload(eki_worker_push_slot(worker, function, bytes, flags),
                     payload, bytes);
}

/* The task that runs has spawned, and that is recorded. */
EKI_COLD void eki_worker_note_child(struct ek_worker *worker);

/* The same where the stack has reached its mark: make room, and publish; false:
 * no memory. */
bool eki_worker_push_at_mark(struct ek_worker *worker, int function,
                             const void *payload, size_t bytes, int flags);
/* The same where the caller writes the payload: it publishes first, for a slot
 * is not shown before it is written; NULL: no memory. */
struct eki_slot *eki_worker_push_slot_at_mark(struct ek_worker *worker,
                                              int function, size_t bytes,
                                              int flags);

#endif
