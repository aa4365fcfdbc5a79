/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds: all messages that servers send each other, and what is told apart by
 * their kind. */
#ifndef EKI_ENGINE_KINDS_H
#define EKI_ENGINE_KINDS_H

#include "fabric/fabric.h"

enum eki_kind {
    EKI_KIND_REQUEST = 1, /* thief's server -> a rank of the victim node */
    EKI_KIND_TASKS,       /* victim's server -> thief's; slots */
    EKI_KIND_NONE,        /* victim's server -> thief's: nothing to steal */
    EKI_KIND_VOTE,        /* child node -> parent node; struct eki_vote */
    EKI_KIND_WAVE,        /* parent node -> child node; struct eki_verdict */
    EKI_KIND_STOP,        /* to the neighbours in the tree: start no task */
    EKI_KIND_MOVE,        /* to where a task belongs; slots */
    EKI_KIND_SEEDS,       /* counter: rank -> rank 0: how many seeds */
    EKI_KIND_TABLE,  /* counter: rank 0 -> all: struct eki_seeds of ranks; none:
                        nothing can be drawn */
    EKI_KIND_DRAW,   /* counter: rank -> rank 0: the next number */
    EKI_KIND_NUMBER, /* counter: rank 0 -> rank */
    EKI_KIND_FETCH,  /* counter: rank -> holder of a seed */
    EKI_KIND_FETCHED, /* counter: holder -> rank; slots, which are copies */
    EKI_KIND_PARCEL,  /* rebalance: a piece of something larger */
    EKI_KIND_BREAK,   /* to the neighbours: a message did not fit; struct
                         eki_error */
    EKI_KIND_PROBE,   /* to a neighbour in the tree: are you there? */
    EKI_KIND_HERE,    /* to who asked: yes; first: wave, count: has voted */
    EKI_KIND_OFFER,   /* hands: to any rank; struct eki_offer of a task */
    EKI_KIND_TAKE,    /* hands: to who has it; first: id of the task */
    EKI_KIND_HAND,    /* hands: to who takes it; slot */
    EKI_KIND_GET,     /* tiles: to the owner; struct eki_tile_words, which each
                         of these begins with */
    EKI_KIND_PIECE,   /* tiles: to who gets; doubles */
    EKI_KIND_PUT,     /* tiles: to the owner; doubles */
    EKI_KIND_ADD,     /* tiles: likewise */
    EKI_KIND_DONE,    /* tiles: to who puts or adds; count: pieces */
    EKI_KIND_ASK,     /* data: to the home; slot */
    EKI_KIND_INPUT,   /* data: to who has asked; struct eki_data_words */
    EKI_KIND_RESULT,  /* data: to the home; slot, or a piece */
    EKI_KIND_GIVE,    /* data: to who has a result: send the rest */
    EKI_KIND_KEPT,    /* data: likewise: it is unpacked, or lost */
    EKI_KINDS
};

_Static_assert(EKI_KINDS <= 32, "a bit of eki_protocol_ops.kinds each");

/* Who looks up when a message has come, besides the server. */
enum eki_concern {
    EKI_CONCERNS_SERVER, /* nobody */
    EKI_CONCERNS_WORKER, /* head.worker */
    EKI_CONCERNS_ALL     /* all workers of the rank */
};

struct eki_kind_traits {
    const char *name; /* in traces and errors */
    enum eki_concern concerns;
    bool has_slots; /* the body is tasks: an old one is an error */
    bool must_fit;  /* the phase is an error where there is no memory for it */
    bool is_news;   /* more may follow soon: who waits looks again at once */
};

/* Of KIND; one that does not exist has a name, too. */
const struct eki_kind_traits *eki_kind_traits_of(int kind);

/* Bytes that the body of a message may have. */
static inline int64_t eki_message_room(const struct eki_fabric *fabric)
{
    return (int64_t)(fabric->message_bytes - sizeof(struct eki_message));
}

#endif
