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
 * came, or a worker wants something, the server looks.  A task that waits for
 * tiles looks when a message for its worker has come.
 *
 * The same setup and program are the same run.
 *
 * Threads: one at a time for each simulation.
 */
#ifndef EKI_SIM_H
#define EKI_SIM_H

#include "data/data.h"
#include "engine/engine.h"
#include "protocol/one_sided.h"
#include "protocol/requests.h"
#include "protocol/schemes.h"
#include "rebalance/rebalance.h"
#include "sim/heap.h"
#include "sim/machine.h"
#include "tiles/tiles.h"

/* How an iteration is run, and how it is restored afterwards. */
struct eki_sim_iteration {
    ek_steal_policy steal;
    int detector; /* enum eki_detector */
    ek_on_failure_policy on_failure;
    enum eki_order order; /* ORIGINAL: everything goes home */
    bool is_balanced;     /* a rebalance moves tasks as BALANCE says */
    bool is_assembled;    /* ranks wait for each other before it */
    struct eki_balance_wish balance;
};

/* What a host or a worker does. */
enum eki_sim_state {
    EKI_SIM_SERIAL,   /* host: the program's own code; worker: has no thread */
    EKI_SIM_FAULT,    /* host: has entered, fault() comes before the team */
    EKI_SIM_RUNS,     /* host: an iteration; worker: a task or an index */
    EKI_SIM_STEPS,    /* worker: is stepped */
    EKI_SIM_WAITS,    /* worker: has nothing to do */
    EKI_SIM_HALTS,    /* worker: its task waits for tiles */
    EKI_SIM_ENDS,     /* host: brings workers without thread to the end */
    EKI_SIM_SERVES,   /* host: workers are done, the server not yet; worker:
                         takes messages between two tasks */
    EKI_SIM_RAN,      /* host: has left the iteration */
    EKI_SIM_RESTORED, /* host: has restored without a restore phase */
    EKI_SIM_MOVES,    /* host: a restore phase */
    EKI_SIM_OVER,     /* host: has restored the last iteration */
    EKI_SIM_DONE      /* worker: has seen the end of the phase */
};

struct eki_sim_rank;

/* Many members: an event reads all of a worker, line by line, and nothing that
 * hangs on it. */
struct eki_sim_worker {
    _Alignas(64) struct ek_worker *worker;
    struct eki_sim_rank *rank;
    /* Places in its memory that the next event will read: they are read before,
     * all at once. */
    const struct eki_engine *engine;
    const struct eki_worker_words *words;
    const struct eki_node_words *node;
    const struct eki_slot *slot; /* of the task that runs */
    const struct eki_function_counts *counts;
    const struct eki_asker *asker; /* NULL: one node */
    int32_t actor;
    uint8_t state;      /* enum eki_sim_state */
    bool is_index;      /* an index runs, not a task */
    bool never;         /* no thread comes for it in this iteration */
    bool is_visible;    /* others can claim tasks from it */
    bool is_idle;       /* as it waits, and nothing of it is on its way */
    int code;           /* what its task returns */
    uint64_t since;     /* when it began to wait */
    uint64_t halt_at;   /* when its task began to wait for tiles ... */
    uint64_t halted_ns; /* ... and for how long all have so far */
    uint64_t word_free; /* when the last atomic on its deque's word is over */
    uint64_t answers;   /* to its steals by one-sided operations */
    int64_t index;      /* the one that runs */
    uint64_t ahead_ns;  /* how long after now its task begins, or goes on */
    /* Where steals are sampled (sampled.c). */
    struct eki_victim wish; /* whom to ask now */
    int64_t drawn;          /* attempts in vain that were drawn */
    double drawn_across;    /* ... of these, requests to other nodes */
    int32_t pool_at;        /* its place among the thieves; -1: none */
    int32_t open_at;   /* its place among victims that show tasks; -1: none */
    double joined;     /* attempts of each of them before it joined */
    uint64_t join_at;  /* when it will join them; 0: not known */
    uint64_t tries_at; /* when an attempt before that succeeds; 0: none does */
    int32_t tries;     /* attempts drawn while the back-off grew */
    uint64_t search;   /* number of the last whose first attempt was drawn */
};

struct eki_sim_node {
    int32_t visible;  /* deques from which others can claim tasks */
    int32_t waiting;  /* workers that wait */
    int32_t open_at;  /* its place among victims that show tasks; -1: none */
    bool has_stopped; /* whoever waits there was told of the stop */
};

struct eki_sim_port;

/* Workers between tasks step the server at NEXT, and PERIOD_NS later. */
struct eki_sim_polls {
    uint64_t next, period_ns;
};

/* Many members: it is all that the simulator knows of a rank. */
struct eki_sim_rank {
    struct eki_topology topology; /* the job's, seen from this rank */
    struct eki_engine *engine;
    struct eki_stores *stores;      /* of tiles; NULL: it has none */
    struct eki_sim_worker *workers; /* [workers_here] */
    struct eki_sim_port *port;
    struct eki_sim_rma *rma; /* NULL: it exports nothing */
    int32_t actor, number;
    enum eki_sim_state state;
    int iteration;       /* from 0 */
    bool is_assembled;   /* it waits for the others */
    int done;            /* workers at the end of the phase */
    bool server_done;    /* the server has nothing more to do in the phase */
    bool is_forwarded;   /* the end was announced on this node */
    bool is_visible;     /* others can claim what its server was brought */
    uint64_t word_free;  /* when the last atomic on that deque is over */
    bool is_lined_up;    /* others can take from its lineup ... */
    uint64_t line_free;  /* ... on which the last atomic is over then */
    uint64_t busy_until; /* when the last server step is over */
    struct eki_sim_polls polls;
    int polled;           /* messages that the one that does has taken */
    uint64_t since;       /* when the host began to wait */
    uint64_t clock_ns;    /* by which its clock is ahead of virtual time */
    ek_status status;     /* of the restore */
    bool is_following;    /* ... after which data moves to where tasks are */
    int64_t discarded;    /* tasks, by the last restore */
    uint64_t server_ns;   /* in which its server was busy in this iteration */
    uint64_t decision_ns; /* real time of its steps in the last rebalance */
};

/* What takes time, and a program may have another opinion of. */
enum eki_sim_pace {
    EKI_PACE_STEP,    /* a worker's step that found something */
    EKI_PACE_WAIT,    /* ... that did not */
    EKI_PACE_ARRIVE,  /* until a thread comes for a worker */
    EKI_PACE_SERVER,  /* between two steps of a server */
    EKI_PACE_TAKE,    /* until a server looks at what has arrived */
    EKI_PACE_SERIAL,  /* the program's own code between calls */
    EKI_PACE_MESSAGE, /* a message is on its way, or a one-sided operation */
    EKI_PACE_SEND     /* until a send buffer comes free */
};

struct eki_sim;

/* EKI_PACE_ARRIVE of a worker that never gets a thread. */
#define EKI_SIM_NEVER UINT64_MAX
/* How far ahead of all others steps and tasks of one event go, in ns. */
#define EKI_SIM_AHEAD_MOST UINT64_C(10000)
/* What task() returns of a task that has ended ... */
#define EKI_SIM_ENDS_NOW UINT64_MAX
/* ... or waits for tiles, which none does as it begins: it is called again when
 * a message for its worker has come. */
#define EKI_SIM_WAITS_FOR_TILES (UINT64_MAX - 1)

/* Each function may be NULL but task() and iteration(). */
struct eki_sim_program {
    void *context;
    /* How iteration ITERATION (from 0) is run and restored; NULL: there is none
     * any more.  The same for all ranks. */
    const struct eki_sim_iteration *(*iteration)(void *context, int iteration);
    /* A rank is about to enter: it adds its seeds. */
    void (*enter)(void *context, struct eki_sim_rank *rank);
    /* The rank has entered; true: fault() comes next. */
    bool (*entered)(void *context, struct eki_sim_rank *rank);
    void (*fault)(void *context, struct eki_sim_rank *rank);
    /*
     * Begin the task eki_worker_current(worker->worker) (BEGINS), or go on with
     * it: spawn, mark, fail, poll.  Returns the time until the task wants to go
     * on, EKI_SIM_WAITS_FOR_TILES, or EKI_SIM_ENDS_NOW; then the worker's
     * `code` is what the task returns.  Where the worker's is_index is set,
     * that index runs instead.  All that comes `ahead_ns` after now.
     */
    uint64_t (*task)(void *context, struct eki_sim_worker *worker, bool begins);
    void (*worker_done)(void *context, struct eki_sim_worker *worker);
    void (*left)(void *context, struct eki_sim_rank *rank,
                 const struct eki_error *error);
    /* A rank is about to restore, and may add seeds. */
    void (*restore)(void *context, struct eki_sim_rank *rank);
    /* The rank has restored; STATUS is what that came to. */
    void (*restored)(void *context, struct eki_sim_rank *rank,
                     ek_status status);
    /* How long WHAT takes on RANK, where the machine says NS. */
    uint64_t (*pace)(void *context, struct eki_sim_rank *rank,
                     enum eki_sim_pace what, uint64_t ns);
    /* Before and after every event, of WORKER or (NULL) of the host of RANK.
     * False: the run ends. */
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

/* Many members: each is a choice of its own of who simulates. */
struct eki_sim_setup {
    const struct eki_machine *machine;
    const struct eki_sim_program *program;
    int ranks;
    const int *workers, *nodes; /* [ranks], as eki_topology_create() has them */
    /* Of each rank, but for what it gets here: its topology, fabric, line,
     * segment and exported memory.  With homes data follows tasks. */
    struct eki_setup engine;
    int64_t task_bytes; /* travel with a task to another rank, besides */
    int functions;      /* 0 ... functions - 1 */
    bool has_tiles;     /* tasks may use stores */
    bool has_rma;       /* ranks export what protocol/one_sided.h says */
    bool has_data; /* functions may have data: eki_data_set() of each rank */
    struct eki_data_setup data; /* of each rank: who joins with what */
    bool never_balances;        /* no iteration does: ranks have no balancer */
    bool is_sampled;            /* failing steals between nodes are drawn */
    bool is_together;           /* ranks wait for each other between calls */
    /* How long tasks of a worker that follow each other may last together to be
     * one event, as if nothing happened meanwhile; at most EKI_SIM_AHEAD_MOST;
     * 0: each is one.  Without a pace of the program. */
    uint64_t ahead_ns;
    bool is_reordered; /* messages of different pairs overtake each other */
    bool has_hints;    /* seeds have durations: iteration -1 only restores */
    /* A larger message keeps its buffer until it is received; 0: none does. */
    size_t late_bytes;
    int send_buffers;
    size_t message_bytes;
};

/* Victims that show tasks, nodes or, where the scheme is plain, workers; and
 * thieves whose back-off has grown to its most. */
struct eki_sim_sample {
    struct eki_sim_worker **thieves; /* [workers], thief_count of them */
    int32_t *open;                   /* [workers], open_count of them */
    int32_t thief_count, open_count;
    bool is_plain;    /* the scheme is: open victims are workers */
    int32_t actor;    /* its event: a thief finds something */
    double period_ns; /* between two attempts of a thief ... */
    double attempts;  /* ... and how many each would have made by SINCE */
    uint64_t since;
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
    struct eki_message *buffer; /* of whoever sends now */
    bool is_reserved;           /* somebody does */
    int over;                   /* ranks that are through */
    int assembled;         /* ranks that wait for the others, if is_together */
    int64_t messages;      /* sent so far */
    int64_t carried;       /* bytes that have travelled with tasks so far */
    uint64_t last_task_ns; /* when a task ended last */
    uint64_t read_ahead;   /* a sum without meaning, so that the reads happen */
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
/* Run up to EVENTS more events; EKI_SIM_END_ASKED, too, where more are left. */
enum eki_sim_end eki_sim_run(struct eki_sim *sim, int64_t events);

/* A store of tiles, of all ranks. */
struct eki_sim_store {
    bool has_values, is_shared;
    void **memory;            /* [ranks]: of nodes, or of ranks */
    struct ek_tiles *tiles[]; /* [ranks]: as each sees it */
};

enum eki_sim_values {
    EKI_SIM_NO_VALUES,     /* only bytes are counted */
    EKI_SIM_VALUES_SHARED, /* by the ranks of a node */
    EKI_SIM_VALUES_APART   /* messages on the node, too */
};

/* Make a store on all ranks, or destroy it, while no rank is in a phase. */
ek_status eki_sim_create_store(struct eki_sim *sim, const ek_tiles_shape *shape,
                               enum eki_sim_values values,
                               struct eki_sim_store **store);
void eki_sim_destroy_store(struct eki_sim *sim, struct eki_sim_store **store);
/* The task of WORKER begins, or looks again for its input: see
 * eki_data_begin(), and let it wait as for tiles. */
enum eki_data_begun eki_sim_begin_data(struct eki_sim *sim,
                                       struct eki_sim_worker *worker);
/*
 * The task that runs on WORKER, within task() or before its time is over,
 * spawns another, as ek_spawn() does: FLAGS 0 or EK_SPAWN_KEEP.  False: there
 * is no memory for it.
 */
bool eki_sim_spawn(struct eki_sim_worker *worker, int function,
                   const void *payload, size_t bytes, int flags);
/* A task of WORKER has started transfers: its server is to send them. */
void eki_sim_want(struct eki_sim *sim, struct eki_sim_worker *worker);

/* What the clock of RANK shows now. */
static inline uint64_t eki_sim_clock(const struct eki_sim *sim,
                                     const struct eki_sim_rank *rank)
{
    return sim->now + rank->clock_ns;
}

#endif
