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
    memset(look->neighbours, 0, sizeof look->neighbours);
}

bool eki_next_place(const struct eki_topology *topology,
                    struct eki_place *place)
{
    const int *first = topology->first_worker;
    int node = topology->node;
    if (place->index >= 0)
        place->first += first[place->rank + 1] - first[place->rank];
    int rank = place->index < 0 ? topology->lowest_rank[node] - 1 : place->rank;
    while (++rank <= topology->highest_rank[node]) {
        if (topology->node_of_rank[rank] != node)
            continue;
        place->rank = rank;
        place->index++;
        return true;
    }
    return false;
}

uint64_t eki_called_of(const struct eki_engine *engine, int i)
{
    /* relaxed: for the eye only. */
    return atomic_load_explicit(&engine->rank_words[i].called,
                                memory_order_relaxed);
}

uint64_t eki_process_of(const struct eki_engine *engine, int i)
{
    /* relaxed: written once, when the collection was made. */
    return atomic_load_explicit(&engine->rank_words[i].process,
                                memory_order_relaxed);
}

bool eki_is_lifeless(const struct eki_look *look, int i, uint64_t ms,
                     uint64_t *silent_ms)
{
    /* relaxed: a hint. */
    uint64_t alive = atomic_load_explicit(&look->engine->rank_words[i].alive_ms,
                                          memory_order_relaxed);
    *silent_ms = eki_ns_since(alive, ms);
    uint64_t half_ms = look->stall_ns / 2000000;
    return alive != 0 && *silent_ms > (half_ms > LIFE_MS ? half_ms : LIFE_MS);
}

/* The phase that rank of the node is in. */
static uint64_t phase_of(const struct eki_engine *engine,
                         const struct eki_place *place)
{
    /* relaxed: for the eye only. */
    return atomic_load_explicit(&eki_words_of(engine, place->first)->phase,
                                memory_order_relaxed);
}

enum eki_stand eki_stand_in_phase(const struct eki_look *look,
                                  const struct eki_place *place)
{
    uint64_t phase = phase_of(look->engine, place);
    if (phase == look->engine->phase)
        return EKI_STANDS_HERE;
    return phase < look->engine->phase ? EKI_STANDS_AWAY : EKI_STANDS_AHEAD;
}

enum eki_stand eki_stand_in_call(const struct eki_look *look,
                                 const struct eki_place *place)
{
    uint64_t called = eki_called_of(look->engine, place->index);
    /* relaxed: for the eye only. */
    int64_t iteration =
        atomic_load_explicit(&look->engine->rank_words[place->index].iteration,
                             memory_order_relaxed);
    unsigned what = called & EKI_CALLED_WHAT;
    bool runs = called & EKI_CALLED_INSIDE &&
                (what == EKI_CALLED_PROCESS || what == EKI_CALLED_PULL);
    if (what == look->called && called & EKI_CALLED_INSIDE &&
        iteration == look->iteration)
        return EKI_STANDS_HERE;
    if (look->called == EKI_CALLED_DESTROY ||
        eki_called_is_shared(look->called))
        return EKI_STANDS_AWAY;
    return look->called == EKI_CALLED_CLOSE && runs &&
                   iteration == look->iteration
               ? EKI_STANDS_AWAY
               : EKI_STANDS_AHEAD;
}

bool eki_is_teller(const struct eki_look *look, uint64_t ms,
                   eki_stand_fn *stand)
{
    struct eki_place place = {.index = -1};
    uint64_t silent_ms;
    while (eki_next_place(look->engine->topology, &place) &&
           place.index < look->engine->topology->node_index) {
        if (stand(look, &place) == EKI_STANDS_HERE &&
            !eki_is_lifeless(look, place.index, ms, &silent_ms))
            return false;
    }
    return true;
}

/* The task that a worker runs, as far as others can see. */
static bool see_task(const struct ek_worker *worker, struct eki_sighting *seen)
{
    const struct eki_local *local = &worker->local;
    /* acquire: pairs with the release in eki_worker_take(): the header, where
     * it is shown. */
    const struct eki_slot *slot =
        atomic_load_explicit(&worker->batch.current, memory_order_acquire);
    seen->what = EKI_SEEN_TASK;
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
    struct eki_sighting seen = {.what = EKI_SEEN_BETWEEN};
    if (engine->kind == EKI_PHASE_PROCESS && see_task(worker, &seen))
        return seen;
    seen.function = -1;
    seen.id = 0;
    /* relaxed, both: looks are compared. */
    seen.executed =
        atomic_load_explicit(&worker->words->executed, memory_order_relaxed);
    if (eki_is_set(&worker->words->idle, engine->phase))
        seen.what = EKI_SEEN_IDLE;
    else if (engine->kind == EKI_PHASE_PROCESS &&
             atomic_load_explicit(&worker->presence, memory_order_relaxed) !=
                 EKI_PRESENT)
        seen.what = EKI_SEEN_AWAY;
    else
        seen.what = EKI_SEEN_BETWEEN;
    return seen;
}

uint64_t eki_see_workers(struct eki_look *look, uint64_t now)
{
    const struct eki_engine *engine = look->engine;
    uint64_t quiet = UINT64_MAX;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct eki_sighting *last = &look->workers[here];
        struct eki_sighting seen = see_worker(engine->workers[here]);
        if (seen.what != last->what || seen.function != last->function ||
            seen.id != last->id || seen.executed != last->executed) {
            seen.since = now;
            seen.told = last->told;
            *last = seen;
        }
        uint64_t same = eki_ns_since(last->since, now);
        quiet = same < quiet ? same : quiet;
    }
    return quiet;
}

uint64_t eki_see_server(struct eki_look *look, const struct eki_moment *at,
                        uint64_t quiet)
{
    const struct eki_engine *engine = look->engine;
    if (engine->kind == EKI_PHASE_PROCESS || !at->is_server)
        return quiet;
    if (eki_is_held(engine) && engine->post.moved != look->moved)
        look->since = at->now;
    look->moved = engine->post.moved;
    uint64_t same = eki_ns_since(look->since, at->now);
    return same < quiet ? same : quiet;
}

bool eki_see_still(struct eki_look *look, uint64_t now)
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
        look->unchanged_since = now;
        look->executed = executed;
        look->created = created;
    }
    eki_node_call_roll(engine);
    return look->rolls >= SAME_ROLLS &&
           eki_ns_since(look->unchanged_since, now) >= look->stall_ns;
}
