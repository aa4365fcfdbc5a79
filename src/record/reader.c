/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a record.  Opening goes through the whole file once: sizes, kinds and
 * CRCs of all blocks; iteration.c checks what is inside of one when it is
 * loaded.
 *
 * Nothing read is believed before it was compared with the bytes there are.
 */
#include "record/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum {
    PIECE_BYTES = 1 << 16
};

/* How far a walk over the file has come. */
struct walk {
    struct eki_record *record;
    int64_t at, size; /* of the file */
    int64_t last_iteration;
};

/* A block that is whole. */
struct block {
    uint32_t kind;
    int64_t at, bytes; /* its body */
};

ek_status eki_record_refuse(const struct eki_record *record, int64_t at,
                            const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return eki_error(EK_ERR_FILE, "'%.500s', byte %" PRId64 ": %s",
                     record->path, at, text);
}

ek_status eki_record_no_memory(const struct eki_record *record)
{
    return eki_error(EK_ERR_NOMEM, "no memory to read '%.500s'", record->path);
}

ek_status eki_record_read(const struct eki_record *record, int64_t at,
                          void *data, size_t bytes)
{
    if (fseek(record->file, (long)at, SEEK_SET) == 0 &&
        fread(data, 1, bytes, record->file) == bytes)
        return EK_OK;
    return eki_record_refuse(record, at, "cannot be read: %s",
                             ferror(record->file)
                                 ? strerror(errno)
                                 : "the file became shorter while it was read");
}

/* Compare BYTES from byte AT on with the CRC that follows them. */
static ek_status check_crc(const struct eki_record *record, int64_t at,
                           int64_t bytes, const char *what)
{
    unsigned char data[PIECE_BYTES];
    uint32_t crc = 0;
    for (int64_t done = 0; done < bytes;) {
        size_t piece =
            bytes - done < PIECE_BYTES ? (size_t)(bytes - done) : PIECE_BYTES;
        EKI_TRY(eki_record_read(record, at + done, data, piece));
        crc = eki_crc32c(crc, data, piece);
        done += (int64_t)piece;
    }
    EKI_TRY(eki_record_read(record, at + bytes, data, EKI_RECORD_CRC_BYTES));
    uint32_t stored = (uint32_t)eki_get(data, EKI_RECORD_CRC_BYTES);
    if (stored == crc)
        return EK_OK;
    return eki_record_refuse(record, at,
                             "the %s of %" PRId64
                             " bytes is damaged: CRC %08" PRIx32
                             ", expected %08" PRIx32,
                             what, bytes, crc, stored);
}

/* Whether a name is well-formed: some characters, then nothing but zeros. */
static bool is_padded_name(const unsigned char *from)
{
    int length = 0;
    while (length < EKI_RECORD_NAME_BYTES && from[length] != 0)
        length++;
    for (int i = length; i < EKI_RECORD_NAME_BYTES; i++) {
        if (from[i] != 0)
            return false;
    }
    return 0 < length && length < EKI_RECORD_NAME_BYTES;
}

static ek_status check_magic(const struct walk *walk,
                             const unsigned char *header)
{
    uint64_t version = eki_get(header + EKI_HEADER_VERSION, 4);
    if (memcmp(header, EKI_RECORD_MAGIC, strlen(EKI_RECORD_MAGIC)) != 0)
        return eki_record_refuse(walk->record, 0,
                                 "this is no record: it does not begin "
                                 "with " EKI_RECORD_MAGIC);
    if (version < EKI_RECORD_VERSION_FIRST || version > EKI_RECORD_VERSION)
        return eki_record_refuse(walk->record, EKI_HEADER_VERSION,
                                 "version %" PRIu64 "; allowed: %d ... %d",
                                 version, EKI_RECORD_VERSION_FIRST,
                                 EKI_RECORD_VERSION);
    return EK_OK;
}

/* Check the number of ranks, and the length that follows from it. */
static ek_status check_header_ranks(const struct walk *walk,
                                    const unsigned char *header)
{
    uint64_t bytes = eki_get(header + EKI_HEADER_BYTES, 4);
    uint64_t ranks = eki_get(header + EKI_HEADER_RANKS, 4);
    if (ranks < 1 || ranks > EKI_RECORD_WORKERS_MAX)
        return eki_record_refuse(walk->record, EKI_HEADER_RANKS,
                                 "%" PRIu64 " ranks; allowed: 1 ... %d", ranks,
                                 EKI_RECORD_WORKERS_MAX);
    uint64_t expected =
        EKI_HEADER_RANK_WORKERS + 4 * ranks + EKI_RECORD_CRC_BYTES;
    if (bytes != expected)
        return eki_record_refuse(walk->record, EKI_HEADER_BYTES,
                                 "a header of %" PRIu64
                                 " bytes, expected %" PRIu64 " for %" PRIu64
                                 " ranks",
                                 bytes, expected, ranks);
    if (expected > (uint64_t)walk->size)
        return eki_record_refuse(
            walk->record, walk->size,
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
    ek_status status = eki_record_no_memory(record);
    if (bytes && record->rank_workers)
        status =
            eki_record_read(record, EKI_HEADER_RANK_WORKERS, bytes, 4 * ranks);
    for (size_t rank = 0; status == EK_OK && rank < ranks; rank++) {
        uint64_t workers = eki_get(bytes + 4 * rank, 4);
        *sum += (int64_t)workers;
        record->rank_workers[rank] = (int)workers;
        if (workers < 1 || *sum > EKI_RECORD_WORKERS_MAX)
            status = eki_record_refuse(
                record, EKI_HEADER_RANK_WORKERS + 4 * (int64_t)rank,
                "rank %zu has %" PRIu64 " workers", rank, workers);
    }
    eki_free(bytes);
    return status;
}

static ek_status read_header(struct walk *walk)
{
    struct eki_record *record = walk->record;
    unsigned char header[EKI_HEADER_RANK_WORKERS];
    if (walk->size < (int64_t)sizeof header)
        return eki_record_refuse(
            record, walk->size,
            "the file ends within its header of at least %zu bytes",
            sizeof header + 4 + EKI_RECORD_CRC_BYTES);
    EKI_TRY(eki_record_read(record, 0, header, sizeof header));
    EKI_TRY(check_magic(walk, header));
    EKI_TRY(check_header_ranks(walk, header));
    walk->at = (int64_t)eki_get(header + EKI_HEADER_BYTES, 4);
    EKI_TRY(check_crc(record, 0, walk->at - EKI_RECORD_CRC_BYTES, "header"));
    record->shape.version = (int)eki_get(header + EKI_HEADER_VERSION, 4);
    record->shape.ranks = (int)eki_get(header + EKI_HEADER_RANKS, 4);
    int64_t workers = 0;
    EKI_TRY(read_rank_workers(record, &workers));
    if (eki_get(header + EKI_HEADER_WORKERS, 4) != (uint64_t)workers)
        return eki_record_refuse(
            record, EKI_HEADER_WORKERS,
            "%" PRIu64 " workers; those of the ranks are %" PRId64,
            eki_get(header + EKI_HEADER_WORKERS, 4), workers);
    record->shape.workers = (int)workers;
    const char *name = (const char *)header + EKI_HEADER_NAME;
    if (!is_padded_name(header + EKI_HEADER_NAME) ||
        !eki_is_collection_name(name, strlen(name)))
        return eki_record_refuse(record, EKI_HEADER_NAME,
                                 "the name of the collection is not allowed");
    memcpy(record->shape.name, name, sizeof record->shape.name);
    return EK_OK;
}

/* Read the next block; *FOUND is false if the file ends in it or before it. */
static ek_status read_block(struct walk *walk, struct block *block, bool *found)
{
    const struct eki_record *record = walk->record;
    unsigned char head[EKI_BLOCK_HEAD];
    int64_t rest = walk->size - walk->at;
    *found = false;
    if (rest < EKI_BLOCK_HEAD)
        return EK_OK;
    EKI_TRY(eki_record_read(record, walk->at, head, sizeof head));
    if (eki_get(head + EKI_BLOCK_HEAD_CRC, 4) != eki_block_head_crc(head))
        return eki_record_refuse(record, walk->at,
                                 "no block begins here: its CRC is "
                                 "wrong");
    uint64_t bytes = eki_get(head + EKI_BLOCK_BYTES, 8);
    if (rest < EKI_BLOCK_HEAD + EKI_RECORD_CRC_BYTES ||
        bytes > (uint64_t)rest - EKI_BLOCK_HEAD - EKI_RECORD_CRC_BYTES)
        return EK_OK;
    block->kind = (uint32_t)eki_get(head + EKI_BLOCK_KIND, 4);
    block->at = walk->at + EKI_BLOCK_HEAD;
    block->bytes = (int64_t)bytes;
    *found = true;
    return check_crc(record, block->at, block->bytes, "block");
}

static ek_status wrong_size(const struct walk *walk, const struct block *block,
                            int64_t expected)
{
    return eki_record_refuse(walk->record, walk->at + EKI_BLOCK_BYTES,
                             "a block of %" PRId64 " bytes, expected %" PRId64,
                             block->bytes, expected);
}

/* Read the whole body of a block, of BYTES. */
static ek_status read_block_body(const struct walk *walk,
                                 const struct block *block, unsigned char *body,
                                 size_t bytes)
{
    if (block->bytes != (int64_t)bytes)
        return wrong_size(walk, block, (int64_t)bytes);
    return eki_record_read(walk->record, block->at, body, bytes);
}

static bool has_room_for_function(struct eki_record *record)
{
    int64_t names = record->function_room;
    return eki_grow(&record->functions, record->function_count, &names, 8,
                    sizeof *record->functions) &&
           eki_grow(&record->data_bytes_max, record->function_count,
                    &record->function_room, 8, sizeof *record->data_bytes_max);
}

static ek_status take_function(struct walk *walk, const struct block *block)
{
    struct eki_record *record = walk->record;
    unsigned char body[EKI_FUNCTION_BODY];
    EKI_TRY(read_block_body(walk, block, body, sizeof body));
    uint64_t number = eki_get(body + EKI_FUNCTION_NUMBER, 4);
    if (number != (uint64_t)record->function_count || number >= UINT16_MAX)
        return eki_record_refuse(record, block->at + EKI_FUNCTION_NUMBER,
                                 "function %" PRIu64 ", expected %d", number,
                                 record->function_count);
    if (!is_padded_name(body + EKI_FUNCTION_NAME))
        return eki_record_refuse(
            record, block->at + EKI_FUNCTION_NAME,
            "the name of function %" PRIu64 " is not allowed", number);
    if (!has_room_for_function(record))
        return eki_record_no_memory(record);
    record->data_bytes_max[record->function_count] = 0;
    memcpy(record->functions[record->function_count++],
           body + EKI_FUNCTION_NAME, EKI_RECORD_NAME_BYTES);
    return EK_OK;
}

/* Tasks of a function have data of so many bytes at most. */
static ek_status take_data(struct walk *walk, const struct block *block)
{
    struct eki_record *record = walk->record;
    unsigned char body[EKI_DATA_BODY];
    EKI_TRY(read_block_body(walk, block, body, sizeof body));
    uint64_t function = eki_get(body + EKI_DATA_FUNCTION, 4);
    uint64_t bytes = eki_get(body + EKI_DATA_BYTES_MAX, 8);
    if (function >= (uint64_t)record->function_count ||
        record->data_bytes_max[function] > 0)
        return eki_record_refuse(
            record, block->at + EKI_DATA_FUNCTION,
            "data of function %" PRIu64
            ": there are %d functions, and each may have data once",
            function, record->function_count);
    if (bytes < 1 || bytes > UINT32_MAX)
        return eki_record_refuse(record, block->at + EKI_DATA_BYTES_MAX,
                                 "data of %" PRIu64 " bytes", bytes);
    record->data_bytes_max[function] = (int64_t)bytes;
    return EK_OK;
}

/* Remember where the iteration is; its workers and tasks are read on demand. */
static ek_status take_iteration(struct walk *walk, const struct block *block)
{
    struct eki_record *record = walk->record;
    unsigned char number[8];
    int64_t least =
        EKI_ITERATION_HEAD +
        record->shape.workers * (int64_t)eki_worker_head(record->shape.version);
    if (block->bytes < least)
        return wrong_size(walk, block, least);
    EKI_TRY(eki_record_read(record, block->at, number, sizeof number));
    int64_t iteration = (int64_t)eki_get(number, 8);
    if (iteration <= walk->last_iteration)
        return eki_record_refuse(record, block->at + EKI_ITERATION_NUMBER,
                                 "iteration %" PRId64
                                 " after iteration %" PRId64,
                                 iteration, walk->last_iteration);
    walk->last_iteration = iteration;
    if (!eki_grow(&record->blocks, record->iteration_count, &record->block_room,
                  64, sizeof *record->blocks))
        return eki_record_no_memory(record);
    record->blocks[record->iteration_count++] = (struct eki_record_block){
        block->at, block->bytes, record->function_count};
    return EK_OK;
}

static ek_status take_end(struct walk *walk, const struct block *block)
{
    struct eki_record *record = walk->record;
    unsigned char body[EKI_END_BODY];
    int64_t end = block->at + block->bytes + EKI_RECORD_CRC_BYTES;
    EKI_TRY(read_block_body(walk, block, body, sizeof body));
    if (eki_get(body, 8) != (uint64_t)record->iteration_count)
        return eki_record_refuse(record, block->at + EKI_END_ITERATIONS,
                                 "%" PRIu64 " iterations; there are %" PRId64,
                                 eki_get(body, 8), record->iteration_count);
    if (end != walk->size)
        return eki_record_refuse(record, end, "%" PRId64 " bytes after the end",
                                 walk->size - end);
    record->is_complete = true;
    return EK_OK;
}

static ek_status take_block(struct walk *walk, const struct block *block)
{
    switch (block->kind) {
    case EKI_BLOCK_FUNCTION:
        return take_function(walk, block);
    case EKI_BLOCK_ITERATION:
        return take_iteration(walk, block);
    case EKI_BLOCK_END:
        return take_end(walk, block);
    case EKI_BLOCK_DATA:
        if (walk->record->shape.version > EKI_RECORD_VERSION_FIRST)
            return take_data(walk, block);
        break;
    default:
        break;
    }
    return eki_record_refuse(walk->record, walk->at,
                             "unknown kind of block 0x%08" PRIx32, block->kind);
}

static ek_status read_blocks(struct walk *walk)
{
    struct eki_record *record = walk->record;
    while (!record->is_complete) {
        struct block block = {0};
        bool found;
        EKI_TRY(read_block(walk, &block, &found));
        if (!found)
            break;
        EKI_TRY(take_block(walk, &block));
        walk->at = block.at + block.bytes + EKI_RECORD_CRC_BYTES;
    }
    if (!record->is_complete)
        snprintf(record->warning, sizeof record->warning,
                 "the record is not complete: it ends at byte %" PRId64
                 ", %" PRId64 " bytes after its last whole block; was the "
                 "job killed?",
                 walk->size, walk->size - walk->at);
    return EK_OK;
}

static ek_status open_record_file(struct walk *walk)
{
    struct eki_record *record = walk->record;
    record->file = fopen(record->path, "rb");
    if (record->file && fseek(record->file, 0, SEEK_END) == 0)
        walk->size = ftell(record->file);
    if (walk->size >= 0)
        return EK_OK;
    return eki_error(EK_ERR_FILE, "cannot read '%.700s': %s", record->path,
                     strerror(errno));
}

ek_status eki_record_open(const char *path, struct eki_record **made)
{
    struct walk walk = {.size = -1, .last_iteration = -1};
    struct eki_record *record = eki_alloc(1, sizeof *record + strlen(path) + 1);
    *made = NULL;
    if (!record)
        return eki_error(EK_ERR_NOMEM, "no memory to read '%.500s'", path);
    strcpy(record->path, path);
    walk.record = record;
    ek_status status = open_record_file(&walk);
    if (status == EK_OK)
        status = read_header(&walk);
    if (status == EK_OK)
        status = read_blocks(&walk);
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
    if (record->file)
        fclose(record->file);
    eki_free(record->rank_workers);
    eki_free(record->functions);
    eki_free(record->data_bytes_max);
    eki_free(record->blocks);
    eki_free(record);
}
