/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests: stealing between nodes by active messages.
 *
 *     thief's server -> a rank of the victim node   REQUEST [of a worker]
 *     victim's server -> thief's server             TASKS    in pieces, or
 *                                                   NONE
 *
 * A worker names a node, its server asks there, and the server that is asked
 * claims a block from the fullest deque of its node like any claimant.  Where
 * the policy names a worker, the server of its rank is asked, and claims from
 * that worker's deque alone.  A large block takes several messages; one is sent
 * at a time, and its rest waits in memory until there are buffers.  No deque is
 * ever held by the network.
 *
 * Who has asked goes on stealing on its own node; after a while it may ask
 * further nodes, a few at a time, unless the scheme is plain.  Of a rank of
 * several workers two requests are under way at a time.  A rank may be in
 * the program's own code for seconds: a request that waits for long does not
 * count any more, and a worker asks no rank again that owes it an answer, but
 * another one of its node or of the next node.  Late tasks are always accepted.
 *
 * Paper: Lifflander, Krishnamoorthy, Kale, HPDC 2012, section 3.
 */
#ifndef EKI_PROTOCOL_REQUESTS_H
#define EKI_PROTOCOL_REQUESTS_H

#include "protocol/asker.h"
#include "protocol/grants.h"

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

struct eki_requests {
    struct eki_protocol protocol;
    struct eki_asker *askers; /* [workers_here] */
    /* Written by the server. */
    struct eki_queue waiting; /* struct eki_request */
    struct eki_grants grants;
    /* The last step had something to send, and no buffer for any of it. */
    bool lacks_buffers;
    struct eki_sent *sent; /* the oldest first */
    int sent_count;
    int64_t sent_room;
    uint64_t now;                 /* when the step began */
    struct eki_contact *contacts; /* [nodes]; NULL: nodes of one rank */
    /* Written by workers that ask and by the server: asks not fetched yet.
     * Away from what every step reads. */
    _Alignas(EKI_LINE) _Atomic int asks;
};

enum {
    EKI_KIND_REQUEST =
        EKI_KIND(EKI_CHANNEL_REQUESTS), /* detail: the victim, or -1 */
    EKI_KIND_TASKS,                     /* slots */
    EKI_KIND_NONE                       /* nothing to steal */
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
