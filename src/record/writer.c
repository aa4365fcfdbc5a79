/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a record: a header, then blocks one after the other, so that what a
 * killed job has written is a record that ends early.
 */
#include "record/layout.h"

#include <string.h>

struct eki_record_writer {
    struct eki_sealed_out out;
    int functions;      /* blocks so far */
    int64_t iterations; /* blocks so far, too */
    int key_base;       /* that was written */
};

void eki_record_put(struct eki_record_writer *writer, const void *data,
                    size_t bytes)
{
    eki_sealed_put(&writer->out, data, bytes);
}

static ek_status write_file_header(struct eki_record_writer *writer,
                                   const struct eki_record_shape *shape)
{
    size_t bytes = EKI_HEADER_RANK_WORKERS + 4 * (size_t)shape->ranks;
    unsigned char *header = eki_alloc(bytes, 1);
    if (!header)
        return eki_error(EK_ERR_NOMEM, "no memory for the record");
    memcpy(header, EKI_RECORD_MAGIC, strlen(EKI_RECORD_MAGIC));
    eki_put(header + EKI_HEADER_VERSION, (uint64_t)shape->version, 4);
    eki_put(header + EKI_HEADER_BYTES, bytes + EKI_BLOCK_CRC, 4);
    eki_put(header + EKI_HEADER_RANKS, (uint64_t)shape->ranks, 4);
    eki_put(header + EKI_HEADER_WORKERS, (uint64_t)shape->workers, 4);
    snprintf((char *)header + EKI_HEADER_NAME, EKI_BLOCK_NAME, "%s",
             shape->name);
    for (int rank = 0; rank < shape->ranks; rank++)
        eki_put(header + EKI_HEADER_RANK_WORKERS + 4 * (size_t)rank,
                (uint64_t)shape->rank_workers[rank], 4);
    ek_status status = eki_sealed_header(&writer->out, header, bytes);
    eki_free(header);
    return status;
}

ek_status eki_record_create(const char *path,
                            const struct eki_record_shape *shape,
                            struct eki_record_writer **made)
{
    struct eki_record_writer *writer = eki_alloc(1, sizeof *writer);
    *made = NULL;
    if (!writer)
        return eki_error(EK_ERR_NOMEM, "no memory for the record");
    ek_status status = eki_sealed_create(&writer->out, path);
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
    unsigned char body[EKI_FUNCTION_BODY];
    eki_function_body(body, writer->functions++, name);
    return eki_sealed_write(&writer->out, EKI_BLOCK_FUNCTION, body,
                            sizeof body);
}

ek_status eki_record_write_data(struct eki_record_writer *writer, int function,
                                int64_t bytes_max)
{
    unsigned char body[EKI_DATA_BODY];
    eki_put(body + EKI_DATA_FUNCTION, (uint64_t)function, 4);
    eki_put(body + EKI_DATA_BYTES_MAX, (uint64_t)bytes_max, 8);
    return eki_sealed_write(&writer->out, EKI_BLOCK_DATA, body, sizeof body);
}

ek_status eki_record_write_about(struct eki_record_writer *writer,
                                 const char *about)
{
    size_t bytes = strlen(about);
    EKI_ASSERT(bytes <= EKI_ABOUT_MOST);
    return bytes == 0
               ? EK_OK
               : eki_sealed_write(&writer->out, EKI_BLOCK_ABOUT, about, bytes);
}

ek_status eki_record_write_key_base(struct eki_record_writer *writer, int base)
{
    unsigned char body[EKI_KEY_BASE_BODY];
    if (writer->key_base == base)
        return EK_OK;
    writer->key_base = base;
    eki_put(body, (uint64_t)base, 4);
    return eki_sealed_write(&writer->out, EKI_BLOCK_BASE, body, sizeof body);
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
    body[EKI_ITERATION_STOPPED] = (unsigned char)head->stopped;
    eki_sealed_begin(&writer->out, EKI_BLOCK_ITERATION,
                     (int64_t)sizeof body + bytes);
    eki_record_put(writer, body, sizeof body);
}

ek_status eki_record_end(struct eki_record_writer *writer)
{
    writer->iterations++;
    return eki_sealed_end(&writer->out);
}

void eki_record_abandon(struct eki_record_writer **made)
{
    struct eki_record_writer *writer = *made;
    *made = NULL;
    if (!writer)
        return;
    eki_sealed_finish(&writer->out);
    eki_free(writer);
}

ek_status eki_record_finish(struct eki_record_writer **made)
{
    struct eki_record_writer *writer = *made;
    unsigned char body[EKI_END_BODY];
    eki_put(body + EKI_END_ITERATIONS, (uint64_t)writer->iterations, 8);
    eki_sealed_write(&writer->out, EKI_BLOCK_END, body, sizeof body);
    ek_status status = eki_sealed_finish(&writer->out);
    eki_record_abandon(made);
    return status;
}
