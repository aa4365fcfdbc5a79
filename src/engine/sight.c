/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/sight.h"

#include "engine/internal.h"

enum {
    /* Rolls with the same sums: see eki_node_call_roll(). */
    SAME_ROLLS = 2,
    /* A process is said to be silent after half of stall_ns, but not before:
     * its lookout may have waited for a core. */
    LIFE_MS = 1000
};

void eki_see_anew(struct eki_look *look, uint64_t now)
{
    int workers = look->engine ? look->engine->topology->workers_here : 0;
    for (int here = 0; here < workers; here++)
        look->workers[here] = (struct eki_sighting){.since = now};
    look->is_new = false;
    look->since = look->unchanged_since = now;
    look->moved = look->rolls = 0;
    look->absent = look->server = look->waits = look->sums =
        (struct eki_told){0};
    memset(look->neighbors, 0, sizeof look->neighbors);
}

uint64_t eki_silent_ms(const struct eki_look *look, int i,
                       const struct eki_moment *at)
{
    uint64_t alive = eki_glance(&look->engine->rank_words[i].alive_ms);
    uint64_t slept_ms = alive < at->slept.until_ms ? at->slept.ns / 1000000 : 0;
    uint64_t silent = eki_ns_since(alive + slept_ms, at->ms);
    uint64_t half = look->stall_ns / 2000000;
    return alive != 0 && silent > (half > LIFE_MS ? half : LIFE_MS)
               ? eki_ns_since(alive, at->ms)
               : 0;
}

enum eki_stand eki_stand_in_phase(const struct eki_look *look, int i)
{
    const struct eki_engine *engine = look->engine;
    uint64_t phase =
        eki_glance(&eki_words_of(engine, engine->first_local[i])->phase);
    return phase == engine->phase  ? EKI_STANDS_HERE
           : phase < engine->phase ? EKI_STANDS_AWAY
                                   : EKI_STANDS_AHEAD;
}

enum eki_stand eki_stand_in_call(const struct eki_look *look, int i)
{
    const struct eki_rank_words *words = &look->engine->rank_words[i];
    uint64_t called = eki_glance(&words->called);
    /* relaxed: for the eye only. */
    int64_t iteration =
        atomic_load_explicit(&words->iteration, memory_order_relaxed);
    unsigned what = called & EKI_CALLED_WHAT;
    bool is_inside = called & EKI_CALLED_INSIDE && iteration == look->iteration;
    if (is_inside && what == look->called)
        return EKI_STANDS_HERE;
    if (look->called == EKI_CALLED_DESTROY ||
        eki_called_is_shared(look->called))
        return EKI_STANDS_AWAY;
    return is_inside && look->called == EKI_CALLED_CLOSE &&
                   (what == EKI_CALLED_PROCESS || what == EKI_CALLED_PULL)
               ? EKI_STANDS_AWAY
               : EKI_STANDS_AHEAD;
}

bool eki_is_teller(const struct eki_look *look, const struct eki_moment *at,
                   eki_stand_fn *stand)
{
    for (int i = 0; i < look->engine->topology->node_index; i++) {
        if (stand(look, i) == EKI_STANDS_HERE && !eki_silent_ms(look, i, at))
            return false;
    }
    return true;
}

/* The task that a worker runs, as far as others can see. */
static bool see_task(const struct ek_worker *worker, struct eki_sighting *seen)
{
    const struct eki_local *local = &worker->local;
    /* acquire: pairs with the releases in eki_worker_take_away() and
     * eki_worker_show_scratch(): the header, where it is shown. */
    const struct eki_slot *slot =
        atomic_load_explicit(&worker->batch.current, memory_order_acquire);
    if (!slot) {
        /* relaxed, all: two looks see the same, or it has moved. */
        seen->function = atomic_load_explicit(&worker->piece.shown_function,
                                              memory_order_relaxed);
        seen->id = atomic_load_explicit(&worker->piece.shown_id,
                                        memory_order_relaxed) +
                   (uint64_t)atomic_load_explicit(&worker->piece.index,
                                                  memory_order_relaxed) -
                   1;
        return seen->function >= 0;
    }
    /* A seed runs in its place, which stays; what else runs is shown. */
    bool is_in_place = (const unsigned char *)slot >= local->seeds &&
                       (const unsigned char *)slot < local->seed_limit;
    if (is_in_place) {
        seen->function = slot->function;
        seen->id = slot->id;
    } else {
        eki_slot_look_head(worker->batch.scratch, &seen->function, &seen->id);
    }
    return true;
}

static struct eki_sighting see_worker(const struct ek_worker *worker)
{
    const struct eki_engine *engine = worker->engine;
    struct eki_sighting seen = {.what = EKI_SEEN_TASK};
    bool is_process = engine->kind == EKI_PHASE_PROCESS;
    if (is_process && see_task(worker, &seen))
        return seen;
    seen.function = -1;
    seen.id = 0;
    seen.executed = eki_glance(&worker->words->executed);
    /* relaxed: looks are compared. */
    bool is_away =
        is_process && atomic_load_explicit(&worker->presence,
                                           memory_order_relaxed) != EKI_PRESENT;
    seen.what = eki_is_set(&worker->words->idle, engine->phase) ? EKI_SEEN_IDLE
                : is_away                                       ? EKI_SEEN_AWAY
                          : EKI_SEEN_BETWEEN;
    return seen;
}

/* For how long no worker of this rank has moved. */
static uint64_t see_workers(struct eki_look *look, const struct eki_moment *at)
{
    const struct eki_engine *engine = look->engine;
    uint64_t quiet = UINT64_MAX;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct eki_sighting *last = &look->workers[here];
        struct eki_sighting seen = see_worker(engine->workers[here]);
        if (seen.what != last->what || seen.function != last->function ||
            seen.id != last->id || seen.executed != last->executed) {
            seen.since = at->now;
            seen.told = last->told;
            *last = seen;
        }
        uint64_t same = eki_awake_ns(at, last->since);
        quiet = same < quiet ? same : quiet;
    }
    return quiet;
}

uint64_t eki_see_quiet(struct eki_look *look, const struct eki_moment *at)
{
    const struct eki_engine *engine = look->engine;
    uint64_t quiet = see_workers(look, at);
    if (engine->kind == EKI_PHASE_PROCESS || !at->is_server)
        return quiet;
    if (eki_is_held(engine) && engine->post.moved != look->moved)
        look->since = at->now;
    look->moved = engine->post.moved;
    uint64_t same = eki_awake_ns(at, look->since);
    return same < quiet ? same : quiet;
}

bool eki_see_still(struct eki_look *look, const struct eki_moment *at)
{
    struct eki_engine *engine = look->engine;
    uint64_t executed, created;
    if (!engine->alone)
        return eki_is_set(&engine->node->stalled, engine->phase);
    if (!eki_node_sums(engine, &executed, &created) ||
        !eki_node_answers(engine))
        return false;
    if (executed == look->executed && created == look->created &&
        executed != created) {
        look->rolls++;
    } else {
        look->rolls = 0;
        look->unchanged_since = at->now;
        look->executed = executed;
        look->created = created;
    }
    eki_node_call_roll(engine);
    return look->rolls >= SAME_ROLLS &&
           eki_awake_ns(at, look->unchanged_since) >= look->stall_ns;
}
