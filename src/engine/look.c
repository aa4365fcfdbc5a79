/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/look.h"

#include "engine/internal.h"
#include "engine/sight.h"

enum {
    /* Ranks and workers that a report names; the others it counts. */
    NAMED_MOST = 4,
    /* What all ranks may see, so many of them say. */
    TELLERS_MOST = 64,
    TEXT_BYTES = 600
};

static const char *const call_names[] = {
    [EKI_CALLED_NOTHING] = "nothing",
    [EKI_CALLED_CREATE] = "ek_create",
    [EKI_CALLED_PROCESS] = "ek_process",
    [EKI_CALLED_PULL] = "ek_begin ... ek_end",
    [EKI_CALLED_CLOSE] = "the report or record of ek_process",
    [EKI_CALLED_RESTORE] = "ek_restore",
    [EKI_CALLED_DESTROY] = "ek_destroy",
    [EKI_CALLED_PLAN] = "ek_plan",
    [EKI_CALLED_TILES_CREATE] = "ek_tiles_create",
    [EKI_CALLED_TILES_FILL] = "ek_tiles_fill",
    [EKI_CALLED_TILES_SYNC] = "ek_tiles_sync",
    [EKI_CALLED_TILES_NORM] = "ek_tiles_norm",
    [EKI_CALLED_TILES_GATHER] = "ek_tiles_gather"};

static void append_time(uint64_t ns, char *text, size_t bytes)
{
    double s = (double)ns * 1e-9;
    if (s < 1)
        eki_append(text, bytes, "%.0f ms", s * 1e3);
    else
        eki_append(text, bytes, "%.1f s", s);
}

/* " in ek_process of 'fock' (iteration 3)". */
static void append_where(const struct eki_look *look, char *text, size_t bytes)
{
    eki_append(text, bytes, " in %s", call_names[look->called]);
    if (look->called == EKI_CALLED_PLAN)
        return;
    eki_append(text, bytes, " of '%s'", look->name);
    if (look->called != EKI_CALLED_CREATE && look->called != EKI_CALLED_DESTROY)
        eki_append(text, bytes, " (iteration %lld)",
                   (long long)look->iteration);
}

static void say(const struct eki_look *look, const char *text)
{
    eki_log(EK_LEVEL_WARN, look->rank, look->size, "engine", "%s", text);
}

/* Whether a cause that lasts for WAITED is to be told now. */
static bool is_due(const struct eki_look *look, struct eki_told *told,
                   uint64_t waited, uint64_t now)
{
    if (waited < look->stall_ns || now < told->next)
        return false;
    told->interval = told->interval == 0 ? look->stall_ns : 2 * told->interval;
    told->next = now + told->interval;
    return true;
}

ek_status eki_look_open(struct eki_look *look, struct eki_engine *engine)
{
    look->workers = eki_alloc((size_t)engine->topology->workers_here,
                              sizeof *look->workers);
    if (!look->workers)
        return eki_error(EK_ERR_NOMEM, "no memory for a look at the workers");
    look->engine = engine;
    look->words = &engine->rank_words[engine->topology->node_index];
    return EK_OK;
}

void eki_look_close(struct eki_look *look)
{
    eki_free(look->workers);
    look->workers = NULL;
    look->engine = NULL;
    look->words = NULL;
}

/* What rank I of the node was last seen to do. */
static void append_call(const struct eki_look *look, int i, uint64_t ms,
                        char *text, size_t bytes)
{
    uint64_t called = eki_called_of(look->engine, i);
    unsigned what = called & EKI_CALLED_WHAT;
    /* relaxed: for the eye only. */
    uint64_t ahead = atomic_load_explicit(&look->engine->rank_words[i].ahead_ns,
                                          memory_order_relaxed);
    uint64_t ago =
        eki_ns_since((called & ~EKI_CALLED_BITS) + ahead, ms * 1000000);
    if (called & EKI_CALLED_INSIDE) {
        eki_append(text, bytes, "it has been in %s of '%s' for ",
                   call_names[what], look->name);
        append_time(ago, text, bytes);
    } else {
        eki_append(
            text, bytes, "its last call here was %s, ",
            call_names[what == EKI_CALLED_CLOSE ? EKI_CALLED_PROCESS : what]);
        append_time(ago, text, bytes);
        eki_append(text, bytes, " ago");
    }
}

void eki_look_append_inside(const struct eki_look *look, uint64_t process,
                            uint64_t ms, char *text, size_t bytes)
{
    const struct eki_engine *engine = look->engine;
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        if (eki_process_of(engine, i) != process ||
            !(eki_called_of(engine, i) & EKI_CALLED_INSIDE))
            continue;
        eki_append(text, bytes, "; ");
        append_call(look, i, ms, text, bytes);
    }
}

/* What rank I of the node does instead of coming here. */
static void append_excuse(const struct eki_look *look, int i, uint64_t ms,
                          char *text, size_t bytes)
{
    uint64_t silent_ms;
    eki_append(text, bytes, "; ");
    append_call(look, i, ms, text, bytes);
    if (look->elsewhere)
        look->elsewhere(look, eki_process_of(look->engine, i), ms, text, bytes);
    if (eki_is_lifeless(look, i, ms, &silent_ms)) {
        eki_append(text, bytes, "; its process has shown no life for ");
        append_time(silent_ms * 1000000, text, bytes);
    }
}

/* Name the ranks of the node for whom this one waits; false: there are none. */
static bool tell_missing(struct eki_look *look, const struct eki_moment *at,
                         uint64_t waited, eki_stand_fn *stand)
{
    const struct eki_topology *topology = look->engine->topology;
    struct eki_place place = {.index = -1};
    int count = 0, last = -1;
    uint64_t silent_ms;
    bool tells = eki_is_teller(look, at->ms, stand);
    while (eki_next_place(topology, &place)) {
        if (place.index == topology->node_index ||
            (stand(look, &place) != EKI_STANDS_AWAY &&
             !eki_is_lifeless(look, place.index, at->ms, &silent_ms)))
            continue;
        last = place.rank;
        if (count++ == 0)
            tells = tells && is_due(look, &look->absent, waited, at->now);
        if (!tells || count > NAMED_MOST)
            continue;
        char text[TEXT_BYTES] = "waiting ";
        append_time(waited, text, sizeof text);
        eki_append(text, sizeof text, " for rank %d", place.rank);
        append_where(look, text, sizeof text);
        append_excuse(look, place.index, at->ms, text, sizeof text);
        say(look, text);
    }
    if (tells && count > NAMED_MOST)
        eki_log(EK_LEVEL_WARN, look->rank, look->size, "engine",
                "... and for %d more ranks of this node, up to rank %d",
                count - NAMED_MOST, last);
    return count > 0;
}

static void tell_worker(const struct eki_look *look, int here, uint64_t waited)
{
    const struct eki_engine *engine = look->engine;
    const struct eki_sighting *seen = &look->workers[here];
    char text[TEXT_BYTES] = "worker ";
    eki_append(text, sizeof text, "%d %s for ", engine->workers[here]->id,
               seen->what == EKI_SEEN_AWAY   ? "has had no thread"
               : seen->what != EKI_SEEN_TASK ? "has been between two tasks"
               : look->called == EKI_CALLED_PULL
                   ? "has not come back to ek_next"
                   : "has been in one task");
    append_time(waited, text, sizeof text);
    append_where(look, text, sizeof text);
    if (seen->what == EKI_SEEN_TASK && seen->function < engine->function_count)
        eki_append(
            text, sizeof text, ": task %llu (home worker %d) of function '%s'",
            (unsigned long long)(seen->id & (EKI_NUMBERS - 1)),
            eki_id_home(seen->id), engine->functions[seen->function].name);
    say(look, text);
}

static void tell_workers(struct eki_look *look, uint64_t now)
{
    const struct eki_topology *topology = look->engine->topology;
    int count = 0;
    if (look->engine->kind == EKI_PHASE_RESTORE)
        return;
    for (int here = 0; here < topology->workers_here; here++) {
        struct eki_sighting *seen = &look->workers[here];
        uint64_t waited = eki_ns_since(seen->since, now);
        if (seen->what != EKI_SEEN_IDLE &&
            is_due(look, &seen->told, waited, now) && count++ < NAMED_MOST)
            tell_worker(look, here, waited);
    }
    if (count > NAMED_MOST)
        eki_log(EK_LEVEL_WARN, look->rank, look->size, "engine",
                "... and %d more workers of this rank", count - NAMED_MOST);
}

/* Why nobody steps the server, as far as workers show. */
static const char *why_unserved(const struct eki_look *look, bool only_first)
{
    int workers = look->engine->topology->workers_here;
    for (int here = 0; here < (only_first ? 1 : workers); here++) {
        if (look->workers[here].what != EKI_SEEN_TASK)
            return "no thread comes to it";
    }
    return only_first && workers > 1
               ? "worker 0 of the rank is inside a task, and the MPI thread "
                 "level allows no other"
               : "all its workers are inside tasks; ek_poll() in long tasks, "
                 "or progress=server, lets messages through";
}

/* Messages move only where somebody steps the server.  In a restore that is the
 * thread that calls, which works on tasks between two steps. */
static void tell_server(struct eki_look *look, const struct eki_moment *at)
{
    const struct eki_engine *engine = look->engine;
    uint64_t from = at->served > look->since ? at->served : look->since;
    uint64_t waited = eki_ns_since(from, at->now);
    /* relaxed: a hint. */
    if (engine->kind == EKI_PHASE_RESTORE ||
        !atomic_load_explicit(&engine->messages, memory_order_relaxed) ||
        !is_due(look, &look->server, waited, at->now))
        return;
    char text[TEXT_BYTES] = "nobody has stepped the server of this rank for ";
    append_time(waited, text, sizeof text);
    append_where(look, text, sizeof text);
    eki_append(text, sizeof text, ", so its messages wait: %s",
               why_unserved(look, at->only_first));
    say(look, text);
}

/* Neighbours in the tree of nodes that are asked and do not answer, or that say
 * they have sent what is not here. */
static void tell_neighbours(struct eki_look *look, const struct eki_moment *at)
{
    const struct eki_engine *engine = look->engine;
    const struct eki_waves *waves = &engine->waves;
    if (engine->alone || !waves->is_lowest ||
        eki_ns_since(at->served, at->now) > look->stall_ns / 2)
        return;
    for (int i = 0; i < waves->neighbour_count; i++) {
        const struct eki_neighbour *neighbour = &waves->neighbours[i];
        bool is_lost = neighbour->lost != 0;
        uint64_t waited =
            eki_ns_since(is_lost ? neighbour->lost : neighbour->heard, at->now);
        if ((!is_lost && neighbour->probed == 0) ||
            !is_due(look, &look->neighbours[i], is_lost ? 2 * waited : waited,
                    at->now))
            continue;
        char text[TEXT_BYTES] = "waiting ";
        append_time(waited, text, sizeof text);
        eki_append(text, sizeof text, " for rank %d on another node",
                   engine->topology->lowest_rank[neighbour->node]);
        append_where(look, text, sizeof text);
        eki_append(text, sizeof text,
                   is_lost
                       ? ": it says that it has sent its word of wave %llu, "
                         "which has not come"
                       : ": it does not answer, so it is not in this call, "
                         "or nobody steps its server",
                   (unsigned long long)waves->wave);
        say(look, text);
    }
}

/* What else of this rank's messages has waited for so long. */
static void tell_waits(struct eki_look *look, const struct eki_moment *at,
                       uint64_t quiet)
{
    const struct eki_engine *engine = look->engine;
    char what[TEXT_BYTES / 2] = "";
    const struct eki_message *held =
        engine->line.wire ? engine->line.wire->held : NULL;
    if (held)
        eki_append(what, sizeof what,
                   ", a message from rank %d (%s) for which there is no memory",
                   held->head.source,
                   eki_engine_verb(engine, held->head.kind)->name);
    for (int i = 0; i < engine->protocol_count; i++) {
        const struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->tell)
            protocol->ops->tell(protocol, at->now, look->stall_ns, what,
                                sizeof what);
    }
    if (!what[0] || look->rank >= TELLERS_MOST ||
        !is_due(look, &look->waits, quiet, at->now))
        return;
    char text[TEXT_BYTES] = "waiting ";
    append_time(quiet, text, sizeof text);
    append_where(look, text, sizeof text);
    eki_append(text, sizeof text, " with%s", what + 1);
    say(look, text);
}

static void tell_sums(struct eki_look *look, uint64_t now, uint64_t quiet)
{
    char where[TEXT_BYTES] = "";
    if (!eki_see_still(look, now) || !is_due(look, &look->sums, quiet, now))
        return;
    append_where(look, where, sizeof where);
    eki_engine_stall(look->engine, where, look->rank >= TELLERS_MOST);
}

void eki_look_at_phase(struct eki_look *look, const struct eki_moment *at)
{
    if (look->is_new || look->phase != look->engine->phase)
        eki_see_anew(look, at->now);
    look->phase = look->engine->phase;
    uint64_t quiet = eki_see_server(look, at, eki_see_workers(look, at->now));
    if (quiet < look->stall_ns / 2)
        return;
    tell_sums(look, at->now, quiet);
    if (quiet < look->stall_ns)
        return;
    tell_missing(look, at, quiet, eki_stand_in_phase);
    tell_workers(look, at->now);
    tell_server(look, at);
    if (at->is_server) {
        tell_neighbours(look, at);
        tell_waits(look, at, quiet);
    }
}

/* Whether a call waits for all ranks, and not only for those of a phase. */
static bool needs_all(enum eki_called called)
{
    return called == EKI_CALLED_CREATE || called >= EKI_CALLED_PLAN;
}

/* This rank is where it waits for others, or alone does something long. */
static void tell_call(const struct eki_look *look, uint64_t waited)
{
    bool waits = needs_all(look->called) || look->called == EKI_CALLED_CLOSE ||
                 look->called == EKI_CALLED_DESTROY;
    /* Where all see the same the first speak. */
    if (waits && look->rank >= TELLERS_MOST)
        return;
    char text[TEXT_BYTES] = "this rank has been";
    append_where(look, text, sizeof text);
    eki_append(text, sizeof text, " for ");
    append_time(waited, text, sizeof text);
    eki_append(
        text, sizeof text, "%s",
        needs_all(look->called) ? "; it needs all ranks of the communicator"
        : !waits ? "; no task runs: it prepares or ends, or a hook runs"
        : look->engine->alone ? "; all ranks are there"
                              : "; it needs the ranks of other nodes, too");
    say(look, text);
}

void eki_look_at_call(struct eki_look *look, const struct eki_moment *at)
{
    if (look->is_new)
        eki_see_anew(look, at->now);
    uint64_t waited = eki_ns_since(look->since, at->now);
    if (waited < look->stall_ns ||
        (look->engine && tell_missing(look, at, waited, eki_stand_in_call)))
        return;
    if (look->engine && !eki_is_teller(look, at->ms, eki_stand_in_call))
        return;
    if (is_due(look, &look->server, waited, at->now))
        tell_call(look, waited);
}
