/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine offers to protocols, and to its own files. */
#ifndef EKI_ENGINE_OFFERS_H
#define EKI_ENGINE_OFFERS_H

#include "engine/engine.h"

static inline struct eki_worker_words *
eki_words_of(const struct eki_engine *engine, int local)
{
    unsigned char *first =
        (unsigned char *)(engine->rank_words + engine->topology->node_ranks);
    return (struct eki_worker_words *)first + local;
}

/*
 * Deques of the node: those of its workers, by their local numbers, then, in a
 * job of several ranks, those of their servers.
 */
static inline int eki_deque_count(const struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    return topology->node_workers +
           (topology->size == 1 ? 0 : topology->node_ranks);
}

static inline struct eki_deque_shared *
eki_deque_of(const struct eki_engine *engine, int deque)
{
    int rank = deque - engine->topology->node_workers;
    return rank < 0 ? &eki_words_of(engine, deque)->deque
                    : &engine->rank_words[rank].deque;
}

/* How many tasks a deque shows. */
static inline int64_t eki_visible(const struct eki_engine *engine, int deque)
{
    return eki_deque_visible(engine->setup.deque, engine->capacity,
                             eki_deque_of(engine, deque));
}

/* Words that tell of phase and signature of who has a deque. */
static inline const struct eki_worker_words *
eki_words_behind(const struct eki_engine *engine, int deque)
{
    int rank = deque - engine->topology->node_workers;
    return eki_words_of(engine, rank < 0 ? deque : engine->first_local[rank]);
}

/* Deque of the server of this rank. */
static inline int eki_server_deque(const struct eki_engine *engine)
{
    return engine->topology->node_workers + engine->topology->node_index;
}

/* Whether what a deque shows is not worth moving to another rank: its data
 * takes longer than it runs, as far as that is known.  What was brought has
 * moved already. */
static inline bool eki_stays(const struct eki_engine *engine, int deque)
{
    if (deque >= engine->topology->node_workers)
        return false;
    const struct eki_worker_words *words = eki_words_of(engine, deque);
    uint64_t runs = eki_glance(&words->runs_ns);
    /* relaxed: a hint. */
    int64_t away = atomic_load_explicit(&words->away_ns, memory_order_relaxed);
    return runs > 0 && away > (int64_t)runs;
}

/* Pass tasks for which there is no memory on to another rank, by the server.
 * False: there may be memory later, or no buffer is free. */
EKI_COLD bool eki_pass_on(struct eki_engine *engine, const unsigned char *slots,
                          int64_t count);
/* Likewise COUNT tasks of SLOTS, or, if that is NULL, those that were written
 * to the body of the message. */
EKI_COLD struct eki_message *eki_pass_begin(struct eki_engine *engine);
EKI_COLD void eki_pass_end(struct eki_engine *engine,
                           struct eki_message *message, const void *slots,
                           int64_t count);

/* Slots of a deque of the node. */
unsigned char *eki_slots_of(const struct eki_engine *engine, int deque);

/* What the node knows of messages that did not fit, enum eki_refused. */
static inline int eki_refused(const struct eki_engine *engine)
{
    /* acquire: pairs with the releases in refusal.c: why. */
    return atomic_load_explicit(&engine->node->refused, memory_order_acquire);
}

static inline bool eki_is_broken(const struct eki_engine *engine)
{
    /* relaxed: the phase ends whenever it is seen. */
    return atomic_load_explicit(&engine->broken, memory_order_relaxed) !=
               EK_OK ||
           eki_refused(engine) == EKI_BREAKS;
}

/*
 * Protocols hold the workers of a rank on entering; until all have let go they
 * begin nothing, and the seeds are the server's.
 */
void eki_engine_hold(struct eki_engine *engine, uint64_t until);
void eki_engine_hold_on(struct eki_engine *engine, uint64_t until);
void eki_engine_let_go(struct eki_engine *engine);
static inline bool eki_is_held(const struct eki_engine *engine)
{
    /* acquire: pairs with the release in eki_engine_let_go(): the seeds. */
    return EKI_UNLIKELY(atomic_load_explicit(&engine->holds,
                                             memory_order_acquire) > 0) &&
           !eki_is_broken(engine);
}

/* Signature of a worker that was seen in this phase: it may be in the next by
 * now, which tells nothing. */
static inline uint64_t eki_signature_of(const struct eki_engine *engine,
                                        const struct eki_worker_words *words)
{
    /* relaxed: stored before phase. */
    return atomic_load_explicit(&words->signature[engine->phase & 1],
                                memory_order_relaxed);
}

/*
 * Whether a worker of the node is in this phase and agrees with this rank on
 * functions and calls: another's tasks might run something else here.
 */
static inline bool eki_is_alike(const struct eki_engine *engine,
                                const struct eki_worker_words *words)
{
    /* acquire: pairs with the release in eki_engine_enter(): its signature. */
    return atomic_load_explicit(&words->phase, memory_order_acquire) ==
               engine->phase &&
           eki_signature_of(engine, words) == engine->signature;
}

/* Whether every rank of the node has left the last phase: no claimant and
 * nobody who draws in it is about. */
bool eki_node_all_left(const struct eki_engine *engine);

/* No task starts any more on this node. */
void eki_set_stop(struct eki_engine *engine);
/* Record an error of WORKER, once per phase and worker. */
void eki_set_error(struct ek_worker *worker, ek_status status, int code,
                   const char *text);
/* Record for WORKER that there is no memory for WHAT, N slots, and stop: all
 * tasks stay. */
void eki_worker_no_memory(struct ek_worker *worker, int64_t n,
                          const char *what);
/* Record an error of this rank, once per phase, and stop, as eki_engine_fail()
 * does: for a task that fails though none runs. */
void eki_set_slot_error(struct eki_engine *engine, const struct eki_slot *slot,
                        const char *text);

/* Refuse a message, in words: the phase, or else the next one, ends in
 * EK_ERR_MPI on all ranks; by the server. */
EKI_COLD void eki_engine_refuse(struct eki_engine *engine, const char *format,
                                ...) EKI_PRINTF(2, 3);

/* What tasks took, with what others did. */
void eki_load_add(struct eki_load *sum, const struct eki_load *load);
/* What those of the node took in this process, or in the last one: their
 * number. */
struct eki_load eki_node_load(const struct eki_engine *engine,
                              uint64_t process);

/* A steal that began at SINCE brings tasks. */
static inline void eki_worker_steals(struct ek_worker *worker, uint64_t since)
{
    uint64_t *first = &worker->search.steal_since;
    if (since != 0 && (*first == 0 || since < *first))
        *first = since;
}

/* Tasks that have begun since the last time stamp. */
static inline int64_t eki_worker_begun(const struct ek_worker *worker)
{
    const struct eki_piece *piece = &worker->piece;
    return piece->first < 0 ? worker->batch.count
                            : eki_piece_index(piece) - piece->first;
}

/* Tell the track of a worker that has one: BEGUN tasks have ended or begun
 * since the last time stamp, and none goes on now. */
void eki_worker_track_halt(struct ek_worker *worker, int64_t begun,
                           uint64_t now);
/* Likewise the track of the server, if it has one. */
static inline void eki_server_track(const struct eki_engine *engine,
                                    enum eki_event_kind point, uint64_t now,
                                    uint64_t value)
{
    if (EKI_UNLIKELY(engine->track))
        eki_track_point(engine->track, point, now, value);
}

/* Store created and executed where others read them. */
void eki_worker_store(struct ek_worker *worker);

/* Add to what a rank has opened or closed (detect.h); by its server. */
static inline void eki_detect_add(_Atomic uint64_t *word, uint64_t n)
{
    /* relaxed: written by this server alone.  release: pairs with the acquires
     * in detect.c: what was opened before it was closed, and the flag. */
    uint64_t before = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, before + n, memory_order_release);
}

/* Whether a request may leave: not while the node waits for the answers to
 * those that have, so that it can vote. */
static inline bool eki_may_request(const struct eki_engine *engine)
{
    return EKI_LIKELY(!engine->detect.rule) ||
           !eki_is_set(&engine->node->hush, engine->phase) ||
           !eki_is_idle(eki_words_of(engine, 0), engine->phase);
}
/* Whether nobody may be given tasks who has not asked for any. */
static inline bool eki_needs_asking(const struct eki_engine *engine)
{
    return engine->detect.rule && engine->detect.rule->needs_answers &&
           !EKI_PLANTED(GIVES_UNASKED);
}
/* A request is about to leave this rank. */
static inline void eki_request_leaves(struct eki_engine *engine)
{
    if (EKI_UNLIKELY(engine->detect.rule) &&
        engine->detect.rule->needs_answers && !EKI_PLANTED(VOTES_ASKING))
        eki_detect_add(&engine->rank_words[engine->topology->node_index].opened,
                       1);
}
/* It was answered, and what came with that is enqueued; or it has not left. */
static inline void eki_request_ends(struct eki_engine *engine)
{
    if (EKI_UNLIKELY(engine->detect.rule) &&
        engine->detect.rule->needs_answers && !EKI_PLANTED(VOTES_ASKING))
        eki_detect_add(&engine->rank_words[engine->topology->node_index].closed,
                       1);
}

/* Slots that one message can carry. */
static inline int64_t eki_message_slots(const struct eki_engine *engine)
{
    return eki_exchange_room(&engine->exchange) / (int64_t)engine->slot_bytes;
}

/* The worker of this rank with the global number ID; where ID is no worker of
 * this rank, its workers take turns. */
struct ek_worker *eki_server_worker(struct eki_engine *engine, int id);
/* Give stolen tasks of a message to WORKER, or, where it has others by now, to
 * whoever claims them; when they were asked for, 0: not known.  False: no
 * memory. */
bool eki_server_bring(struct eki_engine *engine, struct ek_worker *worker,
                      const struct eki_message *message, uint64_t asked_at);
/* Give the tasks of a message to just this worker; false: no memory. */
bool eki_server_deliver(struct eki_engine *engine, struct ek_worker *worker,
                        const struct eki_message *message);
/* ... or COUNT tasks to whoever claims them. */
bool eki_server_share(struct eki_engine *engine, const unsigned char *slots,
                      int64_t count);
/* The rank of this node whose server was stepped last. */
static inline int eki_server_last_polled(const struct eki_engine *engine)
{
    /* relaxed: a hint for thieves elsewhere. */
    return atomic_load_explicit(&engine->node->polled, memory_order_relaxed);
}

/* Put a copy of SLOT among the tasks that go to WORKER; false: no memory. */
bool eki_engine_depart_to(struct eki_engine *engine,
                          const struct eki_slot *slot, int rank, int worker);

#endif
