/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team: steps the engine of a rank from OpenMP threads, reads the clock, runs
 * the tasks, and decides who steps the server.
 *
 * Threads.  The server is stepped by one thread at a time, under a try-lock.
 * Below MPI_THREAD_SERIALIZED only worker 0, the caller's thread, steps it.
 */
#ifndef EKI_TEAM_H
#define EKI_TEAM_H

#include "base/wait.h"
#include "engine/engine.h"

#include <evenkeel_pull.h>

#include <pthread.h>

/* What the system lets a control group use. */
struct eki_quota {
    double cpus;    /* 0: there is none */
    uint64_t group; /* hash of its name */
};

/* Read the quota of this process from the files below ROOT, "" but in tests. */
void eki_quota_read(const char *root, struct eki_quota *quota);

/* CPUs of this process, and how many ranks and workers compete for them. */
struct eki_affinity {
    uint64_t mask[16]; /* the first 1,024 CPUs */
    uint64_t host;     /* hash of the host's name */
    int cpus;          /* in the mask */
    int online;        /* of the host */
    int ranks;         /* whose mask meets this one, me included */
    int workers;       /* of these ranks */
    int cores;         /* of all ranks together; 0: not compared yet */
    int harmed; /* ranks that are bound to fewer CPUs than they want threads */
    int least_cpus, most_cpus; /* of a rank */
    struct eki_quota quota;
    int quota_ranks, quota_workers; /* that share it, mine included */
};

/* Look at the own mask; local. */
void eki_affinity_look(struct eki_affinity *affinity);
/* Count the ranks that share CPUs with this one; collective.  ALL [size]
 * receives what each has. */
ek_status eki_affinity_compare(struct eki_affinity *affinity,
                               struct eki_fabric *fabric,
                               struct eki_affinity *all);

/* What a rank has chosen. */
struct eki_staff {
    int workers;
    int is_harmed;
    double cores; /* its part of those that it shares */
};

/* Count the workers of the ranks that share CPUs with this one, which has
 * chosen WORKERS, and what all have; collective.  STAFF [size] receives what
 * each has chosen. */
ek_status eki_affinity_count(struct eki_affinity *affinity,
                             struct eki_fabric *fabric, int workers,
                             const struct eki_affinity *all,
                             struct eki_staff *staff);
/* Say once what binding, and a quota, hurts and how to mend it. */
void eki_affinity_report(const struct eki_affinity *affinity,
                         const struct eki_fabric *fabric, int workers);

/* Append what the ranks may use, and what OpenMP binds. */
void eki_affinity_explain(const struct eki_affinity *affinity, char *text,
                          size_t bytes);

/* What handing out tasks takes here: measured once, in a third of a
 * millisecond; without memory for it nothing. */
const struct eki_handling *eki_team_handling(void);

/* Workers when the program did not say. */
int eki_team_default_workers(const struct eki_affinity *affinity,
                             int thread_level);
/* Whether the caller is inside an active parallel region ... */
bool eki_team_in_parallel(void);
/* ... and stands for its rank there: each region has one such thread. */
bool eki_team_is_first(void);

/* Whether this thread runs tasks, and a function with FRAME was not called by
 * one of them: the loop that runs them was left. */
bool eki_team_was_left(const void *frame);

struct eki_team_setup {
    struct eki_engine *engine;
    const struct eki_affinity *affinity;
    const struct eki_options *options; /* borrowed */
    int thread_level;
};

struct eki_team {
    struct eki_team_setup setup;
    /* A thread of its own in phases with messages, in pull loops only with
     * progress=server ... */
    bool has_server;
    bool is_served;   /* ... is there: no worker polls ... */
    bool was_served;  /* ... or was, in this phase or the last */
    bool has_run;     /* every worker of this phase had a thread to its end */
    bool any_polls;   /* any worker may step the server */
    bool is_crowded;  /* more threads than CPUs */
    bool is_measured; /* a report wants processor times; set before entering */
    bool goes_on;     /* the iteration has paused: hooks have begun */
    struct eki_period period; /* of polls */
    /* Whoever steps the server has written when, and how long a busy worker
     * waits after that. */
    _Alignas(EKI_LINE) _Atomic uint64_t served; /* 0: not in this phase */
    _Atomic uint64_t period_ns;
    _Atomic int server_lock;
    /* Workers whose threads have not ended, in a pull loop 1; negative: the
     * phase is given up. */
    _Atomic int running;
    struct eki_seat *seats; /* per worker */
    pthread_t server;       /* of a pull loop ... */
    bool has_thread;        /* ... that is open */
};

/* EK_ERR_THREAD: the thread level does not allow an explicit choice. */
ek_status eki_team_create(const struct eki_team_setup *setup,
                          struct eki_team **team);
void eki_team_destroy(struct eki_team **team);

/* Append who talks to other nodes, and why. */
void eki_team_explain(const struct eki_team *team, char *text, size_t bytes);

/* After eki_engine_enter(): nothing of the last phase is left. */
void eki_team_enter(struct eki_team *team, const struct eki_phase *phase);
/* Whether the phase needs no thread, because no task can come and nobody wants
 * to know of threads: it is over. */
bool eki_team_pass(struct eki_team *team);
/* Run the phase: every worker to its end. */
void eki_team_run(struct eki_team *team);
/* A restore phase, by the calling thread alone. */
void eki_team_run_restore(struct eki_team *team);
/* Fetch one task for the program's own loop; false: the phase has ended. */
bool eki_team_next(struct eki_team *team, int here, ek_task *task);
/* Number (eki_slot_number()) of the task that worker HERE has fetched before
 * the last one, of the same function; INT64_MIN: there was none. */
int64_t eki_team_number_before(const struct eki_team *team, int here);
/* Workers that have not come to their end are brought there; then the server.
 * Before eki_engine_leave(). */
void eki_team_finish(struct eki_team *team);
/* Instead: leave a phase open for good, in which nothing of this rank runs. */
void eki_team_give_up(struct eki_team *team);

/* By the option poll_period_us, while no phase is open. */
void eki_team_set_poll_period(struct eki_team *team);

/* The thread that has come for worker HERE in this phase, or NULL. */
const void *eki_team_thread(const struct eki_team *team, int here);

/* From a long task. */
void eki_team_poll(struct eki_team *team, struct ek_worker *worker);

/* The task that WORKER runs waits for messages, since WAITER says: step the
 * server, or wait a little. */
void eki_team_linger(struct eki_team *team, const struct ek_worker *worker,
                     struct eki_waiter *waiter);
/* What the thread of worker HERE did in the last NS is no part of its task's
 * time; that it had no core meanwhile has not held the task up. */
void eki_team_leave_out(struct eki_team *team, int here, uint64_t ns);

/* Call WORK for each worker of the rank, in parallel if it is worth it. */
void eki_team_each(struct eki_team *team, bool is_large,
                   void (*work)(int here, void *argument), void *argument);

#endif
