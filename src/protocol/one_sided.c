/* SPDX-License-Identifier: BSD-3-Clause */
/* The thief's side, and what the engine calls. */
#include "protocol/one_sided.h"

#include "engine/offers.h"
#include "protocol/node_thief.h"

enum {
    /* Operations of a steal, or of the owner, that a step may see done: where
     * they are done at once, one step is a steal. */
    MOVES_MOST = 8
};

static struct eki_one_sided *side_of(struct eki_protocol *protocol)
{
    return (struct eki_one_sided *)protocol;
}

static const struct eki_one_sided *
const_side(const struct eki_protocol *protocol)
{
    return (const struct eki_one_sided *)protocol;
}

/* Whether the words of the victim are of this phase, of a rank that agrees. */
static bool note_look(struct eki_one_sided *side, int rank,
                      const uint64_t *words)
{
    const struct eki_engine *engine = side->protocol.engine;
    bool is_trusted = words[EKI_WORD_STAMPS + (engine->phase & 1)] ==
                      eki_one_sided_stamp(engine);
    if (is_trusted)
        side->seen[rank].phase = (uint32_t)engine->phase;
    return is_trusted;
}

static bool is_trusted_rank(const struct eki_one_sided *side, int rank)
{
    return side->seen[rank].phase == (uint32_t)side->protocol.engine->phase;
}

/* After a look. */
static void claim_if_shown(struct eki_one_sided *side, struct eki_steal *steal,
                           const uint64_t *words)
{
    bool is_trusted = note_look(side, steal->rank, words);
    if (steal->count > 0)
        steal->stage = EKI_STEAL_HERE;
    else if (is_trusted && steal->manner == side->manner &&
             !eki_is_stopped(side->protocol.engine) &&
             steal->manner->shown(side, words) > 0)
        steal->manner->claim(side, steal);
    else
        eki_steal_in_vain(side, steal);
}

/* Let any worker have the tasks, in parts that could be passed on; false: no
 * memory for what is left. */
static bool share_block(struct eki_engine *engine, struct eki_message *message)
{
    int64_t *left = &message->head.count, most = eki_message_slots(engine);
    while (*left > 0) {
        int64_t part = *left < most ? *left : most;
        if (!eki_server_share(engine,
                              message->body +
                                  (size_t)(*left - part) * engine->slot_bytes,
                              part))
            return false;
        *left -= part;
    }
    return true;
}

/* Give the tasks to the worker, or to others; false: not now. */
static bool deliver_block(struct eki_one_sided *side, struct eki_steal *steal)
{
    struct eki_engine *engine = side->protocol.engine;
    struct eki_message *message = steal->message;
    bool is_stopped = eki_is_stopped(engine);
    if (steal->first / side->slots != (engine->phase & 1))
        return false;
    /* It has agreed with the victim in the phase before only.  If it does not
     * in this one, nothing runs in it. */
    if (!is_trusted_rank(side, steal->rank)) {
        if (!is_stopped) {
            eki_steal_next(steal, EKI_STEAL_LOOK, eki_look(steal->rank));
            return true;
        }
        engine->has_strange = true;
    }
    message->head.first = 0;
    message->head.source = steal->rank;
    /* Who shuts its answers as it begins a task runs what has come there, even
     * when stopped; what is claimed is cancelled first. */
    if (is_stopped
            ? !share_block(engine, message)
            : !eki_server_bring(engine, engine->workers[steal - side->steals],
                                message, steal->since))
        return false;
    engine->post.moved++;
    eki_steal_note_end(side, steal, true);
    eki_steal_next(steal, EKI_STEAL_COPIED,
                   eki_on_word(EKI_RMA_ADD, steal->rank, (int)steal->copied,
                               EKI_PLANTED(COPIED_FIRST) ? 0 : steal->count));
    return true;
}

static void go_on_stealing(struct eki_one_sided *side, struct eki_steal *steal,
                           const uint64_t *before)
{
    uint32_t done = eki_steal_side_by_side(side, steal);
    if (steal->stage == EKI_STEAL_LOOK) {
        claim_if_shown(side, steal, before);
    } else if (steal->stage == EKI_STEAL_GET && done < steal->count) {
        eki_steal_get_part(side, steal,
                           steal->first / side->slots * side->slots,
                           steal->count - done, done);
        steal->stage = EKI_STEAL_WRAP;
    } else if (steal->stage == EKI_STEAL_GET ||
               steal->stage == EKI_STEAL_WRAP) {
        steal->stage = EKI_STEAL_HERE;
    } else {
        steal->manner->go_on(side, steal, before);
    }
}

/* False: it goes on in a later step, if at all. */
static bool step_steal(struct eki_one_sided *side, struct eki_steal *steal)
{
    uint64_t before[EKI_RMA_WORDS];
    if (steal->stage == EKI_STEAL_NONE)
        return false;
    if (steal->stage == EKI_STEAL_HERE)
        return deliver_block(side, steal);
    if (steal->ticket < 0 &&
        !eki_one_sided_start(side, &steal->next, &steal->ticket))
        return false;
    if (steal->stage == EKI_STEAL_COPIED) {
        side->late[side->late_count++] = steal->ticket;
        steal->ticket = -1;
        steal->stage = EKI_STEAL_NONE;
        side->under_way--;
        return false;
    }
    if (!eki_one_sided_test(side, &steal->ticket, before))
        return false;
    go_on_stealing(side, steal, before);
    return true;
}

/* Free tickets that nobody waits for. */
static void forget_late(struct eki_one_sided *side)
{
    uint64_t before[EKI_RMA_WORDS];
    for (int i = side->late_count - 1; i >= 0; i--) {
        if (eki_one_sided_test(side, &side->late[i], before))
            side->late[i] = side->late[--side->late_count];
    }
}

/* Begin what a worker asks (asker.h). */
static void begin_steal(struct eki_one_sided *side, struct eki_steal *steal,
                        int ask)
{
    struct eki_engine *engine = side->protocol.engine;
    const struct eki_topology *topology = engine->topology;
    int rank = ask < 0 ? eki_topology_rank(topology, ~ask)
                       : topology->lowest_rank[ask - 1];
    bool is_damped = side->manner->is_damped && side->damping > 0 &&
                     side->seen[rank].empties >= side->damping;
    steal->manner = side->manner;
    steal->rank = rank;
    steal->since = side->now;
    steal->count = 0;
    side->under_way++;
    engine->in_vain++;
    eki_asker_note_sent(&side->askers[steal - side->steals], side->now);
    if (is_damped || side->seen[rank].empties == EKI_EMPTIES_MOST ||
        !is_trusted_rank(side, rank))
        eki_steal_next(steal, EKI_STEAL_LOOK, eki_look(rank));
    else
        steal->manner->claim(side, steal);
}

/* Whether steals may begin: the node is a thief, and the own ring is empty.  A
 * worker would run a task from there, and a block that is claimed, or a
 * victim's lock, would wait until that task ends. */
static bool may_begin(const struct eki_one_sided *side)
{
    const struct eki_engine *engine = side->protocol.engine;
    const struct eki_ring *ring = &side->ring;
    return side->manner &&
           (ring->phase != engine->phase || ring->tail == ring->end) &&
           eki_node_is_thief(engine);
}

static void fetch_asks(struct eki_one_sided *side)
{
    struct eki_engine *engine = side->protocol.engine;
    /* relaxed: an ask that is not seen yet is found in a later step. */
    int asks = atomic_load_explicit(&side->asks, memory_order_relaxed);
    if (asks == 0 || !may_begin(side))
        return;
    for (int here = 0; asks > 0 && here < engine->topology->workers_here;
         here++) {
        struct eki_asker *asker = &side->askers[here];
        /* relaxed: the word is all that is asked. */
        int ask = atomic_load_explicit(&asker->ask, memory_order_relaxed);
        if (ask == 0 || side->steals[here].stage != EKI_STEAL_NONE)
            continue;
        asks--;
        begin_steal(side, &side->steals[here], ask);
        eki_asker_note_fetched(asker, &side->asks);
    }
}

static void step_one_sided(struct eki_protocol *protocol, uint64_t now)
{
    struct eki_one_sided *side = side_of(protocol);
    int workers = protocol->engine->topology->workers_here;
    side->now = now;
    forget_late(side);
    fetch_asks(side);
    for (int here = 0; side->under_way > 0 && here < workers; here++) {
        for (int moves = 0;
             moves < MOVES_MOST && step_steal(side, &side->steals[here]);
             moves++)
            ;
    }
    for (int moves = 0; moves < MOVES_MOST && eki_ring_step(side); moves++)
        ;
}

static enum eki_sought seek_one_sided(struct eki_protocol *protocol,
                                      struct ek_worker *worker,
                                      const struct eki_victim *victim,
                                      uint64_t now)
{
    struct eki_one_sided *side = side_of(protocol);
    return eki_asker_seek(&side->askers[worker->here], &side->asks, worker,
                          victim, now);
}

static bool may_leave_one_sided(const struct eki_protocol *protocol)
{
    return !eki_one_sided_holds_lock(const_side(protocol));
}

static bool calls_one_sided(const struct eki_protocol *protocol,
                            const struct ek_worker *worker, bool *awaits,
                            uint64_t *due)
{
    return eki_asker_calls(&const_side(protocol)->askers[worker->here], awaits,
                           due);
}

static bool enter_one_sided(struct eki_protocol *protocol,
                            const struct eki_phase *phase, uint64_t now)
{
    struct eki_one_sided *side = side_of(protocol);
    const struct eki_engine *engine = protocol->engine;
    (void)now;
    side->manner = NULL;
    if (phase->kind == EKI_PHASE_PROCESS && phase->scheme &&
        phase->scheme->elsewhere == &eki_one_sided_ops)
        side->manner =
            phase->scheme->policy == EK_STEAL_SDC ? &eki_sdc : &eki_sws;
    for (int here = 0; here < engine->topology->workers_here; here++)
        eki_asker_reset(&side->askers[here], engine->is_plain);
    /* relaxed: handed on by the start of the team. */
    atomic_store_explicit(&side->asks, 0, memory_order_relaxed);
    return true;
}

static void visit_one_sided(const struct eki_protocol *protocol,
                            eki_visit_fn *visitor, void *context)
{
    const struct eki_one_sided *side = const_side(protocol);
    const struct eki_ring *ring = &side->ring;
    size_t bytes = protocol->engine->slot_bytes;
    for (uint64_t at = ring->tail; at < ring->end; at++)
        visitor(context, "ring",
                side->rma->data + eki_ring_slot(side, ring->phase, at) * bytes,
                1);
    for (int here = 0; here < protocol->engine->topology->workers_here;
         here++) {
        const struct eki_steal *steal = &side->steals[here];
        if (steal->stage == EKI_STEAL_HERE)
            visitor(context, "steal", steal->message->body,
                    steal->message->head.count);
    }
}

static void destroy_one_sided(struct eki_protocol *protocol)
{
    struct eki_one_sided *side = side_of(protocol);
    for (int here = 0;
         side->steals && here < protocol->engine->topology->workers_here;
         here++) {
        const struct eki_steal *steal = &side->steals[here];
        /* MPI that has failed may write there still. */
        if (steal->ticket < 0 ||
            (steal->stage != EKI_STEAL_GET && steal->stage != EKI_STEAL_WRAP))
            eki_free(steal->message);
    }
    eki_free(side->steals);
    eki_free(side->askers);
    eki_free(side->seen);
    eki_free(side);
}

const struct eki_protocol_ops eki_one_sided_ops = {
    .name = "one-sided",
    .channel = EKI_CHANNEL_ONE_SIDED,
    .destroy = destroy_one_sided,
    .enter = enter_one_sided,
    .step = step_one_sided,
    .may_leave = may_leave_one_sided,
    .seek = seek_one_sided,
    .calls = calls_one_sided,
    .visit = visit_one_sided};

/* With room for blocks, because what is claimed must come: memory that no block
 * has needed is not touched. */
static bool make_steals(struct eki_one_sided *side, size_t workers)
{
    const struct eki_engine *engine = side->protocol.engine;
    bool has_room = true;
    side->steals = eki_alloc(workers, sizeof *side->steals);
    for (size_t here = 0; side->steals && here < workers; here++) {
        struct eki_steal *steal = &side->steals[here];
        steal->ticket = -1;
        steal->message = eki_alloc_untouched(
            sizeof *steal->message +
            eki_deque_block_max(engine->capacity) * engine->slot_bytes);
        has_room &= steal->message != NULL;
    }
    return side->steals && has_room;
}

ek_status eki_one_sided_add(struct eki_engine *engine)
{
    const struct eki_topology *topology = engine->topology;
    size_t workers = (size_t)topology->workers_here;
    struct eki_one_sided *side = eki_alloc_lines(sizeof *side);
    if (!side)
        return eki_error(EK_ERR_NOMEM, "no memory for one-sided steals");
    side->protocol.ops = &eki_one_sided_ops;
    side->protocol.engine = engine;
    side->rma = engine->setup.rma;
    side->slots = engine->capacity;
    side->epochs = engine->setup.sws.epochs == 1 ? 1 : EKI_SWS_EPOCHS_MAX;
    side->damping = (uint32_t)engine->setup.sws.damping;
    side->ring.ticket = side->ring.early = -1;
    for (int e = 0; e < EKI_SWS_EPOCHS_MAX; e++)
        side->ring.is_copied[e] = true;
    side->askers = eki_alloc_lines(workers * sizeof *side->askers);
    side->seen = eki_alloc((size_t)topology->size, sizeof *side->seen);
    if (!side->askers || !side->seen || !make_steals(side, workers)) {
        destroy_one_sided(&side->protocol);
        return eki_error(EK_ERR_NOMEM, "no memory for one-sided steals");
    }
    eki_engine_add(engine, &side->protocol);
    return EK_OK;
}

uint64_t eki_one_sided_due(const struct eki_engine *engine, int *first)
{
    const struct eki_one_sided *side = eki_one_sided_of(engine);
    if (!side || side->ring.early < 0)
        return UINT64_MAX;
    *first = side->ring.early;
    return side->ring.look_after;
}
