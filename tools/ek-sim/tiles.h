/* SPDX-License-Identifier: BSD-3-Clause */
/* What tasks get from tiles, and add to them. */
#ifndef EK_SIM_TILES_H
#define EK_SIM_TILES_H

#include "ek_sim.h"

struct tiles;

/* Read "KEY=VALUE,..." into PLAN; NULL: tasks use no tiles. */
bool tiles_read(const char *text, struct tiles_plan *plan,
                struct message *message);

/* A store over all ranks of SIM.  EK_ERR_NOMEM. */
ek_status tiles_open(const struct run *run, struct eki_sim *sim,
                     struct tiles **tiles);
void tiles_close(struct tiles *tiles);
/* An iteration begins: nothing is in a cache. */
void tiles_forget(const struct tiles *tiles);

/* What a task does next. */
enum tiles_step {
    TILES_TAKES, /* time, to copy, and a part of its duration */
    TILES_WAITS,
    TILES_ENDS
};
struct tiles_time {
    double copy_ns;
    double work_ns; /* of its duration; below 0: no part of it begins */
};
/* Task K begins on WORKER, which takes NS ... */
void tiles_begin(struct tiles *tiles, const struct eki_sim_worker *worker,
                 int64_t k, double ns);
/* ... and goes on. */
enum tiles_step tiles_go_on(struct tiles *tiles, struct eki_sim_worker *worker,
                            struct tiles_time *time);
/* Whether a task of WORKER uses tiles just now. */
bool tiles_is_on(const struct tiles *tiles,
                 const struct eki_sim_worker *worker);

/* Worker at the rank that owns what task K adds to. */
int tiles_owner(const struct tiles *tiles, int64_t k);

#endif
