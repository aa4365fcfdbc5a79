/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One engine of a job, of two ranks on two nodes unless the test says
 * otherwise, over a fabric that leads nowhere: what it sends is kept for the
 * test to look at, what it gets is one message at a time, made by the test.
 *
 *     static void one_task_runs(struct lone *lone)
 *     {
 *         lone_start(lone, 0);
 *         lone_seed(lone, 1, 10);
 *         lone_enter(lone, EKI_PHASE_PROCESS, EK_STEAL_RANDOM);
 *         ... lone_step(), lone_serve(), lone_message(), lone_sent() ...
 *     }
 *
 *     RUN_LONE(one_task_runs);
 */
#ifndef LONE_H
#define LONE_H

#include "check.h"
#include "data/data.h"
#include "engine/offers.h"
#include "protocol/counter.h"
#include "protocol/hands.h"
#include "protocol/requests.h"
#include "protocol/schemes.h"
#include "rebalance/parcel.h"
#include "rebalance/rebalance.h"
#include "tiles/tiles.h"

/* Run a test that opens an engine, which is closed behind it. */
#define RUN_LONE(test) RUN_WITH(struct lone, lone_close, test)

enum {
    LONE_BYTES = 1024,
    LONE_SENT = 64, /* messages that are kept, of a test */
    LONE_SLOT = 64  /* bytes of a slot */
};

/* Memory of one message. */
struct lone_message {
    _Alignas(16) unsigned char bytes[LONE_BYTES];
};

struct lone {
    struct eki_fabric fabric; /* first: the operations get this */
    struct lone_message reserved, got, sent[LONE_SENT];
    int to[LONE_SENT]; /* ranks */
    int sent_count;
    int buffers; /* that may still be sent */
    bool has_got;
    uint64_t now;
    struct eki_topology *topology;
    struct eki_setup setup;
    struct eki_engine *engine;
};

/* The header of the I-th message that was sent. */
static inline const struct eki_head *lone_sent_head(const struct lone *lone,
                                                    int i)
{
    return (const struct eki_head *)lone->sent[i].bytes;
}

static inline struct eki_message *lone_reserve(struct eki_fabric *fabric)
{
    struct lone *lone = (struct lone *)fabric;
    return lone->buffers > 0 ? (struct eki_message *)lone->reserved.bytes
                             : NULL;
}

static inline void lone_post(struct eki_fabric *fabric,
                             struct eki_message *message, int rank)
{
    struct lone *lone = (struct lone *)fabric;
    CHECK(lone->sent_count < LONE_SENT);
    lone->buffers--;
    lone->to[lone->sent_count] = rank;
    memcpy(lone->sent[lone->sent_count++].bytes, message,
           sizeof *message + (size_t)message->head.bytes);
}

static inline struct eki_message *lone_poll(struct eki_fabric *fabric)
{
    struct lone *lone = (struct lone *)fabric;
    return lone->has_got ? (struct eki_message *)lone->got.bytes : NULL;
}

static inline void lone_release(struct eki_fabric *fabric,
                                struct eki_message *message)
{
    (void)message;
    ((struct lone *)fabric)->has_got = false;
}

static inline bool lone_drain(struct eki_fabric *fabric)
{
    (void)fabric;
    return true;
}

static const struct eki_fabric_ops lone_ops = {.reserve = lone_reserve,
                                               .post = lone_post,
                                               .poll = lone_poll,
                                               .release = lone_release,
                                               .drain = lone_drain};

/* RANK of SIZE, with WORKERS on each, on NODES; of one rank: no fabric. */
static inline void lone_open_job(struct lone *lone, int rank, int size,
                                 const int *workers, const int *nodes)
{
    memset(lone, 0, sizeof *lone);
    lone->now = 1000;
    lone->buffers = LONE_SENT;
    lone->fabric = (struct eki_fabric){.ops = &lone_ops,
                                       .rank = rank,
                                       .size = size,
                                       .numbers = 1,
                                       .message_bytes = LONE_BYTES};
    eki_topology_create(rank, size, workers, nodes, &lone->topology);
    lone->setup = (struct eki_setup){.topology = lone->topology,
                                     .fabric = size > 1 ? &lone->fabric : NULL,
                                     .buffer_slots = 8,
                                     .payload_bytes = LONE_SLOT - 16,
                                     .seed = 1,
                                     .check_words = 16,
                                     .has_counter = true};
    lone->setup.segment =
        eki_alloc_lines(eki_engine_segment_bytes(&lone->setup));
}

/* RANK of two, with one worker on each. */
static inline void lone_open(struct lone *lone, int rank)
{
    static const int workers[2] = {1, 1}, nodes[2] = {0, 1};
    lone_open_job(lone, rank, 2, workers, nodes);
}

/* Messages carry so many slots. */
static inline void lone_set_slots(struct lone *lone, size_t slots)
{
    lone->fabric.message_bytes =
        sizeof(struct eki_message) + slots * (size_t)LONE_SLOT;
}

static inline ek_status lone_create(struct lone *lone)
{
    EKI_TRY(eki_engine_create(&lone->setup, &lone->engine));
    EKI_TRY(eki_schemes_add(lone->engine));
    return eki_rebalance_add(lone->engine);
}

static inline int lone_task(ek_worker *worker, const void *payload,
                            size_t bytes, void *context)
{
    (void)worker, (void)payload, (void)bytes, (void)context;
    return 0;
}

/* The engine, with function 0. */
static inline void lone_make(struct lone *lone)
{
    int function = -1;
    CHECK_OK(lone_create(lone));
    CHECK_OK(
        eki_engine_register(lone->engine, "f", lone_task, NULL, &function));
    CHECK_EQ_INT(function, 0);
}

/* RANK of two, whose engine is made. */
static inline void lone_start(struct lone *lone, int rank)
{
    lone_open(lone, rank);
    lone_make(lone);
}

static inline struct ek_worker *lone_worker(const struct lone *lone)
{
    return lone->engine->workers[0];
}

static inline void lone_enter_phase(struct lone *lone,
                                    const struct eki_phase *phase)
{
    eki_engine_enter(lone->engine, phase, lone->now);
    for (int here = 0; phase->kind == EKI_PHASE_PROCESS &&
                       here < lone->topology->workers_here;
         here++)
        eki_worker_arrive(lone->engine->workers[here], lone->now);
}

static inline void lone_enter(struct lone *lone, enum eki_phase_kind kind,
                              ek_steal_policy policy)
{
    struct eki_phase phase = {
        .kind = kind, .signature = 1, .scheme = eki_scheme_of(policy)};
    lone_enter_phase(lone, &phase);
}

/* A process of this policy from the creation of the engine on. */
static inline void lone_begin(struct lone *lone, ek_steal_policy policy)
{
    lone_make(lone);
    lone_enter(lone, EKI_PHASE_PROCESS, policy);
}

static inline void lone_close(struct lone *lone)
{
    eki_engine_destroy(&lone->engine);
    eki_topology_destroy(lone->topology);
    eki_free(lone->setup.segment);
}

/* The message that comes next, of KIND from the other rank (of more than two:
 * from rank 1, or 0), to be filled. */
static inline struct eki_message *lone_message(struct lone *lone, int kind)
{
    struct eki_message *message = (struct eki_message *)lone->got.bytes;
    memset(&lone->got, 0, sizeof lone->got);
    message->head.source = lone->fabric.rank == 0;
    message->head.kind = (uint16_t)kind;
    message->head.phase = lone->engine->phase;
    message->head.signature = lone->engine->signature;
    message->head.worker = message->head.detail = -1;
    if (kind == EKI_KIND_REQUEST || kind == EKI_KIND_DRAW ||
        kind == EKI_KIND_FETCH)
        message->head.worker =
            lone->topology->first_worker[message->head.source];
    if (kind == EKI_KIND_DRAW || kind == EKI_KIND_FETCH)
        message->head.detail = 1;
    if (kind == EKI_KIND_STOP || kind == EKI_KIND_PROBE ||
        kind == EKI_KIND_HERE)
        message->head.detail =
            lone->topology->node_of_rank[message->head.source];
    lone->has_got = true;
    return message;
}

/* Fill SLOT with function 0; its id and payload are NUMBER. */
static inline void lone_fill_slot(struct eki_slot *slot, uint64_t number)
{
    *slot = (struct eki_slot){
        .bytes = sizeof number, .flags = EKI_SLOT_SEED, .id = number};
    memcpy(slot->payload, &number, sizeof number);
}

static inline uint64_t lone_number(const struct eki_slot *slot)
{
    uint64_t number;
    memcpy(&number, slot->payload, sizeof number);
    return number;
}

/* COUNT slots as its body; their numbers are FIRST and so on. */
static inline void lone_fill(struct lone *lone, struct eki_message *message,
                             int count, uint64_t first)
{
    (void)lone;
    message->head.count = count;
    message->head.bytes = count * (int64_t)LONE_SLOT;
    for (int i = 0; i < count; i++)
        lone_fill_slot(eki_slot_at(message->body, i, LONE_SLOT),
                       first + (uint64_t)i);
}

/* Number of slot I of a message. */
static inline uint64_t lone_number_in(const struct eki_message *message, int i)
{
    return lone_number(
        (const struct eki_slot *)(message->body + i * (size_t)LONE_SLOT));
}

/* Add a seed to a worker of this rank. */
static inline struct eki_slot *lone_seed_at(struct lone *lone, int here,
                                            uint64_t number)
{
    struct eki_local *local = &lone->engine->workers[here]->local;
    struct eki_slot *slot = eki_local_add_seed(local);
    if (CHECK(slot != NULL))
        lone_fill_slot(slot, number);
    return slot;
}

/* Add COUNT seeds to the worker, numbered from FIRST on. */
static inline void lone_seed(struct lone *lone, int count, uint64_t first)
{
    for (int i = 0; i < count; i++)
        lone_seed_at(lone, 0, first + (uint64_t)i);
}

/* Some nanoseconds later: a step of the server; true: it has nothing more to
 * do. */
static inline bool lone_serve(struct lone *lone)
{
    lone->now += 100;
    return eki_server_step(lone->engine, lone->now);
}

/* A step of the server; whether it refuses what has come. */
static inline bool lone_refuses(struct lone *lone)
{
    lone_serve(lone);
    return eki_refused(lone->engine) != EKI_FITS;
}

static inline enum eki_step lone_step(struct lone *lone)
{
    lone->now += 100;
    return eki_worker_step(lone_worker(lone), lone->now);
}

/* Run what is here, and what comes to be; numbers in order to RAN [MOST]. */
static inline int lone_run(struct lone *lone, uint64_t *ran, int most)
{
    int count = 0;
    for (int i = 0; i < 1000; i++) {
        enum eki_step step = lone_step(lone);
        struct eki_slot *slot;
        if (step != EKI_STEP_RUN && step != EKI_STEP_AGAIN)
            break;
        while (step == EKI_STEP_RUN &&
               (slot = eki_worker_take(lone_worker(lone))) != NULL) {
            if (CHECK(count < most))
                ran[count++] = lone_number(slot);
        }
    }
    return count;
}

/* How many messages of KIND were sent since the last lone_forget(). */
static inline int lone_count(const struct lone *lone, int kind)
{
    int count = 0;
    for (int i = 0; i < lone->sent_count; i++)
        count += lone_sent_head(lone, i)->kind == kind;
    return count;
}

static inline void lone_forget(struct lone *lone)
{
    lone->sent_count = 0;
}

/* The I-th message that was sent, whose kind must be KIND, to RANK. */
static inline const struct eki_message *lone_sent_to(const struct lone *lone,
                                                     int i, int kind, int rank)
{
    static const struct lone_message none;
    if (!CHECK(i < lone->sent_count))
        return (const struct eki_message *)none.bytes;
    CHECK_EQ_TEXT(
        eki_engine_verb(lone->engine, lone_sent_head(lone, i)->kind)->name,
        eki_engine_verb(lone->engine, kind)->name);
    CHECK_EQ_INT(lone->to[i], rank);
    return (const struct eki_message *)lone->sent[i].bytes;
}

/* Likewise to the other rank of two. */
static inline const struct eki_message *lone_sent(const struct lone *lone,
                                                  int i, int kind)
{
    return lone_sent_to(lone, i, kind, 1 - lone->fabric.rank);
}

/* The only message that was sent since the last lone_forget(), which this is
 * one of. */
static inline const struct eki_message *lone_sent_only(struct lone *lone,
                                                       int kind)
{
    CHECK_EQ_INT(lone->sent_count, 1);
    const struct eki_message *message = lone_sent(lone, 0, kind);
    lone_forget(lone);
    return message;
}

/* The only message of KIND, of all that were sent since the last lone_forget(),
 * which this is one of. */
static inline const struct eki_message *lone_sent_of(struct lone *lone,
                                                     int kind)
{
    int at = 0;
    CHECK_EQ_INT(lone_count(lone, kind), 1);
    while (at + 1 < lone->sent_count && lone_sent_head(lone, at)->kind != kind)
        at++;
    const struct eki_message *message = lone_sent(lone, at, kind);
    lone_forget(lone);
    return message;
}

/* To a parent: what a node below it has created and executed. */
static inline struct eki_vote *lone_vote(struct lone *lone, int node,
                                         uint64_t created, uint64_t executed)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_VOTE);
    struct eki_vote vote = {.created = created,
                            .executed = executed,
                            .signature_low = lone->engine->signature,
                            .signature_high = lone->engine->signature,
                            .is_still = 1};
    const struct eki_waves *waves = &lone->engine->waves;
    message->head.source = lone->topology->lowest_rank[node];
    message->head.detail = node;
    message->head.first = (int64_t)waves->wave + (waves->verdict_next >= 0);
    message->head.count = 1;
    message->head.bytes = sizeof vote;
    memcpy(message->body, &vote, sizeof vote);
    return (struct eki_vote *)message->body;
}

/* To a child: what the root has decided. */
static inline struct eki_verdict *lone_verdict(struct lone *lone,
                                               enum eki_wave wave)
{
    struct eki_message *message = lone_message(lone, EKI_KIND_WAVE);
    struct eki_verdict verdict = {.wave = wave};
    const struct eki_waves *waves = &lone->engine->waves;
    message->head.source = lone->topology->lowest_rank[waves->parent];
    message->head.detail = waves->parent;
    message->head.first = (int64_t)waves->wave;
    message->head.count = 1;
    message->head.bytes = sizeof verdict;
    memcpy(message->body, &verdict, sizeof verdict);
    return (struct eki_verdict *)message->body;
}

/* The phase is over on all nodes, and this rank has left it. */
static inline void lone_skip(struct lone *lone)
{
    const struct eki_engine *engine = lone->engine;
    atomic_store(&engine->node->announced, engine->phase);
    for (int i = 0; i < lone->topology->node_ranks; i++)
        atomic_store(&engine->rank_words[i].left, engine->phase);
}

/* Step all until they are done; what leaving returns. */
static inline struct eki_error lone_end(struct lone *lone)
{
    struct eki_error error;
    int done = 0, workers = lone->topology->workers_here;
    for (int i = 0; i < 1000 && done < workers; i++) {
        lone_serve(lone);
        done = 0;
        for (int here = 0; here < workers; here++)
            done += eki_worker_step(lone->engine->workers[here], lone->now) ==
                    EKI_STEP_DONE;
    }
    CHECK_EQ_INT(done, workers);
    CHECK(eki_server_step(lone->engine, lone->now));
    eki_engine_leave(lone->engine, &error);
    return error;
}

/* The same of the root, whose only child votes so until the phase is over. */
static inline struct eki_error
lone_end_root(struct lone *lone, uint64_t created, uint64_t executed)
{
    for (int wave = 0; wave < 4 && !lone->engine->waves.forwarded; wave++) {
        lone_vote(lone, 1, created, executed);
        for (int here = 0; here < lone->topology->workers_here; here++)
            eki_worker_step(lone->engine->workers[here], lone->now);
        lone_serve(lone);
    }
    return lone_end(lone);
}

/* ... and of a leaf, which is told that it is when it has voted. */
static inline struct eki_error lone_end_leaf(struct lone *lone)
{
    for (int i = 0; i < 4 && !lone->engine->waves.voted; i++) {
        for (int here = 0; here < lone->topology->workers_here; here++)
            eki_worker_step(lone->engine->workers[here], lone->now);
        lone_serve(lone);
    }
    lone_verdict(lone, EKI_WAVE_DONE);
    return lone_end(lone);
}

#endif
