/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests: stealing between nodes by active messages.
 *
 *     thief's server -> a rank of the victim node   REQUEST
 *     victim's server -> thief's server             TASKS    in pieces, or
 *                                                   NONE
 *
 * A worker names a node, its server asks there, and the server that is asked
 * claims a block from the fullest deque of its node like any claimant.  A large
 * block takes several messages; one is sent at a time, and its rest waits in
 * memory until there are buffers.  No deque is ever held by the network.
 *
 * Who has asked goes on stealing on its own node; after a while it may ask
 * further nodes, a few at a time.  A rank may be in the program's own code for
 * seconds: a request that waits for long does not count any more, and a worker
 * asks no rank again that owes it an answer, but another one of its node or of
 * the next node.  Late tasks are always accepted.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3.
 */
#ifndef EKI_PROTOCOL_REQUESTS_H
#define EKI_PROTOCOL_REQUESTS_H

#include "engine/engine.h"

/* Back-off after another node had nothing: from ... to ..., doubling.  A
 * millisecond takes most of the traffic and no efficiency, where that is not
 * more than a hundredth of an iteration.  At least so many round trips: where
 * messages are slow, servers had no time for the end among the requests of
 * those who waited for it. */
#define EKI_ASK_FIRST_NS UINT64_C(20000)
#define EKI_ASK_MOST_NS UINT64_C(1000000)
/* A request counts as open for so long, and no longer does a worker wait before
 * it asks one more node: ranks that poll between tasks of some milliseconds
 * still answer in time, and one that does not costs the thief little.  Where
 * the last answer took longer than that, for twice its time: servers with more
 * requests than they can answer are not sent more.  At most so long, because
 * who answered so late may have been in the program's own code. */
#define EKI_OPEN_LEAST_NS UINT64_C(10000000)
#define EKI_OPEN_MOST_NS UINT64_C(160000000)

enum {
    EKI_ASK_TRIPS = 4,
    EKI_ASK_MOST = 4 /* requests of one worker that may be open at a time */
};

/* A worker's side. */
struct eki_asker {
    /* Written by the worker, and reset by the server. */
    _Alignas(EKI_LINE) _Atomic int ask; /* node + 1; 0: none */
    /* Written by the server: requests denied, granted. */
    _Atomic uint64_t answers[2];
    _Atomic uint64_t round_trip_ns;
    /* Written by both. */
    _Atomic uint64_t asked_at;
    /* Written by the server: when the last requests were sent that are not
     * answered; 0: no request. */
    _Atomic uint64_t sent_at[EKI_ASK_MOST];
    /* Written by the worker alone. */
    uint64_t asked, denied_seen;
    uint64_t ask_after, backoff;
    uint64_t search; /* number of the search that the back-off is of */
};

_Static_assert(sizeof(struct eki_asker) == EKI_LINE, "a line each");

/* The rank of a node to ask. */
struct eki_contact {
    uint64_t phase; /* in which it was named */
    int rank;
};

/* A request that is not answered. */
struct eki_sent {
    int here, rank; /* worker, and who owes it an answer */
    uint64_t at;
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

struct eki_requests {
    struct eki_protocol protocol;
    struct eki_asker *askers; /* [workers_here] */
    /* Written by the server. */
    struct eki_queue waiting; /* struct eki_request */
    struct eki_rest rest;
    struct eki_sent *sent; /* the oldest first */
    int sent_count;
    int64_t sent_room;
    struct eki_contact *contacts; /* [nodes]; NULL: nodes of one rank */
    /* Written by workers that ask and by the server: asks not fetched yet.
     * Away from what every step reads. */
    _Alignas(EKI_LINE) _Atomic int asks;
};

enum {
    EKI_KIND_REQUEST = EKI_KIND(EKI_CHANNEL_REQUESTS),
    EKI_KIND_TASKS, /* slots */
    EKI_KIND_NONE   /* nothing to steal */
};

extern const struct eki_protocol_ops eki_requests_ops;

/* For a job of several nodes. */
ek_status eki_requests_add(struct eki_engine *engine);

/* A broken invariant in words, or NULL; while nobody steps the engine. */
const char *eki_requests_check(const struct eki_engine *engine);

/* Of a rank with several nodes; NULL: there are none. */
static inline const struct eki_requests *
eki_requests_of(const struct eki_engine *engine)
{
    return (const struct eki_requests *)eki_engine_protocol(engine,
                                                            &eki_requests_ops);
}

#endif
