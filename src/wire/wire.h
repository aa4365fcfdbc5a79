/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire: the messages of several collections over one fabric.
 *
 * Each collection has a line, whose number its messages carry.  Whoever steps
 * the server of one polls for all: its own messages are taken, and those of
 * another line are kept as copies until that one's server is stepped, first in,
 * first out.  Some memory for that is made with the wire, and touched only
 * where there is no other.  A message for which there is none is held, and all
 * behind it with it, until there is.
 *
 * Numbers are given in the same order on all ranks, and never again: a message
 * with the number of a line that is closed is dropped.
 *
 * Threads.  One at a time polls and takes, as with the fabric; lines may be
 * opened and closed meanwhile.
 */
#ifndef EKI_WIRE_H
#define EKI_WIRE_H

#include "fabric/fabric.h"

#include <pthread.h>

enum {
    /* Messages that one drain takes: a worker that polls between two tasks is
     * soon back at them, and a burst does not keep the protocols from sending.
     * As many as the MPI fabric has receives. */
    EKI_DRAIN_MOST = 16,
    /* Of the longest messages, so many may be kept though there is no memory:
     * the end of a phase may lie behind messages of the next. */
    EKI_SPARE_MESSAGES = 16
};

/* A copy of a message, which follows it in memory. */
struct eki_kept {
    struct eki_kept *next;
    bool is_spare;
};

struct eki_wire {
    struct eki_fabric *fabric;
    struct eki_message *held; /* polled, and there was no memory for it */
    unsigned char *spare;     /* memory for what is kept without; owned */
    size_t spare_used;        /* ... until all of it is free again */
    int spares;               /* messages there */
    uint64_t poll_ns; /* a poll takes that finds nothing; 0: not measured */
    pthread_mutex_t mutex;  /* of the lines, and what is kept for them */
    struct eki_line *lines; /* open ones, the newest first */
};

struct eki_line {
    struct eki_wire *wire; /* NULL: not open */
    struct eki_line *next;
    uint32_t number;
    uint32_t troubles; /* of the fabric, that are none of this line */
    bool is_deaf;      /* nothing is kept for it any more */
    struct eki_kept *first, *last;
};

/* What came of a message. */
enum eki_received {
    EKI_RECEIVED,
    EKI_RECEIVED_EARLY, /* to be kept: its time has not come */
    EKI_RECEIVED_HELD   /* there is no memory for it */
};

typedef enum eki_received
eki_receive_fn(void *context, const struct eki_message *message, uint64_t now);

/* The number of the next line over FABRIC. */
uint32_t eki_wire_next_number(struct eki_fabric *fabric);
/* Open the line NUMBER over FABRIC, whose wire lives as long as it has lines.
 * LINE stays where it is. */
ek_status eki_line_open(struct eki_line *line, struct eki_fabric *fabric,
                        uint32_t number);
/* What was kept for it is dropped.  Of one that is not open: nothing. */
void eki_line_close(struct eki_line *line);
/* What comes for it, if it is open, is of no interest any more. */
void eki_line_deafen(struct eki_line *line);

/* Keep a copy of MESSAGE for LINE, whose thread this is; false: no memory. */
bool eki_line_keep(struct eki_line *line, const struct eki_message *message);
/* Keep MESSAGE for the line whose it is, if any; false: no memory. */
bool eki_wire_keep(struct eki_wire *wire, const struct eki_message *message);
/* Forget the message that was kept first. */
void eki_line_drop_first(struct eki_line *line);

static inline struct eki_message *eki_kept_message(const struct eki_kept *kept)
{
    return (struct eki_message *)(kept + 1);
}

/* Whether the fabric has had trouble since the line was opened. */
static inline bool eki_line_has_trouble(const struct eki_line *line)
{
    return line->wire->fabric->troubles != line->troubles;
}

/* Let RECEIVE have what was kept, up to what is still early; false: there is no
 * memory for more. */
static inline bool eki_line_take_kept(struct eki_line *line,
                                      eki_receive_fn *receive, void *context,
                                      uint64_t now)
{
    while (EKI_UNLIKELY(line->first != NULL)) {
        enum eki_received received =
            receive(context, eki_kept_message(line->first), now);
        if (received != EKI_RECEIVED)
            return received == EKI_RECEIVED_EARLY;
        eki_line_drop_first(line);
    }
    return true;
}

/* Let RECEIVE have what arrives for LINE. */
static inline void eki_line_drain(struct eki_line *line,
                                  eki_receive_fn *receive, void *context,
                                  uint64_t now)
{
    struct eki_wire *wire = line->wire;
    struct eki_fabric *fabric = wire->fabric;
    for (int i = 0; i < EKI_DRAIN_MOST; i++) {
        struct eki_message *message =
            wire->held ? wire->held : fabric->ops->poll(fabric);
        if (!message)
            break;
        wire->held = message;
        bool is_done;
        if (EKI_LIKELY(message->head.collection == line->number)) {
            enum eki_received received = receive(context, message, now);
            is_done =
                received == EKI_RECEIVED || (received == EKI_RECEIVED_EARLY &&
                                             eki_line_keep(line, message));
        } else {
            is_done = eki_wire_keep(wire, message);
        }
        if (!is_done)
            break;
        wire->held = NULL;
        fabric->ops->release(fabric, message);
    }
}

#endif
