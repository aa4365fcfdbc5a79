/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/replay.h"

#include "engine/internal.h"

#include <stdlib.h>

enum {
    FIRST_ROOM = 64
};

static int rank_of_worker(const struct eki_engine *engine, int worker)
{
    return eki_topology_rank(engine->topology, worker);
}

static bool is_here(const struct eki_engine *engine,
                    const struct eki_turn *turn)
{
    return rank_of_worker(engine, turn->worker) == engine->topology->rank;
}

static void tell_no_memory(struct eki_replay *replay)
{
    if (replay->told == EK_OK)
        snprintf(replay->text, sizeof replay->text, "no memory for a replay");
    replay->told = EK_ERR_NOMEM;
}

/* Put a seed where it belongs; false: it stays. */
static bool put_seed(struct eki_engine *engine, const struct eki_slot *slot)
{
    struct eki_turn *turn = eki_turn_of(engine, slot);
    if (!turn)
        return false;
    if (!is_here(engine, turn)) {
        if (eki_engine_depart_to(engine, slot,
                                 rank_of_worker(engine, turn->worker),
                                 turn->worker))
            return true;
        tell_no_memory(engine->replay);
        return false;
    }
    memcpy(eki_turn_slot(engine, turn->place), slot, engine->slot_bytes);
    *eki_turn_state(engine->replay, turn->place) = EKI_TURN_PARKED;
    return true;
}

/* No index of RANGE has a task of its own: each was null, or, where the
 * iteration was stopped, may not have run, and stays; there is room. */
static void leave_indices(struct eki_engine *engine, struct eki_local *local,
                          const struct eki_slot *whole, struct eki_range range,
                          bool stays)
{
    struct eki_range all;
    memcpy(&all, whole->payload, sizeof all);
    if (range.first == range.last)
        return;
    if (stays || engine->replay->was_stopped)
        eki_local_add_range(local, whole->function, range,
                            whole->id + (uint64_t)(range.first - all.first));
    else
        local->gone += range.last - range.first;
}

/* Put the indices of a range that the record has where they belong; what stays
 * is appended to the seeds.  False: all of it stays, without memory. */
static bool put_range(struct eki_engine *engine, struct eki_local *local,
                      const struct eki_slot *whole)
{
    const struct eki_replay *replay = engine->replay;
    struct eki_range range;
    memcpy(&range, whole->payload, sizeof range);
    uint64_t base = whole->id - (uint64_t)range.first;
    const struct eki_turn *turn = eki_turns_from(replay, whole->id);
    const struct eki_turn *end =
        eki_turns_from(replay, base + (uint64_t)range.last);
    if (!eki_local_seeds_room(local, 2 * (end - turn) + 1)) {
        tell_no_memory(engine->replay);
        return false;
    }
    for (; turn != end; turn++) {
        int64_t index = (int64_t)(turn->id - base);
        struct eki_slot *slot = engine->workers[0]->batch.scratch;
        leave_indices(engine, local, whole,
                      (struct eki_range){range.first, index}, false);
        range.first = index + 1;
        eki_slot_head(slot, whole->function, sizeof index, EKI_SLOT_SEED,
                      turn->id);
        memcpy(slot->payload, &index, sizeof index);
        if (!put_seed(engine, slot))
            leave_indices(engine, local, whole,
                          (struct eki_range){index, index + 1}, true);
    }
    leave_indices(engine, local, whole, range, false);
    return true;
}

/* Put the seeds of a worker where they belong; what stays is cancelled. */
static void put_seeds(struct eki_engine *engine, struct eki_local *local,
                      struct eki_slot *copy)
{
    int64_t count = eki_local_slots(local, local->seed_base, local->seed_end);
    int64_t kept = 0, bytes = local->slot_bytes;
    for (int64_t i = 0; i < count; i++) {
        /* The array may move. */
        memcpy(copy, local->seed_base + i * bytes, (size_t)bytes);
        if (copy->flags & EKI_SLOT_RANGE ? put_range(engine, local, copy)
                                         : put_seed(engine, copy))
            continue;
        copy->flags |= EKI_SLOT_CANCELLED;
        memcpy(local->seed_base + kept++ * bytes, copy, (size_t)bytes);
    }
    const unsigned char *rest = local->seed_base + count * bytes;
    size_t rest_bytes = (size_t)(local->seed_end - rest);
    memmove(local->seed_base + kept * bytes, rest, rest_bytes);
    local->seed_end = local->seed_base + kept * bytes + rest_bytes;
    local->seed_top = local->seed_base;
}

/* A pinned task and its place, -1: none. */
struct pin {
    int64_t place;
    struct eki_slot *slot;
};

static int by_place_down(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;
    return (x->place < y->place) - (x->place > y->place);
}

/* Pinned tasks run where they lie: the list is ordered as they run, the last
 * one first, and hidden. */
static bool put_pinned(struct eki_engine *engine)
{
    struct eki_local *local = &engine->pinned.local;
    int64_t count = eki_pinned_count(&engine->pinned);
    size_t bytes = (size_t)count * local->slot_bytes;
    struct pin *pins = eki_alloc((size_t)count + 1, sizeof *pins);
    unsigned char *copy = eki_alloc(bytes + 1, 1);
    bool has_room = pins && copy;
    for (int64_t i = 0; has_room && i < count; i++) {
        struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        const struct eki_turn *turn = eki_turn_of(engine, slot);
        pins[i] = (struct pin){turn && is_here(engine, turn) ? turn->place : -1,
                               eki_slot_at(copy, i, local->slot_bytes)};
    }
    if (has_room && bytes > 0) {
        memcpy(copy, local->seed_base, bytes);
        qsort(pins, (size_t)count, sizeof *pins, by_place_down);
    }
    for (int64_t i = 0; has_room && i < count; i++) {
        struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        memcpy(slot, pins[i].slot, local->slot_bytes);
        slot->flags |= EKI_SLOT_CANCELLED; /* until it runs */
        engine->pinned.ran_on[eki_local_slots(
            local, local->seeds, (const unsigned char *)slot)] = -1;
        if (pins[i].place < 0)
            continue;
        memcpy(eki_turn_slot(engine, pins[i].place), &slot, sizeof(void *));
        *eki_turn_state(engine->replay, pins[i].place) = EKI_TURN_PINNED;
    }
    local->seed_top = has_room ? local->seed_base : local->seed_top;
    eki_free(pins);
    eki_free(copy);
    return has_room;
}

ek_status eki_replay_enter(struct eki_engine *engine)
{
    struct eki_slot *copy = eki_alloc(engine->slot_bytes, 1);
    bool has_room = copy && put_pinned(engine);
    for (int here = 0; has_room && here < engine->topology->workers_here;
         here++) {
        struct eki_local *local = &engine->workers[here]->local;
        /* What ran before and could not be restored is hidden, and stays. */
        if (local->seed_top != local->seed_base)
            put_seeds(engine, local, copy);
    }
    eki_free(copy);
    engine->moves.more = 1;
    if (!has_room)
        tell_no_memory(engine->replay);
    return engine->replay->told == EK_OK
               ? EK_OK
               : eki_error(engine->replay->told, "%s", engine->replay->text);
}

static bool put_leaving(struct eki_engine *engine, const struct eki_slot *slot,
                        int worker)
{
    struct eki_leaving *leaving = &engine->replay->leaving;
    int64_t room = leaving->room;
    if (!eki_grow(&leaving->slots, leaving->count, &room, FIRST_ROOM,
                  engine->slot_bytes) ||
        !eki_grow(&leaving->workers, leaving->count, &leaving->room, FIRST_ROOM,
                  sizeof *leaving->workers))
        return false;
    memcpy(eki_slot_at(leaving->slots, leaving->count, engine->slot_bytes),
           slot, engine->slot_bytes);
    leaving->workers[leaving->count++] = worker;
    return true;
}

/* Put a task that WORKER has spawned, or that has come, where it belongs; under
 * the lock.  False: it stays. */
static bool put_spawned(struct ek_worker *worker, const struct eki_slot *slot)
{
    struct eki_engine *engine = worker->engine;
    struct eki_replay *replay = engine->replay;
    const struct eki_turn *turn = eki_turn_of(engine, slot);
    if (!turn)
        return false;
    if (!is_here(engine, turn)) {
        if (put_leaving(engine, slot, turn->worker))
            return true;
        eki_worker_no_memory(worker, 1, "a task of another rank");
        return false;
    }
    const struct eki_script *script =
        &replay->scripts[turn->worker - engine->workers[0]->id];
    bool is_due = script->waits && script->next == turn->place;
    memcpy(eki_turn_slot(engine, turn->place), slot, engine->slot_bytes);
    *eki_turn_state(replay, turn->place) =
        is_due ? EKI_TURN_HANDED : EKI_TURN_PARKED;
    /* Parked ones are counted again when they are taken. */
    worker->executed += !is_due;
    return true;
}

/* What cannot be put away is cancelled. */
static void put_stack(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    unsigned char *kept = local->stack_bottom;
    for (unsigned char *at = kept; at != local->stack_top;
         at += local->slot_bytes) {
        if (put_spawned(worker, (const struct eki_slot *)at))
            continue;
        if (kept != at)
            memcpy(kept, at, local->slot_bytes);
        kept += local->slot_bytes;
    }
    local->stack_top = kept;
    if (kept == local->stack_bottom)
        return;
    int64_t tasks = eki_local_cancel(local);
    worker->executed += (uint64_t)tasks;
    worker->counts.cancelled += tasks;
    if (worker->engine->replay->told != EK_OK) {
        eki_set_error(worker, worker->engine->replay->told, 0,
                      worker->engine->replay->text);
        eki_set_stop(worker->engine);
    }
}

/* The worker runs the pinned task where it lies. */
static struct eki_slot *take_pinned(struct ek_worker *worker, int64_t place)
{
    struct eki_pinned *pinned = &worker->engine->pinned;
    struct eki_slot *slot;
    memcpy(&slot, eki_turn_slot(worker->engine, place), sizeof(void *));
    slot->flags &= (uint8_t)~EKI_SLOT_CANCELLED;
    pinned->ran_on[eki_local_slots(&pinned->local, pinned->local.seeds,
                                   (const unsigned char *)slot)] = worker->here;
    return slot;
}

/* Take the task whose turn it is, if it is here; it is returned if pinned, else
 * NULL. */
static struct eki_slot *take_next_turn(struct ek_worker *worker)
{
    struct eki_engine *engine = worker->engine;
    struct eki_replay *replay = engine->replay;
    struct eki_script *script = &replay->scripts[worker->here];
    struct eki_slot *pinned = NULL;
    if (script->next == script->end)
        return NULL;
    uint8_t *state = eki_turn_state(replay, script->next);
    script->waits = *state == EKI_TURN_AWAITED;
    if (script->waits)
        return NULL;
    if (*state == EKI_TURN_PINNED) {
        pinned = take_pinned(worker, script->next);
    } else {
        struct eki_slot *slot = eki_local_push(&worker->local);
        if (!slot) {
            eki_worker_no_memory(worker, 1, "the next task of the record");
            return NULL;
        }
        memcpy(slot, eki_turn_slot(engine, script->next), engine->slot_bytes);
    }
    worker->created += *state != EKI_TURN_HANDED;
    *state = EKI_TURN_TAKEN;
    script->next++;
    worker->batch.size = 1; /* what it spawns waits for its own turn */
    return pinned;
}

/* A task that was handed to the worker is parked again: it does not run. */
static void park_again(struct ek_worker *worker)
{
    struct eki_replay *replay = worker->engine->replay;
    struct eki_script *script = &replay->scripts[worker->here];
    if (script->next == script->end ||
        *eki_turn_state(replay, script->next) != EKI_TURN_HANDED)
        return;
    *eki_turn_state(replay, script->next) = EKI_TURN_PARKED;
    worker->executed++;
}

struct eki_slot *eki_replay_step(struct ek_worker *worker)
{
    struct eki_replay *replay = worker->engine->replay;
    struct eki_slot *pinned = NULL;
    eki_lock(&replay->lock);
    if (eki_is_stopped(worker->engine)) {
        park_again(worker);
    } else {
        if (worker->local.stack_top != worker->local.stack_bottom)
            put_stack(worker);
        if (!eki_is_stopped(worker->engine))
            pinned = take_next_turn(worker);
    }
    eki_worker_store(worker);
    eki_unlock(&replay->lock);
    return pinned;
}

bool eki_replay_stand_in(struct ek_worker *worker,
                         const struct ek_worker *absent)
{
    const struct eki_replay *replay = worker->engine->replay;
    const struct eki_script *script = &replay->scripts[absent->here];
    char text[80];
    if (script->first == script->end || eki_is_stopped(worker->engine))
        return true;
    if (!replay->has_threads)
        return false;
    snprintf(text, sizeof text,
             "replay: worker %d, which has tasks in the record, has no thread",
             absent->id);
    eki_set_error(worker, EK_ERR_FILE, 0, text);
    eki_set_stop(worker->engine);
    return true;
}

void eki_replay_leave(struct eki_engine *engine)
{
    struct eki_leaving *leaving = &engine->replay->leaving;
    eki_lock(&engine->replay->lock);
    while (leaving->count > 0) {
        int64_t last = leaving->count - 1;
        int worker = leaving->workers[last];
        /* Without memory it waits. */
        if (!eki_engine_depart_to(
                engine, eki_slot_at(leaving->slots, last, engine->slot_bytes),
                rank_of_worker(engine, worker), worker))
            break;
        leaving->count = last;
    }
    eki_unlock(&engine->replay->lock);
}

/* What a worker of this rank has not run goes back to it; false: no memory. */
static bool put_back(struct eki_engine *engine, int here)
{
    struct eki_replay *replay = engine->replay;
    const struct eki_script *script = &replay->scripts[here];
    struct ek_worker *worker = engine->workers[here];
    for (int64_t place = script->next; place < script->end; place++) {
        if (*eki_turn_state(replay, place) == EKI_TURN_AWAITED)
            continue;
        if (*eki_turn_state(replay, place) == EKI_TURN_PINNED) {
            worker->counts.cancelled++;
            continue;
        }
        struct eki_slot *slot = eki_local_push(&worker->local);
        if (!slot)
            return false;
        memcpy(slot, eki_turn_slot(engine, place), engine->slot_bytes);
    }
    worker->counts.cancelled += eki_local_cancel(&worker->local);
    return true;
}

static ek_status missing(const struct eki_engine *engine,
                         const struct eki_script *script, int here)
{
    const struct eki_replay *replay = engine->replay;
    const struct eki_turn *turn = replay->turns;
    while (turn->place != script->next)
        turn++;
    return eki_error(
        EK_ERR_FILE,
        "replay: task %llu (home worker %d) of '%s', in iteration %lld of the "
        "record number %lld on worker %d, has not come: the tasks are not "
        "those of the record",
        (unsigned long long)(turn->id & (EKI_NUMBERS - 1)),
        eki_id_home(turn->id),
        turn->function < 0 ? "?" : engine->functions[turn->function].name,
        (long long)replay->iteration, (long long)(script->next - script->first),
        engine->workers[here]->id);
}

ek_status eki_replay_close(struct eki_engine *engine, bool is_stopped)
{
    struct eki_local *pinned = &engine->pinned.local;
    ek_status status = EK_OK;
    bool has_room = true;
    pinned->seed_top = pinned->seed_end;
    engine->moves.more = 0;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        const struct eki_script *script = &engine->replay->scripts[here];
        if (status == EK_OK && !is_stopped && script->next < script->end &&
            *eki_turn_state(engine->replay, script->next) == EKI_TURN_AWAITED)
            status = missing(engine, script, here);
        has_room &= put_back(engine, here);
    }
    return has_room ? status
                    : eki_error(EK_ERR_NOMEM,
                                "no memory for tasks that did not run");
}
