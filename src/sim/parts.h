/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of sim share among themselves. */
#ifndef EKI_SIM_PARTS_H
#define EKI_SIM_PARTS_H

#include "base/wait.h"
#include "sim/sim.h"

/* Whoever waits looks again after this time at the latest. */
#define EKI_SIM_LOOK_NS UINT64_C(1000000000)
/* The time between two looks of a worker that spins or yields. */
#define EKI_SIM_SPIN_NS 250

/* A message on its way. */
struct eki_sim_letter {
    uint64_t arrives;
    int64_t number; /* counts all messages; the lower one of a tie is first */
    struct eki_sim_letter *before, *next; /* in the receiver's queue */
    struct eki_sim_port *sender;
    int32_t buffer; /* of the sender's, which it keeps busy */
    _Alignas(16) struct eki_message message;
};

/* The end of a rank's network: the fabric of its engine. */
struct eki_sim_port {
    struct eki_fabric fabric;
    struct eki_sim *sim;
    struct eki_sim_rank *rank;
    uint64_t *busy;   /* [send_buffers]: when each comes free; UINT64_MAX: when
                         its message is received */
    uint64_t free_at; /* when the next message may leave */
    double step_ns;   /* time that the open server step has taken so far */
    int budget;       /* messages that the step may still take */
    bool has_started; /* the step has, a one-sided operation */
    struct eki_rebalance_own own; /* that has taken its time */
    bool is_answering; /* the step took a message and has sent none since */
    bool is_starved;   /* the last step wanted a buffer, and none was free */
    int32_t told;      /* the worker that the messages of the step concern; -1:
                          all of the rank; EKI_SIM_NOBODY: none */
    /* The message that is taken; those on their way, by arrival; and that of
     * them which was put in last. */
    struct eki_sim_letter *polled, *first, *last, *recent;
    uint64_t *last_ns; /* [ranks], if is_reordered: when the last message of
                          each arrives */
};

#define EKI_SIM_NOBODY (-2)

/* A one-sided operation on its way. */
struct eki_sim_operation {
    struct eki_rma_operation what;
    uint64_t arrives; /* at its target */
    uint64_t done;    /* when that is known where it came from; UINT64_MAX: it
                         has not arrived yet */
    uint64_t before[EKI_RMA_WORDS];
};

/* What a rank exports, and its own operations. */
struct eki_sim_rma {
    struct eki_rma base;
    struct eki_sim *sim;
    struct eki_sim_rank *rank;
    int32_t actor;       /* its event: an operation arrives at its target */
    uint64_t *words;     /* [base.words] */
    uint64_t *word_free; /* [base.words]: when the last change is over */
    unsigned char *seen; /* what others get: the data as of the last sync, or
                            the data itself */
    uint64_t used;       /* bit I: of ticket I */
    uint64_t touched;    /* bit I: others have changed word I since the owner
                            looked at it last */
    bool has_ended;      /* the open server step has seen that one is done */
    uint64_t wanted;     /* when workers were to step the server, since it was
                            stepped last; UINT64_MAX: they were not */
    struct eki_sim_operation operations[EKI_RMA_TICKETS];
};

bool eki_sim_open_rma(struct eki_sim *sim, struct eki_sim_rank *rank);
void eki_sim_close_rma(struct eki_sim_rma **rma);
void eki_sim_rma_event(struct eki_sim *sim, struct eki_sim_rank *rank);
/* When the owner looks at words that others have changed. */
uint64_t eki_sim_next_own_look(const struct eki_sim_rma *rma);
/* When the server of RANK, which exports memory, has something to do that is
 * known now; UINT64_MAX: nothing. */
uint64_t eki_sim_next_of_rma(const struct eki_sim_rank *rank);

bool eki_sim_open_port(struct eki_sim *sim, int rank);
void eki_sim_close_port(struct eki_sim_port *port);
/* The rank of PORT is over, or waits for others in MPI, which completes what
 * was sent to it, though nobody takes it. */
void eki_sim_end_port(const struct eki_sim_port *port);
/* What the open step has handled of a rebalance without a message takes time.
 */
void eki_sim_charge_own(struct eki_sim_port *port);
/* When the next message to PORT arrives; UINT64_MAX: none is on its way. */
uint64_t eki_sim_next_arrival(const struct eki_sim_port *port);
/* A message is on its way to RANK. */
void eki_sim_announce(struct eki_sim *sim, struct eki_sim_rank *rank,
                      uint64_t arrives);

static inline uint64_t eki_sim_earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t eki_sim_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t eki_sim_pace_of(struct eki_sim *sim,
                                       struct eki_sim_rank *rank,
                                       enum eki_sim_pace what, double ns)
{
    uint64_t whole = (uint64_t)(ns + 0.5);
    return sim->program->pace
               ? sim->program->pace(sim->program->context, rank, what, whole)
               : whole;
}

/* Whether the workers of RANK step its server. */
static inline bool eki_sim_is_polling(const struct eki_sim *sim,
                                      const struct eki_sim_rank *rank)
{
    return !sim->machine.has_server && rank->state == EKI_SIM_RUNS;
}

/* Whether the server of RANK has anything to do in this phase. */
static inline bool eki_sim_has_messages(const struct eki_sim_rank *rank)
{
    /* relaxed: there is one thread. */
    return rank->engine->kind == EKI_PHASE_RESTORE ||
           atomic_load_explicit(&rank->engine->messages, memory_order_relaxed);
}

static inline const struct eki_sim_iteration *
eki_sim_iteration_of(const struct eki_sim *sim, int iteration)
{
    return sim->program->iteration(sim->program->context, iteration);
}

void eki_sim_worker_event(struct eki_sim *sim, struct eki_sim_worker *worker);
/* The worker waits from now on, or no more. */
void eki_sim_note_waiting(struct eki_sim *sim, struct eki_sim_worker *worker);
static inline void eki_sim_set_state(struct eki_sim *sim,
                                     struct eki_sim_worker *worker,
                                     enum eki_sim_state state)
{
    bool has_waited = worker->state == EKI_SIM_WAITS;
    /* The place of a task that has ended may be free memory: it is not read
     * ahead. */
    if (state != EKI_SIM_RUNS)
        worker->slot = NULL;
    worker->state = (uint8_t)state;
    if (has_waited != (state == EKI_SIM_WAITS))
        eki_sim_note_waiting(sim, worker);
}
/* The worker has nothing to do. */
void eki_sim_wait(struct eki_sim *sim, struct eki_sim_worker *worker);
/* Its task waits for tiles: it shows what it has, as ek_poll() does, and steps
 * the server where workers do. */
void eki_sim_halt(struct eki_sim *sim, struct eki_sim_worker *worker);
/* Whether a worker of RANK steps its server now. */
bool eki_sim_is_served(const struct eki_sim *sim,
                       const struct eki_sim_rank *rank);
/* RANK enters a phase, in which its server was not stepped. */
void eki_sim_open_polls(const struct eki_sim *sim, struct eki_sim_rank *rank);
/* The server of RANK was stepped at NS: when a busy worker does so next. */
void eki_sim_note_polled(struct eki_sim *sim, struct eki_sim_rank *rank,
                         uint64_t ns, bool has_found);
/* Step the server of RANK, if its workers do that and none of them is at it.
 * Without work (IS_DUE) a worker does so whenever it looks, else now and then.
 * Returns the time that this takes. */
uint64_t eki_sim_poll(struct eki_sim *sim, struct eki_sim_rank *rank,
                      bool is_due);
/* The first time at NS or later at which WORKER, which waits, looks. */
uint64_t eki_sim_look_of(const struct eki_sim *sim,
                         const struct eki_sim_worker *worker, uint64_t ns);
/* Whether whoever steps the server of RANK finds something from NS on. */
static inline bool eki_sim_has_come(const struct eki_sim_rank *rank,
                                    uint64_t ns)
{
    return eki_sim_next_arrival(rank->port) <= ns ||
           EKI_UNLIKELY(rank->rma && eki_sim_next_of_rma(rank) <= ns);
}
/* The owners of rings on NODE may fill theirs, or take tasks back. */
void eki_sim_call_owners(struct eki_sim *sim, int node);
/* Let WORKER look for something that is there from NS on, if it waits, or its
 * task does. */
void eki_sim_wake(struct eki_sim *sim, struct eki_sim_worker *worker,
                  uint64_t ns);
/* Have the node's server stepped if requests of other nodes wait there, and it
 * can give tasks. */
void eki_sim_feed_guests(struct eki_sim *sim, int node);
/* Let all workers of a node look that wait ... */
void eki_sim_wake_workers(struct eki_sim *sim, int node);
/* ... and whoever steps its servers. */
void eki_sim_wake_node(struct eki_sim *sim, int node);
/* Note whether others can claim tasks from WORKER now ... */
void eki_sim_note_lineup(struct eki_sim *sim, struct eki_sim_rank *rank);
void eki_sim_note_visible(struct eki_sim *sim, struct eki_sim_worker *worker);
/* ... or what the server of RANK was brought. */
void eki_sim_note_brought(struct eki_sim *sim, struct eki_sim_rank *rank);
/* The first time at NS or later at which a thread looks that waits since SINCE,
 * and sleeps for MOST at most. */
uint64_t eki_sim_next_look(const struct eki_sim *sim, uint64_t since,
                           uint64_t most, uint64_t ns);

void eki_sim_host_event(struct eki_sim *sim, struct eki_sim_rank *rank);
/* When the server of RANK has something to do next, as far as it is known now.
 */
uint64_t eki_sim_next_service(const struct eki_sim_rank *rank);
/* Step the server of RANK; returns the time that this takes. */
uint64_t eki_sim_serve(struct eki_sim *sim, struct eki_sim_rank *rank);
/* Its host steps it at NS, when it is free again. */
void eki_sim_serve_at(struct eki_sim *sim, struct eki_sim_rank *rank,
                      uint64_t ns);
/* The server of RANK has something to do from NS on. */
void eki_sim_call_server(struct eki_sim *sim, struct eki_sim_rank *rank,
                         uint64_t ns);
/* A worker of RANK has seen the end of the phase. */
void eki_sim_worker_ended(struct eki_sim *sim, struct eki_sim_rank *rank);

/* Thieves that get their victims from the simulator, instead of the policy of
 * the phase. */
struct eki_victim eki_sim_victims(struct eki_thief *thief);
/* WORKER waits, and could ask another node: returns when it should look again
 * for that. */
uint64_t eki_sim_sample_wait(struct eki_sim *sim,
                             struct eki_sim_worker *worker);
/* WORKER has work again, or the phase is over. */
void eki_sim_sample_leave(struct eki_sim *sim, struct eki_sim_worker *worker);
/* NODE or, where the scheme is plain, WORKER shows tasks now, or none any more.
 */
void eki_sim_sample_node(struct eki_sim *sim, int node);
void eki_sim_sample_worker(struct eki_sim *sim, struct eki_sim_worker *worker);
/* One of the thieves finds something now. */
void eki_sim_sample_event(struct eki_sim *sim);

#endif
