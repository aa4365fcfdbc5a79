/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stepper: several engines of one process, stepped by one thread in a random
 * order over a simulated network in virtual time, as the team and MPI would.
 *
 * A *scenario* says everything that happens; the same scenario is the same run.
 * An *actor* is a worker, a server or the driver (what calls ek_process and
 * ek_restore) of a rank; a *turn* steps one of them.  After every turn the
 * invariants of what it touched are checked; the *ledger* knows every task.
 */
#ifndef STEPPER_H
#define STEPPER_H

#include "engine/engine.h"

enum {
    STEPPER_RANKS = 4,
    STEPPER_WORKERS = 3,
    STEPPER_ITERATIONS = 5,
    STEPPER_FUNCTIONS = 2 /* 0: payload is a key; 1: an index is the key */
};

/* What goes wrong on purpose, besides failing tasks. */
enum stepper_fault {
    STEPPER_NONE,
    STEPPER_SIGNATURE, /* a rank has another signature */
    STEPPER_FAIL,      /* a rank fails right after entering */
    STEPPER_STOP,      /* a rank stops right after entering */
    STEPPER_NO_MEMORY  /* allocations fail now and then */
};

struct stepper_iteration {
    ek_steal_policy steal;
    ek_on_failure on_failure;
    enum eki_order order;
    int balance; /* workers of a group, 0: all; -1: the restore moves nothing */
    enum stepper_fault fault;
    int fault_rank;
    int absent_percent;                   /* workers that never arrive */
    int seeds, ranges, departing, spawns; /* most of them, per rank */
    int spawn_permille;                   /* of the tasks: spawn some */
    int fail_permille, stop_permille;     /* of the tasks */
    int late_turns;                       /* serial code before entering */
};

struct stepper_scenario {
    uint64_t seed;
    int ranks, iterations;
    int workers[STEPPER_RANKS], node_of_rank[STEPPER_RANKS];
    enum eki_deque_kind deque;
    int buffer_slots, payload_bytes;
    int pool, message_slots; /* send buffers; slots of a message */
    uint64_t tick_ns, delay_ns;
    bool is_checked; /* invariants after every turn */
    struct stepper_iteration iteration[STEPPER_ITERATIONS];
};

/* What has been seen: tests check that nothing is never seen. */
struct stepper_seen {
    int64_t turns, most_turns, tasks, indices, spawned, kept, cancelled, failed;
    int64_t discarded, steals, granted, denied, drawn, moved, taken_absent;
    int64_t balanced;
    int64_t no_buffer, restores, no_memory, mismatches, errors, stops;
};
extern struct stepper_seen stepper_seen;

/* Print every turn. */
extern bool stepper_is_verbose;

/* Run; false: a failure was printed, and memory is leaked. */
bool stepper_run(const struct stepper_scenario *scenario);

struct net;

struct net *net_create(const struct stepper_scenario *scenario,
                       struct eki_random *random, const uint64_t *now);
void net_destroy(struct net *net);
struct eki_fabric *net_fabric(struct net *net, int rank);
/* Text of what was wrong, or NULL. */
const char *net_check_end(const struct net *net);
/* Messages on their way to RANK. */
int net_waiting(const struct net *net, int rank);

enum task_state {
    TASK_NEW,     /* added, not yet in an iteration */
    TASK_PENDING, /* of an open iteration */
    TASK_RUNS,
    TASK_RAN,
    TASK_HELD, /* restored */
    TASK_GONE
};

struct task {
    uint64_t id;
    int state, iteration;
    uint16_t bytes;
    bool is_index, restores, discarded, hinted;
};

/* An iteration, over all ranks. */
struct tally {
    int entered, left, restored;
    int64_t pending; /* neither executed nor cancelled */
    int64_t cancelled;
    int64_t discarded; /* as the restores say */
    bool may_cancel;
    int failing_worker; /* lowest one; -1: none */
    int failing_code;
    uint64_t failing_id;
    bool has_error;
    struct eki_error error;
};

struct ledger {
    struct task *tasks;
    int64_t count, room;
    struct tally tally[STEPPER_ITERATIONS + 1];
    char failure[300]; /* "": none */
};

void ledger_fail(struct ledger *ledger, const char *format, ...)
    EKI_PRINTF(2, 3);
/* New tasks with consecutive keys; the first key. */
int64_t ledger_add(struct ledger *ledger, int64_t n, const struct task *task);
/* Fill the payload of a task, or compare it. */
void ledger_fill(struct eki_slot *slot, int64_t key);
void ledger_compare(struct ledger *ledger, const struct eki_slot *slot);
/* A slot is a seed of ITERATION now; the tasks in it. */
int64_t ledger_enter(struct ledger *ledger, const struct eki_slot *slot,
                     int iteration);
void ledger_spawned(struct ledger *ledger, int64_t key, int iteration);
void ledger_begin(struct ledger *ledger, int64_t key, uint64_t id,
                  int iteration);
void ledger_end(struct ledger *ledger, int64_t key, bool discarded);
/* A worker was told that ITERATION has ended. */
void ledger_done(struct ledger *ledger, int iteration, int ranks);
/* A slot is held by WORKER (of RANK's) after the restore. */
void ledger_held(struct ledger *ledger, const struct eki_slot *slot,
                 int iteration, int worker, bool is_original);
/* All ranks have restored. */
void ledger_restored(struct ledger *ledger, int iteration);

#endif
