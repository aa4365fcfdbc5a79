/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tasks may leave their data, by what that takes. */
#include "engine/away.h"

enum {
    /* Of tasks that are shown, so many are weighed. */
    WEIGHED = 16,
    /* Data of tasks that are placed elsewhere leaves in this part of the last
     * process: while it leaves, more is stolen. */
    OWED_PART = 2,
    /* Who places tasks guesses so much less than thieves do: it would never
     * learn that data is short. */
    GUESSED_LESS = 16
};

void eki_away_weigh(struct ek_worker *worker, unsigned char *slots, int64_t n)
{
    const struct eki_engine *engine = worker->engine;
    uint64_t runs = 0;
    int64_t away = 0, weighed = 0;
    for (int64_t i = 0; i < n; i += n / WEIGHED + 1) {
        const struct eki_slot *slot =
            eki_slot_at(slots, i, worker->local.slot_bytes);
        runs += eki_worker_expected_ns(worker, slot) *
                (uint64_t)eki_slot_tasks(slot);
        away += eki_away_ns(engine, slot);
        weighed++;
    }
    /* relaxed, both: hints. */
    atomic_store_explicit(&worker->words->runs_ns, runs / (uint64_t)weighed,
                          memory_order_relaxed);
    atomic_store_explicit(&worker->words->away_ns, away / weighed,
                          memory_order_relaxed);
}

static uint64_t magnitude(int64_t ns)
{
    return (uint64_t)(ns < 0 ? -ns : ns);
}

/* Of a task that a deque of a worker shows. */
static int64_t shown_away(const struct eki_engine *engine, int deque)
{
    /* relaxed: a hint. */
    return atomic_load_explicit(&eki_words_of(engine, deque)->away_ns,
                                memory_order_relaxed);
}

/* Data that was promised to thieves is on its way for so long. */
static uint64_t owed_ns(const struct eki_engine *engine, uint64_t now)
{
    /* relaxed: a guess. */
    uint64_t until =
        atomic_load_explicit(&engine->owed_until, memory_order_relaxed);
    return until > now ? until - now : 0;
}

bool eki_away_is_in_time(const struct eki_engine *engine, int deque,
                         uint64_t now)
{
    if (eki_stays(engine, deque))
        return false;
    if (!engine->kept || deque >= engine->topology->node_workers)
        return true;
    const struct eki_worker_words *words = eki_words_of(engine, deque);
    uint64_t shown = (uint64_t)eki_visible(engine, deque);
    uint64_t runs = eki_glance(&words->runs_ns), owed = owed_ns(engine, now);
    int64_t away = shown_away(engine, deque);
    uint64_t left = runs > 0 ? runs * shown : now - engine->entered_ns;
    /* One task tells how long it takes. */
    if (away < 0 && owed == 0 && shown <= 2)
        return magnitude(away) / GUESSED_LESS <= left;
    return owed + magnitude(away) * ((shown + 1) / 2) <= left;
}

void eki_away_leave(struct eki_engine *engine, int deque, uint32_t count,
                    uint64_t now)
{
    if (!engine->kept || deque >= engine->topology->node_workers)
        return;
    uint64_t ns = count * magnitude(shown_away(engine, deque));
    /* relaxed: a guess, so that one of two may be lost. */
    atomic_store_explicit(&engine->owed_until, now + owed_ns(engine, now) + ns,
                          memory_order_relaxed);
}

bool eki_away_may_move(struct eki_engine *engine, const struct eki_slot *slot,
                       uint64_t *owed_ns)
{
    int64_t away = engine->kept ? eki_away_ns(engine, slot) : 0;
    uint64_t ns = away < 0 ? magnitude(away) / GUESSED_LESS : (uint64_t)away;
    if (ns == 0 || eki_engine_home(engine, slot) != engine->topology->rank)
        return true;
    if ((slot->bin != EKI_BIN_NEVER && ns > eki_bin_ns(slot->bin)) ||
        *owed_ns + ns > engine->process_ns / OWED_PART)
        return false;
    *owed_ns += ns;
    return true;
}
