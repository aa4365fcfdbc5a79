/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/look.h"

#include "engine/internal.h"
#include "engine/sight.h"

enum {
    /* Ranks and workers that a report names; the others it counts. */
    NAMED_MOST = 4,
    /* What all ranks may see, so many of them say. */
    TELLERS_MOST = 64,
    TEXT_BYTES = 600,
    /* Where files are written or read, ranks wait for a disk, which may be
     * slow: the job ends so many times later. */
    DISK_PATIENCE = 10
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
    [EKI_CALLED_SHARED_ALLOC] = "ek_shared_alloc",
    [EKI_CALLED_TILES_CREATE] = "ek_tiles_create",
    [EKI_CALLED_TILES_FILL] = "ek_tiles_fill",
    [EKI_CALLED_TILES_SYNC] = "ek_tiles_sync",
    [EKI_CALLED_TILES_NORM] = "ek_tiles_norm",
    [EKI_CALLED_REDUCE] = "ek_reduce",
    [EKI_CALLED_TILES_GATHER] = "ek_tiles_gather",
    [EKI_CALLED_GATHER] = "ek_gather",
    [EKI_CALLED_SAVE] = "ek_save",
    [EKI_CALLED_LOAD] = "ek_load",
    [EKI_CALLED_CHECKPOINT] = "ek_restore with checkpoints",
    [EKI_CALLED_WRITE] = "the files of a save"};

/* What a sentence is made of. */
struct part {
    char text[160];
};

static struct part time_of(uint64_t ns)
{
    double s = (double)ns * 1e-9;
    struct part part;
    snprintf(part.text, sizeof part.text, s < 1 ? "%.0f ms" : "%.1f s",
             s < 1 ? s * 1e3 : s);
    return part;
}

/* " in ek_process of 'fock' (iteration 3)". */
static struct part where_of(const struct eki_look *look)
{
    struct part part = {" in "};
    eki_append(part.text, sizeof part.text, "%s", call_names[look->called]);
    if (look->called != EKI_CALLED_PLAN)
        eki_append(part.text, sizeof part.text, " of '%s'", look->name);
    if (look->called != EKI_CALLED_CREATE &&
        look->called != EKI_CALLED_DESTROY && look->called != EKI_CALLED_PLAN)
        eki_append(part.text, sizeof part.text, " (iteration %lld)",
                   (long long)look->iteration);
    return part;
}

/* Whether a cause that lasts for WAITED is to be told now. */
static bool may_tell(struct eki_look *look, struct eki_told *told,
                     uint64_t waited, uint64_t now)
{
    if (waited < look->stall_ns || now < told->next)
        return false;
    told->interval = told->interval == 0 ? look->stall_ns : 2 * told->interval;
    told->next = now + told->interval;
    return true;
}

/* Likewise of a wait for other ranks, which ends the job when it lasts too
 * long: then it is told in any case. */
static bool may_tell_wait(struct eki_look *look, struct eki_told *told,
                          uint64_t waited, uint64_t now)
{
    bool is_slow =
        look->called == EKI_CALLED_WRITE || look->called == EKI_CALLED_LOAD;
    uint64_t end_ns = (is_slow ? DISK_PATIENCE : 1) * look->end_ns;
    bool ends = end_ns != 0 && waited >= end_ns;
    look->ends |= ends;
    return may_tell(look, told, waited, now) || ends;
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

static uint64_t process_of(const struct eki_look *look, int i)
{
    return eki_glance(&look->engine->rank_words[i].process);
}

/* What rank I of the node was last seen to do. */
static void append_call(const struct eki_look *look, int i, uint64_t ms,
                        char *text, size_t bytes)
{
    const struct eki_rank_words *words = &look->engine->rank_words[i];
    uint64_t called = eki_glance(&words->called);
    uint64_t ahead = eki_glance(&words->ahead_ns);
    unsigned what = called & EKI_CALLED_WHAT;
    struct part ago = time_of(
        eki_ns_since((called & ~EKI_CALLED_BITS) + ahead, ms * 1000000));
    if (called & EKI_CALLED_INSIDE)
        eki_append(text, bytes, "; it has been in %s of '%s' for %s",
                   call_names[what], look->name, ago.text);
    else
        eki_append(
            text, bytes, "; its last call here was %s, %s ago",
            call_names[what == EKI_CALLED_CLOSE ? EKI_CALLED_PROCESS : what],
            ago.text);
}

void eki_look_append_inside(const struct eki_look *look, uint64_t process,
                            uint64_t ms, char *text, size_t bytes)
{
    const struct eki_engine *engine = look->engine;
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        if (process_of(look, i) == process &&
            eki_glance(&engine->rank_words[i].called) & EKI_CALLED_INSIDE)
            append_call(look, i, ms, text, bytes);
    }
}

/* What rank I of the node does instead of coming here. */
static void append_excuse(const struct eki_look *look, int i,
                          const struct eki_moment *at, char *text, size_t bytes)
{
    uint64_t silent_ms = eki_silent_ms(look, i, at);
    append_call(look, i, at->ms, text, bytes);
    if (look->elsewhere)
        look->elsewhere(look, process_of(look, i), at->ms, text, bytes);
    if (silent_ms != 0)
        eki_append(text, bytes, "; its process has shown no life for %s",
                   time_of(silent_ms * 1000000).text);
}

/* The rank of the node with number I there. */
static int rank_in_node(const struct eki_topology *topology, int i)
{
    int rank = topology->lowest_rank[topology->node];
    while (topology->node_of_rank[rank] != topology->node || i-- > 0)
        rank++;
    return rank;
}

/* Name the ranks of the node for whom this one waits; false: there are none. */
static bool tell_missing(struct eki_look *look, const struct eki_moment *at,
                         uint64_t waited, eki_stand_fn *stand)
{
    const struct eki_topology *topology = look->engine->topology;
    int count = 0, last = -1;
    bool tells = eki_is_teller(look, at, stand);
    for (int i = 0; i < topology->node_ranks; i++) {
        if (i == topology->node_index ||
            (stand(look, i) != EKI_STANDS_AWAY && !eki_silent_ms(look, i, at)))
            continue;
        last = rank_in_node(topology, i);
        if (count++ == 0)
            tells =
                tells && may_tell_wait(look, &look->absent, waited, at->now);
        if (!tells || count > NAMED_MOST)
            continue;
        char excuse[TEXT_BYTES] = "";
        append_excuse(look, i, at, excuse, sizeof excuse);
        EKI_SAY(look, "waiting %s for rank %d%s%s", time_of(waited).text, last,
                where_of(look).text, excuse);
    }
    if (tells && count > NAMED_MOST)
        EKI_SAY(look, "... and for %d more ranks of this node, up to rank %d",
                count - NAMED_MOST, last);
    return count > 0;
}

static void tell_worker(const struct eki_look *look, int here, uint64_t waited)
{
    const struct eki_engine *engine = look->engine;
    const struct eki_sighting *seen = &look->workers[here];
    char task[TEXT_BYTES / 2] = "";
    if (seen->what == EKI_SEEN_TASK && seen->function < engine->function_count)
        snprintf(task, sizeof task, ": task %s of function '%s'",
                 eki_key_words(engine->key_base, seen->id).text,
                 engine->functions[seen->function].name);
    EKI_SAY(look, "worker %d %s for %s%s%s", engine->workers[here]->id,
            seen->what == EKI_SEEN_AWAY       ? "has had no thread"
            : seen->what != EKI_SEEN_TASK     ? "has been between two tasks"
            : look->called == EKI_CALLED_PULL ? "has not come back to ek_next"
                                              : "has been in one task",
            time_of(waited).text, where_of(look).text, task);
}

static void tell_workers(struct eki_look *look, const struct eki_moment *at)
{
    const struct eki_topology *topology = look->engine->topology;
    int count = 0;
    if (look->engine->kind == EKI_PHASE_RESTORE)
        return;
    for (int here = 0; here < topology->workers_here; here++) {
        struct eki_sighting *seen = &look->workers[here];
        uint64_t waited = eki_awake_ns(at, seen->since);
        if (seen->what != EKI_SEEN_IDLE &&
            may_tell(look, &seen->told, waited, at->now) &&
            count++ < NAMED_MOST)
            tell_worker(look, here, waited);
    }
    if (count > NAMED_MOST)
        EKI_SAY(look, "... and %d more workers of this rank",
                count - NAMED_MOST);
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
    uint64_t waited = eki_awake_ns(at, from);
    /* relaxed: a hint. */
    if (engine->kind == EKI_PHASE_RESTORE ||
        !atomic_load_explicit(&engine->messages, memory_order_relaxed) ||
        !may_tell(look, &look->server, waited, at->now))
        return;
    EKI_SAY(
        look,
        "nobody has stepped the server of this rank for %s%s, so its messages "
        "wait: %s",
        time_of(waited).text, where_of(look).text,
        why_unserved(look, at->only_first));
}

/* Neighbors in the tree of nodes that are asked and do not answer, or that say
 * they have sent what is not here. */
static void tell_neighbors(struct eki_look *look, const struct eki_moment *at)
{
    const struct eki_engine *engine = look->engine;
    const struct eki_waves *waves = &engine->waves;
    if (engine->alone || !waves->is_lowest ||
        eki_ns_since(at->served, at->now) > look->stall_ns / 2)
        return;
    for (int i = 0; i < waves->neighbor_count; i++) {
        const struct eki_neighbor *neighbor = &waves->neighbors[i];
        bool is_lost = neighbor->lost != 0;
        uint64_t waited =
            eki_awake_ns(at, is_lost ? neighbor->lost : neighbor->heard);
        if ((!is_lost && neighbor->probed == 0) ||
            !may_tell_wait(look, &look->neighbors[i],
                           is_lost ? 2 * waited : waited, at->now))
            continue;
        char wave[96] = "it does not answer, so it is not in this call, or "
                        "nobody steps its server";
        if (is_lost)
            snprintf(wave, sizeof wave,
                     "it says that it has sent its word of wave %llu, which "
                     "has not come",
                     (unsigned long long)waves->wave);
        EKI_SAY(look, "waiting %s for rank %d on another node%s: %s",
                time_of(waited).text,
                engine->topology->lowest_rank[neighbor->node],
                where_of(look).text, wave);
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
    /* Somebody passes them on again after so long. */
    bool passes = engine->lack.passed != 0 &&
                  eki_ns_since(engine->lack.passed, at->now) < quiet / 2;
    if (held)
        eki_append(what, sizeof what,
                   ", a message from rank %d (%s) for which there is no memory",
                   held->head.source,
                   eki_engine_verb(engine, held->head.kind)->name);
    if (passes)
        eki_append(what, sizeof what,
                   ", tasks that ranks pass on because none has memory for "
                   "them");
    for (int i = 0; i < engine->protocol_count; i++) {
        const struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->tell)
            protocol->ops->tell(protocol, at->now, look->stall_ns, what,
                                sizeof what);
    }
    if (!what[0] || look->rank >= TELLERS_MOST ||
        !(held || passes ? may_tell_wait : may_tell)(look, &look->waits, quiet,
                                                     at->now))
        return;
    EKI_SAY(look, "waiting %s%s with%s", time_of(quiet).text,
            where_of(look).text, what + 1);
}

void eki_look_forget_told(struct eki_look *look)
{
    look->absent = look->server = look->waits = look->sums =
        (struct eki_told){0};
    memset(look->neighbors, 0, sizeof look->neighbors);
    for (int here = 0;
         look->engine && here < look->engine->topology->workers_here; here++)
        look->workers[here].told = (struct eki_told){0};
}

void eki_look_at_phase(struct eki_look *look, const struct eki_moment *at)
{
    if (look->is_new || look->phase != look->engine->phase)
        eki_see_anew(look, at->now);
    look->phase = look->engine->phase;
    uint64_t quiet = eki_see_quiet(look, at);
    if (quiet < look->stall_ns / 2)
        return;
    if (eki_see_still(look, at) &&
        may_tell_wait(look, &look->sums, quiet, at->now))
        eki_engine_stall(look->engine, where_of(look).text,
                         look->rank >= TELLERS_MOST);
    if (quiet < look->stall_ns)
        return;
    tell_missing(look, at, quiet, eki_stand_in_phase);
    tell_workers(look, at);
    tell_server(look, at);
    if (at->is_server) {
        tell_neighbors(look, at);
        tell_waits(look, at, quiet);
    }
}

/* Whether a call waits for all ranks, and not only for those of a phase. */
static bool needs_all(enum eki_called called)
{
    return called == EKI_CALLED_CREATE || called >= EKI_CALLED_PLAN;
}

/* Whether a call waits for others, but for something long that a rank does. */
static bool waits_in_call(enum eki_called called)
{
    return needs_all(called) || called == EKI_CALLED_CLOSE ||
           called == EKI_CALLED_DESTROY;
}

/* This rank is where it waits for others, or alone does something long. */
static void tell_call(const struct eki_look *look, uint64_t waited)
{
    bool waits = waits_in_call(look->called);
    /* Where all see the same the first speak. */
    if (waits && look->rank >= TELLERS_MOST)
        return;
    EKI_SAY(look, "this rank has been%s for %s; %s", where_of(look).text,
            time_of(waited).text,
            needs_all(look->called) ? "it needs all ranks of the communicator"
            : !waits
                ? "no task runs: the iteration begins or ends, or a hook runs"
            : look->engine->alone ? "all ranks are there"
                                  : "it needs the ranks of other nodes, too");
}

void eki_look_at_call(struct eki_look *look, const struct eki_moment *at)
{
    if (look->is_new)
        eki_see_anew(look, at->now);
    uint64_t waited = eki_awake_ns(at, look->since);
    if (waited < look->stall_ns ||
        (look->engine && tell_missing(look, at, waited, eki_stand_in_call)))
        return;
    if (look->engine && !eki_is_teller(look, at, eki_stand_in_call))
        return;
    if ((waits_in_call(look->called) ? may_tell_wait : may_tell)(
            look, &look->server, waited, at->now))
        tell_call(look, waited);
}
