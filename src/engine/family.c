/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tasks have spawned, which were held up, when they ran, and where null
 * indices did, for a record.
 * While one is written all calls that spawn take their slow way, which notes
 * the child here, and what is spawned is flagged to be logged where it runs.
 * Else nothing of this costs anything.
 */
#include "engine/internal.h"
#include "engine/spawn.h"

enum {
    FIRST_ROOM = 64
};

void eki_engine_trace(struct eki_engine *engine, bool is_traced)
{
    engine->is_traced = is_traced;
    for (int here = 0; here < engine->topology->workers_here; here++) {
        struct ek_worker *worker = engine->workers[here];
        worker->local.spawned_word =
            eki_spawned_word(is_traced ? EKI_SLOT_TRACED : 0);
        if (!is_traced)
            eki_worker_forget(worker);
    }
}

void eki_worker_forget(struct ek_worker *worker)
{
    eki_free(worker->families.list);
    eki_free(worker->held.ids);
    eki_free(worker->stretches.list);
    eki_free(worker->spans.list);
    worker->families = (struct eki_families){0};
    worker->held = (struct eki_held){0};
    worker->stretches = (struct eki_stretches){0};
    worker->spans = (struct eki_spans){0};
}

void eki_worker_note_anew(struct ek_worker *worker)
{
    const struct eki_local *local = &worker->local;
    struct eki_spans *spans = &worker->spans;
    worker->families.count = worker->held.count = 0;
    worker->stretches.count = spans->count = 0;
    worker->families.is_cut = worker->stretches.is_cut = spans->is_cut = false;
    worker->stretches.logged =
        eki_local_slots(local, local->log, local->log_end);
    spans->known_first = spans->known_end = 0;
}

uint64_t eki_worker_take_held(struct ek_worker *worker, uint64_t elapsed)
{
    struct eki_held *list = &worker->held;
    uint64_t held = worker->batch.held_ns;
    worker->batch.held_ns = 0;
    if (held > elapsed)
        held = elapsed;
    worker->counts.held_ns += held;
    if (worker->engine->is_traced &&
        eki_grow(&list->ids, list->count, &list->room, FIRST_ROOM,
                 sizeof *list->ids))
        list->ids[list->count++] = eki_worker_task_id(worker);
    return held;
}

void eki_worker_note_child(struct ek_worker *worker)
{
    struct eki_families *families = &worker->families;
    uint64_t parent = eki_worker_task_id(worker);
    uint64_t child = worker->local.next_id - 1;
    struct eki_family *last =
        families->count > 0 ? &families->list[families->count - 1] : NULL;
    /* Nobody but the task that runs takes numbers. */
    if (last && last->parent == parent && last->first + last->count == child)
        last->count++;
    else if (eki_grow(&families->list, families->count, &families->room,
                      FIRST_ROOM, sizeof *families->list))
        families->list[families->count++] =
            (struct eki_family){parent, child, 1};
    else
        families->is_cut = true;
}

struct eki_stretch eki_stretch_of(const struct ek_worker *worker)
{
    const struct eki_batch *batch = &worker->batch;
    const struct eki_local *local = &worker->local;
    if (batch->count == 0)
        return (struct eki_stretch){.start_ns = worker->piece.begun};
    return (struct eki_stretch){
        .start_ns = batch->stamp,
        .seeds = batch->is_pinned ? -1
                                  : (int32_t)eki_local_slots(
                                        local, local->seed_top, batch->seed)};
}

void eki_worker_note_stretch(struct ek_worker *worker,
                             struct eki_stretch stretch)
{
    struct eki_stretches *all = &worker->stretches;
    const struct eki_local *local = &worker->local;
    int64_t logged = eki_local_slots(local, local->log, local->log_end);
    stretch.logged = (int32_t)(logged - all->logged);
    all->logged = logged;
    if (stretch.seeds == 0 && stretch.logged == 0)
        return;
    if (eki_grow(&all->list, all->count, &all->room, FIRST_ROOM,
                 sizeof *all->list))
        all->list[all->count++] = stretch;
    else
        all->is_cut = true;
}

struct eki_span eki_span_of(const struct ek_worker *worker)
{
    const struct eki_piece *piece = &worker->piece;
    int64_t first = piece->first - piece->ran;
    if (piece->first < 0)
        return (struct eki_span){.count = 0};
    return (struct eki_span){.first = piece->id + (uint64_t)first,
                             .count = eki_piece_index(piece) - first,
                             .function = piece->function};
}

static bool is_known(const struct eki_spans *spans, uint64_t id)
{
    return id >= spans->known_first && id < spans->known_end;
}

void eki_worker_note_range(struct ek_worker *worker)
{
    struct eki_spans *spans = &worker->spans;
    const struct eki_slot *slot = eki_worker_top(worker);
    struct eki_range range;
    if (!(slot->flags & EKI_SLOT_RANGE) || is_known(spans, slot->id))
        return;
    memcpy(&range, slot->payload, sizeof range);
    spans->known_first = slot->id;
    spans->known_end = slot->id + (uint64_t)(range.last - range.first);
}

void eki_worker_note_span(struct ek_worker *worker, struct eki_span span)
{
    struct eki_spans *spans = &worker->spans;
    const struct eki_local *local = &worker->local;
    int64_t listed = eki_local_slots(local, local->log, local->log_end) -
                     worker->stretches.logged;
    struct eki_span *last =
        spans->count > 0 ? &spans->list[spans->count - 1] : NULL;
    if (span.count <= listed)
        return;
    span.stretches = worker->stretches.count;
    if (last && is_known(spans, last->first) && is_known(spans, span.first) &&
        last->first + (uint64_t)last->count == span.first &&
        spans->stretches == span.stretches)
        last->count += span.count;
    else if (eki_grow(&spans->list, spans->count, &spans->room, FIRST_ROOM,
                      sizeof *spans->list))
        spans->list[spans->count++] = span;
    else
        spans->is_cut = true;
    spans->stretches = span.stretches + (listed > 0);
}
