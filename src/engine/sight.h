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

/* A rank of the node, one after the other. */
struct eki_place {
    int rank, index; /* index -1: none yet */
    int first;       /* local number of its first worker */
};

/* Where another rank of the node stands, as this one sees it. */
enum eki_stand {
    EKI_STANDS_AWAY, /* it keeps others waiting */
    EKI_STANDS_HERE, /* it waits, too */
    EKI_STANDS_AHEAD
};

typedef enum eki_stand eki_stand_fn(const struct eki_look *look,
                                    const struct eki_place *place);

/* Nothing was seen yet, in this call or phase. */
void eki_see_anew(struct eki_look *look, uint64_t now);
/* For how long no worker of this rank has moved. */
uint64_t eki_see_workers(struct eki_look *look, uint64_t now);
/* For how long nothing has: in a restore the server is what moves, QUIET: the
 * workers have not. */
uint64_t eki_see_server(struct eki_look *look, const struct eki_moment *at,
                        uint64_t quiet);
/* Whether all workers of a lone node wait, and their sums differ all the same;
 * between nodes, whether the waves say so. */
bool eki_see_still(struct eki_look *look, uint64_t now);

/* False: there is no further rank. */
bool eki_next_place(const struct eki_topology *topology,
                    struct eki_place *place);
/* What rank I of the node does, and its process. */
uint64_t eki_called_of(const struct eki_engine *engine, int i);
uint64_t eki_process_of(const struct eki_engine *engine, int i);
/* Whether that process has not looked for longer than it should. */
bool eki_is_lifeless(const struct eki_look *look, int i, uint64_t ms,
                     uint64_t *silent_ms);
/* In a phase. */
enum eki_stand eki_stand_in_phase(const struct eki_look *look,
                                  const struct eki_place *place);
/* In a call: all ranks of an iteration come together for its report, and all
 * for a destruction. */
enum eki_stand eki_stand_in_call(const struct eki_look *look,
                                 const struct eki_place *place);
/* Of the ranks of the node that wait, the lowest that is alive tells for whom.
 */
bool eki_is_teller(const struct eki_look *look, uint64_t ms,
                   eki_stand_fn *stand);

#endif
