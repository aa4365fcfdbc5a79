/* SPDX-License-Identifier: BSD-3-Clause */
/* one-sided: stealing between nodes without the victim. */
#ifndef EKI_PROTOCOL_ONE_SIDED_H
#define EKI_PROTOCOL_ONE_SIDED_H

#include "engine/engine.h"

enum {
    EKI_ONE_SIDED_BLOCKS = 24,
    /* Words that each rank exports. */
    EKI_ONE_SIDED_WORDS = 8 + 2 * EKI_ONE_SIDED_BLOCKS
};

/* ... and bytes: two rings of buffer_slots slots. */
static inline size_t eki_one_sided_bytes(const struct eki_setup *setup)
{
    return 2 * (size_t)setup->buffer_slots * eki_setup_slot_bytes(setup);
}

#endif
