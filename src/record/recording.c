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
#include "record/listing.h"

#include <math.h>

struct eki_recording {
    struct eki_engine *engine;
    struct eki_record_writer *writer; /* rank 0; NULL: no more */
    struct eki_record_pack pack;      /* of this rank; kept for the next time */
    /* [workers_here], of an iteration that has paused; else NULL. */
    struct eki_listing *earlier;
    bool has_stopped;
    uint8_t *is_told; /* [function_count of the file] of their data; rank 0 */
};

/* This rank gives up for REASON; the others learn of it before the next
 * iteration. */
static void stop_recording(struct eki_recording *recording, const char *reason)
{
    const struct eki_topology *topology = recording->engine->topology;
    eki_log(EK_LEVEL_WARN, topology->rank, topology->size, "record",
            "%s; recording stops", reason);
    recording->has_stopped = true;
}

static void free_earlier(struct eki_recording *recording)
{
    const struct eki_topology *topology = recording->engine->topology;
    for (int here = 0; recording->earlier && here < topology->workers_here;
         here++)
        eki_listing_free(&recording->earlier[here]);
    eki_free(recording->earlier);
    recording->earlier = NULL;
}

/* Record nothing more; discarded tasks need not be kept for it any longer. */
static void leave_recording(struct eki_recording *recording)
{
    struct eki_engine *engine = recording->engine;
    eki_engine_trace(engine, false);
    eki_record_abandon(&recording->writer);
    eki_record_pack_free(&recording->pack);
    free_earlier(recording);
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
        has_room = eki_listing_pack(
            recording->earlier ? &recording->earlier[here] : NULL,
            engine->workers[here], &recording->pack);
    free_earlier(recording);
    if (!has_room)
        stop_recording(recording, "no memory to record an iteration");
}

void eki_recording_keep(struct eki_recording *recording, bool is_counted)
{
    const struct eki_engine *engine = recording->engine;
    if (!engine || recording->has_stopped)
        return;
    int workers = engine->topology->workers_here;
    if (!recording->earlier)
        recording->earlier =
            eki_alloc((size_t)workers, sizeof *recording->earlier);
    bool has_room = is_counted && recording->earlier != NULL;
    for (int here = 0; has_room && here < workers; here++)
        has_room =
            eki_listing_add(&recording->earlier[here], engine->workers[here]);
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
        free_earlier(recording);
    eki_free(recording->is_told);
    eki_free(recording);
}
