/* SPDX-License-Identifier: BSD-3-Clause */
/* moves: tasks that leave this rank for where they belong (hints of another
 * rank, original homes, rebalances). */
#ifndef EKI_ENGINE_MOVES_H
#define EKI_ENGINE_MOVES_H

#include "engine/protocol.h"

/* A task that a rebalance has brought here, as it arrived. */
struct eki_arrival {
    uint64_t id;
    uint16_t bin;
    uint8_t deviation;
};

struct eki_moves {
    struct eki_protocol protocol;
    /* Written by the calling thread between phases, and by the server. */
    unsigned char *slots;
    int *ranks, *workers; /* worker -1: its home, or in turn */
    int64_t count, room;
    int64_t next; /* sent so far in this phase */
    int64_t more; /* 1: workers may add some in the phase (replay.h) */
    /* How fast this rank is: durations travel times this, as those of a rank
     * of speed 1.  0 is as good as 1. */
    double speed;
    /* Since the last look at them; where memory ended some are not noted. */
    struct eki_arrival *arrivals;
    int64_t arrived, arrivals_room;
};

enum {
    EKI_KIND_MOVE = EKI_KIND(EKI_CHANNEL_MOVES) /* to where a task belongs;
                                                   slots */
};

extern const struct eki_protocol_ops eki_moves_ops;

#endif
