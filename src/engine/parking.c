/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a replay: seeds, indices of ranges and pinned tasks are parked where
 * they run, or leave for there. */
#include "engine/internal.h"
#include "engine/replay.h"

#include <stdlib.h>

/* Put a seed where it belongs; false: it stays. */
static bool put_seed(struct eki_engine *engine, const struct eki_slot *slot)
{
    struct eki_turn *turn = eki_turn_of(engine, slot);
    if (!turn)
        return false;
    if (!eki_turn_is_here(engine, turn)) {
        int rank = eki_topology_rank(engine->topology, turn->worker);
        if (!eki_engine_depart_to(engine, slot, rank, turn->worker)) {
            eki_replay_no_memory(engine->replay);
            return false;
        }
        /* Who enters the phase counts one for each that departs. */
        engine->workers[0]->created += (uint64_t)eki_slot_tasks(slot) - 1;
        return true;
    }
    memcpy(eki_turn_slot(engine, turn->place), slot, engine->slot_bytes);
    *eki_turn_state(engine->replay, turn->place) = EKI_TURN_PARKED;
    return true;
}

/* No index of RANGE has a turn, or it has none of its own: it stays; there is
 * room. */
static void leave_indices(struct eki_local *local, const struct eki_slot *whole,
                          struct eki_range range)
{
    struct eki_range all;
    memcpy(&all, whole->payload, sizeof all);
    if (range.first != range.last)
        eki_local_add_range(local, whole->function, range,
                            whole->id + (uint64_t)(range.first - all.first));
}

/* The same, of indices that the record does not have. */
static void miss_indices(struct eki_engine *engine, struct eki_local *local,
                         const struct eki_slot *whole, struct eki_range range)
{
    struct eki_range all;
    memcpy(&all, whole->payload, sizeof all);
    if (range.first < range.last && !engine->replay->was_stopped)
        eki_turn_miss(engine, whole->id + (uint64_t)(range.first - all.first),
                      whole->function);
    leave_indices(local, whole, range);
}

/* Make SLOT the task, or the range of null indices, of a turn whose index is
 * the FIRST of these. */
static void fill_turn(struct eki_slot *slot, const struct eki_turn *turn,
                      int function, int64_t first)
{
    struct eki_range range = {first, first + turn->nulls};
    bool is_range = turn->nulls > 0;
    int flags = is_range ? EKI_SLOT_RANGE | EKI_SLOT_CANCELLED : 0;
    eki_slot_head(slot, function, is_range ? sizeof range : sizeof first,
                  EKI_SLOT_SEED | flags, turn->id);
    if (is_range)
        slot->bin = EKI_BIN_RANGE;
    memcpy(slot->payload, &range, slot->bytes);
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
        eki_replay_no_memory(engine->replay);
        return false;
    }
    for (; turn != end; turn++) {
        int64_t index = (int64_t)(turn->id - base);
        int64_t next = index + (turn->nulls > 0 ? turn->nulls : 1);
        struct eki_slot *slot = engine->workers[0]->batch.scratch;
        miss_indices(engine, local, whole,
                     (struct eki_range){range.first, index});
        fill_turn(slot, turn, whole->function, index);
        range.first = next < range.last ? next : range.last;
        if (next > range.last || !put_seed(engine, slot))
            leave_indices(local, whole, (struct eki_range){index, range.first});
    }
    miss_indices(engine, local, whole, range);
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
        pins[i] = (struct pin){
            turn && eki_turn_is_here(engine, turn) ? turn->place : -1,
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
        eki_replay_no_memory(engine->replay);
    return engine->replay->told == EK_OK
               ? EK_OK
               : eki_error(engine->replay->told, "%s", engine->replay->text);
}
