/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a record: a header, then blocks one after the other, so that what a
 * killed job has written is a record that ends early.
 */
#include "record/layout.h"

#include <errno.h>
#include <string.h>

struct eki_record_writer {
    FILE *file;
    int functions;      /* blocks so far */
    int64_t iterations; /* blocks so far, too */
    uint32_t crc;       /* of the open block's body so far */
    int64_t left;       /* bytes that the open block's body still wants */
    int reason;         /* errno of the first write that failed; 0: none */
    char path[];
};

static void note_written(struct eki_record_writer *writer, bool is_written)
{
    if (!is_written && writer->reason == 0)
        writer->reason = errno;
}

static void put_bytes(struct eki_record_writer *writer, const void *data,
                      size_t bytes)
{
    note_written(writer, eki_file_write(writer->file, data, bytes));
}

static ek_status writer_outcome(const struct eki_record_writer *writer)
{
    if (writer->reason == 0)
        return EK_OK;
    return eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", writer->path,
                     strerror(writer->reason));
}

/* Whether all that was written has arrived in the file. */
static ek_status flush_writer(struct eki_record_writer *writer)
{
    note_written(writer, eki_file_flush(writer->file));
    return writer_outcome(writer);
}

static void begin_block(struct eki_record_writer *writer,
                        enum eki_block_kind kind, int64_t bytes)
{
    unsigned char head[EKI_BLOCK_HEAD];
    eki_put(head + EKI_BLOCK_KIND, kind, 4);
    eki_put(head + EKI_BLOCK_BYTES, (uint64_t)bytes, 8);
    eki_put(head + EKI_BLOCK_HEAD_CRC, eki_block_head_crc(head), 4);
    put_bytes(writer, head, sizeof head);
    writer->crc = 0;
    writer->left = bytes;
}

void eki_record_put(struct eki_record_writer *writer, const void *data,
                    size_t bytes)
{
    EKI_ASSERT((int64_t)bytes <= writer->left);
    put_bytes(writer, data, bytes);
    writer->crc = eki_crc32c(writer->crc, data, bytes);
    writer->left -= (int64_t)bytes;
}

static ek_status end_block(struct eki_record_writer *writer)
{
    unsigned char crc[EKI_RECORD_CRC_BYTES];
    EKI_ASSERT(writer->left == 0);
    eki_put(crc, writer->crc, 4);
    put_bytes(writer, crc, sizeof crc);
    return flush_writer(writer);
}

static ek_status write_file_header(struct eki_record_writer *writer,
                                   const struct eki_record_shape *shape)
{
    size_t bytes = EKI_HEADER_RANK_WORKERS + 4 * (size_t)shape->ranks;
    unsigned char *header = eki_alloc(bytes + EKI_RECORD_CRC_BYTES, 1);
    if (!header)
        return eki_error(EK_ERR_NOMEM, "no memory for the record");
    memcpy(header, EKI_RECORD_MAGIC, strlen(EKI_RECORD_MAGIC));
    eki_put(header + EKI_HEADER_VERSION, (uint64_t)shape->version, 4);
    eki_put(header + EKI_HEADER_BYTES, bytes + EKI_RECORD_CRC_BYTES, 4);
    eki_put(header + EKI_HEADER_RANKS, (uint64_t)shape->ranks, 4);
    eki_put(header + EKI_HEADER_WORKERS, (uint64_t)shape->workers, 4);
    snprintf((char *)header + EKI_HEADER_NAME, EKI_RECORD_NAME_BYTES, "%s",
             shape->name);
    for (int rank = 0; rank < shape->ranks; rank++)
        eki_put(header + EKI_HEADER_RANK_WORKERS + 4 * (size_t)rank,
                (uint64_t)shape->rank_workers[rank], 4);
    eki_put(header + bytes, eki_crc32c(0, header, bytes), 4);
    put_bytes(writer, header, bytes + EKI_RECORD_CRC_BYTES);
    eki_free(header);
    return flush_writer(writer);
}

ek_status eki_record_create(const char *path,
                            const struct eki_record_shape *shape,
                            struct eki_record_writer **made)
{
    struct eki_record_writer *writer =
        eki_alloc(1, sizeof *writer + strlen(path) + 1);
    *made = NULL;
    if (!writer)
        return eki_error(EK_ERR_NOMEM, "no memory for the record");
    strcpy(writer->path, path);
    bool is_new;
    ek_status status = eki_file_open(path, false, &writer->file, &is_new);
    if (status == EK_OK)
        status = write_file_header(writer, shape);
    if (status == EK_OK)
        *made = writer;
    else
        eki_record_abandon(&writer);
    return status;
}

ek_status eki_record_write_function(struct eki_record_writer *writer,
                                    const char *name)
{
    unsigned char body[EKI_FUNCTION_BODY] = {0};
    eki_put(body + EKI_FUNCTION_NUMBER, (uint64_t)writer->functions++, 4);
    snprintf((char *)body + EKI_FUNCTION_NAME, EKI_RECORD_NAME_BYTES, "%s",
             name);
    begin_block(writer, EKI_BLOCK_FUNCTION, sizeof body);
    eki_record_put(writer, body, sizeof body);
    return end_block(writer);
}

ek_status eki_record_write_data(struct eki_record_writer *writer, int function,
                                int64_t bytes_max)
{
    unsigned char body[EKI_DATA_BODY];
    eki_put(body + EKI_DATA_FUNCTION, (uint64_t)function, 4);
    eki_put(body + EKI_DATA_BYTES_MAX, (uint64_t)bytes_max, 8);
    begin_block(writer, EKI_BLOCK_DATA, sizeof body);
    eki_record_put(writer, body, sizeof body);
    return end_block(writer);
}

int eki_record_functions_written(const struct eki_record_writer *writer)
{
    return writer->functions;
}

void eki_record_begin(struct eki_record_writer *writer,
                      const struct eki_record_head *head, int64_t bytes)
{
    unsigned char body[EKI_ITERATION_HEAD] = {0};
    eki_put(body + EKI_ITERATION_NUMBER, (uint64_t)head->iteration, 8);
    eki_put(body + EKI_ITERATION_WALL, head->wall_ns, 8);
    body[EKI_ITERATION_STATUS] = (unsigned char)-head->status;
    body[EKI_ITERATION_RESTORE] = (unsigned char)head->restore;
    body[EKI_ITERATION_STEAL] = (unsigned char)head->steal;
    body[EKI_ITERATION_ORDER] = (unsigned char)head->order;
    body[EKI_ITERATION_ON_FAILURE] = (unsigned char)head->on_failure;
    begin_block(writer, EKI_BLOCK_ITERATION, (int64_t)sizeof body + bytes);
    eki_record_put(writer, body, sizeof body);
}

ek_status eki_record_end(struct eki_record_writer *writer)
{
    writer->iterations++;
    return end_block(writer);
}

void eki_record_abandon(struct eki_record_writer **made)
{
    struct eki_record_writer *writer = *made;
    *made = NULL;
    if (!writer)
        return;
    if (writer->file)
        eki_file_close(writer->file);
    eki_free(writer);
}

ek_status eki_record_finish(struct eki_record_writer **made)
{
    struct eki_record_writer *writer = *made;
    unsigned char body[EKI_END_BODY];
    eki_put(body + EKI_END_ITERATIONS, (uint64_t)writer->iterations, 8);
    begin_block(writer, EKI_BLOCK_END, sizeof body);
    eki_record_put(writer, body, sizeof body);
    end_block(writer);
    note_written(writer, eki_file_close(writer->file));
    writer->file = NULL;
    ek_status status = writer_outcome(writer);
    eki_record_abandon(made);
    return status;
}
