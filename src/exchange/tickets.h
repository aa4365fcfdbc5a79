/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tickets: what the workers of a rank want of other ranks, each in a place of
 * its worker, until the answer has come.  The worker says that something is to
 * be sent for a place; the server sends it, and what more an answer asks for.
 *
 *     worker   eki_ticket_number()   a number that no other question has
 *     worker   eki_ticket_want()     what it has written is the server's
 *     server   eki_tickets_send()    ... who sends what there are buffers for
 *
 * What a place means, and whose it is when, the protocol says by a state of its
 * own.  Where a question may be abandoned while the server reads what the
 * worker lends, the worker's lock is held meanwhile.
 *
 * Threads.  A worker's desk: the worker and the server; all else as it says.
 */
#ifndef EKI_EXCHANGE_TICKETS_H
#define EKI_EXCHANGE_TICKETS_H

#include "exchange/exchange.h"

enum {
    EKI_TICKETS_MOST = 64 /* places of a worker */
};

/* Of one worker. */
struct eki_desk {
    /* A bit for each place for which the server has to send (more). */
    _Alignas(EKI_LINE) _Atomic uint64_t asked;
    /* Held by the server while it touches a place, and by the worker to abandon
     * one; where the protocol needs that. */
    _Atomic int lock;
    /* Answers without which the phase does not end. */
    _Atomic int kept;
    uint32_t begun; /* questions; written by the worker */
};

struct eki_tickets {
    struct eki_desk *desks; /* [workers] */
    int workers;
    int places; /* of each; a power of two */
    bool has_lock;
    int next_worker; /* whose questions are sent first; written by the server */
    /* Places for which something is to be sent; written by workers, too. */
    _Alignas(EKI_LINE) _Atomic int wants;
};

/* False: no memory. */
bool eki_tickets_open(struct eki_tickets *tickets, int workers, int places,
                      bool has_lock);
void eki_tickets_close(struct eki_tickets *tickets);
/* Nothing of the last phase is left; while nothing is stepped. */
void eki_tickets_clear(struct eki_tickets *tickets);

/* The number of the next question of worker HERE, for PLACE; never 0, nor below
 * the number of places. */
uint32_t eki_ticket_number(struct eki_tickets *tickets, int here, int place);
static inline int eki_ticket_place(const struct eki_tickets *tickets,
                                   uint64_t number)
{
    return (int)(number % (uint64_t)tickets->places);
}

/* The server has to send something for a place. */
void eki_ticket_want(struct eki_tickets *tickets, int here, int place);
/* It has, or need not any more. */
void eki_ticket_unwant(struct eki_tickets *tickets, int here, int place);
/* Whether it has not yet: by the worker, or the server, under the lock. */
static inline bool eki_ticket_is_wanted(const struct eki_tickets *tickets,
                                        int here, int place)
{
    /* relaxed: who looks has set it, or the lock orders it. */
    return atomic_load_explicit(&tickets->desks[here].asked,
                                memory_order_relaxed) >>
               place &
           1;
}

/* Send what a place wants; true: nothing more for now. */
typedef bool eki_ticket_send_fn(void *context, int here, int place);
/* Send what is wanted, while OUTBOX has messages left; workers take turns in
 * being the first. */
void eki_tickets_send(struct eki_tickets *tickets,
                      const struct eki_outbox *outbox, eki_ticket_send_fn *send,
                      void *context);

/* One more answer, or one less, has to come before the phase ends. */
static inline void eki_ticket_keep(struct eki_tickets *tickets, int here)
{
    /* relaxed: the worker sees its own. */
    atomic_fetch_add_explicit(&tickets->desks[here].kept, 1,
                              memory_order_relaxed);
}
static inline void eki_ticket_let_go(struct eki_tickets *tickets, int here)
{
    /* release: pairs with the acquire in eki_tickets_are_kept(): what came. */
    atomic_fetch_sub_explicit(&tickets->desks[here].kept, 1,
                              memory_order_release);
}
static inline bool eki_tickets_are_kept(const struct eki_tickets *tickets,
                                        int here)
{
    /* acquire: pairs with the release in eki_ticket_let_go(). */
    return atomic_load_explicit(&tickets->desks[here].kept,
                                memory_order_acquire) != 0;
}

#endif
