/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the engine only. */
#ifndef EKI_ENGINE_INTERNAL_H
#define EKI_ENGINE_INTERNAL_H

#include "engine/engine.h"

static inline struct eki_worker_words *
eki_words_of(const struct eki_engine *engine, int local)
{
    unsigned char *first =
        (unsigned char *)(engine->rank_words + engine->topology->node_ranks);
    return (struct eki_worker_words *)first + local;
}

/* Slots of the shared part of a worker of the node. */
unsigned char *eki_slots_of(const struct eki_engine *engine, int local);

/* A word that is set to the phase it speaks of. */
static inline bool eki_is_set(const _Atomic uint64_t *word, uint64_t phase)
{
    /* relaxed: a hint to act on; what it announces is ordered elsewhere. */
    return atomic_load_explicit(word, memory_order_relaxed) == phase;
}

static inline bool eki_is_stopped(const struct eki_engine *engine)
{
    return eki_is_set(&engine->node->stop[engine->phase & 1], engine->phase);
}

/* Whether a worker has nothing to do, as far as it knows. */
static inline bool eki_is_idle(const struct eki_worker_words *words,
                               uint64_t phase)
{
    /* acquire: pairs with the release in idle.c: errors that its rank has set
     * on entering. */
    return atomic_load_explicit(&words->idle, memory_order_acquire) == phase;
}

static inline bool eki_is_broken(const struct eki_engine *engine)
{
    /* relaxed: the phase ends whenever it is seen. */
    return atomic_load_explicit(&engine->broken, memory_order_relaxed) != EK_OK;
}

void eki_set_stop(struct eki_engine *engine);
/* Signatures differ: the phase is void, and nothing starts any more. */
void eki_set_mismatch(struct eki_engine *engine);

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

/* Record an error of WORKER, once per phase and worker. */
void eki_set_error(struct ek_worker *worker, ek_status status, int code,
                   const char *text);
/* Record an error of this rank, once per phase, and stop; by the server. */
void eki_set_rank_error(struct eki_engine *engine, ek_status status,
                        const char *text);
/* Of two errors, the one that all ranks report. */
void eki_error_worse(struct eki_error *error, const struct eki_error *other);
/* The error of a phase in which signatures differ. */
void eki_error_mismatch(struct eki_error *error);
/* The worst error of the node in this phase. */
void eki_node_error(const struct eki_engine *engine, struct eki_error *error);

/* Store created and executed where others read them. */
void eki_worker_store(struct ek_worker *worker);
/*
 * Publish half of what is here if the shared part is exhausted; rounded up if
 * another task runs already, so that the last one is visible, too.
 */
void eki_worker_publish(struct ek_worker *worker, bool is_running);
/* How much a running task may spawn before it publishes. */
void eki_worker_set_mark(struct ek_worker *worker);
/* Close the batch that ended at NOW. */
void eki_worker_close(struct ek_worker *worker, uint64_t now);
void eki_worker_close_piece(struct ek_worker *worker, uint64_t now);
/* End the piece early: the rest lies on the stack; false: no memory. */
bool eki_worker_put_back(struct ek_worker *worker);
/* Cancel what this worker has; others do the same with theirs.  Counted by
 * COUNTS. */
void eki_worker_cancel(struct ek_worker *worker, struct eki_counts *counts);
/* Open a piece of the range on top of the local part. */
enum eki_step eki_worker_start_range(struct ek_worker *worker);
/* Find work, or the end. */
enum eki_step eki_worker_idle(struct ek_worker *worker, uint64_t now);
/* It has just run out of tasks. */
void eki_worker_become_idle(struct ek_worker *worker, uint64_t now);
/* Say that the end need not wait for this worker; a delivery takes that back.
 */
void eki_worker_note_idle(struct ek_worker *worker);
/* Only the end: in a restore phase. */
enum eki_step eki_worker_wait(struct ek_worker *worker, uint64_t now);

bool eki_server_init(struct eki_engine *engine);
void eki_server_free(struct eki_engine *engine);
/* A buffer with kind, phase and signature set, or NULL. */
struct eki_message *eki_server_reserve(struct eki_engine *engine,
                                       enum eki_kind kind);
/* What came of a message. */
enum eki_taken {
    EKI_TAKEN,
    EKI_NO_MEMORY, /* to be taken later */
    EKI_REFUSED    /* it makes no sense */
};

/* Worker here of a global number, or of nobody's: in turn. */
struct ek_worker *eki_server_worker(struct eki_engine *engine, int id);
/* The rank of this node whose server was stepped last. */
int eki_server_last_polled(const struct eki_engine *engine);
/* Give the tasks of a message to a worker of this rank; false: no memory. */
bool eki_server_deliver(struct eki_engine *engine, struct ek_worker *worker,
                        const struct eki_message *message);
/* A request was answered: 0 denied, 1 granted. */
void eki_server_answered(struct eki_engine *engine, struct ek_worker *worker,
                         const struct eki_head *head, int answer, uint64_t now);
enum eki_taken eki_server_take_request(struct eki_engine *engine,
                                       const struct eki_message *message);
void eki_server_requests(struct eki_engine *engine);
void eki_server_asks(struct eki_engine *engine, uint64_t now);
void eki_server_departing(struct eki_engine *engine);
void eki_server_waves(struct eki_engine *engine, uint64_t now);
void eki_server_take_vote(struct eki_engine *engine,
                          const struct eki_message *message);
void eki_server_take_wave(struct eki_engine *engine,
                          const struct eki_message *message);
void eki_engine_break(struct eki_engine *engine, ek_status status);

void eki_balancer_destroy(struct eki_engine *engine);
void eki_balancer_enter(struct eki_engine *engine,
                        const struct eki_balance_wish *wish);
enum eki_taken eki_balancer_take(struct eki_engine *engine,
                                 const struct eki_message *message);
/* True: this rank knows where its tasks go, and has sent them on their way. */
bool eki_balancer_step(struct eki_engine *engine);
/* Whether its workers must not yet say that all is done. */
bool eki_balancer_is_open(const struct eki_engine *engine);
/* Put a copy of SLOT among the tasks that go to WORKER; false: no memory. */
bool eki_engine_depart_to(struct eki_engine *engine,
                          const struct eki_slot *slot, int rank, int worker);

bool eki_counter_init(struct eki_engine *engine);
void eki_counter_free(struct eki_engine *engine);
void eki_counter_enter(struct eki_engine *engine);
/* Give a worker its seeds back, once, if nobody can draw them. */
void eki_counter_unhide(struct ek_worker *worker);
/* Get the next seed of the counter to the stack; false: none left. */
bool eki_counter_draw(struct ek_worker *worker);
void eki_counter_serve(struct eki_engine *engine);
enum eki_taken eki_counter_take(struct eki_engine *engine,
                                const struct eki_message *message);

#endif
