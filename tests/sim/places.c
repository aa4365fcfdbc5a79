/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every task is in exactly one place: a walk to all places where tasks are, in
 * workers, servers, shared memory and the network.
 *
 * A task that runs, or was discarded, may still lie where it was taken from.
 */
#include "explore.h"

#include "engine/offers.h"

#include <string.h>

static void find_key(struct explore *explore, int64_t key, const char *place)
{
    struct task *task = ledger_find(&explore->ledger, key);
    if (EKI_UNLIKELY(task->place != NULL))
        ledger_fail(&explore->ledger, "task %lld is in two places: %s and %s",
                    (long long)key, task->place, place);
    task->place = place;
}

static void find_slot(struct explore *explore, const struct eki_slot *slot,
                      const char *place)
{
    struct eki_range range;
    if (EKI_LIKELY(!(slot->flags & EKI_SLOT_RANGE))) {
        find_key(explore, ledger_key(slot), place);
        return;
    }
    /* One that was begun is gone; its rest lies elsewhere. */
    if (!(slot->flags & EKI_SLOT_CANCELLED))
        return;
    memcpy(&range, slot->payload, sizeof range);
    for (int64_t i = range.first; i < range.last; i++)
        find_key(explore, i, place);
}

static void find_slots(struct explore *explore, const unsigned char *first,
                       int64_t count, uint32_t slot_bytes, const char *place)
{
    for (; count > 0; count--, first += slot_bytes)
        find_slot(explore, (const struct eki_slot *)first, place);
}

static void find_between(struct explore *explore, const struct eki_local *local,
                         const unsigned char *first, const unsigned char *last,
                         const char *place)
{
    find_slots(explore, first, eki_local_slots(local, first, last),
               local->slot_bytes, place);
}

static void find_local(struct explore *explore, const struct ek_worker *worker)
{
    const struct eki_local *local = &worker->local;
    const unsigned char *bottom = local->stack_bottom;
    if (local->aside != 0)
        bottom -= local->aside * local->slot_bytes;
    /* Those above the top have run, or are lined up. */
    if (worker->engine->lineup.count == 0)
        find_between(explore, local, local->seed_base, local->seed_end,
                     "seeds");
    find_between(explore, local, bottom, local->stack_top, "stack");
    find_between(explore, local, local->log, local->log_end, "log");
}

/* What nobody has claimed of a publication. */
static void find_published(struct explore *explore,
                           const struct eki_engine *engine,
                           const struct eki_share *share, int deque)
{
    const struct eki_deque_owner *owner = &share->deque;
    const struct eki_deque_shared *shared = eki_deque_of(engine, deque);
    uint32_t ring = 2 * owner->capacity;
    uint32_t rest = eki_deque_visible(owner->kind, owner->capacity, shared);
    if (owner->open == 0)
        return;
    uint64_t end =
        owner->kind == EKI_DEQUE_LOCKED
            ? owner->claimed[0] + owner->open
            : (uint64_t)owner->buffer * owner->capacity + owner->open;
    for (uint64_t at = end - rest; at < end; at++)
        find_slot(explore,
                  (const struct eki_slot *)(share->slots +
                                            at % ring * engine->slot_bytes),
                  "shared part");
}

static void find_chunks(struct explore *explore, const struct eki_chunk *chunk,
                        uint32_t slot_bytes, const char *place)
{
    for (; chunk; chunk = chunk->next)
        find_slots(explore, chunk->slots, chunk->count, slot_bytes, place);
}

static void find_box(struct explore *explore, struct ek_worker *worker,
                     _Atomic(struct eki_chunk *) *box, const char *place)
{
    /* relaxed: there is one thread. */
    const struct eki_chunk *chunk =
        atomic_load_explicit(box, memory_order_relaxed);
    if (chunk != eki_shut(worker))
        find_chunks(explore, chunk, worker->local.slot_bytes, place);
}

/* A block that is claimed and not copied yet, and what was brought. */
static void find_arriving(struct explore *explore, struct ek_worker *worker)
{
    uint32_t slot_bytes = worker->local.slot_bytes;
    if (worker->search.steal_from >= 0)
        find_slots(explore,
                   eki_slots_of(worker->engine, worker->search.steal_from) +
                       (size_t)worker->search.block.first * slot_bytes,
                   worker->search.block.count, slot_bytes, "claimed block");
    find_box(explore, worker, &worker->inbox, "inbox");
    find_box(explore, worker, &worker->answers, "answers");
}

/* Seeds that the counter gives away stay where they are: they are in no place
 * of their own once they are drawn, which only their arrival shows. */
static void find_hidden(struct explore *explore, const struct ek_worker *worker)
{
    const struct eki_drawer *drawer =
        &eki_counter_of(worker->engine)->drawers[worker->here];
    const unsigned char *at = drawer->first;
    for (; at != drawer->last; at += worker->local.slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        struct eki_range range = {ledger_key(slot), ledger_key(slot) + 1};
        if (slot->flags & EKI_SLOT_RANGE)
            memcpy(&range, slot->payload, sizeof range);
        for (int64_t i = range.first; i < range.last; i++) {
            struct task *task = ledger_find(&explore->ledger, i);
            if (!task->place)
                task->place = "counter";
        }
    }
}

/* What is left of a piece, and its short indices, which are logged together:
 * the last of these may be the one that runs. */
static void find_piece(struct explore *explore, const struct eki_piece *piece)
{
    int64_t end = piece->first + eki_piece_shorts(piece);
    for (int64_t i = piece->first; i < end; i++) {
        if (!ledger_find(&explore->ledger, i)->discarded)
            find_key(explore, i, "piece");
    }
    for (int64_t i = piece->index; i < piece->last; i++)
        find_key(explore, i, "piece");
}

static void find_worker(struct explore *explore, struct ek_worker *worker)
{
    find_local(explore, worker);
    find_published(explore, worker->engine, &worker->share,
                   worker->local_number);
    find_arriving(explore, worker);
    if (worker->piece.first >= 0)
        find_piece(explore, &worker->piece);
}

static void find_message(struct explore *explore,
                         const struct eki_message *message, uint32_t slot_bytes)
{
    if (explore_is_tasks(explore, message))
        find_slots(explore, message->body, message->head.count, slot_bytes,
                   "message");
}

static bool is_ring(const char *place)
{
    return strcmp(place, "ring") == 0;
}

static void find_held(void *context, const char *place,
                      const unsigned char *slots, int64_t count)
{
    struct explore *explore = context;
    if (!is_ring(place))
        find_slots(explore, slots, count,
                   explore->sim->ranks[0].engine->slot_bytes, place);
}

/* Nobody knows here what others have claimed of a ring and have not got yet, of
 * which the owner knows or does not: what is in no other place. */
static void find_exported(struct explore *explore, const struct eki_slot *slot)
{
    struct eki_range range = {ledger_key(slot), ledger_key(slot) + 1};
    if (slot->flags & EKI_SLOT_RANGE)
        memcpy(&range, slot->payload, sizeof range);
    for (int64_t i = range.first; i < range.last; i++) {
        struct task *task = ledger_find(&explore->ledger, i);
        if (!task->place && task->state == TASK_PENDING)
            task->place = "ring";
    }
}

static void find_ring(struct explore *explore, const struct eki_one_sided *side)
{
    const struct eki_ring *ring = &side->ring;
    size_t slot_bytes = side->protocol.engine->slot_bytes;
    for (uint64_t at = eki_ring_oldest(ring); at < ring->end; at++)
        find_exported(
            explore,
            (const struct eki_slot *)(side->rma->data +
                                      eki_ring_slot(side, ring->phase, at) *
                                          slot_bytes));
}

static void find_rings(struct explore *explore)
{
    for (int r = 0; r < explore->sim->setup.ranks; r++) {
        const struct eki_one_sided *side =
            eki_one_sided_of(explore->sim->ranks[r].engine);
        if (side)
            find_ring(explore, side);
    }
}

/* What nobody has taken, or was cancelled. */
static void find_lineup(struct explore *explore,
                        const struct eki_engine *engine)
{
    const struct eki_lineup *lineup = &engine->lineup;
    /* relaxed: there is one thread. */
    int64_t next = atomic_load_explicit(&lineup->next, memory_order_relaxed);
    for (int64_t i = next < lineup->kept ? next : lineup->kept;
         i < lineup->count; i++) {
        find_slots(explore, (unsigned char *)lineup->items[i].slot, 1,
                   engine->slot_bytes, "lineup");
        explore_seen.lined++;
    }
}

static void find_server(struct explore *explore,
                        const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_sim_port *port = rank->port;
    const struct eki_brought *brought = &engine->post.brought;
    uint32_t slot_bytes = engine->slot_bytes;
    find_lineup(explore, engine);
    find_chunks(explore, engine->lack.chunks, slot_bytes, "lack of memory");
    if (engine->topology->size > 1) {
        find_between(explore, &brought->local, brought->local.stack_bottom,
                     brought->local.stack_top, "brought");
        find_published(explore, engine, &brought->share,
                       eki_server_deque(engine));
    }
    for (int i = 0; i < engine->protocol_count; i++) {
        const struct eki_protocol *protocol = engine->protocols[i];
        if (protocol->ops->visit)
            protocol->ops->visit(protocol, find_held, explore);
    }
    for (const struct eki_kept *kept = engine->line.first; kept;
         kept = kept->next)
        find_message(explore, eki_kept_message(kept), slot_bytes);
    for (const struct eki_sim_letter *letter = port->first; letter;
         letter = letter->next)
        find_message(explore, &letter->message, slot_bytes);
    if (port->polled)
        find_message(explore, &port->polled->message, slot_bytes);
}

/* What the walk must have found of a task. */
static void check_found(struct explore *explore, int64_t key,
                        const struct task *task)
{
    bool must_be = task->state != TASK_RUNS && task->state != TASK_GONE;
    if (task->state == TASK_RAN)
        must_be = task->restores && !task->discarded;
    /* A restore drops spawned tasks that were cancelled. */
    if (task->state == TASK_PENDING && !task->restores)
        must_be = explore->ledger.tally[task->iteration].cancelled == 0;
    if (EKI_UNLIKELY(must_be && !task->place))
        ledger_fail(&explore->ledger,
                    "task %lld is nowhere: state %d of iteration %d",
                    (long long)key, task->state, task->iteration);
    if (EKI_UNLIKELY(task->state == TASK_GONE && task->place))
        ledger_fail(&explore->ledger, "task %lld is gone, but in %s",
                    (long long)key, task->place);
}

void explore_check_all(struct explore *explore)
{
    struct eki_sim *sim = explore->sim;
    struct ledger *ledger = &explore->ledger;
    if (explore->has_broken && explore->broken->is_late)
        return;
    explore_seen.walks++;
    for (int64_t key = 0; key < ledger->count; key++)
        ledger->tasks[key].place = NULL;
    for (int r = 0; r < sim->setup.ranks; r++) {
        const struct eki_sim_rank *rank = &sim->ranks[r];
        const struct eki_local *pinned = &rank->engine->pinned.local;
        find_between(explore, pinned, pinned->seed_base, pinned->seed_end,
                     "pinned");
        find_between(explore, pinned, pinned->log, pinned->log_end,
                     "pinned, done");
        find_server(explore, rank);
        for (int w = 0; w < rank->topology.workers_here; w++)
            find_worker(explore, rank->engine->workers[w]);
    }
    for (int r = 0; r < sim->setup.ranks; r++) {
        const struct eki_engine *engine = sim->ranks[r].engine;
        for (int w = 0; engine->is_open && explore_draws(engine) &&
                        w < engine->topology->workers_here;
             w++)
            find_hidden(explore, engine->workers[w]);
    }
    find_rings(explore);
    for (int64_t key = 0; key < ledger->count; key++)
        check_found(explore, key, &ledger->tasks[key]);
}
