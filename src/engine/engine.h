/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine: the workers and the server of one rank as state machines that are
 * stepped, and the life cycle of a phase.
 *
 * The engine has no thread, no clock and no static state and never blocks; it
 * calls MPI only through its line and the fabric.  Whoever steps it provides
 * time.  Several engines of one process may share a node segment (tests,
 * simulation).
 *
 * Threads.  eki_worker_*(): one thread per worker at a time.  eki_server_*()
 * and eki_engine_*(): one thread of the rank at a time.  Hand-over
 * synchronizes.  What two of them share is atomic: the inbox of a worker, what
 * a protocol says so of, and the words of the node segment.
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

#include "base/options.h"
#include "engine/lineup.h"
#include "engine/moves.h"
#include "engine/pinned.h"
#include "engine/protocol.h"
#include "engine/wave.h"
#include "engine/words.h"
#include "engine/worker.h"
#include "exchange/tickets.h"
#include "fabric/rma.h"
#include "task/key.h"
#include "wire/wire.h"

#include <evenkeel_task.h>

#define EKI_NAME_BYTES 64

enum {
    EKI_PROTOCOLS_MOST = EKI_CHANNELS - 1 /* of one engine */
};

enum {
    EKI_SEARCH_VICTIMS = 5 /* the last stands for more, too */
};

/* What became of looking for work by nodes (protocol/node_thief.h). */
struct eki_node_counts {
    int64_t loads_read;
    int64_t occupied, denied;             /* requests ... */
    int64_t searches[EKI_SEARCH_VICTIMS]; /* ended by tasks, of so many nodes
                                             that were asked, less 1 */
    int64_t grants;
    int64_t cyclic; /* ... to who was asked, too */
};

/* What a node waits for before it votes, where the end is not counted: answers
 * to its requests, or receipts for tasks that it gave. */
struct eki_detection {
    bool needs_answers, needs_receipts;
};

/* One rank's part of that (detect.h); written by its server. */
struct eki_detect {
    const struct eki_detection *rule; /* of the phase; NULL: it is counted */
    struct eki_queue receipts;        /* to be sent */
    int64_t unacknowledged; /* messages for which receipts are to come */
    /* Of who votes: what the next vote says, until it has left; whether it is
     * one for which nothing is open; since when something has been, while the
     * workers are idle, or 0.  Whether the last one only told of a stall. */
    uint32_t doubts;
    bool is_settled;
    bool was_open;
    uint64_t open_since;
};

enum eki_phase_kind {
    EKI_PHASE_PROCESS,
    EKI_PHASE_RESTORE
};

/*
 * Stolen tasks that have come for workers that have others by now: the server's
 * own local part, all of which it shows.
 */
struct eki_brought {
    struct eki_local local;
    struct eki_share share;
};

/* Memory that this rank lacks in a phase (lack.c); written by the server. */
struct eki_lack {
    uint64_t since;  /* 0: not known to lack any */
    uint64_t now;    /* when the server looked last ... */
    uint64_t passed; /* ... before tasks were passed on last; 0: never */
    int64_t bytes;   /* that the server wanted last for tasks; 0: none */
    bool is_out;     /* for so long that the phase ends in an error */
    bool waits;      /* no buffer was free to pass tasks on */
    int next;        /* rank that tasks go on to, counted from this one */
    struct eki_chunk *chunks; /* that go on */
};

/* What has arrived; written by the server. */
struct eki_post {
    uint64_t moved;  /* messages that were worth waiting for; cumulative */
    int next_worker; /* for arriving tasks without a worker */
    struct eki_brought brought;
};

struct eki_setup {
    const struct eki_topology *topology;
    struct eki_fabric *fabric; /* NULL: one rank */
    uint32_t number;           /* of the line over it */
    void *segment;             /* eki_engine_segment_bytes(), zeroed */
    enum eki_deque_kind deque;
    int64_t buffer_slots, payload_bytes;
    bool has_homes; /* a task may have a home besides that of its id */
    uint64_t seed;
    uint64_t stall_ns;
    bool is_checked;   /* option check: calls of tasks are looked at */
    uint64_t watch_ns; /* option status: servers tell how far their nodes are so
                          often (headway.h); 0: nobody watches */
    bool has_counter;  /* EK_STEAL_COUNTER may come: 160 bytes for each rank */
    int check_words;   /* of others, that one step may look at for the end */
    uint64_t hold_ns;  /* to hand long tasks over, however short they are; 0: as
                          is good for time */
    bool lines_up;     /* seeds are lined up, however short or few they are */
    /* Whoever has nothing to do pauses for PAUSE_NS at most; else: as is good
     * for time. */
    bool has_pause;
    uint64_t pause_ns;
    int64_t steal_batch;       /* tasks of a grant to another node; 0: half */
    int64_t load_threshold;    /* who shows no more than that is not asked */
    struct eki_dvs_option dvs; /* of steal=dvs */
    struct eki_lifeline_option lifeline; /* of steal=lifeline */
    struct eki_sws_option sws;           /* of steal=sws */
    struct eki_rma *rma; /* exported memory, for steal=sws and sdc, of as much
                            as protocol/one_sided.h says; NULL: none */
};

/* Many members: it is what the files of the engine share, ordered by writer. */
struct eki_engine {
    /* Written when it is made and when functions are registered. */
    const struct eki_topology *topology;
    unsigned char *segment;
    struct eki_node_words *node;
    struct eki_rank_words *rank_words; /* [node_ranks] */
    struct eki_setup setup;
    uint32_t slot_bytes, capacity;
    struct ek_worker **workers; /* [workers_here] */
    struct eki_pinned pinned;   /* tasks of this rank, of all its workers */
    struct eki_lineup lineup;   /* likewise, of this phase */
    int *first_local; /* [node_ranks]: local number of a rank's first worker */
    struct eki_function *functions;
    int function_count, function_room;
    struct eki_protocol *protocols[EKI_PROTOCOLS_MOST]; /* as they are served */
    int protocol_count;
    struct eki_protocol *stepped[EKI_PROTOCOLS_MOST]; /* that have a step */
    int stepped_count;
    struct eki_protocol *channels[EKI_CHANNELS];
    /* Where data of tasks travels (src/data), else NULL: answers that the end
     * waits for; how long the data of a task of each of so many functions is on
     * its way, about (away.h). */
    const struct eki_tickets *kept;
    const _Atomic int64_t *away_ns;
    int away_count;
    struct eki_stores *stores; /* of tiles (src/tiles), which its tasks may use;
                                  NULL: none */
    struct eki_track *track;   /* of the server; NULL: none */
    struct eki_replay *replay; /* of the next process, or of the one that is
                                  open; NULL: none */
    void *stepper;             /* who steps it ... */
    ek_collection *owner; /* ... and whose it is; for calls of running tasks */
    bool alone;           /* one node */
    int key_base;         /* of what programs see of ids (key.h) */

    /* Written by the thread that enters and leaves. */
    bool is_open;   /* a phase has been entered and not left */
    bool is_traced; /* what tasks spawn is noted and logged */
    bool has_parts; /* some tasks of the iteration may have run before */
    uint64_t phase;
    enum eki_phase_kind kind;
    uint64_t signature;
    const struct eki_scheme *scheme; /* NULL: nobody looks for work */
    eki_victims_fn *victims;         /* of the scheme, or another; or NULL */
    uint32_t function_limit; /* functions that tasks spawn without a look */
    struct eki_protocol *elsewhere; /* of the scheme */
    ek_on_failure_policy on_failure;
    const struct eki_publishing *publishing; /* of the scheme, or NULL */
    bool is_plain;                           /* of the scheme */
    bool notes_thieves;                      /* likewise */
    bool has_thieves;           /* somebody may steal in this phase */
    struct eki_dvs_list *lists; /* [workers_here], of dvs; owned; or NULL */
    uint64_t processes;         /* phases that were one, with this */
    uint64_t entered_ns;
    uint64_t process_ns; /* the last process took; 0: there was none */
    uint64_t paced_ns;   /* the same when the phase was entered */

    /* Written by any thread of the rank, rarely. */
    _Atomic uint64_t stop_called; /* the last phase in which a task did */
    _Atomic bool messages;        /* the server must be stepped in this phase */
    _Atomic int absent;           /* workers without a thread */
    _Atomic uint64_t owed_until;  /* data of stolen tasks is on its way */
    _Atomic int broken;           /* ek_status: no message moves any more */
    _Atomic unsigned lacks;       /* enum eki_lacks */
    _Atomic int holds;           /* protocols for which workers begin nothing */
    _Atomic uint64_t held_until; /* workers, as far as that is known */

    /* Written by the server, and by the thread that enters; what is kept in the
     * line also by servers of other engines. */
    struct eki_exchange exchange;
    struct eki_line line; /* of the fabric's wire */
    struct eki_post post;
    struct eki_lack lack;
    struct eki_moves moves;
    struct eki_waves waves;
    struct eki_histogram *answered; /* how long requests of this phase took;
                                       NULL: nobody wants to know */
    struct eki_node_counts sought;  /* of this phase */
    bool has_guests; /* requests wait for tasks that the node shows; for who
                        steps it when tasks come, as a simulation does */
    int64_t in_vain; /* requests of this phase to other nodes that have brought
                        no task */
    struct eki_detect detect;
    struct eki_protocol refusal;
    int refusal_tells; /* enum eki_refused, to neighbors */
    int refusal_told;  /* neighbors that know of it */
    bool must_break;   /* no verdict will come */
    /* Tasks have come of functions that are not registered here. */
    bool has_strange;
};

/* What is told apart by the kind of a message; NULL: nobody takes it. */
static inline const struct eki_verb *
eki_engine_verb_taken(const struct eki_engine *engine, int kind)
{
    const struct eki_protocol *taker =
        kind < EKI_KINDS ? engine->channels[EKI_CHANNEL_OF(kind)] : NULL;
    int verb = kind % EKI_VERBS_MOST;
    return EKI_LIKELY(taker != NULL && verb < taker->ops->verb_count)
               ? &taker->ops->verbs[verb]
               : NULL;
}

/* The verb of a message's kind; of a kind that nobody takes: "unknown". */
static inline const struct eki_verb *
eki_engine_verb(const struct eki_engine *engine, int kind)
{
    static const struct eki_verb unknown = {.name = "unknown"};
    const struct eki_verb *verb = eki_engine_verb_taken(engine, kind);
    return EKI_LIKELY(verb != NULL) ? verb : &unknown;
}

/* Bytes of a slot of its tasks. */
static inline uint32_t eki_setup_slot_bytes(const struct eki_setup *setup)
{
    return eki_slot_bytes(setup->payload_bytes +
                          (setup->has_homes ? EKI_SLOT_HOME_BYTES : 0));
}
/* Bytes of the node segment for a node of this topology. */
size_t eki_engine_segment_bytes(const struct eki_setup *setup);
ek_status eki_engine_create(const struct eki_setup *setup,
                            struct eki_engine **engine);
void eki_engine_destroy(struct eki_engine **engine);

/* Local; NAME is checked by the caller. */
ek_status eki_engine_register(struct eki_engine *engine, const char *name,
                              ek_task_fn *fn, void *context, int *function);

/* Note what tasks spawn, and log it, from the next phase on, or no more; while
 * no phase is open. */
void eki_engine_trace(struct eki_engine *engine, bool is_traced);

struct eki_phase {
    enum eki_phase_kind kind;
    int detector;       /* enum eki_detector, of a process of several nodes */
    uint64_t signature; /* equal on all ranks, or the phase ends in an error */
    /* Each worker gets a thread, unless eki_worker_give_up() says otherwise:
     * where nobody steals its tasks wait for it. */
    bool has_threads;
    bool is_retained; /* tasks lie where they ran last */
    bool is_ordered; /* longest first, and free to run anywhere on their rank */
    const struct eki_load *load;     /* of an earlier run; NULL: the last one */
    const struct eki_scheme *scheme; /* of a process; NULL: nobody steals */
    bool may_fail; /* eki_engine_fail() comes at once, maybe; or tasks are
                      parked */
    int chunk;     /* numbers that one draw of the counter takes; 0: 1 */
    eki_victims_fn *victims;                /* NULL: the scheme's */
    const struct eki_balance_wish *balance; /* of a restore, or NULL */
    ek_on_failure_policy on_failure;
};

/* Enter the next phase: count the seeds, publish for every worker. */
void eki_engine_enter(struct eki_engine *engine, const struct eki_phase *phase,
                      uint64_t now);
/* Right after entering: if no task lies on any rank of the only node, all
 * workers of this rank are done.  The caller looks LOOKS times more at the
 * words of ranks that are late.  False: the workers must be stepped. */
bool eki_engine_pass(struct eki_engine *engine, int looks);
/* Who has nothing to do looks again, or asks, after so long at most: a
 * hundredth of what the last process took, or less where the setup says so; at
 * once in a plain scheme. */
uint64_t eki_engine_pause_ns(const struct eki_engine *engine);
/* Whether the setup or the scheme sets that pause. */
static inline bool eki_engine_has_pause(const struct eki_engine *engine)
{
    return engine->setup.has_pause || engine->is_plain;
}
/* No new task starts on any rank. */
void eki_engine_stop(struct eki_engine *engine);
/* The same, but nobody has called ek_stop(): the process will go on. */
void eki_engine_interrupt(struct eki_engine *engine);
/* Whether this rank has heard that none should. */
static inline bool eki_is_stopped(const struct eki_engine *engine)
{
    return eki_is_set(&engine->node->stop[engine->phase & 1], engine->phase);
}
/* Whether no error ended the phase early, and tasks were cancelled on some
 * rank.
 */
static inline bool eki_error_is_stopped(const struct eki_error *error)
{
    return error->status == EK_OK && error->code == EKI_CANCELLED;
}
/* Whether what was cancelled can go on: no task has failed. */
static inline bool eki_error_may_go_on(const struct eki_error *error)
{
    return eki_error_is_stopped(error) ||
           (error->status == EK_ERR_NOMEM && error->code == EKI_TASKS_STAY);
}
/* Whether a task of this rank has called ek_stop() in this phase. */
bool eki_engine_has_called_stop(const struct eki_engine *engine);
/* Likewise, because worker HERE (-1: no worker of this rank) will fetch no
 * more; all ranks hear of it. */
void eki_engine_abandon(struct eki_engine *engine, int here);
/* Whether that is what ended the phase, and by whom. */
bool eki_error_is_abandoned(const struct eki_error *error);
/* This rank makes the phase an error on all ranks: the first error of its
 * phase; after entering it, also by the server. */
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
 * eki_engine_restore_end() orders it).  One worker, or all.  After a rebalance
 * only workers for which tasks have arrived are ordered again.
 */
ek_status eki_engine_restore_worker(struct eki_engine *engine, int here,
                                    enum eki_order order, int64_t *discarded);
ek_status eki_engine_restore_pack(struct eki_engine *engine,
                                  int64_t *discarded);
/* What is pinned, whatever the policy is; a pack does it, too. */
ek_status eki_engine_restore_pinned(struct eki_engine *engine,
                                    int64_t *discarded);
/* After a phase that was stopped, before its restore: go on with what was
 * cancelled.  What ran is done, ...  May be repeated. */
ek_status eki_engine_continue(struct eki_engine *engine);
/* The iteration is over: this is undone. */
void eki_engine_end_parts(struct eki_engine *engine);
ek_status eki_engine_restore_arrived(struct eki_engine *engine, int here,
                                     enum eki_order order);
ek_status eki_engine_restore_end(struct eki_engine *engine,
                                 enum eki_order order);

/* The rank that added the task of SLOT, or to which its data has moved. */
int eki_engine_home(const struct eki_engine *engine,
                    const struct eki_slot *slot);
/* What ek_task_id() tells. */
uint64_t eki_task_key(const struct ek_worker *worker);
/* The task of SLOT as a program sees it while no worker runs it. */
ek_task eki_engine_show(const struct eki_engine *engine,
                        const struct eki_slot *slot);

/* Put a copy of SLOT among the tasks that start on RANK. */
ek_status eki_engine_depart(struct eki_engine *engine,
                            const struct eki_slot *slot, int rank);

/* True: this rank's server has nothing more to do in this phase. */
bool eki_server_step(struct eki_engine *engine, uint64_t now);

/* Broken invariant of the words of the node as text, or NULL; any thread of the
 * rank. */
const char *eki_node_check(const struct eki_engine *engine);

/* Report a phase that stands still, WHERE (" in ..."), to the message sink;
 * short: only workers that hold tasks. */
void eki_engine_stall(const struct eki_engine *engine, const char *where,
                      bool is_short);

/* Whether it has seen the end of the phase. */
static inline bool eki_worker_is_done(const struct ek_worker *worker)
{
    return worker->done == worker->engine->phase;
}

#endif
