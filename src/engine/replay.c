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
    if (!eki_turn_is_here(engine, turn)) {
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
    if (!is_due)
        worker->executed += (uint64_t)eki_slot_tasks(slot);
    return true;
}

/* Whether SLOT is what is left of the null indices that the worker runs. */
static bool is_begun(const struct ek_worker *worker,
                     const struct eki_slot *slot)
{
    const struct eki_script *script =
        &worker->engine->replay->scripts[worker->here];
    return slot->flags & EKI_SLOT_RANGE && slot->id >= script->first_null &&
           slot->id < script->end_null;
}

/* What cannot be put away is cancelled, but for null indices that run; whether
 * there are some. */
static bool put_stack(struct ek_worker *worker)
{
    struct eki_local *local = &worker->local;
    unsigned char *kept = local->stack_bottom;
    bool has_begun = false;
    for (unsigned char *at = kept; at != local->stack_top;
         at += local->slot_bytes) {
        const struct eki_slot *slot = (const struct eki_slot *)at;
        bool stays = is_begun(worker, slot);
        has_begun |= stays;
        if (!stays && put_spawned(worker, slot))
            continue;
        if (kept != at)
            memcpy(kept, at, local->slot_bytes);
        kept += local->slot_bytes;
    }
    local->stack_top = kept;
    if (kept == local->stack_bottom ||
        (has_begun && worker->engine->replay->told == EK_OK))
        return has_begun;
    int64_t tasks = eki_local_cancel(local);
    worker->executed += (uint64_t)tasks;
    worker->counts.cancelled += tasks;
    if (worker->engine->replay->told != EK_OK) {
        eki_set_error(worker, worker->engine->replay->told, 0,
                      worker->engine->replay->text);
        eki_set_stop(worker->engine);
    }
    return false;
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
    int64_t tasks = 1;
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
        tasks = eki_slot_tasks(slot);
        if (slot->flags & EKI_SLOT_RANGE) {
            script->first_null = slot->id;
            script->end_null = slot->id + (uint64_t)tasks;
        }
    }
    if (*state != EKI_TURN_HANDED)
        worker->created += (uint64_t)tasks;
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
    worker->executed +=
        (uint64_t)eki_slot_tasks(eki_turn_slot(worker->engine, script->next));
}

struct eki_slot *eki_replay_step(struct ek_worker *worker)
{
    struct eki_replay *replay = worker->engine->replay;
    struct eki_slot *pinned = NULL;
    eki_lock(&replay->lock);
    if (eki_is_stopped(worker->engine)) {
        park_again(worker);
    } else {
        bool has_begun =
            worker->local.stack_top != worker->local.stack_bottom &&
            put_stack(worker);
        if (!has_begun && !eki_is_stopped(worker->engine))
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
        "replay: task %s of '%s', in iteration %lld of the "
        "record number %lld on worker %d, has not come: the tasks are not "
        "those of the record",
        eki_key_words(engine->key_base, turn->id).text,
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
