/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay: tasks run on the workers, and in the order, that a record tells.
 *
 * Each worker has a *script*, its *turns* of the iteration: tasks, and null
 * indices of a range that ran one behind the other, which are a range of their
 * own.  A task that has come early is *parked* until its turn.  The end of the
 * phase does not count parked tasks: it comes when no worker has its next one,
 * whether all have run or a task that was to come has not.
 *
 * Invariant, under the lock: the task of the next turn of a worker that waits
 * is not parked but *handed* to it, which counts as open.
 *
 * Threads.  Between phases the calling thread; in a phase the workers of the
 * rank and its server, under the lock.
 */
#ifndef EKI_ENGINE_REPLAY_H
#define EKI_ENGINE_REPLAY_H

#include "base/base.h"

struct ek_worker;
struct eki_engine;
struct eki_slot;

/* A task of the record: the same on all ranks. */
struct eki_turn {
    uint64_t id;   /* first, for eki_place_from() */
    int64_t place; /* among those of all workers, one worker after another */
    int64_t nulls; /* indices, that of the id and the next ones; 0: a task */
    int32_t worker;
    int32_t function; /* -1: none that is registered */
};

/* What has become of the task of a turn; of this rank. */
enum eki_turn_state {
    EKI_TURN_AWAITED,
    EKI_TURN_PARKED,
    EKI_TURN_HANDED,
    EKI_TURN_PINNED, /* it lies in the list of the rank: a pointer */
    EKI_TURN_TAKEN
};

struct eki_script {
    int64_t first, end, next; /* places */
    bool waits;               /* for the task of its next turn */
    /* The ids of null indices that run, or ran last. */
    uint64_t first_null, end_null;
};

/* Tasks for other ranks, for which the server has had no time yet. */
struct eki_leaving {
    unsigned char *slots; /* [count] */
    int *workers;
    int64_t count, room;
};

struct eki_replay {
    int64_t iteration;
    bool has_threads;       /* each worker gets one, or an error is said */
    bool was_stopped;       /* tasks of it did not run: others may come */
    int stopped;            /* EKI_RECORD_STOPPED ... */
    struct eki_turn *turns; /* [count], by id */
    int64_t count;
    int64_t first, end; /* places of this rank */

    /* Written under the lock. */
    unsigned char *slots;       /* of the turns of this rank */
    uint8_t *states;            /* enum eki_turn_state */
    struct eki_script *scripts; /* [workers_here] */
    struct eki_leaving leaving;
    ek_status told; /* EK_OK: nothing; else why, in words */
    char text[160];
    _Atomic int lock;
};

/* Room for what ENGINE runs by TURNS [count], by id, which are owned from now
 * on; FIRSTS [workers + 1] are the first places of all workers.  False: no
 * memory. */
bool eki_replay_open(struct eki_engine *engine, struct eki_replay *replay,
                     const int64_t *firsts);
void eki_replay_free(struct eki_replay *replay);

/* The first turn of ID or a higher one; the end of the turns: none. */
struct eki_turn *eki_turns_from(const struct eki_replay *replay, uint64_t id);
/* The turn that the task of SLOT has, and has not had; NULL: none, which is
 * told, unless the iteration of the record has left tasks. */
struct eki_turn *eki_turn_of(struct eki_engine *engine,
                             const struct eki_slot *slot);
/* Tell that no turn has the task ID. */
void eki_turn_miss(struct eki_engine *engine, uint64_t id, int function);
bool eki_turn_is_here(const struct eki_engine *engine,
                      const struct eki_turn *turn);
/* There is no memory, which is told. */
void eki_replay_no_memory(struct eki_replay *replay);
/* Where the task of a place of this rank is parked, and its state. */
struct eki_slot *eki_turn_slot(const struct eki_engine *engine, int64_t place);
uint8_t *eki_turn_state(const struct eki_replay *replay, int64_t place);

/* Before the phase is entered: park the seeds, or send them where they run. */
ek_status eki_replay_enter(struct eki_engine *engine);
/* In a step of WORKER, which runs nothing: put away what it has, and take the
 * task whose turn it is, if that is here.  A pinned one is returned, else NULL.
 */
struct eki_slot *eki_replay_step(struct ek_worker *worker);
/* Whether ABSENT, for whom WORKER stands in, has nothing to do; if it gets no
 * thread that is an error. */
bool eki_replay_stand_in(struct ek_worker *worker,
                         const struct ek_worker *absent);
/* By the server: what is to leave does. */
void eki_replay_leave(struct eki_engine *engine);
/* After the phase: what is parked becomes cancelled, of the worker whose turn
 * it was.  EK_ERR_FILE: the tasks were not those of the record. */
ek_status eki_replay_close(struct eki_engine *engine, bool is_stopped);

#endif
