/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of a replay: whose they are, what has become of their tasks, and
 * the words for a task that has none. */
#include "engine/replay.h"

#include "engine/internal.h"

bool eki_replay_open(struct eki_engine *engine, struct eki_replay *replay,
                     const int64_t *firsts)
{
    const struct eki_topology *topology = engine->topology;
    int workers = topology->workers_here;
    const int64_t *own = firsts + topology->first_worker[topology->rank];
    replay->first = own[0];
    replay->end = own[workers];
    size_t here = (size_t)(replay->end - replay->first);
    replay->slots = eki_alloc(here + 1, engine->slot_bytes);
    replay->states = eki_alloc(here + 1, 1);
    replay->scripts = eki_alloc((size_t)workers, sizeof *replay->scripts);
    if (!replay->slots || !replay->states || !replay->scripts)
        return false;
    for (int w = 0; w < workers; w++)
        replay->scripts[w] =
            (struct eki_script){own[w], own[w + 1], own[w], false, 0, 0};
    return true;
}

void eki_replay_free(struct eki_replay *replay)
{
    eki_free(replay->turns);
    eki_free(replay->slots);
    eki_free(replay->states);
    eki_free(replay->scripts);
    eki_free(replay->leaving.slots);
    eki_free(replay->leaving.workers);
    *replay = (struct eki_replay){0};
}

struct eki_turn *eki_turns_from(const struct eki_replay *replay, uint64_t id)
{
    return replay->turns + eki_place_from(replay->turns, replay->count,
                                          sizeof *replay->turns, id);
}

struct eki_slot *eki_turn_slot(const struct eki_engine *engine, int64_t place)
{
    const struct eki_replay *replay = engine->replay;
    return eki_slot_at(replay->slots, place - replay->first,
                       engine->slot_bytes);
}

uint8_t *eki_turn_state(const struct eki_replay *replay, int64_t place)
{
    return &replay->states[place - replay->first];
}

bool eki_turn_is_here(const struct eki_engine *engine,
                      const struct eki_turn *turn)
{
    return eki_topology_rank(engine->topology, turn->worker) ==
           engine->topology->rank;
}

void eki_replay_no_memory(struct eki_replay *replay)
{
    if (replay->told == EK_OK)
        snprintf(replay->text, sizeof replay->text, "no memory for a replay");
    replay->told = EK_ERR_NOMEM;
}

/* The task that does not fit, which TURN has, or no turn; the first is told. */
static void tell(struct eki_engine *engine, uint64_t id, int function,
                 const struct eki_turn *turn)
{
    struct eki_replay *replay = engine->replay;
    bool is_known = function >= 0 && function < engine->function_count;
    if (replay->told != EK_OK)
        return;
    replay->told = EK_ERR_FILE;
    eki_append(replay->text, sizeof replay->text, "replay: task %s of '%.40s' ",
               eki_key_words(engine->key_base, id).text,
               is_known ? engine->functions[function].name : "?");
    if (!turn)
        eki_append(replay->text, sizeof replay->text,
                   "is not in iteration %lld of the record",
                   (long long)replay->iteration);
    else if (turn->function < 0)
        eki_append(replay->text, sizeof replay->text,
                   "is one of another function in iteration %lld of the record",
                   (long long)replay->iteration);
    else if (turn->function != function)
        eki_append(replay->text, sizeof replay->text,
                   "is one of '%.30s' in iteration %lld of the record",
                   engine->functions[turn->function].name,
                   (long long)replay->iteration);
    else
        eki_append(replay->text, sizeof replay->text,
                   "is there twice in iteration %lld",
                   (long long)replay->iteration);
}

struct eki_turn *eki_turn_of(struct eki_engine *engine,
                             const struct eki_slot *slot)
{
    struct eki_replay *replay = engine->replay;
    struct eki_turn *turn = eki_turns_from(replay, slot->id);
    int64_t nulls = slot->flags & EKI_SLOT_RANGE ? eki_slot_tasks(slot) : 0;
    if (turn == replay->turns + replay->count || turn->id != slot->id ||
        turn->nulls != nulls)
        turn = NULL;
    bool is_here =
        turn && turn->place >= replay->first && turn->place < replay->end;
    if (turn && turn->function == slot->function &&
        (!is_here || *eki_turn_state(replay, turn->place) == EKI_TURN_AWAITED))
        return turn;
    if (turn || !replay->was_stopped)
        tell(engine, slot->id, slot->function, turn);
    return NULL;
}

void eki_turn_miss(struct eki_engine *engine, uint64_t id, int function)
{
    tell(engine, id, function, NULL);
}
