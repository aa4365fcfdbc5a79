/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of a local part whose payload tells whether they are whole. */
#ifndef SLOTS_H
#define SLOTS_H

#include "check.h"
#include "task/task.h"

static inline void fill(struct eki_slot *slot, uint64_t id, uint8_t flags,
                        uint32_t slot_bytes)
{
    slot->function = (uint16_t)(id % 3);
    slot->bytes = (uint16_t)(slot_bytes - EKI_SLOT_HEADER);
    slot->bin = EKI_BIN_NEVER;
    slot->deviation = 128;
    slot->flags = flags;
    slot->id = id;
    for (int i = 0; i < slot->bytes; i++)
        slot->payload[i] = (unsigned char)(id * 7 + (unsigned)i);
}

static inline bool is_whole(const struct eki_slot *slot, uint32_t slot_bytes)
{
    if (slot->bytes != slot_bytes - EKI_SLOT_HEADER)
        return false;
    for (int i = 0; i < slot->bytes; i++) {
        if (slot->payload[i] != (unsigned char)(slot->id * 7 + (unsigned)i))
            return false;
    }
    return true;
}

static inline struct eki_slot *seed_at(const struct eki_local *local, int64_t i)
{
    return eki_slot_at(local->seed_base, i, local->slot_bytes);
}

static inline int64_t seed_count(const struct eki_local *local)
{
    return eki_local_slots(local, local->seed_base, local->seed_top);
}

/* Whether a task may start before one below it in the order LONGEST: it is not
 * shorter, or by less than half, or both come in batches. */
static inline bool may_start_before(const struct eki_slot *slot,
                                    const struct eki_slot *below_it)
{
    return below_it->bin < slot->bin + 256 || below_it->bin < eki_bin_of(2048);
}

#endif
