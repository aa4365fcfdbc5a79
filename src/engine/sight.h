/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sight: what whoever looks sees of the workers and ranks of its node, and for
 * how long it is the same; look.c says it in words.
 */
#ifndef EKI_ENGINE_SIGHT_H
#define EKI_ENGINE_SIGHT_H

#include "engine/look.h"

/* eki_sighting.what */
enum eki_seen {
    EKI_SEEN_NOTHING, /* yet */
    EKI_SEEN_IDLE,
    EKI_SEEN_TASK,
    EKI_SEEN_AWAY,   /* no thread has come for it */
    EKI_SEEN_BETWEEN /* two tasks */
};

/* Where another rank of the node stands, as this one sees it. */
enum eki_stand {
    EKI_STANDS_AWAY, /* it keeps others waiting */
    EKI_STANDS_HERE, /* it waits, too */
    EKI_STANDS_AHEAD
};

/* Of rank I of the node. */
typedef enum eki_stand eki_stand_fn(const struct eki_look *look, int i);

/* A line for the sink; OF: a look, or a topology. */
#define EKI_SAY(of, ...) \
    eki_log(EK_LEVEL_WARN, (of)->rank, (of)->size, "engine", __VA_ARGS__)

/* Nothing was seen yet, in this call or phase. */
void eki_see_anew(struct eki_look *look, uint64_t now);
/* For how long no worker of this rank has moved, nor, in a restore, its server.
 */
uint64_t eki_see_quiet(struct eki_look *look, const struct eki_moment *at);
/* Whether all workers of a lone node wait, and their sums differ all the same;
 * between nodes, whether the waves say so. */
bool eki_see_still(struct eki_look *look, const struct eki_moment *at);

/* For how long the process of rank I of the node has not looked; 0: for no
 * longer than it should. */
uint64_t eki_silent_ms(const struct eki_look *look, int i,
                       const struct eki_moment *at);
/* In a phase of several ranks. */
enum eki_stand eki_stand_in_phase(const struct eki_look *look, int i);
/* In a call: all ranks of an iteration come together for its report, and all
 * for a destruction. */
enum eki_stand eki_stand_in_call(const struct eki_look *look, int i);
/* Of the ranks of the node that wait, the lowest that is alive tells for whom.
 */
bool eki_is_teller(const struct eki_look *look, const struct eki_moment *at,
                   eki_stand_fn *stand);

#endif
