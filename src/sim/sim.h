/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim: steps the engines of all ranks of a job in virtual time, over a
 * simulated network.
 *
 * An *actor* is a worker, or what a rank does besides: its *host* steps the
 * server, enters and leaves phases and restores, as the team and the public
 * calls do.  Each actor has at most one event.  A *program* says what tasks do,
 * how long things take beyond the machine's model, and looks on.
 *
 * Waiting.  A worker without work looks again when OpenMP's would (spin, yield,
 * sleep up to 1 ms), but only looks that may find something are simulated: when
 * it may ask another node, when a message has come, when somebody on its node
 * publishes, when the phase ends; and every second.  A program with a pace of
 * its own says how long each look waits instead, and how long after a message
 * came, or a worker wants something, the server looks.
 *
 * The same setup and program are the same run.  One thread.
 */
#ifndef EKI_SIM_H
#define EKI_SIM_H

#include "engine/engine.h"
#include "protocol/schemes.h"
#include "rebalance/rebalance.h"
#include "sim/heap.h"
#include "sim/machine.h"

/* An iteration, and the restore after it. */
struct eki_sim_iteration {
    ek_steal_policy steal;
    ek_on_failure on_failure;
    enum eki_order order; /* ORIGINAL: everything goes home */
    bool is_balanced;     /* tasks move as BALANCE says */
    struct eki_balance_wish balance;
};

enum eki_sim_state {
    EKI_SIM_SERIAL,   /* host: the program's own code; worker: is not there */
    EKI_SIM_FAULT,    /* host: has entered, something happens first */
    EKI_SIM_RUNS,     /* host: an iteration; worker: a task or an index */
    EKI_SIM_STEPS,    /* worker: is stepped */
    EKI_SIM_WAITS,    /* worker: has nothing to do */
    EKI_SIM_ENDS,     /* host: workers without thread are brought to the end */
    EKI_SIM_SERVES,   /* host: workers are done, the server not yet */
    EKI_SIM_RAN,      /* host: has left the iteration */
    EKI_SIM_RESTORED, /* host: has restored, nothing moves */
    EKI_SIM_MOVES,    /* host: a restore phase */
    EKI_SIM_OVER,     /* host: has restored the last iteration */
    EKI_SIM_DONE      /* worker: has seen the end of the phase */
};

struct eki_sim_rank;

struct eki_sim_worker {
    _Alignas(64) struct ek_worker *worker;
    struct eki_sim_rank *rank;
    /* Where its memory is: read ahead. */
    const struct eki_engine *engine;
    const struct eki_worker_words *words;
    const struct eki_node_words *node;
    const struct eki_slot *slot; /* of the task that runs */
    const struct eki_function_counts *counts;
    int32_t actor;
    uint8_t state;      /* enum eki_sim_state */
    bool is_index;      /* that runs */
    bool never;         /* has no thread in this iteration */
    bool is_visible;    /* others can claim from it */
    int code;           /* what its task returns */
    uint64_t since;     /* when it began to wait */
    uint64_t word_free; /* when the last atomic on its word is over */
    int64_t index;
    /* Sampled: whom to ask now; attempts that were drawn. */
    struct eki_victim wish;
    int64_t drawn;
    int32_t pool_at;   /* its place among the thieves; -1: none */
    uint64_t joined;   /* when it came there */
    uint64_t join_at;  /* when it will; 0: not known */
    uint64_t tries_at; /* when an attempt before finds something; 0: none */
    int32_t tries;     /* made while the back-off grew */
};

struct eki_sim_node {
    int32_t visible; /* workers from which others can claim */
    int32_t waiting; /* workers that wait */
    int32_t open_at; /* its place among nodes with visible tasks; -1: none */
    bool has_stopped;
};

struct eki_sim_port;

struct eki_sim_rank {
    struct eki_topology topology; /* a view */
    struct eki_engine *engine;
    struct eki_sim_worker *workers; /* [workers_here] */
    struct eki_sim_port *port;
    int32_t actor, number;
    enum eki_sim_state state;
    int iteration; /* from 0 */
    int done;      /* workers at the end of the phase */
    bool server_done;
    bool is_forwarded;    /* the end was announced on this node */
    uint64_t busy_until;  /* its server */
    uint64_t next_poll;   /* polling: not before */
    uint64_t since;       /* when it began to wait */
    uint64_t clock_ns;    /* of its own: an offset */
    ek_status status;     /* of the restore */
    int64_t discarded;    /* by the last restore */
    uint64_t server_ns;   /* busy in this iteration */
    uint64_t decision_ns; /* real time of its steps in the last rebalance */
};

/* What takes time. */
enum eki_sim_pace {
    EKI_PACE_STEP,    /* a worker's step that found something */
    EKI_PACE_WAIT,    /* ... that did not */
    EKI_PACE_ARRIVE,  /* a thread comes for a worker */
    EKI_PACE_SERVER,  /* between two steps of a server */
    EKI_PACE_TAKE,    /* until a server looks at what has arrived */
    EKI_PACE_SERIAL,  /* the program's own code between calls */
    EKI_PACE_MESSAGE, /* on its way */
    EKI_PACE_SEND     /* until a send buffer comes free */
};

struct eki_sim;

/* A worker that never gets a thread. */
#define EKI_SIM_NEVER UINT64_MAX
/* A task that has ended. */
#define EKI_SIM_ENDS_NOW UINT64_MAX

/* Each may be NULL but task, iteration. */
struct eki_sim_program {
    void *context;
    /* How iteration ITERATION (from 0) is run and restored; NULL: there is none
     * any more.  The same for all ranks. */
    const struct eki_sim_iteration *(*iteration)(void *context, int iteration);
    /* A rank is about to enter: it adds its seeds. */
    void (*enter)(void *context, struct eki_sim_rank *rank);
    /* It has entered; true: fault() comes next. */
    bool (*entered)(void *context, struct eki_sim_rank *rank);
    void (*fault)(void *context, struct eki_sim_rank *rank);
    /*
     * Run the task in worker->worker->current (BEGINS) or go on with it: spawn,
     * mark, fail, poll.  Time until it wants to go on, or EKI_SIM_ENDS_NOW; the
     * worker's `code` is what it returns.  Likewise for an index, is_index.
     */
    uint64_t (*task)(void *context, struct eki_sim_worker *worker, bool begins);
    void (*worker_done)(void *context, struct eki_sim_worker *worker);
    void (*left)(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error);
    /* A rank is about to restore, and may add seeds. */
    void (*restore)(void *context, struct eki_sim_rank *rank);
    /* It has restored; STATUS: what that came to. */
    void (*restored)(void *context, struct eki_sim_rank *rank,
                     ek_status status);
    /* How long WHAT takes on RANK, where the machine says NS. */
    uint64_t (*pace)(void *context, struct eki_sim_rank *rank,
                     enum eki_sim_pace what, uint64_t ns);
    /* Around every event, of a worker or (NULL) a host.  False: the run ends.
     */
    void (*before)(void *context, struct eki_sim_rank *rank,
                   struct eki_sim_worker *worker);
    bool (*after)(void *context, struct eki_sim_rank *rank,
                  struct eki_sim_worker *worker);
    /* A rank is about to enter PHASE, which it may change. */
    void (*phase)(void *context, struct eki_sim_rank *rank,
                  struct eki_phase *phase);
    /* A message was sent to rank TO, or is taken by RANK. */
    void (*sent)(void *context, struct eki_sim_rank *rank,
                 const struct eki_message *message, int to);
    void (*received)(void *context, struct eki_sim_rank *rank,
                     const struct eki_message *message);
};

struct eki_sim_setup {
    const struct eki_machine *machine;
    const struct eki_sim_program *program;
    int ranks;
    const int *workers, *nodes; /* [ranks], as eki_topology_create() */
    enum eki_deque_kind deque;
    int64_t buffer_slots, payload_bytes;
    int functions; /* 0 ... functions - 1 */
    uint64_t seed;
    int check_words;
    bool has_counter;
    bool is_sampled;   /* steals that fail are drawn */
    bool is_together;  /* ranks wait for each other between calls */
    bool is_reordered; /* messages of different pairs overtake each other */
    /* A larger message is sent when it was received; 0: none is. */
    size_t late_bytes;
    int send_buffers;
    size_t message_bytes;
};

/* Nodes with visible tasks, and thieves that would find them. */
struct eki_sim_sample {
    struct eki_sim_worker **thieves;
    int32_t *open; /* nodes */
    int32_t thief_count, open_count;
    int32_t actor;
    double period_ns; /* between two attempts of a thief */
};

struct eki_sim {
    struct eki_sim_setup setup;
    const struct eki_sim_program *program;
    struct eki_machine machine;
    struct eki_random random;
    struct eki_heap heap;
    uint64_t now;
    int64_t events;
    struct eki_topology *topology;
    struct eki_sim_rank *ranks;     /* [setup.ranks] */
    struct eki_sim_worker *workers; /* [topology->workers] */
    struct eki_sim_node *nodes;     /* [topology->nodes] */
    void **segments;                /* [nodes] */
    struct eki_sim_port *ports;     /* [ranks] */
    struct eki_sim_sample sample;
    struct eki_message *buffer; /* of who sends now */
    bool is_reserved;
    int over;              /* ranks */
    int assembled;         /* is_together: ranks that wait */
    int64_t messages;      /* sent */
    uint64_t last_task_ns; /* when a task ended last */
    uint64_t read_ahead;   /* nothing: what was read to have it near */
};

ek_status eki_sim_create(const struct eki_sim_setup *setup,
                         struct eki_sim **sim);
void eki_sim_destroy(struct eki_sim **sim);

enum eki_sim_end {
    EKI_SIM_END_OVER,  /* all ranks are through */
    EKI_SIM_END_ASKED, /* the program wants no more */
    EKI_SIM_END_STUCK, /* nobody has anything to do */
    EKI_SIM_END_LATE   /* beyond EKI_SIM_TIME_MOST */
};
/* Run up to EVENTS more events; as long as there are any: EKI_SIM_END_ASKED. */
enum eki_sim_end eki_sim_run(struct eki_sim *sim, int64_t events);

/* Clock of a rank. */
static inline uint64_t eki_sim_clock(const struct eki_sim *sim,
                                     const struct eki_sim_rank *rank)
{
    return sim->now + rank->clock_ns;
}

#endif
