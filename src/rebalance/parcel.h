/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parcel: messages of any size between ranks, in as many pieces as it takes.
 * Only restores send them.
 *
 * Invariants, which eki_mail_check() looks at.  Parcels leave in the order in
 * which they were sent, so only the first of them has begun.  Pieces of one
 * parcel come in their order, as messages of a pair of ranks do, and no rank
 * sends another two parcels of one kind and group at a time: (rank, what,
 * group) names a parcel that comes.  Memory for it grows with what has come,
 * not with what its head promises.
 *
 * Threads: the server of the rank, or the thread that enters the phase.
 */
#ifndef EKI_REBALANCE_PARCEL_H
#define EKI_REBALANCE_PARCEL_H

#include "engine/decode.h"

enum {
    EKI_KIND_PARCEL = EKI_KIND(EKI_CHANNEL_REBALANCE) /* a piece of something
                                                         larger */
};

struct eki_parcel {
    struct eki_parcel *next;
    int rank; /* where it goes, or comes from */
    int what; /* enum eki_parcel_kind */
    int group;
    bool is_mine; /* of a tree: all that was gathered, or this rank's part */
    int64_t bytes, done;      /* of the data: all, and what has left or come */
    int64_t room;             /* for data */
    struct eki_decode decode; /* of one that has come: who refuses it */
    _Alignas(16) unsigned char data[];
};

/* What is done with a parcel: false: there is no memory.  What does not fit is
 * refused, and dropped. */
struct eki_balancer;
typedef bool eki_parcel_fn(struct eki_balancer *balancer,
                           struct eki_parcel *parcel);

/* What is in a parcel, and what follows a head. */
static inline void *eki_body_of(const struct eki_parcel *parcel)
{
    return (void *)parcel->data;
}
#define EKI_BEHIND(head) ((void *)((head) + 1))

/* Parcels in a queue, which owns them. */
struct eki_parcels {
    struct eki_parcel *first, *last; /* the last is of no meaning without */
};

void eki_parcels_push(struct eki_parcels *parcels, struct eki_parcel *parcel);
/* The one behind BEFORE, or the first (NULL), leaves; NULL: there is none. */
struct eki_parcel *eki_parcels_pop(struct eki_parcels *parcels,
                                   struct eki_parcel *before);
void eki_parcels_free(struct eki_parcels *parcels);

/* Parcels on their way out, and parcels of which some pieces have come, owned
 * by this.  Zeroed to begin with. */
struct eki_mail {
    struct eki_parcels out;
    struct eki_parcel *in;
};

void eki_mail_close(struct eki_mail *mail);
/* A broken invariant in words, or NULL.  O(parcels out + square of those in).
 */
const char *eki_mail_check(const struct eki_mail *mail);
/* A parcel of BYTES to fill, or NULL; eki_mail_send() then owns it. */
struct eki_parcel *eki_mail_make(int rank, int what, int group, int64_t bytes);
void eki_mail_send(struct eki_mail *mail, struct eki_parcel *parcel);
/* Send one that is filled, or cut, before this rank posts again; NULL: no
 * memory. */
struct eki_parcel *eki_mail_put(struct eki_mail *mail, int rank, int what,
                                int group, int64_t bytes);
/* Send BYTES of DATA; false: no memory. */
bool eki_mail_send_copy(struct eki_mail *mail, int rank, int what, int group,
                        const void *data, int64_t bytes);
/* Post pieces while there are buffers, in order.  A parcel for this rank is
 * returned instead, and belongs to the caller; NULL: none is next. */
struct eki_parcel *eki_mail_post(struct eki_engine *engine,
                                 struct eki_mail *mail);
/* Take a piece, whose kind and group the caller has looked at.  With the last
 * one *WHOLE is the parcel, which belongs to the caller, else NULL. */
enum eki_taken eki_mail_take(struct eki_engine *engine, struct eki_mail *mail,
                             const struct eki_message *message,
                             struct eki_parcel **whole);

#endif
