/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel: what servers say to each other.  A protocol has a channel, which its
 * likes on other ranks have too, and verbs of its own.  The kind of a message
 * (head.kind) is the number of the channel and that of the verb.
 */
#ifndef EKI_ENGINE_CHANNEL_H
#define EKI_ENGINE_CHANNEL_H

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

/* A verb: what is told apart by it. */
struct eki_verb {
    const char *name; /* in traces and errors */
    enum eki_concern concerns;
    bool has_slots;  /* the body is tasks: an old one is an error */
    bool must_fit;   /* the phase is an error where there is no memory for it */
    bool is_no_news; /* nothing follows soon: who waits need not look again */
};

#endif
