/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hands: long tasks that a worker cannot finish in time are handed to others
 * before anybody begins.
 *
 *     rank -> any other rank           OFFER   a task: its id, what it takes,
 *                                              who has it, how often it was
 *                                              passed on
 *     who has room -> who has it       TAKE
 *     who has it -> who has room       HAND    the task
 *
 * Where tasks lie where they ran last, stealing mends what is uneven at the
 * end: too late for a worker whose own tasks are all long.  But each rank knows
 * what its tasks took, and the waves of the last process, or the words of the
 * only node, have told the mean load.  So, if some worker had more than the
 * mean and a task was long, all ranks hold their workers for a moment after
 * they have entered.  A worker keeps of its long tasks, the longest first, what
 * fits the mean.  Each of the others goes to the worker of the rank that has
 * least, if it fits there, or to one where it fits above the tasks that are as
 * long: shorter ones that do not fit any more are displaced, and look for a
 * place in turn.  What finds none is offered to a random other rank, which
 * finds a place for it in the same way, or passes the offer on.
 *
 * Until it is handed over a task lies where it is.  So an offer may get lost,
 * at a rank that is late or that has no buffer, and what nobody has taken in
 * time stays.  Tasks count where they were added, and are executed where they
 * run, as stolen ones are.
 */
#ifndef EKI_PROTOCOL_HANDS_H
#define EKI_PROTOCOL_HANDS_H

#include "protocol/long_tasks.h"

enum {
    EKI_HANDS_MOST = 16, /* ranks that are offered a task */
    EKI_HAND_MINOR = 50, /* long is more than this part of the mean ... */
    EKI_HAND_LEAST_NS = 200000, /* ... and than this */
    /* Workers are held for this part of what may be gained and at most for a
     * millisecond, so much longer from each message on, up to HOLDS times in
     * all.  A message takes some 10 us: among 38,400 simulated workers with ten
     * tasks each a millisecond is too short for offers to find a place, and
     * three are not. */
    EKI_HAND_PART = 64,
    EKI_HAND_HOLD_NS = 1000000,
    EKI_HAND_HOLDS = 4
};

/* So much fits a worker: in means, or in longest tasks if that is more.  What
 * fits is this at first, and again when the largest load is FAR times what
 * fitted. */
#define EKI_HAND_TARGET 1.01
#define EKI_HAND_FAR 1.125

/* Of a task that was offered. */
struct eki_offer {
    uint64_t id, ns;
    int32_t rank, times; /* who has it; how often it was passed on */
};

enum {
    EKI_KIND_OFFER = EKI_KIND(EKI_CHANNEL_HANDS), /* struct eki_offer */
    EKI_KIND_TAKE,                                /* first: id of the task */
    EKI_KIND_HAND                                 /* slot */
};

/* A message that waits for a buffer. */
struct eki_hand_note {
    int kind;
    int to;
    struct eki_offer offer;
};

/* Written by the thread that enters, then by the server. */
struct eki_hands {
    struct eki_protocol protocol;
    struct eki_random random;
    uint64_t hold_ns;  /* workers are held for so long after a message ... */
    uint64_t until;    /* ... to this moment, and take tasks ... */
    uint64_t takes_to; /* ... as long as those can come; 0: nobody is held */
    uint64_t latest;   /* `until` at most */
    uint64_t owed_ns;  /* data of offered tasks leaves, see away.h */
    bool has_tried;    /* in the last process */
    double target;     /* what fits a worker now, in means */
    struct eki_long_tasks long_tasks;
    struct eki_queue notes; /* struct eki_hand_note */
};

extern const struct eki_protocol_ops eki_hands_ops;

/* For a job of several workers. */
ek_status eki_hands_add(struct eki_engine *engine);

/* A broken invariant in words, or NULL; by whoever steps the server. */
const char *eki_hands_check(const struct eki_engine *engine);

#endif
