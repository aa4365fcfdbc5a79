/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One engine of a job of two ranks on two nodes, over a fabric that leads
 * nowhere: what it sends is kept for the test to look at, what it gets is one
 * message at a time, made by the test.
 */
#ifndef LONE_H
#define LONE_H

#include "check.h"
#include "engine/offers.h"
#include "protocol/schemes.h"
#include "rebalance/rebalance.h"

enum {
    LONE_BYTES = 1024,
    LONE_SENT = 32 /* messages that are kept, of a test */
};

union lone_message {
    struct eki_message message;
    _Alignas(16) unsigned char bytes[LONE_BYTES];
};

struct lone {
    struct eki_fabric fabric; /* first: the operations get this */
    union lone_message reserved, got, sent[LONE_SENT];
    int to[LONE_SENT]; /* ranks */
    int sent_count;
    int buffers; /* that may still be sent */
    bool has_got;
    uint64_t now;
    struct eki_topology *topology;
    struct eki_setup setup;
    struct eki_engine *engine;
};

static inline struct eki_message *lone_reserve(struct eki_fabric *fabric)
{
    struct lone *lone = (struct lone *)fabric;
    return lone->buffers > 0 ? &lone->reserved.message : NULL;
}

static inline void lone_unreserve(struct eki_fabric *fabric,
                                  struct eki_message *message)
{
    (void)fabric, (void)message;
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
    return lone->has_got ? &lone->got.message : NULL;
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
                                               .unreserve = lone_unreserve,
                                               .post = lone_post,
                                               .poll = lone_poll,
                                               .release = lone_release,
                                               .drain = lone_drain};

/* RANK of two, with one worker on each. */
static inline void lone_open(struct lone *lone, int rank)
{
    static const int workers[2] = {1, 1}, nodes[2] = {0, 1};
    memset(lone, 0, sizeof *lone);
    lone->now = 1000;
    lone->buffers = LONE_SENT;
    lone->fabric = (struct eki_fabric){.ops = &lone_ops,
                                       .rank = rank,
                                       .size = 2,
                                       .collection = 7,
                                       .message_bytes = LONE_BYTES};
    eki_topology_create(rank, 2, workers, nodes, &lone->topology);
    lone->setup = (struct eki_setup){.topology = lone->topology,
                                     .fabric = &lone->fabric,
                                     .buffer_slots = 8,
                                     .payload_bytes = 48,
                                     .seed = 1,
                                     .check_words = 16,
                                     .has_counter = true};
    lone->setup.segment =
        eki_alloc_lines(eki_engine_segment_bytes(&lone->setup));
}

static inline ek_status lone_create(struct lone *lone)
{
    EKI_TRY(eki_engine_create(&lone->setup, &lone->engine));
    EKI_TRY(eki_schemes_add(lone->engine));
    return eki_rebalance_add(lone->engine);
}

static inline struct ek_worker *lone_worker(const struct lone *lone)
{
    return lone->engine->workers[0];
}

static inline void lone_enter(struct lone *lone, enum eki_phase_kind kind,
                              ek_steal_policy policy)
{
    struct eki_phase phase = {
        .kind = kind, .signature = 1, .scheme = eki_scheme_of(policy)};
    eki_engine_enter(lone->engine, &phase, lone->now);
    if (kind == EKI_PHASE_PROCESS)
        eki_worker_arrive(lone_worker(lone), lone->now);
}

/* A process of this policy from the creation of the engine on. */
static inline void lone_begin(struct lone *lone, ek_steal_policy policy)
{
    CHECK_EQ_INT(lone_create(lone), EK_OK);
    lone_enter(lone, EKI_PHASE_PROCESS, policy);
}

static inline void lone_close(struct lone *lone)
{
    eki_engine_destroy(&lone->engine);
    eki_topology_destroy(lone->topology);
    eki_free(lone->setup.segment);
}

/* The message that comes next, of KIND from the other rank, to be filled. */
static inline struct eki_message *lone_message(struct lone *lone,
                                               enum eki_kind kind)
{
    struct eki_message *message = &lone->got.message;
    memset(&lone->got, 0, sizeof lone->got);
    message->head.source = 1 - lone->fabric.rank;
    message->head.kind = (uint16_t)kind;
    message->head.phase = lone->engine->phase;
    message->head.signature = lone->engine->signature;
    message->head.worker = message->head.detail = -1;
    lone->has_got = true;
    return message;
}

/* COUNT slots of function 0 as its body; their ids and payloads are FIRST and
 * so on. */
static inline void lone_fill(struct lone *lone, struct eki_message *message,
                             int count, uint64_t first)
{
    uint32_t slot_bytes = lone->engine->slot_bytes;
    message->head.count = count;
    message->head.bytes = count * (int64_t)slot_bytes;
    for (int i = 0; i < count; i++) {
        struct eki_slot *slot = eki_slot_at(message->body, i, slot_bytes);
        uint64_t number = first + (uint64_t)i;
        *slot = (struct eki_slot){
            .bytes = sizeof number, .flags = EKI_SLOT_SEED, .id = number};
        memcpy(slot->payload, &number, sizeof number);
    }
}

/* Add a seed to the worker; its id and payload are NUMBER. */
static inline void lone_seed(struct lone *lone, uint64_t number)
{
    struct eki_local *local = &lone_worker(lone)->local;
    struct eki_slot *slot = eki_local_add_seed(local);
    if (!CHECK(slot != NULL))
        return;
    slot->bytes = sizeof number;
    slot->flags = EKI_SLOT_SEED;
    slot->id = number;
    memcpy(slot->payload, &number, sizeof number);
}

/* Some nanoseconds later: a step of the server; true: it has nothing more to
 * do. */
static inline bool lone_serve(struct lone *lone)
{
    lone->now += 100;
    return eki_server_step(lone->engine, lone->now);
}

static inline enum eki_step lone_step(struct lone *lone)
{
    lone->now += 100;
    return eki_worker_step(lone_worker(lone), lone->now);
}

/* The I-th message that was sent, whose kind must be KIND and whose receiver
 * the other rank. */
static inline const struct eki_message *lone_sent(const struct lone *lone,
                                                  int i, enum eki_kind kind)
{
    static const struct eki_message none;
    if (!CHECK(i < lone->sent_count))
        return &none;
    CHECK_EQ_TEXT(eki_kind_traits_of(lone->sent[i].message.head.kind)->name,
                  eki_kind_traits_of(kind)->name);
    CHECK_EQ_INT(lone->to[i], 1 - lone->fabric.rank);
    return &lone->sent[i].message;
}

/* The only message that was sent since the last call. */
static inline const struct eki_message *lone_sent_only(struct lone *lone,
                                                       enum eki_kind kind)
{
    CHECK_EQ_INT(lone->sent_count, 1);
    const struct eki_message *message = lone_sent(lone, 0, kind);
    lone->sent_count = 0;
    return message;
}

#endif
