/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protocol: a part of the engine that talks to other ranks.  It owns its state,
 * one struct per rank with an array for the workers; the engine calls it at
 * fixed points and knows nothing else of it.  What the engine offers in return
 * is in engine/offers.h.
 *
 * Running, spawning, publishing and stealing within the node call no protocol.
 *
 * Threads.  seek, end_task, cancel, calls: the worker's (cancel of a worker
 * without thread: whoever stands in for it).  take, step, may_vote, may_leave:
 * the server's.  All others: the calling thread while nothing is stepped.
 */
#ifndef EKI_ENGINE_PROTOCOL_H
#define EKI_ENGINE_PROTOCOL_H

#include "engine/channel.h"
#include "steal/seeker.h"

struct eki_engine;
struct eki_phase;
struct eki_protocol;
struct eki_slot;

/* What came of a message. */
enum eki_taken {
    EKI_TAKEN,
    EKI_NO_MEMORY, /* to be taken later */
    EKI_REFUSED    /* it does not fit (decode.h) */
};

/* What came of seeking work on other ranks. */
enum eki_sought {
    EKI_SOUGHT_NOTHING, /* look on the own node meanwhile */
    EKI_SOUGHT_ASKED,   /* somebody is asked */
    EKI_SOUGHT_FOUND    /* a task is on the worker's stack */
};

/* Slots that a protocol holds; PLACE says where. */
typedef void eki_visit_fn(void *context, const char *place,
                          const unsigned char *slots, int64_t count);

/* Each function may be NULL. */
struct eki_protocol_ops {
    const char *name;
    enum eki_channel channel;
    const struct eki_verb *verbs; /* [verb_count] of the messages it takes */
    int verb_count;
    void (*destroy)(struct eki_protocol *protocol);
    /* The seeds are counted, nobody is in the phase yet.  True: servers must
     * be stepped in this phase, on the whole node. */
    bool (*enter)(struct eki_protocol *protocol, const struct eki_phase *phase,
                  uint64_t now);
    /* A message of this phase; also where this rank's policy is another, when
     * ranks differ. */
    enum eki_taken (*take)(struct eki_protocol *protocol,
                           const struct eki_message *message, uint64_t now);
    /* Send what there are buffers for. */
    void (*step)(struct eki_protocol *protocol, uint64_t now);
    /* Whether nothing of it is on its way that a vote has to wait for. */
    bool (*may_vote)(const struct eki_protocol *protocol);
    /* Whether the rank may leave a phase that is over: else something of it
     * would keep others waiting. */
    bool (*may_leave)(const struct eki_protocol *protocol);
    /* WORKER has nothing to do; VICTIM is on another node, or none where the
     * scheme has no victim policy. */
    enum eki_sought (*seek)(struct eki_protocol *protocol,
                            struct ek_worker *worker,
                            const struct eki_victim *victim, uint64_t now);
    /* The task that WORKER runs has ended, with EKI_MARK_TRANSFER or
     * EKI_MARK_DATA: drop what comes for it; false: it had not waited for that.
     */
    bool (*end_task)(struct eki_protocol *protocol, struct ek_worker *worker);
    /* The phase was stopped: give WORKER back what is hidden from it; how many
     * tasks are cancelled where they lie, which `leave` gives back. */
    int64_t (*cancel)(struct eki_protocol *protocol, struct ek_worker *worker);
    /* The rank leaves a process whose scheme brings work by this protocol. */
    void (*leave)(struct eki_protocol *protocol);
    /* Whether WORKER, who looks for work elsewhere, wants the server to send
     * something.  Each unless NULL: *AWAITS, which is false before: whether an
     * answer is on its way; *DUE, which is UINT64_MAX, never, before: when the
     * worker gets on by time alone. */
    bool (*calls)(const struct eki_protocol *protocol,
                  const struct ek_worker *worker, bool *awaits, uint64_t *due);
    /* Append to TEXT what of its own has waited for WAITED or longer at NOW,
     * ", ..."; while nobody steps the server. */
    void (*tell)(const struct eki_protocol *protocol, uint64_t now,
                 uint64_t waited, char *text, size_t bytes);
    /* Visit every task that lies in the protocol's own memory. */
    void (*visit)(const struct eki_protocol *protocol, eki_visit_fn *visit,
                  void *context);
};

/* In an initializer of these: the verbs of a table. */
#define EKI_VERBS(table) \
    .verbs = (table), .verb_count = (int)(sizeof(table) / sizeof *(table))

/* First member of every implementation. */
struct eki_protocol {
    const struct eki_protocol_ops *ops;
    struct eki_engine *engine;
};

/* How a worker without work gets some: a row of the table of steal policies
 * (protocol/schemes.c). */
struct eki_scheme {
    ek_steal_policy policy;
    eki_victims_fn *victims;                  /* NULL: nobody is stolen from */
    const struct eki_protocol_ops *elsewhere; /* brings work from other ranks;
                                                 NULL: none does */
    uint32_t detectors;     /* 1 << EKI_DETECTOR_...: that see its end */
    const char *undetected; /* why others do not; NULL: all do */
    /* Why it does not work in this job, or NULL; NULL: it always does. */
    const char *(*unsuitable)(const struct eki_engine *engine);
    /* NULL: all but what lasts EKI_HIDDEN_NS is shown. */
    const struct eki_publishing *publishing;
    /* No long tasks are handed over; a thief asks one victim at a time, waits
     * for its answer, and asks the next at once. */
    bool is_plain;
    bool notes_thieves; /* a worker knows who last stole from it */
    bool serves_first;  /* thieves find what the server has put up: it is
                           stepped before the first task runs */
    /* Whom a node asks, whose workers steal within it; NULL: workers ask. */
    const struct eki_seeker_ops *seeker;
    /* The phase is entered: make what the thieves of this rank need; NULL:
     * nothing.  False: there is no memory. */
    bool (*arm)(struct eki_engine *engine);
};

/* PROTOCOL, the only one of its channel, belongs to the engine from now on. */
void eki_engine_add(struct eki_engine *engine, struct eki_protocol *protocol);
/* The protocol of these operations; NULL: it was not added. */
struct eki_protocol *eki_engine_protocol(const struct eki_engine *engine,
                                         const struct eki_protocol_ops *ops);

#endif
