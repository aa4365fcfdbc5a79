/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold between two steps of a rank's workers and server. */
#include "protocol/counter.h"
#include "protocol/hands.h"
#include "protocol/one_sided.h"
#include "protocol/requests.h"

/* Whether worker HERE waits for the answer to a request of that time. */
static bool waits_for(const struct eki_requests *requests, int here,
                      uint64_t at)
{
    for (int i = 0; i < requests->sent_count; i++) {
        if (requests->sent[i].here == here && requests->sent[i].at == at)
            return true;
    }
    return false;
}

static const char *check_asker(const struct eki_requests *requests, int here)
{
    const struct eki_asker *asker = &requests->askers[here];
    for (int i = 0; i < EKI_ASK_MOST; i++) {
        /* relaxed: a check, while nobody else is at it. */
        uint64_t at =
            atomic_load_explicit(&asker->sent_at[i], memory_order_relaxed);
        if (at != 0 && !waits_for(requests, here, at))
            return "a request counts as open that was never sent";
    }
    return NULL;
}

static const char *check_sent(const struct eki_requests *requests)
{
    for (int i = 0; i < requests->sent_count; i++) {
        const struct eki_sent *sent = &requests->sent[i];
        for (int j = 0; j < i; j++) {
            if (requests->sent[j].here == sent->here &&
                requests->sent[j].rank == sent->rank)
                return "a rank owes a worker two answers";
        }
    }
    return NULL;
}

const char *eki_requests_check(const struct eki_engine *engine)
{
    const struct eki_requests *requests =
        (const struct eki_requests *)engine->channels[EKI_CHANNEL_REQUESTS];
    int workers = engine->topology->workers_here, asking = 0;
    if (!requests)
        return NULL;
    const char *wrong = check_sent(requests);
    for (int here = 0; !wrong && here < workers; here++) {
        wrong = check_asker(requests, here);
        /* relaxed, both: a check, while nobody else is at it. */
        asking += atomic_load_explicit(&requests->askers[here].ask,
                                       memory_order_relaxed) != 0;
    }
    if (!wrong &&
        asking != atomic_load_explicit(&requests->asks, memory_order_relaxed))
        wrong = "asks that the server is told of are miscounted";
    return wrong;
}

static bool is_in_process(const struct eki_engine *engine)
{
    return engine->is_open && engine->kind == EKI_PHASE_PROCESS;
}

static const char *check_ring(const struct eki_one_sided *side)
{
    const struct eki_engine *engine = side->protocol.engine;
    const struct eki_ring *ring = &side->ring;
    if (ring->tail > ring->split || ring->split > ring->end ||
        ring->back > ring->end - ring->split)
        return "positions of a ring are out of order";
    if (ring->end - ring->tail > side->slots)
        return "a ring has more tasks than slots";
    if (ring->split != ring->end &&
        (!is_in_process(engine) || ring->phase != engine->phase))
        return "a ring hides tasks of a phase that is over";
    return ring->stage == EKI_RING_REST && ring->ticket >= 0
               ? "nobody waits for an operation of a ring"
               : NULL;
}

const char *eki_one_sided_check(const struct eki_engine *engine)
{
    const struct eki_one_sided *side = eki_one_sided_of(engine);
    int workers = engine->topology->workers_here, asking = 0, under_way = 0;
    if (!side)
        return NULL;
    for (int here = 0; here < workers; here++) {
        const struct eki_steal *steal = &side->steals[here];
        if (steal->ticket >= 0 &&
            (steal->stage == EKI_STEAL_NONE || steal->stage == EKI_STEAL_HERE))
            return "nobody waits for an operation of a steal";
        under_way += steal->stage != EKI_STEAL_NONE;
        /* relaxed: a check, while nobody else is at it. */
        asking += atomic_load_explicit(&side->askers[here].ask,
                                       memory_order_relaxed) != 0;
    }
    if (under_way != side->under_way)
        return "steals are miscounted";
    if (!is_in_process(engine) && eki_one_sided_holds_lock(side))
        return "a rank has left a process with a lock";
    /* relaxed: a check. */
    if (asking != atomic_load_explicit(&side->asks, memory_order_relaxed))
        return "asks for steals are miscounted";
    return check_ring(side);
}

const char *eki_counter_check(const struct eki_engine *engine)
{
    const struct eki_counter *counter =
        (const struct eki_counter *)engine->channels[EKI_CHANNEL_COUNTER];
    int wanted = 0;
    if (!counter)
        return NULL;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_drawer *drawer = &counter->drawers[here];
        /* relaxed, all: a check, while nobody else is at it. */
        int state = atomic_load_explicit(&drawer->state, memory_order_relaxed);
        wanted += state == EKI_DRAW_ASK || state == EKI_DRAW_STUCK;
        wanted += atomic_load_explicit(&drawer->fetch, memory_order_relaxed) ==
                  EKI_FETCH_WANT;
        if (state == EKI_DRAW_NUMBER &&
            atomic_load_explicit(&drawer->number, memory_order_relaxed) >=
                drawer->end)
            return "a worker has drawn a number beyond its chunk";
    }
    /* relaxed: a check. */
    if (wanted != atomic_load_explicit(&counter->wants, memory_order_relaxed))
        return "what workers want of the counter is miscounted";
    return NULL;
}

const char *eki_hands_check(const struct eki_engine *engine)
{
    const struct eki_hands *hands =
        (const struct eki_hands *)engine->channels[EKI_CHANNEL_HANDS];
    if (!hands || hands->takes_to == 0)
        return NULL;
    const struct eki_long_tasks *tasks = &hands->long_tasks;
    for (int i = 1; i < tasks->count; i++) {
        if (tasks->items[i].ns > tasks->items[i - 1].ns)
            return "long tasks are out of order";
    }
    for (int here = 0; here < engine->topology->workers_here; here++) {
        uint64_t load = tasks->pinned_ns;
        for (int i = 0; i < tasks->count; i++) {
            const struct eki_hand *task = &tasks->items[i];
            if (task->here == here && (task->state == EKI_HAND_HERE ||
                                       task->state == EKI_HAND_AWAITED))
                load += task->ns;
        }
        if (load != tasks->load_ns[here])
            return "the load of long tasks of a worker is miscounted";
    }
    return NULL;
}
