/* SPDX-License-Identifier: BSD-3-Clause */
/* How a running task spawns: for ek_spawn(), and for simulated tasks. */
#ifndef EKI_ENGINE_SPAWN_H
#define EKI_ENGINE_SPAWN_H

#include "engine/worker.h"

/* Push a task onto the stack, which has room for it. */
static inline void eki_worker_push(struct ek_worker *worker, int function,
                                   const void *payload, size_t bytes, int flags)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *slot = (struct eki_slot *)local->stack_top;
    local->stack_top += local->slot_bytes;
    eki_slot_spawn(slot, local->spawned_word, function, bytes, flags,
                   local->next_id++);
    eki_copy_payload(slot, payload, bytes);
}

/* The same where the stack has reached its mark: make room, and publish; false:
 * no memory. */
bool eki_worker_push_at_mark(struct ek_worker *worker, int function,
                             const void *payload, size_t bytes, int flags);

#endif
