/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints: seeds get the durations of an earlier run, as if an iteration had
 * measured them.  The restore that comes before the first iteration does the
 * rest.
 */
#include "collection/seeds.h"

static uint64_t seed_number(const struct eki_slot *slot)
{
    return slot->id % EKI_NUMBERS;
}

static void hint_slot(struct eki_hints *hints, const struct eki_hint *hint,
                      struct eki_slot *slot)
{
    hints->found++;
    if (hint->bin == EKI_BIN_NEVER)
        return;
    slot->bin = hint->bin;
    slot->deviation = 0;
    if (hint->is_set)
        slot->flags |= EKI_SLOT_SET;
}

static void hint_task(struct eki_hints *hints, struct eki_slot *slot)
{
    const struct eki_hint *hint = eki_hints_from(hints, seed_number(slot));
    if (hint != hints->list + hints->count &&
        hint->number == seed_number(slot) && hint->function == slot->function)
        hint_slot(hints, hint, slot);
    else
        hints->missing++;
}

/* INDEX of the range of HEAD becomes a task; there is room. */
static void add_index(struct eki_hints *hints, const struct eki_hint *hint,
                      struct eki_local *local, const struct eki_slot *head,
                      int64_t index)
{
    struct eki_slot *slot = eki_local_add_seed(local);
    eki_slot_head(slot, head->function, sizeof index, EKI_SLOT_SEED,
                  head->id - seed_number(head) + hint->number);
    memcpy(slot->payload, &index, sizeof index);
    hint_slot(hints, hint, slot);
}

/* Put what is left of the range in its slot AT, or the last seed if that is
 * nothing. */
static void end_range(struct eki_local *local, struct eki_slot *at,
                      struct eki_range left, uint64_t id)
{
    if (left.first < left.last) {
        memcpy(at->payload, &left, sizeof left);
        at->id = id;
        return;
    }
    local->seed_end -= local->slot_bytes;
    local->seed_top = local->seed_end;
    if ((unsigned char *)at != local->seed_end)
        memcpy(at, local->seed_end, local->slot_bytes);
}

/* Seed I is a range: indices with hints become tasks, as if they had run, and
 * what lies between them stays ranges.  False: no memory, nothing has changed.
 */
static bool split_range(struct eki_hints *hints, struct eki_local *local,
                        int64_t i)
{
    struct eki_slot *at = eki_slot_at(local->seed_base, i, local->slot_bytes);
    struct eki_slot head = *at;
    struct eki_range left;
    memcpy(&left, at->payload, sizeof left);
    int64_t shift = left.first - (int64_t)seed_number(&head);
    uint64_t id = head.id - (uint64_t)left.first; /* of index 0 */
    const struct eki_hint *hint = eki_hints_from(hints, seed_number(&head));
    const struct eki_hint *end =
        eki_hints_from(hints, (uint64_t)(left.last - shift));
    if (!eki_local_seeds_room(local, 2 * (end - hint)))
        return false;
    for (; hint != end; hint++) {
        int64_t index = (int64_t)hint->number + shift;
        if (hint->function != head.function || index < left.first)
            continue;
        if (index > left.first)
            eki_local_add_range(local, head.function,
                                (struct eki_range){left.first, index},
                                id + (uint64_t)left.first);
        add_index(hints, hint, local, &head, index);
        left.first = index + 1;
    }
    end_range(local, eki_slot_at(local->seed_base, i, local->slot_bytes), left,
              id + (uint64_t)left.first);
    return true;
}

static ek_status hint_seeds(struct eki_hints *hints, struct eki_local *local)
{
    int64_t count = eki_local_slots(local, local->seed_base, local->seed_end);
    for (int64_t i = 0; i < count; i++) {
        struct eki_slot *slot =
            eki_slot_at(local->seed_base, i, local->slot_bytes);
        if (!(slot->flags & EKI_SLOT_RANGE))
            hint_task(hints, slot);
        else if (!split_range(hints, local, i))
            return eki_error(EK_ERR_NOMEM, "no memory for hints");
    }
    return EK_OK;
}

/* Whether the functions of the record are the first of this collection; all
 * ranks find the same. */
static bool has_functions(const ek_collection *tasks,
                          const struct eki_hints *hints)
{
    uint64_t names = 0;
    if (hints->told.functions > tasks->engine->function_count)
        return false;
    for (int f = 0; f < hints->told.functions; f++)
        names = eki_hash_text(names, tasks->engine->functions[f].name);
    return names == hints->told.names;
}

bool eki_collection_has_hints(ek_collection *tasks)
{
    static _Atomic bool is_told;
    struct eki_hints *hints = tasks->parts.hints;
    if (hints->is_applied)
        return false;
    if (has_functions(tasks, hints))
        return true;
    if (tasks->fabric->rank == 0 && eki_is_untold(&is_told))
        eki_log(EK_LEVEL_WARN, 0, tasks->fabric->size, "hints",
                "the functions of '%.500s' are not those of '%s', which has no "
                "hints",
                hints->path, tasks->settings.name);
    eki_hints_free(&tasks->parts.hints);
    return false;
}

ek_status eki_collection_apply_hints(ek_collection *tasks)
{
    struct eki_engine *engine = tasks->engine;
    struct eki_hints *hints = tasks->parts.hints;
    if (!eki_collection_has_hints(tasks))
        return EK_OK;
    for (int here = 0; here < engine->topology->workers_here; here++)
        EKI_TRY(hint_seeds(hints, &engine->workers[here]->local));
    EKI_TRY(hint_seeds(hints, &engine->pinned.local));
    for (int64_t i = 0; i < engine->moves.count; i++)
        hint_task(hints,
                  eki_slot_at(engine->moves.slots, i, engine->slot_bytes));
    hints->is_applied = true;
    return EK_OK;
}

ek_status eki_collection_end_hints(ek_collection *tasks)
{
    struct eki_hints *hints = tasks->parts.hints;
    static _Atomic bool is_told;
    int64_t sums[2] = {hints->found, hints->missing};
    ek_status status = eki_fabric_mpi_sum(tasks->fabric, sums, 2);
    if (status == EK_OK && tasks->fabric->rank == 0 &&
        (sums[0] < hints->told.tasks || sums[1] > 0) && eki_is_untold(&is_told))
        eki_log(EK_LEVEL_WARN, 0, tasks->fabric->size, "hints",
                "'%.500s' has %lld tasks: %lld of them are tasks of '%s', of "
                "which %lld others have no hint",
                hints->path, (long long)hints->told.tasks, (long long)sums[0],
                tasks->settings.name, (long long)sums[1]);
    eki_hints_free(&tasks->parts.hints);
    return status;
}
