/* SPDX-License-Identifier: BSD-3-Clause */
/* What a slot carries. */
#ifndef EK_SIM_PAYLOAD_H
#define EK_SIM_PAYLOAD_H

#include "ek_sim.h"

#include <string.h>

/* The duration as long as it does not change. */
struct payload {
    int64_t index, ns;
};

/* Nanoseconds of task K in this iteration; sums are those of whole ones. */
static inline int64_t task_ns(const struct workload *workload, int64_t k)
{
    return (int64_t)(workload->now_s[k] * 1e9 + 0.5);
}

static inline struct payload payload_of(const struct eki_slot *slot)
{
    struct payload payload;
    memcpy(&payload, slot->payload, sizeof payload);
    return payload;
}

/* Nanoseconds of the task in this iteration. */
static inline int64_t payload_ns(const struct workload *workload,
                                 const struct payload *payload)
{
    return workload->is_steady ? payload->ns
                               : task_ns(workload, payload->index);
}

#endif
