/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel: what servers say to each other.  A protocol has a channel, which its
 * likes on other ranks have too, and verbs of its own.  The kind of a message
 * (head.kind) is the number of the channel and that of the verb.
 */
#ifndef EKI_ENGINE_CHANNEL_H
#define EKI_ENGINE_CHANNEL_H

#include "exchange/shape.h"
#include "fabric/fabric.h"

/*
 * Protocols are served in this order in each step of a server: what carries
 * tasks, the end of the phase, requests last, so that they starve nobody.
 */
enum eki_channel {
    EKI_CHANNEL_REBALANCE = 1,
    EKI_CHANNEL_MOVES,
    EKI_CHANNEL_HANDS,
    EKI_CHANNEL_COUNTER,
    EKI_CHANNEL_TILES,
    EKI_CHANNEL_DATA,
    EKI_CHANNEL_WAVES,
    EKI_CHANNEL_REFUSAL,
    EKI_CHANNEL_REQUESTS,
    EKI_CHANNEL_NODE_THIEF,
    EKI_CHANNEL_ONE_SIDED, /* says nothing, ... */
    EKI_CHANNEL_GATE,      /* ... nor does this */
    EKI_CHANNELS
};

enum {
    EKI_VERBS_MOST = 8, /* of a channel */
    EKI_KINDS = EKI_CHANNELS * EKI_VERBS_MOST
};

/* The kind of the first verb of a channel; the next verb has the next one. */
#define EKI_KIND(channel) ((channel)*EKI_VERBS_MOST)
#define EKI_CHANNEL_OF(kind) ((kind) / EKI_VERBS_MOST)

/* Who looks up when a message has come, besides the server. */
enum eki_concern {
    EKI_CONCERNS_SERVER, /* nobody */
    EKI_CONCERNS_WORKER, /* head.worker */
    EKI_CONCERNS_ALL     /* all workers of the rank */
};

/* Whose worker head.worker is. */
enum eki_party {
    EKI_PARTY_ANY, /* whoever takes the message looks, if it matters */
    EKI_PARTY_SENDER,
    EKI_PARTY_RECEIVER
};

/* What a message has behind its head. */
enum eki_body {
    EKI_BODY_ANY,  /* whoever takes the message looks */
    EKI_BODY_NONE, /* nothing */
    EKI_BODY_ITEM, /* one item, of item_bytes, whose fields the shape bounds */
    EKI_BODY_SLOTS /* one task, or more, but slots_most */
};

/* A verb: what is told apart by it, and what is checked before the message is
 * taken. */
struct eki_verb {
    const char *name; /* in traces and errors */
    enum eki_concern concerns;
    enum eki_party party;
    enum eki_body body;
    size_t item_bytes;
    const struct eki_shape *shape; /* NULL: the item is checked by code */
    int64_t slots_most;            /* 0: what a message has room for */
    bool has_slots;  /* the body is tasks, no copies: an old one is an error */
    bool must_fit;   /* the phase is an error where there is no memory for it */
    bool is_no_news; /* nothing follows soon: who waits need not look again */
};

#endif
