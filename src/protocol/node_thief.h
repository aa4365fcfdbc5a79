/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node thief: stealing between nodes where a node, not a worker, is the thief
 * and the victim.
 *
 *     thief's server -> victim's server   READ      how much do you show?
 *                                         ASK       tasks, if you have some
 *                                         QUEUE     tasks, when you have some
 *     victim's server -> thief's server   LOAD      so much
 *                                         DENIED    none
 *                                         OCCUPIED  somebody else has asked
 *                                         QUEUED    your request lies here
 *                                         GRANT     tasks, in pieces
 *
 * Servers are those of the lowest ranks of their nodes.  A node is a thief
 * while any worker of it is idle; what it does next a seeker says (seeker.h),
 * one thing at a time: it waits for the answer to each, which QUEUED is, too.
 * A node that owes an answer for long, because its rank is in the program's own
 * code, is left alone until it answers.  Tasks go to an idle worker of the
 * server's rank, or to whoever claims them.
 *
 * A victim gives while no worker of its own is idle.  Otherwise it denies the
 * request, or lets it wait in a queue, first in, first out, which it looks at
 * in every step.  At the end of a phase both sides drop the requests that wait;
 * the engine drops messages of an older phase.
 *
 * Paper: Kumar, Murthy, Sarkar, Zheng, IA3 2016; there a thief reads loads, and
 * takes a lock, in the victim's memory.
 */
#ifndef EKI_PROTOCOL_NODE_THIEF_H
#define EKI_PROTOCOL_NODE_THIEF_H

#include "protocol/grants.h"

/* Who has asked this node. */
struct eki_guest {
    struct eki_request request;
    enum eki_approach approach;
    bool is_late; /* somebody else is served: OCCUPIED */
    bool waits;   /* it was told QUEUED */
};

/* As its workers see the thief. */
enum eki_thief_state {
    EKI_THIEF_FREE, /* it goes on when its server is stepped */
    EKI_THIEF_WAITS,
    EKI_THIEF_DRY /* nobody is left to ask until something comes */
};

struct eki_node_thief {
    struct eki_protocol protocol;
    struct eki_grants grants;
    /* Written by the server. */
    bool is_open; /* the rank is its node's lowest, and the scheme needs it */
    struct eki_seeker seeker;
    struct eki_queue guests; /* struct eki_guest; the oldest first */
    bool lacks_buffers;      /* as in requests.h */
    bool is_seeking;         /* a search is under way ... */
    uint64_t since;          /* ... since then */
    int victims;             /* asked for tasks in this search */
    struct eki_next next;    /* found no buffer yet */
    int owing;               /* node whose answer it waits for; -1: none */
    uint64_t sent_at;        /* that it was sent something */
    uint64_t now;            /* when the step began */
    /* For workers, who see whether to step the server. */
    _Atomic int state;
    _Atomic uint64_t due; /* it goes on then, whatever comes */
};

enum {
    EKI_KIND_NODE_READ = EKI_KIND(EKI_CHANNEL_NODE_THIEF),
    EKI_KIND_NODE_ASK,
    EKI_KIND_NODE_QUEUE,
    EKI_KIND_NODE_LOAD,     /* worker, in all answers: the load, of GRANT that
                               before the tasks were claimed */
    EKI_KIND_NODE_DENIED,   /* ... */
    EKI_KIND_NODE_OCCUPIED, /* ... */
    EKI_KIND_NODE_QUEUED,   /* ... */
    EKI_KIND_NODE_GRANT     /* ...; slots; first: tasks to follow */
};

extern const struct eki_protocol_ops eki_node_thief_ops;

/* Whether any worker of the node has nothing to do; of this rank's those that
 * can do something. */
bool eki_node_is_idle(const struct eki_engine *engine);
/* Server: whether one has, and may get tasks in this phase. */
bool eki_node_is_thief(const struct eki_engine *engine);
/* NODE asks this one, by a message of this HEAD. */
enum eki_taken eki_node_thief_take_guest(struct eki_node_thief *thief,
                                         const struct eki_head *head, int node);
/* Answer who has asked, as far as there are tasks and buffers. */
void eki_node_thief_serve_guests(struct eki_node_thief *thief);

/* For a job of several nodes. */
ek_status eki_node_thief_add(struct eki_engine *engine);
/* The scheme is entered: make what its thief needs; false: no memory. */
bool eki_node_thief_arm(struct eki_engine *engine);

#endif
