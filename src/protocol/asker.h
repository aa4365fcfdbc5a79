/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asker: a worker's side of requests: what it asks, how many of its requests
 * are open, how long it waits until it asks again.
 *
 * The server notes when the last requests left, and that one was answered; the
 * worker reads that as a hint.  Whom the server waits for exactly, it keeps in
 * a list of its own (requests.h), which has no bound.
 */
#ifndef EKI_PROTOCOL_ASKER_H
#define EKI_PROTOCOL_ASKER_H

#include "engine/engine.h"

/* Back-off after another node had nothing: from ... to ..., doubling.  A
 * millisecond takes most of the traffic and no efficiency, where that is not
 * more than a hundredth of an iteration.  At least so many round trips: where
 * messages are slow, servers had no time for the end among the requests of
 * those who waited for it. */
#define EKI_ASK_FIRST_NS UINT64_C(20000)
#define EKI_ASK_MOST_NS UINT64_C(1000000)
/* A request counts as open for so long, and no longer does a worker wait before
 * it asks one more node: ranks that poll between tasks of some milliseconds
 * still answer in time, and one that does not costs the thief little.  Where
 * the last answer took longer than that, for twice its time: servers with more
 * requests than they can answer are not sent more.  At most so long, because
 * who answered so late may have been in the program's own code. */
#define EKI_OPEN_LEAST_NS UINT64_C(10000000)
#define EKI_OPEN_MOST_NS UINT64_C(160000000)

enum {
    EKI_ASK_TRIPS = 4,
    EKI_ASK_MOST = 4 /* requests of one worker that may be open at a time */
};

/* A worker's side. */
struct eki_asker {
    /* Written by the worker, and reset by the server. */
    _Alignas(EKI_LINE) _Atomic int ask; /* node + 1, or the complement of the
                                           number of a worker; 0: none */
    bool is_plain;                      /* the scheme is; written on entering */
    /* Written by the server: requests denied, granted. */
    _Atomic uint64_t answers[2];
    _Atomic uint64_t round_trip_ns;
    /* Written by both. */
    _Atomic uint64_t asked_at;
    /* Written by the server: when the last requests were sent that are not
     * answered; 0: no request. */
    _Atomic uint64_t sent_at[EKI_ASK_MOST];
    /* Written by the worker alone. */
    uint64_t asked, denied_seen;
    uint64_t ask_after, backoff;
    uint64_t search; /* number of the search that the back-off is of */
};

_Static_assert(sizeof(struct eki_asker) == EKI_LINE, "a line each");

/* While nobody steps the engine. */
void eki_asker_reset(struct eki_asker *asker, bool is_plain);

/* Worker.  Whether it may ask one more node at NOW, in its search of that
 * NUMBER: not, where enough requests are open, or it is too early. */
bool eki_asker_may_ask(struct eki_asker *asker, const struct eki_engine *engine,
                       uint64_t number, uint64_t now);
/* How many of its requests were answered in this phase. */
static inline uint64_t eki_asker_answers(const struct eki_asker *asker)
{
    /* relaxed, both: a hint. */
    return atomic_load_explicit(&asker->answers[0], memory_order_relaxed) +
           atomic_load_explicit(&asker->answers[1], memory_order_relaxed);
}
/* Worker: whether a request is open; when it may ask next. */
bool eki_asker_has_open(const struct eki_asker *asker);
uint64_t eki_asker_due(const struct eki_asker *asker);

/* Worker: ask VICTIM, if it may, in a word that the server fetches; ASKS counts
 * those of all workers (engine/protocol.h, seek). */
enum eki_sought eki_asker_seek(struct eki_asker *asker, _Atomic int *asks,
                               struct ek_worker *worker,
                               const struct eki_victim *victim, uint64_t now);
/* ... what that protocol's `calls` says. */
bool eki_asker_calls(const struct eki_asker *asker, bool *awaits,
                     uint64_t *due);

/* Server.  What the worker asks is under way. */
void eki_asker_note_fetched(struct eki_asker *asker, _Atomic int *asks);
/* Server.  A request has left. */
void eki_asker_note_sent(struct eki_asker *asker, uint64_t now);
/* A request was answered, with tasks if IS_GRANTED.  It had left at SENT (0:
 * unknown) and took TOOK. */
void eki_asker_note_answer(struct eki_asker *asker, bool is_granted,
                           uint64_t sent, uint64_t took);

#endif
