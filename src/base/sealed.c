/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sealed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PIECE_BYTES = 1 << 16
};

static void note_written(struct eki_sealed_out *out, bool is_written)
{
    if (!is_written && out->reason == 0)
        out->reason = errno;
}

static void put_bytes(struct eki_sealed_out *out, const void *data,
                      size_t bytes)
{
    note_written(out, eki_file_write(out->file, data, bytes));
}

static ek_status outcome_of(const struct eki_sealed_out *out)
{
    if (out->reason == 0)
        return EK_OK;
    return eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", out->path,
                     strerror(out->reason));
}

/* Whether all that was written has arrived in the file. */
static ek_status flush(struct eki_sealed_out *out)
{
    note_written(out, eki_file_flush(out->file));
    return outcome_of(out);
}

ek_status eki_sealed_create(struct eki_sealed_out *out, const char *path)
{
    bool is_new;
    *out = (struct eki_sealed_out){.path = eki_copy_string(path)};
    if (!out->path)
        return eki_error(EK_ERR_NOMEM, "no memory to write '%.500s'", path);
    ek_status status = eki_file_open(path, false, &out->file, &is_new);
    if (status != EK_OK) {
        eki_free(out->path);
        *out = (struct eki_sealed_out){0};
    }
    return status;
}

static void put_crc(struct eki_sealed_out *out, uint32_t value)
{
    unsigned char crc[EKI_BLOCK_CRC];
    eki_put(crc, value, sizeof crc);
    put_bytes(out, crc, sizeof crc);
}

ek_status eki_sealed_header(struct eki_sealed_out *out, const void *header,
                            size_t bytes)
{
    put_bytes(out, header, bytes);
    put_crc(out, eki_crc32c(0, header, bytes));
    return flush(out);
}

void eki_sealed_begin(struct eki_sealed_out *out, uint32_t kind, int64_t bytes)
{
    unsigned char head[EKI_BLOCK_HEAD];
    eki_put(head + EKI_BLOCK_KIND, kind, 4);
    eki_put(head + EKI_BLOCK_BYTES, (uint64_t)bytes, 8);
    eki_put(head + EKI_BLOCK_HEAD_CRC, eki_block_head_crc(head), 4);
    put_bytes(out, head, sizeof head);
    out->crc = 0;
    out->left = bytes;
}

void eki_sealed_put(struct eki_sealed_out *out, const void *data, size_t bytes)
{
    EKI_ASSERT((int64_t)bytes <= out->left);
    if (bytes == 0) /* then there may be no DATA */
        return;
    put_bytes(out, data, bytes);
    out->crc = eki_crc32c(out->crc, data, bytes);
    out->left -= (int64_t)bytes;
}

ek_status eki_sealed_end(struct eki_sealed_out *out)
{
    EKI_ASSERT(out->left == 0);
    put_crc(out, out->crc);
    return flush(out);
}

ek_status eki_sealed_write(struct eki_sealed_out *out, uint32_t kind,
                           const void *body, size_t bytes)
{
    eki_sealed_begin(out, kind, (int64_t)bytes);
    eki_sealed_put(out, body, bytes);
    return eki_sealed_end(out);
}

ek_status eki_sealed_sync(struct eki_sealed_out *out)
{
    note_written(out, eki_file_sync(out->file));
    return outcome_of(out);
}

ek_status eki_sealed_finish(struct eki_sealed_out *out)
{
    if (!out->file)
        return EK_OK;
    note_written(out, eki_file_close(out->file));
    ek_status status = outcome_of(out);
    eki_free(out->path);
    *out = (struct eki_sealed_out){0};
    return status;
}

void eki_function_body(unsigned char body[EKI_FUNCTION_BODY], int number,
                       const char *name)
{
    memset(body, 0, EKI_FUNCTION_BODY);
    eki_put(body + EKI_FUNCTION_NUMBER, (uint64_t)number, 4);
    snprintf((char *)body + EKI_FUNCTION_NAME, EKI_BLOCK_NAME, "%s", name);
}

ek_status eki_sealed_open(struct eki_sealed_in *in, const char *path)
{
    struct stat status;
    *in = (struct eki_sealed_in){.path = path};
    /* Opening it would wait for who writes it. */
    if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
        return eki_error(EK_ERR_FILE,
                         "cannot read '%.700s': it is a FIFO; allowed: a file",
                         path);
    *in = (struct eki_sealed_in){
        .file = fopen(path, "rb"), .path = path, .size = -1};
    if (in->file && fseek(in->file, 0, SEEK_END) == 0)
        in->size = ftell(in->file);
    if (in->size >= 0)
        return EK_OK;
    return eki_error(EK_ERR_FILE, "cannot read '%.700s': %s", path,
                     strerror(errno));
}

void eki_sealed_close(struct eki_sealed_in *in)
{
    if (in->file)
        fclose(in->file);
    in->file = NULL;
}

ek_status eki_sealed_no_memory(const char *path)
{
    return eki_error(EK_ERR_NOMEM, "no memory to read '%.500s'", path);
}

ek_status eki_sealed_refuse(const struct eki_sealed_in *in, int64_t at,
                            const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return eki_error(EK_ERR_FILE, "'%.500s', byte %" PRId64 ": %s", in->path,
                     at, text);
}

ek_status eki_sealed_read(const struct eki_sealed_in *in, int64_t at,
                          void *data, size_t bytes)
{
    if (fseek(in->file, (long)at, SEEK_SET) == 0 &&
        fread(data, 1, bytes, in->file) == bytes)
        return EK_OK;
    return eki_sealed_refuse(in, at, "cannot be read: %s",
                             ferror(in->file)
                                 ? strerror(errno)
                                 : "the file became shorter while it was read");
}

ek_status eki_sealed_check(const struct eki_sealed_in *in, int64_t at,
                           int64_t bytes, const char *what)
{
    unsigned char data[PIECE_BYTES];
    uint32_t crc = 0;
    for (int64_t done = 0; done < bytes;) {
        size_t piece =
            bytes - done < PIECE_BYTES ? (size_t)(bytes - done) : PIECE_BYTES;
        EKI_TRY(eki_sealed_read(in, at + done, data, piece));
        crc = eki_crc32c(crc, data, piece);
        done += (int64_t)piece;
    }
    EKI_TRY(eki_sealed_read(in, at + bytes, data, EKI_BLOCK_CRC));
    uint32_t stored = (uint32_t)eki_get(data, EKI_BLOCK_CRC);
    if (stored == crc)
        return EK_OK;
    return eki_sealed_refuse(in, at,
                             "the %s of %" PRId64
                             " bytes is damaged: CRC %08" PRIx32
                             ", expected %08" PRIx32,
                             what, bytes, crc, stored);
}

ek_status eki_sealed_check_version(const struct eki_sealed_in *in,
                                   const unsigned char *header,
                                   const char *what, const char *magic,
                                   int first, int last)
{
    uint64_t version = eki_get(header + EKI_HEADER_VERSION, 4);
    if (memcmp(header, magic, strlen(magic)) != 0)
        return eki_sealed_refuse(
            in, 0, "this is no %s: it does not begin with %s", what, magic);
    if (version < (uint64_t)first || version > (uint64_t)last)
        return eki_sealed_refuse(in, EKI_HEADER_VERSION,
                                 "version %" PRIu64 "; allowed: %d ... %d",
                                 version, first, last);
    return EK_OK;
}

ek_status eki_sealed_next(struct eki_sealed_in *in,
                          struct eki_sealed_block *block, bool *found)
{
    unsigned char head[EKI_BLOCK_HEAD];
    int64_t rest = in->size - in->at;
    *found = false;
    if (rest < EKI_BLOCK_HEAD)
        return EK_OK;
    EKI_TRY(eki_sealed_read(in, in->at, head, sizeof head));
    if (eki_get(head + EKI_BLOCK_HEAD_CRC, 4) != eki_block_head_crc(head))
        return eki_sealed_refuse(in, in->at,
                                 "no block begins here: its CRC is wrong");
    uint64_t bytes = eki_get(head + EKI_BLOCK_BYTES, 8);
    if (rest < EKI_BLOCK_HEAD + EKI_BLOCK_CRC ||
        bytes > (uint64_t)rest - EKI_BLOCK_HEAD - EKI_BLOCK_CRC)
        return EK_OK;
    block->kind = (uint32_t)eki_get(head + EKI_BLOCK_KIND, 4);
    block->at = in->at + EKI_BLOCK_HEAD;
    block->bytes = (int64_t)bytes;
    EKI_TRY(eki_sealed_check(in, block->at, block->bytes, "block"));
    in->at = block->at + block->bytes + EKI_BLOCK_CRC;
    *found = true;
    return EK_OK;
}

ek_status eki_sealed_wrong_size(const struct eki_sealed_in *in,
                                const struct eki_sealed_block *block,
                                int64_t expected)
{
    return eki_sealed_refuse(in, block->at - EKI_BLOCK_HEAD + EKI_BLOCK_BYTES,
                             "a block of %" PRId64 " bytes, expected %" PRId64,
                             block->bytes, expected);
}

ek_status eki_sealed_body(const struct eki_sealed_in *in,
                          const struct eki_sealed_block *block,
                          unsigned char *body, size_t bytes)
{
    if (block->bytes != (int64_t)bytes)
        return eki_sealed_wrong_size(in, block, (int64_t)bytes);
    return eki_sealed_read(in, block->at, body, bytes);
}

ek_status eki_sealed_wrong_kind(const struct eki_sealed_in *in,
                                const struct eki_sealed_block *block)
{
    return eki_sealed_refuse(in, block->at - EKI_BLOCK_HEAD,
                             "unknown kind of block 0x%08" PRIx32, block->kind);
}

ek_status eki_sealed_function(const struct eki_sealed_in *in,
                              const struct eki_sealed_block *block,
                              uint64_t *number, char name[EKI_BLOCK_NAME])
{
    unsigned char body[EKI_FUNCTION_BODY];
    EKI_TRY(eki_sealed_body(in, block, body, sizeof body));
    *number = eki_get(body + EKI_FUNCTION_NUMBER, 4);
    if (!eki_is_padded_name(body + EKI_FUNCTION_NAME))
        return eki_sealed_refuse(
            in, block->at + EKI_FUNCTION_NAME,
            "the name of function %" PRIu64 " is not allowed", *number);
    memcpy(name, body + EKI_FUNCTION_NAME, EKI_BLOCK_NAME);
    return EK_OK;
}

ek_status eki_sealed_check_end(const struct eki_sealed_in *in)
{
    if (in->at == in->size)
        return EK_OK;
    return eki_sealed_refuse(in, in->at, "%" PRId64 " bytes after the end",
                             in->size - in->at);
}

void eki_sealed_say_early(const struct eki_sealed_in *in, const char *what,
                          char *text, size_t bytes)
{
    snprintf(text, bytes,
             "%s is not complete: it ends at byte %" PRId64 ", %" PRId64
             " bytes after its last whole block; was the job killed?",
             what, in->size, in->size - in->at);
}

bool eki_is_padded_name(const unsigned char *from)
{
    int length = 0;
    while (length < EKI_BLOCK_NAME && from[length] != 0)
        length++;
    for (int i = length; i < EKI_BLOCK_NAME; i++) {
        if (from[i] != 0)
            return false;
    }
    return 0 < length && length < EKI_BLOCK_NAME;
}
