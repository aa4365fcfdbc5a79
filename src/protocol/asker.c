/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that an asker shares with the server, and who changes them on what:
 *
 *     ask         0 -> whom       worker  seek, when it may ask again: asks + 1
 *                 whom -> 0       server  REQUEST has left: asks - 1
 *     asked_at    -> now          both    seek; a step that finds an ask
 *     sent_at[i]  oldest -> now   server  REQUEST has left: see requests.h
 *                 then -> 0       server  the rank of that entry has answered
 *     answers[]   n -> n + 1      server  NONE, or the last TASKS, has come
 *     all         -> 0            who enters
 */
#include "protocol/asker.h"

enum {
    /* Round trips, but at least EKI_ASK_MOST_NS and at most the time that a
     * request is open, after which a worker asks one more node. */
    PATIENCE_TRIPS = 20,
    /* ... that a request is open. */
    OPEN_TRIPS = 2
};

void eki_asker_reset(struct eki_asker *asker, bool is_plain)
{
    asker->is_plain = is_plain;
    /* relaxed, all: handed to the worker's thread by the start of the team. */
    atomic_store_explicit(&asker->ask, 0, memory_order_relaxed);
    atomic_store_explicit(&asker->answers[0], 0, memory_order_relaxed);
    atomic_store_explicit(&asker->answers[1], 0, memory_order_relaxed);
    atomic_store_explicit(&asker->round_trip_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&asker->asked_at, 0, memory_order_relaxed);
    for (int i = 0; i < EKI_ASK_MOST; i++)
        atomic_store_explicit(&asker->sent_at[i], 0, memory_order_relaxed);
    asker->asked = asker->denied_seen = 0;
    asker->ask_after = asker->backoff = 0;
}

static uint64_t last_trip_ns(const struct eki_asker *asker)
{
    /* relaxed: written by the server as a hint. */
    return atomic_load_explicit(&asker->round_trip_ns, memory_order_relaxed);
}

/* The back-off after BEFORE (0: none), which doubles, but servers that take
 * long to answer are not asked more, unless thieves pause for so long only. */
static uint64_t next_backoff(const struct eki_engine *engine,
                             const struct eki_asker *asker, uint64_t before)
{
    uint64_t trips = EKI_ASK_TRIPS * last_trip_ns(asker);
    uint64_t next = before == 0 ? EKI_ASK_FIRST_NS : 2 * before;
    uint64_t pause = eki_engine_pause_ns(engine);
    uint64_t most = eki_engine_has_pause(engine) ? pause : EKI_ASK_MOST_NS;
    if (next > pause)
        next = pause;
    if (next < trips)
        next = trips;
    return next < most ? next : most;
}

/* See what has become of the requests; who was denied waits longer each time.
 */
static void note_answers(const struct eki_engine *engine,
                         struct eki_asker *asker, uint64_t now)
{
    /* acquire: pairs with the release in eki_asker_note_answer(). */
    uint64_t denied =
        atomic_load_explicit(&asker->answers[0], memory_order_acquire);
    if (denied == asker->denied_seen)
        return;
    asker->denied_seen = denied;
    asker->backoff = next_backoff(engine, asker, asker->backoff);
    asker->ask_after = now + asker->backoff;
}

/* For how long a request counts as open; in a plain scheme until it is
 * answered.
 */
static uint64_t open_ns(const struct eki_asker *asker)
{
    if (asker->is_plain)
        return INT64_MAX; /* so that no sum with it wraps */
    uint64_t trip = last_trip_ns(asker);
    if (trip <= EKI_OPEN_LEAST_NS / OPEN_TRIPS)
        return EKI_OPEN_LEAST_NS;
    return trip < EKI_OPEN_MOST_NS / OPEN_TRIPS ? OPEN_TRIPS * trip
                                                : EKI_OPEN_MOST_NS;
}

/* Requests that are open at NOW, and when the OLDEST of them was sent. */
static int open_requests(const struct eki_asker *asker, uint64_t now,
                         uint64_t *oldest)
{
    uint64_t open_for = open_ns(asker);
    int open = 0;
    *oldest = UINT64_MAX;
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed: a hint. */
        uint64_t sent_at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        if (sent_at == 0 || sent_at + open_for <= now)
            continue;
        open++;
        *oldest = sent_at < *oldest ? sent_at : *oldest;
    }
    return open;
}

/* When a worker with open requests may ask one more node. */
static uint64_t patience_ends(const struct eki_asker *asker)
{
    /* relaxed: written by this worker and by the server as a hint. */
    uint64_t last =
        atomic_load_explicit(&asker->asked_at, memory_order_relaxed);
    uint64_t trip = last_trip_ns(asker), patience = open_ns(asker);
    if (trip < patience / PATIENCE_TRIPS)
        patience = PATIENCE_TRIPS * trip;
    return last + (patience > EKI_ASK_MOST_NS ? patience : EKI_ASK_MOST_NS);
}

/* When the worker may ask next, by what it knows at NOW. */
static uint64_t ask_at(const struct eki_asker *asker, uint64_t now)
{
    uint64_t oldest;
    int open = open_requests(asker, now, &oldest);
    if (open == 0)
        return asker->ask_after;
    if (asker->is_plain)
        return UINT64_MAX;
    uint64_t patient = patience_ends(asker);
    uint64_t forgotten = oldest + open_ns(asker);
    if (open < EKI_ASK_MOST || patient > forgotten)
        return patient;
    return forgotten;
}

bool eki_asker_may_ask(struct eki_asker *asker, const struct eki_engine *engine,
                       uint64_t number, uint64_t now)
{
    /* A search begins with the shortest back-off; one that runs from the search
     * before goes on. */
    if (asker->search != number)
        asker->backoff = 0;
    asker->search = number;
    note_answers(engine, asker, now);
    return now >= ask_at(asker, now);
}

/* When the worker asked last, which is not after now. */
static uint64_t last_asked(const struct eki_asker *asker)
{
    /* relaxed: a hint. */
    return atomic_load_explicit(&asker->asked_at, memory_order_relaxed);
}

bool eki_asker_has_open(const struct eki_asker *asker)
{
    uint64_t now = last_asked(asker);
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed: a hint. */
        uint64_t sent_at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        if (sent_at != 0 && sent_at + open_ns(asker) > now)
            return true;
    }
    return false;
}

uint64_t eki_asker_due(const struct eki_asker *asker)
{
    return ask_at(asker, last_asked(asker));
}

/* The first of the last requests that was sent THEN counts as sent NOW; 0: not
 * any more. */
static void change_sent(struct eki_asker *asker, uint64_t then, uint64_t now)
{
    /* relaxed, both: written by the server alone; hints for the worker. */
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        if (atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed) !=
            then)
            continue;
        atomic_store_explicit(&asker->sent_at[i], now, memory_order_relaxed);
        return;
    }
}

void eki_asker_note_sent(struct eki_asker *asker, uint64_t now)
{
    uint64_t oldest = UINT64_MAX;
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed: see change_sent(). */
        uint64_t sent_at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        oldest = sent_at < oldest ? sent_at : oldest;
    }
    change_sent(asker, oldest, now);
}

void eki_asker_note_answer(struct eki_asker *asker, bool is_granted,
                           uint64_t sent, uint64_t took)
{
    if (sent != 0) {
        change_sent(asker, sent, 0);
        /* relaxed: a hint. */
        atomic_store_explicit(&asker->round_trip_ns, took,
                              memory_order_relaxed);
    }
    /* release: pairs with the acquire in note_answers(): the request is
     * forgotten.  One server at a time adds. */
    atomic_fetch_add_explicit(&asker->answers[is_granted], 1,
                              memory_order_release);
}

EKI_COLD static void track_ask(struct ek_worker *worker,
                               const struct eki_victim *victim, uint64_t now)
{
    const struct eki_topology *topology = worker->engine->topology;
    int rank = victim->worker < 0 ? topology->lowest_rank[victim->node]
                                  : eki_topology_rank(topology, victim->worker);
    eki_track_point(worker->track, EKI_EVENT_REQUEST, now, (uint64_t)rank);
}

enum eki_sought eki_asker_seek(struct eki_asker *asker, _Atomic int *asks,
                               struct ek_worker *worker,
                               const struct eki_victim *victim, uint64_t now)
{
    /* An ask not yet fetched waits.  acquire: pairs with the release in
     * eki_asker_note_fetched(). */
    if (atomic_load_explicit(&asker->ask, memory_order_acquire) != 0 ||
        !eki_asker_may_ask(asker, worker->engine, worker->search.number, now))
        return EKI_SOUGHT_NOTHING;
    asker->asked++;
    worker->counts.tries++;
    worker->search.thief.failures++;
    /* relaxed: a hint. */
    atomic_store_explicit(&asker->asked_at, now, memory_order_relaxed);
    /* relaxed, both: the server reads the count first, and what it does not
     * see yet in a later step. */
    atomic_store_explicit(
        &asker->ask, victim->worker < 0 ? victim->node + 1 : ~victim->worker,
        memory_order_relaxed);
    atomic_fetch_add_explicit(asks, 1, memory_order_relaxed);
    if (EKI_UNLIKELY(worker->track))
        track_ask(worker, victim, now);
    return EKI_SOUGHT_ASKED;
}

void eki_asker_note_fetched(struct eki_asker *asker, _Atomic int *asks)
{
    /* relaxed: a count only. */
    atomic_fetch_sub_explicit(asks, 1, memory_order_relaxed);
    /* release: pairs with the acquire in eki_asker_seek(): what the ask has
     * begun is noted. */
    atomic_store_explicit(&asker->ask, 0, memory_order_release);
}

/* What eki_asker_calls() says beside. */
static EKI_APART bool tell_asker(const struct eki_asker *asker, bool is_asking,
                                 bool *awaits, uint64_t *due)
{
    if (awaits)
        *awaits = is_asking || eki_asker_has_open(asker);
    if (due)
        *due = eki_asker_due(asker);
    return is_asking;
}

bool eki_asker_calls(const struct eki_asker *asker, bool *awaits, uint64_t *due)
{
    /* relaxed: set by this worker. */
    bool is_asking =
        atomic_load_explicit(&asker->ask, memory_order_relaxed) != 0;
    return EKI_LIKELY(!awaits && !due)
               ? is_asking
               : tell_asker(asker, is_asking, awaits, due);
}
