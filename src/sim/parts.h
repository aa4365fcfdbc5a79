/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of sim only. */
#ifndef EKI_SIM_PARTS_H
#define EKI_SIM_PARTS_H

#include "base/wait.h"
#include "sim/sim.h"

/* Whoever waits looks again after so long at the latest. */
#define EKI_SIM_LOOK_NS UINT64_C(1000000000)
/* Between two looks of who spins or yields. */
#define EKI_SIM_SPIN_NS 250

/* A message on its way. */
struct eki_sim_letter {
    uint64_t arrives;
    int64_t number; /* of all messages: ties */
    struct eki_sim_port *sender;
    int32_t buffer; /* of the sender */
    _Alignas(16) struct eki_message message;
};

/* What a rank sends through and receives from. */
struct eki_sim_port {
    struct eki_fabric fabric;
    struct eki_sim *sim;
    struct eki_sim_rank *rank;
    uint64_t *busy; /* [send_buffers], until then; UINT64_MAX: till received */
    uint64_t free_at;  /* when the next message may leave */
    double step_ns;    /* time that the open server step has taken so far */
    int budget;        /* messages that the step may still take */
    bool is_answering; /* a message was taken, and not answered */
    bool is_starved;   /* somebody wants a buffer */
    int32_t told;      /* worker that the last message was for; -1: any;
                          EKI_SIM_NOBODY */
    struct eki_sim_letter *polled, **queue; /* a heap by time of arrival */
    int32_t count, room;
    uint64_t *last_ns; /* [ranks], is_reordered: of the last one of each */
};

#define EKI_SIM_NOBODY (-2)

bool eki_sim_open_port(struct eki_sim *sim, int rank);
void eki_sim_close_port(struct eki_sim_port *port);
/* Its rank is over: MPI completes what was sent to it, nobody takes it. */
void eki_sim_end_port(const struct eki_sim_port *port);
/* When its next message arrives; UINT64_MAX: none is on its way. */
uint64_t eki_sim_next_arrival(const struct eki_sim_port *port);
/* When its next send buffer comes free; UINT64_MAX: all are, or nobody knows.
 */
uint64_t eki_sim_next_buffer(const struct eki_sim_port *port);
/* A message is on its way to RANK. */
void eki_sim_announce(struct eki_sim *sim, struct eki_sim_rank *rank,
                      uint64_t arrives);

static inline uint64_t eki_sim_pace_of(struct eki_sim *sim,
                                       struct eki_sim_rank *rank,
                                       enum eki_sim_pace what, double ns)
{
    uint64_t whole = (uint64_t)(ns + 0.5);
    return sim->program->pace
               ? sim->program->pace(sim->program->context, rank, what, whole)
               : whole;
}

static inline struct eki_sim_node *eki_sim_node_of(struct eki_sim *sim,
                                                   const struct eki_sim_rank *r)
{
    return &sim->nodes[r->topology.node];
}

/* Whether the workers of RANK step its server. */
static inline bool eki_sim_is_polling(const struct eki_sim *sim,
                                      const struct eki_sim_rank *rank)
{
    return !sim->machine.has_server && rank->state == EKI_SIM_RUNS;
}

/* Whether its host steps the server, or could. */
static inline bool eki_sim_is_serving(const struct eki_sim_rank *rank)
{
    return rank->state == EKI_SIM_RUNS || rank->state == EKI_SIM_ENDS ||
           rank->state == EKI_SIM_SERVES || rank->state == EKI_SIM_MOVES;
}

/* Whether anything of this phase goes through the server. */
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
/* When a worker that waits looks next, at NS or later. */
uint64_t eki_sim_look_of(const struct eki_sim *sim,
                         const struct eki_sim_worker *worker, uint64_t ns);
/* Look at NS, if it waits. */
void eki_sim_wake(struct eki_sim *sim, struct eki_sim_worker *worker,
                  uint64_t ns);
/* All workers that wait on a node ... */
void eki_sim_wake_workers(struct eki_sim *sim, int node);
/* ... and its hosts. */
void eki_sim_wake_node(struct eki_sim *sim, int node);
/* Note which of its workers others can claim from now. */
void eki_sim_note_visible(struct eki_sim *sim, struct eki_sim_worker *worker);
/* When somebody who waits since SINCE looks next, at NS or later. */
uint64_t eki_sim_next_look(const struct eki_sim *sim, uint64_t since,
                           bool has_answer, uint64_t ns);

void eki_sim_host_event(struct eki_sim *sim, struct eki_sim_rank *rank);
/* When its server has something to do next, as far as it is known now. */
uint64_t eki_sim_next_service(const struct eki_sim_rank *rank);
/* Step the server; the time that it takes. */
uint64_t eki_sim_serve(struct eki_sim *sim, struct eki_sim_rank *rank);
/* The server of RANK has something to do from NS on. */
void eki_sim_call_server(struct eki_sim *sim, struct eki_sim_rank *rank,
                         uint64_t ns);
/* A worker has seen the end. */
void eki_sim_worker_ended(struct eki_sim *sim, struct eki_sim_rank *rank);

bool eki_sim_sample_open(struct eki_sim *sim);
void eki_sim_sample_close(struct eki_sim *sim);
/* Victims are whom the simulator says. */
extern const struct eki_victim_policy eki_sim_victims;
/* A worker waits: when it should look again for that. */
uint64_t eki_sim_sample_wait(struct eki_sim *sim,
                             struct eki_sim_worker *worker);
/* It has work again, or the phase is over. */
void eki_sim_sample_leave(struct eki_sim *sim, struct eki_sim_worker *worker);
/* A node has visible tasks now, or not any more. */
void eki_sim_sample_node(struct eki_sim *sim, int node);
/* A thief finds something. */
void eki_sim_sample_event(struct eki_sim *sim);

#endif
