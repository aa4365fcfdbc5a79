/* SPDX-License-Identifier: BSD-3-Clause */
/* timelines: those of all simulated ranks, in virtual time. */
#ifndef EK_SIM_TIMELINES_H
#define EK_SIM_TIMELINES_H

#include "ek_sim.h"

enum {
    TIMELINE_RANKS_MOST = 4096 /* a file for each */
};

struct timelines;

/* NULL, with a message: a file cannot be written. */
struct timelines *timelines_open(const char *folder, struct eki_sim *sim,
                                 struct message *message);
/* A rank enters an iteration, has left it, has restored. */
void timelines_enter(struct timelines *timelines,
                     const struct eki_sim_rank *rank);
void timelines_left(struct timelines *timelines,
                    const struct eki_sim_rank *rank, ek_status status);
void timelines_restored(struct timelines *timelines,
                        const struct eki_sim_rank *rank);
/* False, with a message: not all could be written.  NULL: nothing. */
bool timelines_close(struct timelines *timelines, struct message *message);

#endif
