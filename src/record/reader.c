/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a record.  Opening goes through the whole file once: sizes, kinds and
 * CRCs of all blocks; iteration.c checks what is inside of one when it is
 * loaded.
 *
 * Nothing read is believed before it was compared with the bytes there are.
 */
#include "record/layout.h"

#include <inttypes.h>
#include <string.h>

/* Check the number of ranks, and the length that follows from it. */
static ek_status check_header_ranks(const struct eki_record *record,
                                    const unsigned char *header)
{
    uint64_t bytes = eki_get(header + EKI_HEADER_BYTES, 4);
    uint64_t ranks = eki_get(header + EKI_HEADER_RANKS, 4);
    if (ranks < 1 || ranks > EKI_HOMES_MOST)
        return eki_sealed_refuse(&record->in, EKI_HEADER_RANKS,
                                 "%" PRIu64 " ranks; allowed: 1 ... %d", ranks,
                                 EKI_HOMES_MOST);
    uint64_t expected = EKI_HEADER_RANK_WORKERS + 4 * ranks + EKI_BLOCK_CRC;
    if (bytes != expected)
        return eki_sealed_refuse(&record->in, EKI_HEADER_BYTES,
                                 "a header of %" PRIu64
                                 " bytes, expected %" PRIu64 " for %" PRIu64
                                 " ranks",
                                 bytes, expected, ranks);
    if (expected > (uint64_t)record->in.size)
        return eki_sealed_refuse(
            &record->in, record->in.size,
            "the file ends within its header of %" PRIu64 " bytes", bytes);
    return EK_OK;
}

/* Read the workers of each rank from the rest of the header. */
static ek_status read_rank_workers(struct eki_record *record, int64_t *sum)
{
    size_t ranks = (size_t)record->shape.ranks;
    unsigned char *bytes = eki_alloc(ranks, 4);
    record->rank_workers = eki_alloc(ranks, sizeof *record->rank_workers);
    record->shape.rank_workers = record->rank_workers;
    ek_status status = eki_sealed_no_memory(record->path);
    if (bytes && record->rank_workers)
        status = eki_sealed_read(&record->in, EKI_HEADER_RANK_WORKERS, bytes,
                                 4 * ranks);
    for (size_t rank = 0; status == EK_OK && rank < ranks; rank++) {
        uint64_t workers = eki_get(bytes + 4 * rank, 4);
        *sum += (int64_t)workers;
        record->rank_workers[rank] = (int)workers;
        if (workers < 1 || *sum > EKI_HOMES_MOST)
            status = eki_sealed_refuse(
                &record->in, EKI_HEADER_RANK_WORKERS + 4 * (int64_t)rank,
                "rank %zu has %" PRIu64 " workers", rank, workers);
    }
    eki_free(bytes);
    return status;
}

static ek_status read_header(struct eki_record *record)
{
    unsigned char header[EKI_HEADER_RANK_WORKERS];
    if (record->in.size < (int64_t)sizeof header)
        return eki_sealed_refuse(
            &record->in, record->in.size,
            "the file ends within its header of at least %zu bytes",
            sizeof header + 4 + EKI_BLOCK_CRC);
    EKI_TRY(eki_sealed_read(&record->in, 0, header, sizeof header));
    EKI_TRY(eki_sealed_check_version(&record->in, header, "record",
                                     EKI_RECORD_MAGIC, EKI_RECORD_VERSION_FIRST,
                                     EKI_RECORD_VERSION));
    EKI_TRY(check_header_ranks(record, header));
    record->in.at = (int64_t)eki_get(header + EKI_HEADER_BYTES, 4);
    EKI_TRY(eki_sealed_check(&record->in, 0, record->in.at - EKI_BLOCK_CRC,
                             "header"));
    record->shape.version = (int)eki_get(header + EKI_HEADER_VERSION, 4);
    record->shape.ranks = (int)eki_get(header + EKI_HEADER_RANKS, 4);
    int64_t workers = 0;
    EKI_TRY(read_rank_workers(record, &workers));
    if (eki_get(header + EKI_HEADER_WORKERS, 4) != (uint64_t)workers)
        return eki_sealed_refuse(
            &record->in, EKI_HEADER_WORKERS,
            "%" PRIu64 " workers; those of the ranks are %" PRId64,
            eki_get(header + EKI_HEADER_WORKERS, 4), workers);
    record->shape.workers = (int)workers;
    const char *name = (const char *)header + EKI_HEADER_NAME;
    if (!eki_is_padded_name(header + EKI_HEADER_NAME) ||
        !eki_is_collection_name(name, strlen(name)))
        return eki_sealed_refuse(&record->in, EKI_HEADER_NAME,
                                 "the name of the collection is not allowed");
    memcpy(record->shape.name, name, sizeof record->shape.name);
    return EK_OK;
}

static bool has_room_for_function(struct eki_record *record)
{
    int64_t names = record->function_room;
    return eki_grow(&record->functions, record->function_count, &names, 8,
                    sizeof *record->functions) &&
           eki_grow(&record->data_bytes_max, record->function_count,
                    &record->function_room, 8, sizeof *record->data_bytes_max);
}

static ek_status take_function(struct eki_record *record,
                               const struct eki_sealed_block *block)
{
    char name[EKI_BLOCK_NAME];
    uint64_t number;
    EKI_TRY(eki_sealed_function(&record->in, block, &number, name));
    if (number != (uint64_t)record->function_count || number >= UINT16_MAX)
        return eki_sealed_refuse(&record->in, block->at + EKI_FUNCTION_NUMBER,
                                 "function %" PRIu64 ", expected %d", number,
                                 record->function_count);
    if (!has_room_for_function(record))
        return eki_sealed_no_memory(record->path);
    record->data_bytes_max[record->function_count] = 0;
    memcpy(record->functions[record->function_count++], name, sizeof name);
    return EK_OK;
}

/* Tasks of a function have data of so many bytes at most. */
static ek_status take_data(struct eki_record *record,
                           const struct eki_sealed_block *block)
{
    unsigned char body[EKI_DATA_BODY];
    EKI_TRY(eki_sealed_body(&record->in, block, body, sizeof body));
    uint64_t function = eki_get(body + EKI_DATA_FUNCTION, 4);
    uint64_t bytes = eki_get(body + EKI_DATA_BYTES_MAX, 8);
    if (function >= (uint64_t)record->function_count ||
        record->data_bytes_max[function] > 0)
        return eki_sealed_refuse(
            &record->in, block->at + EKI_DATA_FUNCTION,
            "data of function %" PRIu64
            ": there are %d functions, and each may have data once",
            function, record->function_count);
    if (bytes < 1 || bytes > UINT32_MAX)
        return eki_sealed_refuse(&record->in, block->at + EKI_DATA_BYTES_MAX,
                                 "data of %" PRIu64 " bytes", bytes);
    record->data_bytes_max[function] = (int64_t)bytes;
    return EK_OK;
}

/* The text about the job is for people: lines of it, without any zero. */
static ek_status take_about(struct eki_record *record,
                            const struct eki_sealed_block *block)
{
    if (record->about || record->iteration_count > 0 || block->bytes < 1 ||
        block->bytes > EKI_ABOUT_MOST)
        return eki_sealed_refuse(
            &record->in, block->at - EKI_BLOCK_HEAD,
            "a text about the job of %" PRId64
            " bytes; allowed: 1 ... %d bytes, once, before iterations",
            block->bytes, EKI_ABOUT_MOST);
    record->about = eki_alloc((size_t)block->bytes + 1, 1);
    if (!record->about)
        return eki_sealed_no_memory(record->path);
    EKI_TRY(eki_sealed_body(&record->in, block, (unsigned char *)record->about,
                            (size_t)block->bytes));
    size_t bytes = strlen(record->about);
    if (bytes == (size_t)block->bytes && record->about[bytes - 1] == '\n')
        return EK_OK;
    return eki_sealed_refuse(&record->in, block->at + (int64_t)bytes,
                             "the text about the job has a byte 0, or its last "
                             "line no end");
}

/* Once, before the iterations. */
static ek_status take_key_base(struct eki_record *record,
                               const struct eki_sealed_block *block)
{
    unsigned char body[EKI_KEY_BASE_BODY];
    int most = EKI_HOMES_MOST - record->shape.workers;
    EKI_TRY(eki_sealed_body(&record->in, block, body, sizeof body));
    uint64_t base = eki_get(body, 4);
    if (record->shape.key_base > 0 || record->iteration_count > 0 || base < 1 ||
        base > (uint64_t)most)
        return eki_sealed_refuse(&record->in, block->at,
                                 "%" PRIu64
                                 " workers of earlier jobs; allowed: 1 ... %d, "
                                 "once, before iterations",
                                 base, most);
    record->shape.key_base = (int)base;
    return EK_OK;
}

/* Remember where the iteration is; its workers and tasks are read on demand. */
static ek_status take_iteration(struct eki_record *record,
                                const struct eki_sealed_block *block)
{
    unsigned char number[8];
    int64_t least =
        EKI_ITERATION_HEAD +
        record->shape.workers * (int64_t)eki_worker_head(record->shape.version);
    if (block->bytes < least)
        return eki_sealed_wrong_size(&record->in, block, least);
    EKI_TRY(eki_sealed_read(&record->in, block->at, number, sizeof number));
    int64_t iteration = (int64_t)eki_get(number, 8);
    if (iteration <= record->last_iteration)
        return eki_sealed_refuse(&record->in, block->at + EKI_ITERATION_NUMBER,
                                 "iteration %" PRId64
                                 " after iteration %" PRId64,
                                 iteration, record->last_iteration);
    record->last_iteration = iteration;
    if (!eki_grow(&record->blocks, record->iteration_count, &record->block_room,
                  64, sizeof *record->blocks))
        return eki_sealed_no_memory(record->path);
    record->blocks[record->iteration_count++] = (struct eki_record_block){
        block->at, block->bytes, record->function_count};
    return EK_OK;
}

static ek_status take_end(struct eki_record *record,
                          const struct eki_sealed_block *block)
{
    unsigned char body[EKI_END_BODY];
    EKI_TRY(eki_sealed_body(&record->in, block, body, sizeof body));
    if (eki_get(body, 8) != (uint64_t)record->iteration_count)
        return eki_sealed_refuse(&record->in, block->at + EKI_END_ITERATIONS,
                                 "%" PRIu64 " iterations; there are %" PRId64,
                                 eki_get(body, 8), record->iteration_count);
    record->is_complete = true;
    return eki_sealed_check_end(&record->in);
}

static ek_status take_block(struct eki_record *record,
                            const struct eki_sealed_block *block)
{
    switch (block->kind) {
    case EKI_BLOCK_FUNCTION:
        return take_function(record, block);
    case EKI_BLOCK_ITERATION:
        return take_iteration(record, block);
    case EKI_BLOCK_END:
        return take_end(record, block);
    case EKI_BLOCK_DATA:
        if (record->shape.version > EKI_RECORD_VERSION_FIRST)
            return take_data(record, block);
        break;
    case EKI_BLOCK_ABOUT:
        if (record->shape.version > EKI_RECORD_VERSION_HELD)
            return take_about(record, block);
        break;
    case EKI_BLOCK_BASE:
        if (record->shape.version > EKI_RECORD_VERSION_STARTS)
            return take_key_base(record, block);
        break;
    default:
        break;
    }
    return eki_sealed_wrong_kind(&record->in, block);
}

static ek_status read_blocks(struct eki_record *record)
{
    while (!record->is_complete) {
        struct eki_sealed_block block = {0};
        bool found;
        EKI_TRY(eki_sealed_next(&record->in, &block, &found));
        if (!found)
            break;
        EKI_TRY(take_block(record, &block));
    }
    if (!record->is_complete)
        eki_sealed_say_early(&record->in, "the record", record->warning,
                             sizeof record->warning);
    return EK_OK;
}

ek_status eki_record_open(const char *path, struct eki_record **made)
{
    struct eki_record *record = eki_alloc(1, sizeof *record + strlen(path) + 1);
    *made = NULL;
    if (!record)
        return eki_sealed_no_memory(path);
    strcpy(record->path, path);
    record->last_iteration = -1;
    ek_status status = eki_sealed_open(&record->in, record->path);
    if (status == EK_OK)
        status = read_header(record);
    if (status == EK_OK)
        status = read_blocks(record);
    if (status == EK_OK)
        *made = record;
    else
        eki_record_close(&record);
    return status;
}

void eki_record_close(struct eki_record **made)
{
    struct eki_record *record = *made;
    *made = NULL;
    if (!record)
        return;
    eki_sealed_close(&record->in);
    eki_free(record->about);
    eki_free(record->rank_workers);
    eki_free(record->functions);
    eki_free(record->data_bytes_max);
    eki_free(record->blocks);
    eki_free(record);
}
