/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine: the workers and the server of one rank as state machines that are
 * stepped, and the life cycle of a phase.
 *
 * The engine has no thread, no clock and no static state and never blocks; it
 * calls MPI only through the fabric.  Whoever steps it provides time.  Several
 * engines of one process may share a node segment (tests, simulation).
 *
 * Threads.  eki_worker_*(): one thread per worker at a time.  eki_server_*()
 * and eki_engine_*(): one thread of the rank at a time.  Hand-over
 * synchronizes. What two of them share is atomic: the inbox and the mailbox of
 * a worker, and the words of the node segment.
 *
 * Termination inside a node: `executed` of all workers summed first, `created`
 * second, all in this phase; equal sums are the end.  Between nodes: task
 * counting, two equal waves over a binary tree of nodes.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012; task counting as in
 * Mattern's four-counter method.
 */
#ifndef EKI_ENGINE_H
#define EKI_ENGINE_H

#include "balance/balance.h"
#include "count/count.h"
#include "deque/deque.h"
#include "fabric/fabric.h"
#include "steal/steal.h"
#include "task/task.h"

enum eki_kind {
    EKI_KIND_REQUEST = 1, /* thief's server -> a rank of the victim node */
    EKI_KIND_TASKS,       /* victim's server -> thief's; slots */
    EKI_KIND_NONE,        /* victim's server -> thief's: nothing to steal */
    EKI_KIND_VOTE,        /* child node -> parent node; struct eki_vote */
    EKI_KIND_WAVE,        /* parent node -> child node; struct eki_verdict */
    EKI_KIND_STOP,        /* to the neighbours in the tree: start no task */
    EKI_KIND_MOVE,        /* to where a task belongs; slots */
    EKI_KIND_SEEDS,       /* counter: rank -> rank 0: how many seeds */
    EKI_KIND_TABLE,  /* counter: rank 0 -> all: struct eki_seeds of ranks; none:
                        nothing can be drawn */
    EKI_KIND_DRAW,   /* counter: rank -> rank 0: the next number */
    EKI_KIND_NUMBER, /* counter: rank 0 -> rank */
    EKI_KIND_FETCH,  /* counter: rank -> holder of a seed */
    EKI_KIND_FETCHED, /* counter: holder -> rank; one slot */
    EKI_KIND_PARCEL   /* rebalance: a piece of something larger */
};

/* Who failed and why; status EK_OK: nobody. */
struct eki_error {
    int32_t status; /* ek_status */
    int32_t worker;
    int32_t code;
    int32_t function;
    uint64_t id;
    char text[160];
};

struct eki_vote {
    uint64_t created, executed;
    uint64_t signature_low, signature_high;
    struct eki_error error;
};

enum eki_wave {
    EKI_WAVE_AGAIN,
    EKI_WAVE_STALLED,
    EKI_WAVE_DONE
};

struct eki_verdict {
    int64_t wave; /* enum eki_wave */
    struct eki_error error;
};

/*
 * Phases tell which phase a word speaks of; [phase & 1] where a rank still in
 * phase p may look after another entered p + 1: nobody enters p + 2 before.
 */
struct eki_node_words {
    /* Written by the server of the lowest rank. */
    _Alignas(EKI_LINE) _Atomic uint64_t announced;
    struct eki_error announced_error; /* before announced */

    /* Written by any worker or server of the node, rarely. */
    _Alignas(EKI_LINE) _Atomic uint64_t stop[2]; /* start no task */
    _Atomic uint64_t mail[2];                    /* tasks travel: poll */
    _Atomic uint64_t error[2];                   /* somebody has an error */
    _Atomic uint64_t mismatch[2];                /* signatures differ */
    _Atomic uint64_t stalled;

    /* Written by all servers of the node: whose was stepped last. */
    _Alignas(EKI_LINE) _Atomic int polled;

    /* Counter policy, node of rank 0: next number, and the phase it is of. */
    _Alignas(EKI_LINE) _Atomic uint64_t draw;
};

/* An error of each of two phases, by parity. */
struct eki_errors {
    _Alignas(EKI_LINE) _Atomic uint64_t failed[2]; /* phase of error[] */
    struct eki_error error[2];
};

/* Written by the thread that enters and leaves, and by the server. */
struct eki_rank_words {
    _Alignas(EKI_LINE) _Atomic uint64_t left; /* last phase it has left */
    struct eki_errors errors;
};

/* Written by the owner (before the team starts: by the thread that enters). */
struct eki_worker_words {
    _Alignas(EKI_LINE) _Atomic uint64_t phase;
    _Atomic uint64_t signature[2];      /* of phases, as above */
    _Atomic uint64_t created, executed; /* cumulative */
    _Atomic uint64_t idle;              /* phase in which it is idle now */
    struct eki_deque_shared deque;
    struct eki_errors errors;
};

#define EKI_NAME_BYTES 64

struct eki_function {
    ek_task_fn *fn;
    void *context;
    char *name; /* owned */
};

enum {
    EKI_MARK_DISCARD = 1,
    EKI_MARK_SKIP = 2,
    EKI_MARK_COST = 4,
    EKI_MARK_FAIL = 8,
    EKI_MARK_STOP = 16
};

enum eki_step {
    EKI_STEP_RUN,   /* take tasks with eki_worker_take() and run them */
    EKI_STEP_RANGE, /* take indices with eki_worker_take_index() */
    EKI_STEP_AGAIN, /* something moved: step again */
    EKI_STEP_WAIT,  /* nothing to do for now */
    EKI_STEP_DONE   /* the phase has ended */
};

/* Tasks brought by the server, until the worker takes them. */
struct eki_chunk {
    struct eki_chunk *next;
    int64_t count;
    bool is_stolen, is_whole; /* ... and now all of the answer is here */
    _Alignas(16) unsigned char slots[];
};

/* Where somebody was who draws the seeds of a rank, roughly in turn. */
struct eki_cursor {
    const unsigned char *at; /* a slot, or NULL: begin anew */
    int64_t first;           /* number of its first task in the rank */
    int here;                /* worker that holds it */
};

/* Whether the worker has a thread. */
enum eki_presence {
    EKI_ABSENT,
    EKI_BUSY,
    EKI_PRESENT
};

struct eki_engine;

/* A worker; the public ek_worker. */
struct ek_worker {
    /* What entering a phase looks at, which another thread may do. */
    struct eki_local local;
    uint64_t next_id;  /* of spawned tasks, home included */
    uint64_t first_id; /* next_id when the phase began */
    /* Cumulative; stored when others need them. */
    uint64_t created; /* without those spawned in this phase */
    uint64_t executed;
    const struct eki_function *functions;
    struct eki_worker_words *words;
    struct eki_engine *engine;
    int id, here, local_number;

    /* What running a task touches, too. */
    struct eki_slot *current;  /* task that runs; NULL: an index */
    unsigned char *batch_seed; /* seed_top when the batch began */
    int64_t batch_log;         /* log entries when the batch began */
    uint32_t marks;
    int32_t budget;          /* tasks this batch may take */
    int32_t in_batch;        /* tasks it took */
    int32_t batch;           /* adaptive size, 1 ... 64 */
    uint32_t function_limit; /* functions registered */
    size_t payload_limit;
    uint64_t stamp; /* clock when the batch began */
    struct eki_deque_owner deque;
    unsigned char *slots; /* of the shared part */
    struct eki_slot *scratch;
    uint64_t cost_ns;
    uint64_t may_publish; /* phase: all have left the one before */
    bool restamp;         /* the step took time: read the clock again */

    /* A piece of a range that runs. */
    int64_t index, index_last;
    int64_t index_first; /* where the piece began */
    int64_t index_nulls; /* since the last time stamp */
    uint64_t index_id;   /* id of index 0 of the range, so to speak */
    uint16_t index_function;
    int32_t piece; /* adaptive size, 1 ... 512 */
    double null_ns;

    void *data; /* of the program */
    _Atomic int presence;

    /* Without work. */
    uint64_t done; /* phase whose end it has seen */
    bool is_idle;
    uint64_t idle_since;
    struct eki_thief thief;
    const struct eki_victim_policy *policy;
    int steal_from;    /* local number whose block is claimed; -1: none */
    uint64_t *trusted; /* phase in which a worker of the node was alike */
    struct eki_block block;
    int check_at, check_pass;
    uint64_t check_executed, check_created;
    uint64_t check_last, unchanged_since;

    /* Requests to other nodes: worker -> server, server -> worker. */
    _Atomic int ask;             /* node + 1; 0: none */
    _Atomic uint64_t answers[2]; /* of requests: denied, granted; cumulative */
    uint64_t asked, denied_seen, granted_seen;
    _Atomic uint64_t asked_at;
    uint64_t ask_after, ask_backoff;
    _Atomic uint64_t round_trip_ns;
    _Atomic(struct eki_chunk *) inbox;

    /* Counter policy: worker -> server and back. */
    _Atomic int draw_state;      /* enum eki_draw */
    _Atomic int64_t draw_number; /* that was drawn, or is to be fetched */
    const unsigned char *draw_first, *draw_last; /* seeds it holds */
    bool draw_ranges;                            /* with ranges among them */
    struct eki_cursor draw_cursor;

    struct eki_counts counts;
    struct eki_function_counts *function_counts;
};

enum eki_phase_kind {
    EKI_PHASE_PROCESS,
    EKI_PHASE_RESTORE
};

struct eki_request {
    int rank, worker;
    uint64_t signature;
};

/* Slots of a reply that found no buffer yet. */
struct eki_rest {
    int rank, worker;
    int64_t sent, count;
    unsigned char *slots; /* room for the largest block */
};

struct eki_early {
    struct eki_early *next;
    struct eki_message *message; /* a copy */
};

/* Where a worker stands in drawing a seed. */
enum eki_draw {
    EKI_DRAW_FREE,    /* may draw */
    EKI_DRAW_ASK,     /* the server shall ask for a number */
    EKI_DRAW_ASKED,   /* ... has */
    EKI_DRAW_NUMBER,  /* draw_number is there */
    EKI_DRAW_FETCH,   /* the server shall fetch draw_number */
    EKI_DRAW_FETCHED, /* ... does; the seed comes to the inbox */
    EKI_DRAW_OVER     /* all seeds are drawn */
};

/* What rank 0 tells of the seeds of a rank (counter policy). */
struct eki_seeds {
    int64_t first; /* number of its first seed */
    /* All seeds are one run of indices from INDEX on: no need to fetch. */
    int64_t index;
    uint64_t number;  /* of the id of the first index */
    int32_t function; /* -1: fetch */
    int32_t reserved;
};

struct eki_server {
    int parent, children, child[2]; /* nodes; parent -1: root */
    uint64_t wave;
    bool voted, forwarded, is_lowest;
    int stop_next; /* neighbours that were told to stop */
    bool has_vote[2];
    struct eki_vote vote[2];
    struct eki_verdict verdict; /* to pass on ... */
    int verdict_next;           /* ... from this child on; -1: none */
    /* Root: sums of the last wave, and since when nothing has changed. */
    uint64_t last_created, last_executed, unchanged_since;
    bool stall_told;
    struct eki_request *requests;
    int request_count, request_room;
    struct eki_rest rest;
    struct eki_early *early;
    struct eki_message *held; /* arrived, but there was no memory for it */
    int *contact; /* rank to ask, per node; [nodes]; NULL: nodes of one rank */
    struct eki_histogram service;
    bool has_served;     /* service has entries */
    uint64_t moved;      /* messages that were worth waiting for; cumulative */
    int64_t depart_next; /* departing tasks sent so far */
    int next_worker;     /* for arriving tasks without a worker */
};

/* Tasks that leave this rank, with where they go. */
struct eki_departing {
    unsigned char *slots;
    int *ranks, *workers; /* worker -1: its home, or in turn */
    int64_t count, room;
};

/* Counter policy: one rank's view. */
struct eki_counter {
    struct eki_seeds *table; /* [size + 1]; NULL: never used */
    int64_t *starts;         /* [workers_here + 1]: first seeds of workers */
    _Atomic bool is_ready;   /* the table is complete */
    _Atomic bool is_void;    /* there will be none: seeds stay where they are */
    bool seeds_sent;
    struct eki_cursor cursor; /* of the server */
    int known;   /* entries heard: of SEEDS (rank 0), of TABLE (others) */
    int tell;    /* rank 0: rank to tell next ... */
    int tell_at; /* ... from this entry on */
    struct eki_counter_request {
        int rank, worker;
        int64_t number; /* to fetch; -1: a draw */
    } * requests;
    int request_count, request_room;
};

struct eki_setup {
    const struct eki_topology *topology;
    struct eki_fabric *fabric; /* NULL: one rank */
    void *segment;             /* eki_engine_segment_bytes(), zeroed */
    enum eki_deque_kind deque;
    int64_t buffer_slots, payload_bytes;
    uint64_t seed;
    uint64_t stall_ns;
    bool has_counter; /* EK_STEAL_COUNTER may come: 32 bytes for each rank */
    int check_words;  /* of others, that one step may look at for the end */
};

struct eki_engine {
    const struct eki_topology *topology;
    struct eki_fabric *fabric;
    unsigned char *segment;
    struct eki_node_words *node;
    struct eki_rank_words *rank_words; /* [node_ranks] */
    struct eki_setup setup;
    uint32_t slot_bytes, capacity;
    struct ek_worker **workers; /* [workers_here] */
    struct eki_function *functions;
    int function_count, function_room;
    struct eki_departing departing;
    struct eki_server server;

    void *stepper; /* who steps it; for calls of running tasks */

    uint64_t phase;
    enum eki_phase_kind kind;
    uint64_t signature;
    ek_steal_policy steal;
    ek_on_failure on_failure;
    bool has_thieves;      /* somebody may steal in this phase */
    bool alone;            /* one node */
    bool is_open;          /* a phase is */
    _Atomic bool messages; /* the server must be stepped in this phase */
    _Atomic int absent;    /* workers without a thread */
    _Atomic int broken;    /* ek_status: no message moves any more */
    uint64_t entered_ns;
    bool stall_printed;

    struct eki_counter counter;
    struct eki_balancer *balancer; /* NULL: never used */

    /* Written by workers that ask and by the server: away from what every step
     * reads. */
    _Alignas(EKI_LINE) _Atomic int asks; /* not fetched yet */
};

/* Bytes of the node segment for a node of this topology. */
size_t eki_engine_segment_bytes(const struct eki_setup *setup);
ek_status eki_engine_create(const struct eki_setup *setup,
                            struct eki_engine **engine);
void eki_engine_destroy(struct eki_engine **engine);

/* Local; NAME is checked by the caller. */
ek_status eki_engine_register(struct eki_engine *engine, const char *name,
                              ek_task_fn *fn, void *context, int *function);

/* What a rebalance shall come to. */
struct eki_balance_wish {
    int32_t group; /* workers of a group; 0: all, centralized */
    double eps;    /* tolerance; < 0: as balance/ chooses */
    /* Leave all as it is where the gain over so many iterations is below. */
    double iterations, cost_ns;
    bool is_printed; /* the algorithms of HPDC'12, with these constants */
    struct eki_hpdc12 printed;
};

/*
 * The wish of a restore policy that rebalances WORKERS; EK_RESTORE_AUTO: two
 * levels where one rank would decide for too many.  GROUP and PPM are the
 * options balance_group and balance_ppm.
 */
struct eki_balance_wish eki_balance_wish_of(ek_restore_policy policy,
                                            int workers, int64_t group,
                                            int64_t ppm);

/* What came of it; the same on all ranks. */
struct eki_balance_report {
    double before, after, bound; /* largest load / mean load - 1 */
    int64_t moved, fewest;       /* tasks */
    uint64_t hash;               /* of all moves */
};

struct eki_phase {
    enum eki_phase_kind kind;
    const struct eki_balance_wish *balance; /* of a restore, or NULL */
    uint64_t signature; /* equal on all ranks, or the phase ends in an error */
    ek_steal_policy steal;
    ek_on_failure on_failure;
};

/* Enter the next phase: count the seeds, publish for every worker. */
void eki_engine_enter(struct eki_engine *engine, const struct eki_phase *phase,
                      uint64_t now);
/* No new task starts on any rank. */
void eki_engine_stop(struct eki_engine *engine);
/* This rank makes the phase an error on all ranks; after entering it. */
void eki_engine_fail(struct eki_engine *engine, ek_status status,
                     const char *text);
/*
 * Leave the phase: every worker and the server are done.  ERROR is what all
 * ranks return; EK_OK: status EK_OK.
 */
void eki_engine_leave(struct eki_engine *engine, struct eki_error *error);

/*
 * Restore: order what is here (EKI_ORDER_LONGEST, _EXECUTED) or pack what has
 * another home (_ORIGINAL: then a phase of kind EKI_PHASE_RESTORE moves it and
 * eki_engine_restore_end() orders it).  One worker, or all.
 */
ek_status eki_engine_restore_worker(struct eki_engine *engine, int here,
                                    enum eki_order order, int64_t *discarded);
ek_status eki_engine_restore_pack(struct eki_engine *engine,
                                  int64_t *discarded);
ek_status eki_engine_restore_end(struct eki_engine *engine,
                                 enum eki_order order);

/*
 * Rebalance: after the workers were restored, a phase of kind EKI_PHASE_RESTORE
 * with a wish moves tasks, and eki_engine_restore_end() orders them.
 */
ek_status eki_engine_rebalance_prepare(struct eki_engine *engine);
/* Tasks that left this rank in the last one, and what came of it. */
int64_t eki_engine_rebalance_sent(const struct eki_engine *engine);
const struct eki_balance_report *
eki_engine_rebalance_report(const struct eki_engine *engine);

/* Put a copy of SLOT among the tasks that start on RANK. */
ek_status eki_engine_depart(struct eki_engine *engine,
                            const struct eki_slot *slot, int rank);

/* Clock when the phase was entered or a task ended: NOW. */
enum eki_step eki_worker_step(struct ek_worker *worker, uint64_t now);
/* A thread has come for the worker; before its first step, but in a restore. */
void eki_worker_arrive(struct ek_worker *worker, uint64_t now);
/* The current task fails; before it ends. */
void eki_worker_fail(struct ek_worker *worker, int code, const char *text);
/* After a failure, a mark or a non-zero return of the current task. */
void eki_worker_mark(struct ek_worker *worker, int code);
/* The same for an index; every index that is not discarded ends here. */
void eki_worker_index_end(struct ek_worker *worker, int code, uint64_t now);
/* Publish what a running task spawned, or what is left: long tasks. */
void eki_worker_publish_now(struct ek_worker *worker);

/* True: this rank's server has nothing more to do in this phase. */
bool eki_server_step(struct eki_engine *engine, uint64_t now);

/* Report a phase that stands still, once, to the message sink. */
void eki_engine_stall(struct eki_engine *engine);

/* Requests to other nodes that are not answered yet, as the worker knows. */
static inline int eki_worker_open_requests(const struct ek_worker *worker)
{
    return (int)(worker->asked - worker->denied_seen - worker->granted_seen);
}

/* Whether it has seen the end of the phase. */
static inline bool eki_worker_is_done(const struct ek_worker *worker)
{
    return worker->done == worker->engine->phase;
}

/* Tasks created, cumulative. */
static inline uint64_t eki_worker_created(const struct ek_worker *worker)
{
    return worker->created + worker->next_id - worker->first_id;
}

static inline struct eki_slot *eki_worker_top(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    unsigned char *top = local->stack_top != local->stack_bottom
                             ? local->stack_top
                             : local->seed_top;
    return (struct eki_slot *)(top - local->slot_bytes);
}

/* Whether a long task may begin, as a batch of its own; a range may not. */
static inline bool eki_worker_may_begin(struct ek_worker *worker,
                                        const struct eki_slot *slot)
{
    if (worker->in_batch != 0 || slot->bin == EKI_BIN_RANGE)
        return false;
    worker->budget = 1;
    return true;
}

/* Take a seed from the top of the stack to the log, where it runs; NULL: step.
 */
struct eki_slot *eki_worker_take_logged(struct ek_worker *worker);

/*
 * The next task of the batch, or NULL: read the clock and step.  Long tasks,
 * and ranges, are batches of their own.
 */
static inline struct eki_slot *eki_worker_take(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    struct eki_slot *slot;
    if (EKI_UNLIKELY(worker->in_batch >= worker->budget))
        return NULL;
    if (local->stack_top != local->stack_bottom) {
        slot = (struct eki_slot *)(local->stack_top - local->slot_bytes);
        if (EKI_UNLIKELY(slot->flags & EKI_SLOT_SEED)) {
            slot = eki_worker_take_logged(worker);
            if (!slot)
                return NULL;
        } else {
            /* Spawned, so never measured.  It runs from a copy: its place is
             * that of its first child. */
            local->stack_top = (unsigned char *)slot;
            eki_slot_copy(worker->scratch, slot, local->slot_bytes);
            slot = worker->scratch;
        }
    } else {
        if (EKI_UNLIKELY(local->seed_top == local->seed_base))
            return NULL;
        slot = (struct eki_slot *)(local->seed_top - local->slot_bytes);
        if (EKI_UNLIKELY(slot->bin >= EKI_BIN_LONG) &&
            !eki_worker_may_begin(worker, slot))
            return NULL;
        local->seed_top = (unsigned char *)slot;
    }
    worker->in_batch++;
    worker->current = slot;
    return slot;
}

/* The next index of the piece; false: read the clock and step. */
static inline bool eki_worker_take_index(struct ek_worker *worker,
                                         int64_t *index)
{
    if (worker->index == worker->index_last)
        return false;
    *index = worker->index++;
    return true;
}

/* An index ended: a null one needs no more than this. */
static inline bool eki_worker_index_is_null(struct ek_worker *worker, int code)
{
    if (EKI_UNLIKELY(worker->marks != EKI_MARK_DISCARD || code != 0))
        return false;
    worker->marks = 0;
    worker->index_nulls++;
    return true;
}

#endif
