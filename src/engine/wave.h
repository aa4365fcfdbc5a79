/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wave: termination between nodes: task counting, two equal waves.
 *
 *     child -> parent   VOTE   sums of a subtree, signatures, its worst error
 *     parent -> child   WAVE   again, stalled, or done with the error of all
 *     to neighbors     STOP   start no task
 *     to neighbors     PROBE  are you there?  Asked of who has sent nothing
 *                              for half of stall_ns
 *     to who has asked  HERE   yes: in which wave, and whether it has voted
 *     child -> parent   HEADWAY  how far a subtree is, while somebody watches
 *
 * A vertex of the binary tree is a node; the server of its lowest rank votes
 * for all its workers, once per wave, when its children have voted and its
 * workers are idle.  The root ends the phase when created and executed are
 * equal and were the same in the wave before.  Sums of the last phase count as
 * a wave before: a phase without tasks takes one wave.  For the end of a
 * process there are other rules, too (detect.h).
 */
#ifndef EKI_ENGINE_WAVE_H
#define EKI_ENGINE_WAVE_H

#include "engine/headway.h"
#include "engine/protocol.h"
#include "engine/words.h"

struct eki_vote {
    uint64_t created, executed;
    uint64_t signature_low, signature_high;
    /* Whether every worker has answered the roll (internal.h) anew. */
    uint32_t is_still;
    uint32_t doubts; /* EKI_DOUBT_..., where the end is not counted */
    struct eki_load load;
    struct eki_error error;
};

/* Why a wave is not the last one. */
enum {
    EKI_DOUBT_GAVE = 1,    /* tasks have left a node since its last vote */
    EKI_DOUBT_OPEN = 2,    /* something of a node has been open for long */
    EKI_DOUBT_STOPPED = 4, /* the phase is stopped: it is counted to its end */
    EKI_DOUBTS = 7
};

enum eki_wave {
    EKI_WAVE_AGAIN,
    EKI_WAVE_STALLED,
    EKI_WAVE_DONE
};

struct eki_verdict {
    int64_t wave; /* enum eki_wave */
    struct eki_load load;
    struct eki_error error;
};

enum {
    EKI_NEIGHBORS_MOST = 3 /* in the tree: two children, and the parent */
};

/* What is known of a neighbor in the tree. */
struct eki_neighbor {
    int node;
    uint64_t heard;  /* when it last sent anything in this phase */
    uint64_t probed; /* when it was asked whether it is there; 0: it answered */
    uint64_t lost; /* since when a message of it must have got lost; 0: none */
    bool asks;     /* it wants to know whether this node is there */
};

/* One rank's view; written by its server.  Many members: of the tree, the wave,
 * the root, and whether neighbors are there. */
struct eki_waves {
    struct eki_protocol protocol;
    int parent, children, child[2]; /* nodes; parent -1: root */
    uint64_t wave;
    bool voted, forwarded, is_lowest;
    /* Messages to other nodes so far; others have sent some since the last
     * vote.
     */
    int64_t across;
    bool is_turn;
    int stop_next; /* neighbors that were told to stop */
    bool has_vote[2];
    struct eki_vote vote[2];
    struct eki_verdict verdict; /* to pass on ... */
    int verdict_next;           /* ... from this child on; -1: none */
    /* Root: sums of the last wave, since when nothing has changed, and in how
     * many waves since then all were still. */
    uint64_t last_created, last_executed, unchanged_since, still_waves;
    bool stall_told;
    struct eki_neighbor neighbors[EKI_NEIGHBORS_MOST];
    int neighbor_count;
    uint64_t probe_at;           /* look at them then */
    struct eki_headway heard[2]; /* of the children's subtrees */
    uint64_t tell_at; /* how far this node is, in every second step from then */
    bool may_tell;    /* ... not in this one */
};

enum {
    EKI_KIND_VOTE = EKI_KIND(EKI_CHANNEL_WAVES), /* child node -> parent node;
                                                    struct eki_vote */
    EKI_KIND_WAVE,    /* parent node -> child node; struct eki_verdict */
    EKI_KIND_STOP,    /* to the neighbors in the tree: start no task */
    EKI_KIND_PROBE,   /* to a neighbor in the tree: are you there? */
    EKI_KIND_HERE,    /* to who asked: yes; first: wave, count: has voted */
    EKI_KIND_HEADWAY, /* child node -> parent node; struct eki_headway */
    EKI_KIND_RECEIPT  /* to who has sent tasks; first: how many messages */
};

enum {
    /* To the neighbors in the tree: a message did not fit; struct eki_error.
     */
    EKI_KIND_BREAK = EKI_KIND(EKI_CHANNEL_REFUSAL)
};

extern const struct eki_protocol_ops eki_waves_ops, eki_detecting_ops;

#endif
