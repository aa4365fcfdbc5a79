/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookout: a thread of the process that looks at the open calls of its
 * collections, and says what they wait for where nothing moves (engine/look.h).
 * It sleeps but for some looks per stall_ms, calls no MPI, and runs also where
 * all other threads are inside tasks or blocking calls of MPI.
 *
 * A call says where it stands; the thread that calls waits while the lookout
 * looks, some microseconds, or as long as the sink takes a line.
 */
#ifndef EKI_TEAM_LOOKOUT_H
#define EKI_TEAM_LOOKOUT_H

#include "engine/look.h"

struct eki_team;

/* Where the thread that calls stands. */
enum eki_stage {
    EKI_STAGE_OUTSIDE, /* nothing to look at */
    EKI_STAGE_CALL,    /* in a call, not in a phase */
    EKI_STAGE_PHASE    /* the engine is in a phase */
};

/* Of one collection. */
struct eki_lookout {
    struct eki_look look;
    struct eki_team *team; /* NULL: not made yet */
    /* Written by the thread that calls, and by the lookout while it looks. */
    _Atomic int stage;
    struct eki_lookout *next; /* under the mutex of all */
};

/* Take part from now on: in ek_create().  LOOK says name, ranks, stall_ns.
 * When MPI_Finalize() begins, which frees what ranks share, nobody is looked at
 * any more. */
void eki_lookout_open(struct eki_lookout *lookout, const struct eki_look *look);
/* The team is made; EK_ERR_NOMEM without memory. */
ek_status eki_lookout_join(struct eki_lookout *lookout, struct eki_team *team);
/* Before the team is destroyed; again is harmless. */
void eki_lookout_close(struct eki_lookout *lookout);
/* Outside of calls. */
void eki_lookout_set(struct eki_lookout *lookout, uint64_t stall_ns);

void eki_lookout_enter(struct eki_lookout *lookout, enum eki_called called,
                       int64_t iteration);
/* Nothing that a look in the stage before needs has changed yet. */
void eki_lookout_move(struct eki_lookout *lookout, enum eki_stage stage);
void eki_lookout_leave(struct eki_lookout *lookout);

#endif
