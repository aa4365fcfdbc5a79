/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/tickets.h"

bool eki_tickets_open(struct eki_tickets *tickets, int workers, int places,
                      bool has_lock)
{
    EKI_ASSERT(places <= EKI_TICKETS_MOST && (places & (places - 1)) == 0);
    tickets->workers = workers;
    tickets->places = places;
    tickets->has_lock = has_lock;
    tickets->desks = eki_alloc_lines((size_t)workers * sizeof *tickets->desks);
    return tickets->desks != NULL;
}

void eki_tickets_close(struct eki_tickets *tickets)
{
    eki_free(tickets->desks);
    tickets->desks = NULL;
}

void eki_tickets_clear(struct eki_tickets *tickets)
{
    /* relaxed, all: handed on by the start of the team. */
    atomic_store_explicit(&tickets->wants, 0, memory_order_relaxed);
    for (int here = 0; here < tickets->workers; here++) {
        atomic_store_explicit(&tickets->desks[here].asked, 0,
                              memory_order_relaxed);
        atomic_store_explicit(&tickets->desks[here].kept, 0,
                              memory_order_relaxed);
    }
}

uint32_t eki_ticket_number(struct eki_tickets *tickets, int here, int place)
{
    struct eki_desk *desk = &tickets->desks[here];
    uint32_t places = (uint32_t)tickets->places;
    desk->begun = desk->begun == UINT32_MAX / places ? 1 : desk->begun + 1;
    /* The largest number of a full turn is UINT32_MAX at most. */
    return desk->begun * places + (uint32_t)place;
}

void eki_ticket_want(struct eki_tickets *tickets, int here, int place)
{
    /* release: pairs with the acquire in send_for(): what the worker has
     * written. */
    atomic_fetch_or_explicit(&tickets->desks[here].asked, UINT64_C(1) << place,
                             memory_order_release);
    /* relaxed: a step that does not see the bit yet is not the last. */
    atomic_fetch_add_explicit(&tickets->wants, 1, memory_order_relaxed);
}

void eki_ticket_unwant(struct eki_tickets *tickets, int here, int place)
{
    /* relaxed, both: who sets the bit again has heard of the answer, or holds
     * the lock. */
    atomic_fetch_and_explicit(&tickets->desks[here].asked,
                              ~(UINT64_C(1) << place), memory_order_relaxed);
    atomic_fetch_sub_explicit(&tickets->wants, 1, memory_order_relaxed);
}

/* Send what a worker wants; false: no more messages in this step. */
static bool send_for(struct eki_tickets *tickets, int here,
                     const struct eki_outbox *outbox, eki_ticket_send_fn *send,
                     void *context)
{
    struct eki_desk *desk = &tickets->desks[here];
    /* relaxed: a first look, without the lock; the next one orders. */
    if (atomic_load_explicit(&desk->asked, memory_order_relaxed) == 0)
        return true;
    if (tickets->has_lock)
        eki_lock(&desk->lock);
    /* acquire: pairs with the release in eki_ticket_want(): what the worker has
     * written.  What was abandoned meanwhile is gone. */
    uint64_t asked = atomic_load_explicit(&desk->asked, memory_order_acquire);
    for (; asked != 0 && outbox->left > 0; asked &= asked - 1) {
        int place = __builtin_ctzll(asked);
        if (send(context, here, place))
            eki_ticket_unwant(tickets, here, place);
    }
    if (tickets->has_lock)
        eki_unlock(&desk->lock);
    return outbox->left > 0;
}

void eki_tickets_send(struct eki_tickets *tickets,
                      const struct eki_outbox *outbox, eki_ticket_send_fn *send,
                      void *context)
{
    /* relaxed: a hint; what is not seen yet is seen later. */
    if (atomic_load_explicit(&tickets->wants, memory_order_relaxed) <= 0)
        return;
    int first = tickets->next_worker, next = (first + 1) % tickets->workers;
    for (int i = 0; i < tickets->workers; i++) {
        int here = (first + i) % tickets->workers;
        if (send_for(tickets, here, outbox, send, context))
            continue;
        next = here;
        break;
    }
    tickets->next_worker = next;
}
