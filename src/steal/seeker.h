/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seeker: a node whose workers have run out of tasks, as a thief with a memory:
 * what it does next, and what it has met.  Whom it asks are nodes.
 *
 *     policy      next                             an answer that it was told
 *     load        ASK who shows most probably       loads ride on all answers
 *                 more than the threshold
 *     load:read   READ a random node's load;        LOAD: above the threshold,
 *                 ASK it                            or not
 *     success     READ; QUEUE, unless its request   QUEUED: ask further nodes;
 *                 lies there already                TASKS: begin anew
 *     lifeline    ASK some random nodes; QUEUE at   likewise
 *                 each lifeline; then nothing
 *
 * A node that is asked denies it (DENIED, OCCUPIED) or gives tasks.  A request
 * that is queued is never denied: it lies there until there are tasks.
 *
 * Papers: Kumar, Murthy, Sarkar, Zheng, IA3 2016 (load:read is BaselineWS,
 * success is SuccessOnlyWS); Saraswat and others, PPoPP 2011 (lifelines).
 *
 * Threads: the server's.
 */
#ifndef EKI_STEAL_SEEKER_H
#define EKI_STEAL_SEEKER_H

#include "steal/lifelines.h"
#include "steal/steal.h"

/* What a seeker does next. */
enum eki_approach {
    EKI_APPROACH_NONE, /* nothing, until it is told something */
    EKI_APPROACH_READ, /* ask for its load */
    EKI_APPROACH_ASK,  /* for tasks, at once or not at all */
    EKI_APPROACH_QUEUE /* for tasks, as soon as there are some */
};

struct eki_next {
    enum eki_approach approach;
    int node;
};

/* What it is told. */
enum eki_reply {
    EKI_REPLY_LOAD,
    EKI_REPLY_DENIED,
    EKI_REPLY_QUEUED,
    EKI_REPLY_TASKS
};

/* What is noted of a node; bits. */
enum eki_node_mark {
    EKI_NODE_OWES = 1,  /* it owes an answer */
    EKI_NODE_ASKED = 2, /* a request of the seeker lies there, or comes to it */
    EKI_NODE_WAITS = 4  /* a request of it lies here */
};

#define EKI_LOAD_IDLE -1 /* a worker of the node has no tasks */
#define EKI_LOAD_UNKNOWN (INT32_MIN)

struct eki_seeker;

struct eki_seeker_ops {
    struct eki_next (*choose)(struct eki_seeker *seeker);
    /* LOAD, of tasks that NODE shows, comes with every answer. */
    void (*told)(struct eki_seeker *seeker, int node, enum eki_reply reply,
                 int32_t load);
    bool has_loads;    /* it keeps them: 4 bytes for each node */
    bool holds_one;    /* as a victim it lets one node ask at a time */
    bool queues_first; /* ... QUEUED comes before any tasks */
};

struct eki_seeker {
    const struct eki_seeker_ops *ops;
    const struct eki_topology *topology;
    struct eki_random random;
    int64_t threshold; /* option load_threshold */
    uint8_t *marks;    /* [nodes], EKI_NODE_...; owned */
    int32_t *loads;    /* [nodes]; owned; NULL: it keeps none */
    int found;         /* a node to ask, because of what was read; -1: none */
    /* Of lifeline; attempts in this search. */
    int attempts;
    struct eki_lifeline_option option;
    int lifelines[EKI_LIFELINES_MOST], lifeline_count;
};

extern const struct eki_seeker_ops eki_seeker_load, eki_seeker_load_read,
    eki_seeker_success, eki_seeker_acyclic, eki_seeker_lifeline;

/* Make a seeker ready for a phase; it may be of any policy before.  False: no
 * memory. */
bool eki_seeker_reset(struct eki_seeker *seeker,
                      const struct eki_seeker_ops *ops);
void eki_seeker_close(struct eki_seeker *seeker);
/* A search begins. */
void eki_seeker_begin(struct eki_seeker *seeker);

/* For policies: a random node elsewhere that has none of these marks; -1: there
 * is none. */
int eki_seeker_draw(struct eki_seeker *seeker, unsigned marks);
/* READ a random node that has none of these marks, or nothing. */
struct eki_next eki_seeker_read(struct eki_seeker *seeker, unsigned marks);
/* Note what READ has found. */
void eki_seeker_note_read(struct eki_seeker *seeker, int node,
                          enum eki_reply reply, int32_t load);
/* The node that was found, once; -1: none, or it has one of these marks. */
int eki_seeker_take_found(struct eki_seeker *seeker, unsigned marks);

#endif
