/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed: files of a header and then blocks, one after another and each with a
 * CRC, so that what a killed job has written is a file that ends early.
 *
 * A header begins with eight letters, its version and its bytes with the CRC.
 * A block is a head (its kind, the CRC of the twelve other bytes, the bytes of
 * its body), the body, and the CRC of the body.  Numbers have their lowest byte
 * first.  docs/reference/file-formats.md says what is in the bodies.
 *
 * Threads: one at a time for each file.
 */
#ifndef EKI_BASE_SEALED_H
#define EKI_BASE_SEALED_H

#include "base/base.h"

enum {
    EKI_HEADER_VERSION = 8,
    EKI_HEADER_BYTES = 12,

    EKI_BLOCK_KIND = 0,
    EKI_BLOCK_HEAD_CRC = 4,
    EKI_BLOCK_BYTES = 8,
    EKI_BLOCK_HEAD = 16,
    EKI_BLOCK_CRC = 4, /* bytes of a CRC behind a header or a body */

    EKI_BLOCK_NAME = 64, /* bytes of a name, with zeros behind it */

    /* The body of EKI_BLOCK_FUNCTION. */
    EKI_FUNCTION_NUMBER = 0,
    EKI_FUNCTION_NAME = 4,
    EKI_FUNCTION_BODY = EKI_FUNCTION_NAME + EKI_BLOCK_NAME
};

/* Kinds of blocks that several files have. */
enum {
    EKI_BLOCK_FUNCTION = 0x434e5546,  /* "FUNC": a number and a name */
    EKI_BLOCK_ITERATION = 0x52455449, /* "ITER": what each file says of one */
    EKI_BLOCK_END = 0x21444e45        /* "END!": nothing follows */
};

/* Write a number as BYTES bytes, the lowest first. */
static inline void eki_put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t eki_get(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* The CRC in the head of a block. */
static inline uint32_t eki_block_head_crc(const unsigned char *head)
{
    uint32_t crc = eki_crc32c(0, head + EKI_BLOCK_KIND, 4);
    return eki_crc32c(crc, head + EKI_BLOCK_BYTES, 8);
}

/* A file that is written.  Only the ends tell of failures, and the first one
 * stays. */
struct eki_sealed_out {
    FILE *file;
    char *path;   /* owned */
    uint32_t crc; /* of the open block's body so far */
    int64_t left; /* bytes that the open block's body still wants */
    int reason;   /* errno of the first write that failed; 0: none */
};

/* Open PATH for writing, empty (eki_file_open()).  EK_ERR_FILE, EK_ERR_NOMEM:
 * nothing is open. */
ek_status eki_sealed_create(struct eki_sealed_out *out, const char *path);
/* Write a header and its CRC. */
ek_status eki_sealed_header(struct eki_sealed_out *out, const void *header,
                            size_t bytes);
/* Write a block: begin, put all BYTES in any pieces, end. */
void eki_sealed_begin(struct eki_sealed_out *out, uint32_t kind, int64_t bytes);
void eki_sealed_put(struct eki_sealed_out *out, const void *data, size_t bytes);
ek_status eki_sealed_end(struct eki_sealed_out *out);
/* The three in one. */
ek_status eki_sealed_write(struct eki_sealed_out *out, uint32_t kind,
                           const void *body, size_t bytes);
/* Wait until all is on its disk. */
ek_status eki_sealed_sync(struct eki_sealed_out *out);
/* Close it; once more: nothing. */
ek_status eki_sealed_finish(struct eki_sealed_out *out);
/* The body of the block of a function. */
void eki_function_body(unsigned char body[EKI_FUNCTION_BODY], int number,
                       const char *name);

/* A file that is read, and how far a walk over its blocks has come. */
struct eki_sealed_in {
    FILE *file;
    const char *path; /* the caller's */
    int64_t at, size;
};

/* A block that is whole. */
struct eki_sealed_block {
    uint32_t kind;
    int64_t at, bytes; /* its body */
};

ek_status eki_sealed_open(struct eki_sealed_in *in, const char *path);
void eki_sealed_close(struct eki_sealed_in *in);
/* EK_ERR_NOMEM: there is no memory to read PATH. */
ek_status eki_sealed_no_memory(const char *path);
/* Say what is wrong with byte AT; always EK_ERR_FILE. */
ek_status eki_sealed_refuse(const struct eki_sealed_in *in, int64_t at,
                            const char *format, ...) EKI_PRINTF(3, 4);
/* Read exactly BYTES from byte AT on. */
ek_status eki_sealed_read(const struct eki_sealed_in *in, int64_t at,
                          void *data, size_t bytes);
/* Compare BYTES from byte AT on with the CRC that follows them; WHAT they are.
 */
ek_status eki_sealed_check(const struct eki_sealed_in *in, int64_t at,
                           int64_t bytes, const char *what);
/* What begins a header: WHAT the file is, by the letters of MAGIC; versions
 * from FIRST to LAST are allowed. */
ek_status eki_sealed_check_version(const struct eki_sealed_in *in,
                                   const unsigned char *header,
                                   const char *what, const char *magic,
                                   int first, int last);
/* Go on to the next block, whose CRCs are right; *FOUND is false if the file
 * ends in it or before it. */
ek_status eki_sealed_next(struct eki_sealed_in *in,
                          struct eki_sealed_block *block, bool *found);
/* Read the whole body of a block, which is to have BYTES. */
ek_status eki_sealed_body(const struct eki_sealed_in *in,
                          const struct eki_sealed_block *block,
                          unsigned char *body, size_t bytes);
/* Refuse a block for its size; one of which the file knows no kind. */
ek_status eki_sealed_wrong_size(const struct eki_sealed_in *in,
                                const struct eki_sealed_block *block,
                                int64_t expected);
ek_status eki_sealed_wrong_kind(const struct eki_sealed_in *in,
                                const struct eki_sealed_block *block);
/* Read the block of a function, whose name is well-formed. */
ek_status eki_sealed_function(const struct eki_sealed_in *in,
                              const struct eki_sealed_block *block,
                              uint64_t *number, char name[EKI_BLOCK_NAME]);
/* The block that says so was the last: nothing may follow. */
ek_status eki_sealed_check_end(const struct eki_sealed_in *in);
/* Fill TEXT: that WHAT, which was read up to its last whole block, ends early.
 */
void eki_sealed_say_early(const struct eki_sealed_in *in, const char *what,
                          char *text, size_t bytes);
/* Whether a name is well-formed: some characters, then nothing but zeros. */
bool eki_is_padded_name(const unsigned char *from);

#endif
