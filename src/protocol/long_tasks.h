/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * long_tasks: the long tasks of a rank, and which of its workers is to have
 * each.  A task goes to the worker that has least of long tasks, if it fits
 * there, or to one where it fits above those that are as long.
 *
 * Threads.  Whoever enters, then the server.
 */
#ifndef EKI_PROTOCOL_LONG_TASKS_H
#define EKI_PROTOCOL_LONG_TASKS_H

#include "engine/engine.h"

enum eki_hand_state {
    EKI_HAND_HERE,     /* among the seeds of its worker */
    EKI_HAND_SHED,     /* there, but it is to go */
    EKI_HAND_OFFERED,  /* there, and others know */
    EKI_HAND_PROMISED, /* there, and another rank takes it */
    EKI_HAND_AWAITED   /* its worker has room for it */
};

/* A long task. */
struct eki_hand {
    uint64_t ns, id;
    int here; /* its worker */
    enum eki_hand_state state;
};

struct eki_long_tasks {
    const struct eki_engine *engine;
    uint64_t most_ns;   /* of long tasks that a worker may have */
    uint64_t minor_ns;  /* what takes longer is long */
    uint64_t pinned_ns; /* that each runs of what is pinned to the rank */
    uint64_t *load_ns;  /* [workers_here] long tasks that each has or awaits */
    uint64_t *above_ns; /* [workers_here] those that cannot be displaced */
    struct eki_hand *items; /* [count] the longest first */
    int count;
    int64_t room;
};

/* Note the long seeds of worker HERE; false: no memory. */
bool eki_long_look(struct eki_long_tasks *tasks, int here);
/* Each worker keeps what fits, the longest first; the others are SHED. */
void eki_long_shed(struct eki_long_tasks *tasks);

/* A worker that can take a long task of NS; -1: none can. */
int eki_long_worker_for(struct eki_long_tasks *tasks, uint64_t ns);
/* Move a task that was shed to another worker of the rank; false: no memory. */
bool eki_long_move(struct eki_long_tasks *tasks, struct eki_hand *task, int to);

/* The task of this id in this state; NULL: there is none. */
struct eki_hand *eki_long_find(struct eki_long_tasks *tasks, uint64_t id,
                               enum eki_hand_state state);
/* The slot of a task that lies here. */
struct eki_slot *eki_long_slot(const struct eki_long_tasks *tasks,
                               const struct eki_hand *task);

/* Room for one more task; false: no memory. */
bool eki_long_reserve(struct eki_long_tasks *tasks);
/* Worker HERE is to get a task of NS, for which there is room. */
void eki_long_await(struct eki_long_tasks *tasks, uint64_t id, uint64_t ns,
                    int here);
/* It has come; false: no memory. */
bool eki_long_receive(struct eki_long_tasks *tasks, struct eki_hand *task,
                      const struct eki_slot *slot);
/* A task that lies here has left. */
void eki_long_hand_over(struct eki_long_tasks *tasks,
                        const struct eki_hand *task);

#endif
