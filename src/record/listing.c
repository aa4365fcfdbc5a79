/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/listing.h"

#include "data/data.h"
#include "engine/engine.h"

#include <stdlib.h>

/* Whether the slot has run as a task of its own. */
static bool is_executed(const struct eki_slot *slot)
{
    return !(slot->flags & (EKI_SLOT_RANGE | EKI_SLOT_CANCELLED));
}

static uint8_t flags_of(uint8_t slot_flags)
{
    int flags = 0;
    if (slot_flags & EKI_SLOT_DISCARDED)
        flags |= EKI_RECORD_DISCARDED;
    else if (slot_flags & EKI_SLOT_SKIPPED)
        flags |= EKI_RECORD_SKIPPED;
    if (slot_flags & EKI_SLOT_COSTED)
        flags |= EKI_RECORD_COSTED;
    return (uint8_t)flags;
}

/* A task that was skipped keeps the duration of an earlier iteration. */
static bool is_measured(uint8_t slot_flags)
{
    return !(slot_flags & EKI_SLOT_SKIPPED) || slot_flags & EKI_SLOT_COSTED;
}

/* A worker on its way into the pack. */
struct packing {
    struct eki_record_pack *pack;
    const struct eki_data_size *sizes; /* [size_count] of what travelled */
    int64_t size_count;
    const struct eki_held *held; /* of the worker, in order */
    int64_t listed_nulls;
    uint8_t flags;     /* of all that are packed now */
    uint64_t start_ns; /* likewise, or as soon as those before have ended */
    uint16_t long_bin; /* of a task that is as long has a payload ... */
    int payloads;      /* ... if it is one of so many more */
    bool has_room;
};

static int by_id(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void pack_slot(struct packing *packing, const struct eki_slot *slot)
{
    struct eki_record_task task = {
        .id = slot->id,
        .function = slot->function,
        .bin = is_measured(slot->flags) ? slot->bin : EKI_BIN_NEVER,
        .flags = flags_of(slot->flags) | packing->flags,
        .start_ns = packing->start_ns};
    if (!packing->has_room || !is_executed(slot))
        return;
    const struct eki_data_size *size =
        eki_data_size_of(packing->sizes, packing->size_count, slot->id);
    if (size) {
        task.flags |= EKI_RECORD_SIZED;
        task.input_bytes = size->input;
        task.result_bytes = size->result;
    }
    if (packing->held->count > 0 &&
        bsearch(&slot->id, packing->held->ids, (size_t)packing->held->count,
                sizeof slot->id, by_id))
        task.flags |= EKI_RECORD_HELD;
    bool has_payload = task.bin >= packing->long_bin && packing->payloads > 0 &&
                       slot->bytes > 0;
    task.flags |= has_payload ? EKI_RECORD_PAYLOAD : 0;
    packing->listed_nulls +=
        (task.flags & (EKI_RECORD_DISCARDED | EKI_RECORD_SKIPPED)) != 0;
    packing->has_room = eki_record_pack_task(packing->pack, &task);
    if (!has_payload)
        return;
    packing->payloads--;
    packing->has_room = packing->has_room &&
                        eki_record_pack_payload(packing->pack, slot->payload,
                                                slot->bytes < EKI_PAYLOAD_MOST
                                                    ? slot->bytes
                                                    : EKI_PAYLOAD_MOST);
}

/* Pack the next N seeds that have run, from AT on backwards: they ran from the
 * last of the array on.  Of PINNED ones, if there are any, those that worker
 * HERE has run.  Returns where the next is. */
static const unsigned char *pack_seeds(struct packing *packing,
                                       const struct eki_local *local,
                                       const unsigned char *at, int64_t n,
                                       const struct eki_pinned *pinned,
                                       int here)
{
    while (n > 0 && at != local->seed_base) {
        at -= local->slot_bytes;
        const struct eki_slot *slot = (const struct eki_slot *)at;
        if (!is_executed(slot) ||
            (pinned && eki_pinned_ran_on(pinned, slot) != here))
            continue;
        pack_slot(packing, slot);
        n--;
    }
    return at;
}

/* So many STRETCHES are packed: the spans that follow them, from NEXT on, are
 * behind the tasks that are packed by now. */
static void place_spans(const struct packing *packing, int64_t *next,
                        const struct eki_spans *spans, int64_t stretches)
{
    for (; *next < spans->count && spans->list[*next].stretches == stretches;
         ++*next)
        spans->list[*next].stretches = packing->pack->count;
}

/* Pack what the worker has run as it ran; all of it, or there was no memory to
 * note that.  Spans learn how many tasks ran before. */
static void pack_as_run(struct packing *packing, struct ek_worker *worker)
{
    int64_t span = 0;
    const struct eki_local *local = &worker->local;
    const struct eki_pinned *pinned = &worker->engine->pinned;
    const struct eki_stretches *stretches = &worker->stretches;
    const unsigned char *seed = local->seed_end;
    const unsigned char *log = eki_local_logged(local);
    const unsigned char *own = pinned->local.seed_end;
    for (int64_t i = 0; i < stretches->count; i++) {
        const struct eki_stretch *ran = &stretches->list[i];
        place_spans(packing, &span, &worker->spans, i);
        packing->start_ns =
            eki_ns_since(worker->engine->entered_ns, ran->start_ns);
        if (ran->seeds < 0) {
            packing->flags = EKI_RECORD_PINNED;
            own = pack_seeds(packing, &pinned->local, own, 1, pinned,
                             worker->here);
            packing->flags = 0;
        }
        for (int k = 0; k < ran->logged; k++, log += local->slot_bytes)
            pack_slot(packing, (const struct eki_slot *)log);
        seed = pack_seeds(packing, local, seed, ran->seeds, NULL, 0);
    }
    place_spans(packing, &span, &worker->spans, stretches->count);
    packing->has_room &= !stretches->is_cut;
    EKI_ASSERT(!packing->has_room || log == local->log_end);
}

/* Pack what tasks of the worker have spawned; all of it, or there is no memory.
 */
static bool pack_families(struct eki_record_pack *pack,
                          const struct eki_families *families)
{
    bool has_room = !families->is_cut;
    for (int64_t i = 0; has_room && i < families->count; i++) {
        const struct eki_family *family = &families->list[i];
        has_room = eki_record_pack_family(
            pack, &(struct eki_record_family){family->parent, family->first,
                                              family->count});
    }
    return has_room;
}

/* Pack the spans of a worker; likewise. */
static bool pack_spans(struct eki_record_pack *pack,
                       const struct eki_spans *spans)
{
    bool has_room = !spans->is_cut;
    for (int64_t i = 0; has_room && i < spans->count; i++) {
        const struct eki_span *span = &spans->list[i];
        has_room = eki_record_pack_span(
            pack,
            &(struct eki_record_span){.first = span->first,
                                      .count = (uint64_t)span->count,
                                      .place = span->stretches,
                                      .function = (uint16_t)span->function});
    }
    return has_room;
}

/* Note a bin among the highest, which ascend. */
static void note_bin(uint16_t highest[EKI_PAYLOADS_MOST], uint16_t bin)
{
    int i = 0;
    if (bin <= highest[0])
        return;
    for (; i + 1 < EKI_PAYLOADS_MOST && highest[i + 1] < bin; i++)
        highest[i] = highest[i + 1];
    highest[i] = bin;
}

/* The bin of the last of a worker's longest tasks. */
static uint16_t find_long_bin(const struct eki_local *local)
{
    uint16_t highest[EKI_PAYLOADS_MOST] = {0};
    const unsigned char *parts[][2] = {
        {local->seed_base, local->seed_end},
        {eki_local_logged(local), local->log_end}};
    for (int part = 0; part < 2; part++)
        for (const unsigned char *at = parts[part][0]; at != parts[part][1];
             at += local->slot_bytes)
            if (is_executed((const struct eki_slot *)at))
                note_bin(highest, ((const struct eki_slot *)at)->bin);
    return highest[0];
}

/* Pack the tasks of a worker, unless there was no room before; returns those
 * that were null. */
static int64_t pack_tasks(struct eki_record_pack *pack,
                          struct ek_worker *worker, bool *has_room)
{
    struct packing packing = {.pack = pack,
                              .held = &worker->held,
                              .long_bin = find_long_bin(&worker->local),
                              .payloads = EKI_PAYLOADS_MOST,
                              .has_room = *has_room};
    if (worker->held.count > 0)
        qsort(worker->held.ids, (size_t)worker->held.count,
              sizeof *worker->held.ids, by_id);
    packing.size_count = eki_data_sizes(worker, &packing.sizes);
    pack_as_run(&packing, worker);
    *has_room = packing.has_room;
    return packing.listed_nulls;
}

bool eki_listing_add(struct eki_listing *listing, struct ek_worker *worker)
{
    bool has_room = true;
    listing->tasks.version = listing->families.version =
        listing->spans.version = EKI_RECORD_VERSION;
    listing->nulls += pack_tasks(&listing->tasks, worker, &has_room);
    return has_room && pack_families(&listing->families, &worker->families) &&
           pack_spans(&listing->spans, &worker->spans);
}

bool eki_listing_pack(const struct eki_listing *earlier,
                      struct ek_worker *worker, struct eki_record_pack *pack)
{
    const struct eki_counts *counts = &worker->counts;
    bool has_room = eki_record_pack_begin(pack);
    if (has_room && earlier)
        has_room = eki_record_pack_append(pack, &earlier->tasks);
    int64_t listed_nulls = pack_tasks(pack, worker, &has_room);
    if (has_room && earlier) {
        has_room = eki_record_pack_append(pack, &earlier->families);
        listed_nulls += earlier->nulls;
    }
    struct eki_record_worker sums = {.executed = counts->tasks,
                                     .nulls = counts->nulls - listed_nulls,
                                     .failed = counts->failed,
                                     .cancelled = counts->cancelled,
                                     .work_ns = counts->work_ns,
                                     .null_ns = counts->null_ns};
    has_room = has_room && pack_families(pack, &worker->families);
    if (has_room && earlier)
        has_room = eki_record_pack_append(pack, &earlier->spans);
    has_room = has_room && pack_spans(pack, &worker->spans);
    if (has_room)
        eki_record_pack_end(pack, &sums);
    return has_room;
}

void eki_listing_free(struct eki_listing *listing)
{
    eki_record_pack_free(&listing->tasks);
    eki_record_pack_free(&listing->families);
    eki_record_pack_free(&listing->spans);
}
