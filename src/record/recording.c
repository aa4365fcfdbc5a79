/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording: each rank packs what its workers have run, rank 0 writes it in
 * rank order as it arrives.
 *
 * All ranks stop together: who cannot go on says so in the sum that the next
 * iteration begins with.
 */
#include "data/data.h"
#include "engine/engine.h"
#include "record/record.h"

#include <math.h>
#include <stdlib.h>

/* What a worker has run before its iteration paused. */
struct kept {
    struct eki_record_pack tasks, families, spans;
    int64_t listed_nulls;
};

struct eki_recording {
    struct eki_engine *engine;
    struct eki_record_writer *writer; /* rank 0; NULL: no more */
    struct eki_record_pack pack;      /* of this rank; kept for the next time */
    struct kept *kept; /* [workers_here]; NULL: the iteration has not paused */
    bool has_stopped;
    uint8_t *is_told; /* [function_count of the file] of their data; rank 0 */
};

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

/* Pack all of a worker: its tasks, those KEPT first, if any, and what its
 * counters say of those that are not listed. */
static bool pack_worker_tasks(struct eki_record_pack *pack,
                              struct ek_worker *worker, const struct kept *kept)
{
    const struct eki_counts *counts = &worker->counts;
    bool has_room = eki_record_pack_begin(pack);
    if (has_room && kept)
        has_room = eki_record_pack_append(pack, &kept->tasks);
    int64_t listed_nulls = pack_tasks(pack, worker, &has_room);
    if (has_room && kept) {
        has_room = eki_record_pack_append(pack, &kept->families);
        listed_nulls += kept->listed_nulls;
    }
    struct eki_record_worker sums = {.executed = counts->tasks,
                                     .nulls = counts->nulls - listed_nulls,
                                     .failed = counts->failed,
                                     .cancelled = counts->cancelled,
                                     .work_ns = counts->work_ns,
                                     .null_ns = counts->null_ns};
    has_room = has_room && pack_families(pack, &worker->families);
    if (has_room && kept)
        has_room = eki_record_pack_append(pack, &kept->spans);
    has_room = has_room && pack_spans(pack, &worker->spans);
    if (has_room)
        eki_record_pack_end(pack, &sums);
    return has_room;
}

/* This rank gives up for REASON; the others learn of it before the next
 * iteration. */
static void stop_recording(struct eki_recording *recording, const char *reason)
{
    const struct eki_topology *topology = recording->engine->topology;
    eki_log(EK_LEVEL_WARN, topology->rank, topology->size, "record",
            "%s; recording stops", reason);
    recording->has_stopped = true;
}

static void free_kept(struct eki_recording *recording)
{
    const struct eki_topology *topology = recording->engine->topology;
    for (int here = 0; recording->kept && here < topology->workers_here;
         here++) {
        eki_record_pack_free(&recording->kept[here].tasks);
        eki_record_pack_free(&recording->kept[here].families);
        eki_record_pack_free(&recording->kept[here].spans);
    }
    eki_free(recording->kept);
    recording->kept = NULL;
}

/* Record nothing more; discarded tasks need not be kept for it any longer. */
static void leave_recording(struct eki_recording *recording)
{
    struct eki_engine *engine = recording->engine;
    eki_engine_trace(engine, false);
    eki_record_abandon(&recording->writer);
    eki_record_pack_free(&recording->pack);
    free_kept(recording);
    recording->has_stopped = true;
    for (int here = 0; here < engine->topology->workers_here; here++)
        engine->workers[here]->local.keeps_discarded = false;
}

static void pack_here(struct eki_recording *recording)
{
    const struct eki_engine *engine = recording->engine;
    recording->pack.bytes = 0;
    bool has_room = true;
    for (int here = 0; has_room && here < engine->topology->workers_here;
         here++)
        has_room =
            pack_worker_tasks(&recording->pack, engine->workers[here],
                              recording->kept ? &recording->kept[here] : NULL);
    free_kept(recording);
    if (!has_room)
        stop_recording(recording, "no memory to record an iteration");
}

void eki_recording_keep(struct eki_recording *recording, bool is_counted)
{
    const struct eki_engine *engine = recording->engine;
    if (!engine || recording->has_stopped)
        return;
    int workers = engine->topology->workers_here;
    if (!recording->kept)
        recording->kept = eki_alloc((size_t)workers, sizeof *recording->kept);
    bool has_room = is_counted && recording->kept != NULL;
    for (int here = 0; has_room && here < workers; here++) {
        struct kept *kept = &recording->kept[here];
        kept->tasks.version = kept->families.version = kept->spans.version =
            EKI_RECORD_VERSION;
        kept->listed_nulls +=
            pack_tasks(&kept->tasks, engine->workers[here], &has_room);
        has_room =
            has_room &&
            pack_families(&kept->families, &engine->workers[here]->families) &&
            pack_spans(&kept->spans, &engine->workers[here]->spans);
    }
    if (!has_room)
        stop_recording(recording, "no memory to record an iteration");
}

static void write_piece(const void *piece, size_t bytes, void *context)
{
    eki_record_put(context, piece, bytes);
}

/* What is known by now, and was not before. */
static ek_status write_functions(struct eki_recording *recording)
{
    const struct eki_engine *engine = recording->engine;
    int count = engine->function_count;
    int next = eki_record_functions_written(recording->writer);
    uint8_t *is_told = eki_realloc(recording->is_told, (size_t)count + 1, 1);
    if (!is_told)
        return eki_error(EK_ERR_NOMEM, "no memory for the record");
    recording->is_told = is_told;
    EKI_TRY(eki_record_write_key_base(recording->writer, engine->key_base));
    for (; next < count; next++) {
        is_told[next] = false;
        EKI_TRY(eki_record_write_function(recording->writer,
                                          engine->functions[next].name));
    }
    for (int f = 0; f < count; f++) {
        const ek_data_ops *ops = eki_data_ops_of(engine, f);
        if (is_told[f] || !ops || ops->bytes_max == 0)
            continue;
        is_told[f] = true;
        EKI_TRY(eki_record_write_data(recording->writer, f,
                                      (int64_t)ops->bytes_max));
    }
    return EK_OK;
}

/* Gather BYTES of all ranks; rank 0 writes them into the file. */
static ek_status write_bytes(struct eki_recording *recording,
                             struct eki_fabric *fabric,
                             const struct eki_record_head *head, int64_t bytes)
{
    struct eki_record_writer *writer = recording->writer;
    const struct eki_record_pack *pack = &recording->pack;
    ek_status written = EK_OK;
    if (writer) {
        written = write_functions(recording);
        eki_record_begin(writer, head, bytes);
    }
    EKI_TRY(eki_fabric_mpi_gather(fabric, pack->data, pack->bytes, write_piece,
                                  writer));
    if (writer && written == EK_OK)
        written = eki_record_end(writer);
    if (written != EK_OK)
        stop_recording(recording, ek_error_message());
    return EK_OK;
}

ek_status eki_recording_write(struct eki_recording *recording,
                              struct eki_fabric *fabric,
                              const struct eki_record_head *given)
{
    struct eki_record_head head = *given;
    double wall_ns = (double)given->wall_ns;
    if (!recording || !recording->engine)
        return EK_OK;
    if (!recording->has_stopped)
        pack_here(recording);
    int64_t sums[2] = {(int64_t)recording->pack.bytes, recording->has_stopped};
    EKI_TRY(eki_fabric_mpi_sum(fabric, sums, 2));
    if (sums[1] > 0) {
        leave_recording(recording);
        recording->engine = NULL;
        return EK_OK;
    }
    EKI_TRY(eki_fabric_mpi_max(fabric, &wall_ns, 1));
    head.wall_ns = (uint64_t)llround(wall_ns);
    return write_bytes(recording, fabric, &head, sums[0]);
}

char *eki_record_path(const char *destination, const char *collection)
{
    size_t bytes = 1;
    for (const char *at = destination; *at; at++)
        bytes += *at == '%' ? strlen(collection) : 1;
    char *path = eki_alloc(bytes, 1);
    for (const char *at = destination; path && *at; at++) {
        if (*at == '%')
            eki_append(path, bytes, "%s", collection);
        else
            eki_append(path, bytes, "%c", *at);
    }
    return path;
}

static ek_status open_writer(struct eki_recording *recording,
                             const char *collection, const char *path,
                             const char *about)
{
    const struct eki_topology *topology = recording->engine->topology;
    struct eki_record_shape shape = {.version = EKI_RECORD_VERSION,
                                     .ranks = topology->size,
                                     .workers = topology->workers};
    int *workers = eki_alloc((size_t)topology->size, sizeof *workers);
    if (!workers)
        return eki_error(EK_ERR_NOMEM, "no memory for the record");
    for (int rank = 0; rank < topology->size; rank++)
        workers[rank] =
            topology->first_worker[rank + 1] - topology->first_worker[rank];
    shape.rank_workers = workers;
    snprintf(shape.name, sizeof shape.name, "%s", collection);
    ek_status status = eki_record_create(path, &shape, &recording->writer);
    eki_free(workers);
    return status == EK_OK ? eki_record_write_about(recording->writer, about)
                           : status;
}

ek_status eki_recording_create(struct eki_engine *engine,
                               const char *collection, const char *destination,
                               const char *about, struct eki_recording **made)
{
    *made = NULL;
    if (strcmp(destination, "0") == 0)
        return EK_OK;
    struct eki_recording *recording = eki_alloc(1, sizeof *recording);
    char *path = eki_record_path(destination, collection);
    ek_status status = EK_OK;
    *made = recording;
    if (!recording || !path)
        status = eki_error(EK_ERR_NOMEM, "no memory for the record");
    if (recording) {
        recording->engine = engine;
        recording->pack.version = EKI_RECORD_VERSION;
    }
    if (status == EK_OK && engine->topology->rank == 0)
        status = open_writer(recording, collection, path, about);
    for (int here = 0; here < engine->topology->workers_here; here++)
        engine->workers[here]->local.keeps_discarded = true;
    eki_engine_trace(engine, true);
    eki_free(path);
    return status;
}

void eki_recording_destroy(struct eki_recording **made)
{
    struct eki_recording *recording = *made;
    *made = NULL;
    if (!recording)
        return;
    if (recording->writer && !recording->has_stopped &&
        eki_record_finish(&recording->writer) != EK_OK)
        stop_recording(recording, ek_error_message());
    eki_record_abandon(&recording->writer);
    eki_record_pack_free(&recording->pack);
    if (recording->engine)
        free_kept(recording);
    eki_free(recording->is_told);
    eki_free(recording);
}
